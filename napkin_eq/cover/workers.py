"""Work done in processes of its own, with a limit of time and of memory, so that what explodes costs no more than that.

A process does one piece of work after another: what it has loaded and found out for one it has for the next. One
that is ended, or has grown large, gives way to a fresh one.
"""

from __future__ import annotations

import os
import pickle
import select
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, TypeVar

from napkin_eq.egraph.budget import METER
from napkin_eq.egraph.saturate import threaded

T = TypeVar("T")
PROCESSES, BYTES = 2, 4 << 30
LARGE = 1 << 30  # bytes by which a process has grown that is given no more work
HEAD, KILO = 8, 1024  # bytes that say how many more there are; what the system counts memory in
WAIT = 30.0  # times the seconds of a job, by the clock, which a busy machine makes long


@dataclass(slots=True)
class _Worker:
    """A process: its number, where it is asked and where it answers, the key of what it does, its answer so far.

    taken: the seconds of METER that it said it has taken.
    """

    number: int
    asked: int
    answers: int
    key: Any = None
    data: bytearray = field(default_factory=bytearray)
    taken: float = 0.0


class Pool:
    """Processes that do one kind of work, begun when there is some; `with Pool(work) as pool` ends them.

    work: is given what is to be done, and gives what came of it; both are sent from process to process. Where none can
    be forked, as after a derivation in this one, all is done here, and only its own budgets limit it.
    taken: seconds of METER that the processes have taken, of those that were ended as of the core at hand.
    """

    def __init__(self, work: Callable[[Any], Any]) -> None:
        self.work, self.taken = work, 0.0
        self.idle: list[_Worker] = []
        self.busy: list[_Worker] = []

    def __enter__(self) -> Pool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for worker in [*self.busy, *self.idle]:
            self._end(worker)

    def each(self, items: Iterable[tuple[T, Any]], seconds: float) -> Iterator[tuple[T, Any, str]]:
        """Do work, a few at a time, and yield of each item its key, what it gave, or why it gave nothing, in any order.

        items: keys and what `work` is given. seconds: of METER that an item may take.
        """
        if not hasattr(os, "fork") or threaded():
            for key, item in items:
                yield (key, *_tried(self.work, item))
            return
        waiting = iter(items)
        try:
            while True:
                while len(self.busy) < PROCESSES and (item := next(waiting, None)) is not None:
                    worker = self.idle.pop() if self.idle else self._begun()
                    self.busy.append(worker)
                    worker.key = item[0]
                    with suppress(BrokenPipeError):  # one that was ended from outside is found to be at its end
                        _send(worker.asked, (item[1], seconds))
                if not self.busy:
                    return
                for worker, found in self._answered(seconds):
                    yield (worker.key, *found)
        finally:
            for worker in [*self.busy]:  # what it answers nobody asks any more
                self._end(worker)

    def _answered(self, seconds: float) -> Iterator[tuple[_Worker, tuple[Any, str]]]:
        """Wait until a process has something to say, and yield those that are done, or ended, with what they gave."""
        ready, _, _ = select.select([w.answers for w in self.busy], [], [], WAIT * seconds)
        if not ready:  # nothing has come for so long: what waits takes no processor time, and would not end by itself
            for worker in self.busy:
                os.kill(worker.number, signal.SIGKILL)
        for worker in [w for w in self.busy if w.answers in ready]:
            part = os.read(worker.answers, 1 << 16)
            worker.data += part
            if not part:
                self._end(worker)
                yield worker, (None, "it took more time or memory than it may")
            elif len(worker.data) >= HEAD and len(worker.data) == HEAD + int.from_bytes(worker.data[:HEAD], "big"):
                found, why, taken, large = pickle.loads(bytes(worker.data[HEAD:]))
                worker.data.clear()
                self.taken, worker.taken = self.taken + taken - worker.taken, taken
                if large:
                    self._end(worker)
                else:
                    self.busy.remove(worker)
                    self.idle.append(worker)
                yield worker, (found, why)

    def _begun(self) -> _Worker:
        """Begin a process."""
        (reading, asked), (answers, writing) = os.pipe(), os.pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        number = os.fork()
        if number:
            os.close(reading)
            os.close(writing)
            return _Worker(number, asked, answers)
        try:
            for pipe in [asked, answers, *(pipe for w in [*self.idle, *self.busy] for pipe in (w.asked, w.answers))]:
                os.close(pipe)
            _serve(self.work, reading, writing)
        finally:
            os._exit(0)  # what the parent would do at its end is not done here

    def _end(self, worker: _Worker) -> None:
        """End a process, whatever it does."""
        (self.busy if worker in self.busy else self.idle).remove(worker)
        os.kill(worker.number, signal.SIGKILL)
        os.close(worker.asked)
        os.close(worker.answers)
        _, _, used = os.wait4(worker.number, 0)
        self.taken += max(0.0, (used.ru_utime + used.ru_stime) / (METER.slow or 1.0) - worker.taken)


def _tried(work: Callable[[Any], Any], item: Any) -> tuple[Any, str]:
    from napkin_eq.lang.errors import NapkinError

    try:
        return work(item), ""
    except (NapkinError, MemoryError, RecursionError) as reason:
        return None, str(reason) or type(reason).__name__


def _serve(work: Callable[[Any], Any], asked: int, answers: int) -> None:
    """Do what is asked for, in the time that it may take, until nobody asks any more or this process is large."""
    import resource
    import time

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt ends the search, which ends its workers
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    room = min(size for size in (_addressed() + BYTES, soft, hard) if size != resource.RLIM_INFINITY)
    resource.setrlimit(resource.RLIMIT_AS, (room, hard))
    begun = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # what the parent held is no growth of this one
    while head := _read(asked, HEAD):
        item, seconds = pickle.loads(_read(asked, int.from_bytes(head, "big")))
        METER.seconds()  # for how slow this core is now
        limit = int(time.process_time()) + max(1, int(seconds * METER.slow))
        resource.setrlimit(resource.RLIMIT_CPU, (limit if most == resource.RLIM_INFINITY else min(limit, most), most))
        found, why = _tried(work, item)
        large = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - begun) * KILO > LARGE
        _send(answers, (found, why, METER.seconds(), large))
        if large:
            return


def _addressed() -> int:
    """Return the bytes of addresses that this process has taken, none where the system does not say."""
    with suppress(OSError), open("/proc/self/statm", "rb") as counts:
        return int(counts.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def _send(pipe: int, said: Any) -> None:
    data = pickle.dumps(said)
    left = memoryview(len(data).to_bytes(HEAD, "big") + data)
    while left:
        left = left[os.write(pipe, left) :]


def _read(pipe: int, size: int) -> bytes:
    """Return so many bytes, none where nobody writes any more."""
    data = b""
    while len(data) < size and (part := os.read(pipe, min(size - len(data), 1 << 16))):
        data += part
    return data if len(data) == size else b""
