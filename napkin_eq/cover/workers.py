"""Work done in processes of its own, with a limit of time and of memory, so that what explodes costs no more than that.

A process does one piece of work after another: what it has loaded and found out for one it has for the next. One
that is ended, or has grown large, gives way to a fresh one.
"""

from __future__ import annotations

import math
import os
import pickle
import select
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
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
    """A process: its number, where it is asked and answers, the key and lane of what it does, its answer so far.

    used: the seconds of processor time that it said it has used.
    """

    number: int
    asked: int
    answers: int
    key: Any = None
    lane: int = 0
    data: bytearray = field(default_factory=bytearray)
    used: float = 0.0


@dataclass(frozen=True, slots=True)
class Done:
    """What need not be done again: what it gave, or why it gave nothing, and the seconds of METER that it took."""

    found: Any
    why: str
    took: float


class Pool:
    """Processes that do one kind of work, begun when there is some; `with Pool(work) as pool` ends them.

    work: is given what is to be done, and gives what came of it; both are sent from process to process. Where none can
    be forked, as after a derivation in this one, all is done here, and only its own budgets limit it; it counts as if
    there were processes.
    What they do counts here as well, as that of the lane that took the longest. used: their seconds of processor time
    that METER has not been told of yet.
    """

    def __init__(self, work: Callable[[Any], Any]) -> None:
        self.work, self.used = work, 0.0
        self.idle: list[_Worker] = []
        self.busy: list[_Worker] = []

    def __enter__(self) -> Pool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for worker in [*self.busy, *self.idle]:
            self._end(worker)

    def each(
        self, keys: Sequence[T], ask: Callable[[T, float, int], Any], seconds: float
    ) -> Iterator[tuple[T, Any, str, float]]:
        """Do work, a few at a time, and yield of each key what it gave, or why it gave nothing, in any order, and the
        seconds of METER that it took.

        ask: gives what is to be done for a key, or what was done before; None ends the asking of its lane. Of as many
        lanes as there are processes the keys belong to one after the other, and it is given the seconds that those
        before in its lane have taken, and how many are left there: so that it never depends on which process was
        quicker. seconds: of METER that one may take.
        """
        if not hasattr(os, "fork") or threaded():
            yield from self._here(keys, ask)
            return
        lanes = [list(keys[lane::PROCESSES]) for lane in range(PROCESSES)]
        taken = [0.0] * PROCESSES
        try:
            while True:
                for lane in sorted({*range(PROCESSES)} - {w.lane for w in self.busy}):
                    for done, item in self._next(lanes[lane], taken, lane, ask):
                        if isinstance(item, Done):
                            yield done, item.found, item.why, item.took
                            continue
                        worker = self.idle.pop() if self.idle else self._begun()
                        self.busy.append(worker)
                        worker.key, worker.lane = done, lane
                        with suppress(BrokenPipeError):  # one that was ended from outside is found to be at its end
                            _send(worker.asked, (item, seconds))
                if not self.busy:
                    return
                for worker, found, why, took in self._answered(seconds):
                    taken[worker.lane] += took
                    yield worker.key, found, why, took
        finally:
            for worker in [*self.busy]:  # what it answers nobody asks any more
                self._end(worker)
            METER.passed(max(taken), self.used / PROCESSES)
            self.used = 0.0

    def _here(
        self, keys: Sequence[T], ask: Callable[[T, float, int], Any]
    ) -> Iterator[tuple[T, Any, str, float]]:
        """Do work as `each` says, one after the other, and count as much as if processes had."""
        begun, taken, ended = METER.counted, [0.0] * PROCESSES, set[int]()
        try:
            for place, key in enumerate(keys):
                lane = place % PROCESSES
                item = None if lane in ended else ask(key, taken[lane], len(range(place, len(keys), PROCESSES)))
                if item is None:
                    ended.add(lane)
                    continue
                METER.counted = at = begun + taken[lane]
                if isinstance(item, Done):
                    done = item
                else:
                    found, why = _tried(self.work, item)
                    done = Done(found, why, METER.counted - at)
                taken[lane] += done.took
                yield key, done.found, done.why, done.took
        finally:
            METER.counted = begun + max(taken)

    def _next(
        self, left: list[T], taken: list[float], lane: int, ask: Callable[[T, float, int], Any]
    ) -> Iterator[tuple[T, Any]]:
        """Yield what of a lane was done before, and then what is to be done, if anything is."""
        while left:
            if (item := ask(left[0], taken[lane], len(left))) is None:
                left.clear()
                return
            yield left.pop(0), item
            if not isinstance(item, Done):
                return
            taken[lane] += item.took

    def _answered(self, seconds: float) -> Iterator[tuple[_Worker, Any, str, float]]:
        """Wait until a process has something to say, and yield those that are done, or ended, with what they gave, why
        they gave nothing, and the seconds that they took.
        """
        ready, _, _ = select.select([w.answers for w in self.busy], [], [], WAIT * seconds)
        if not ready:  # nothing has come for so long: what waits takes no processor time, and would not end by itself
            for worker in self.busy:
                os.kill(worker.number, signal.SIGKILL)
        for worker in [w for w in self.busy if w.answers in ready]:
            part = os.read(worker.answers, 1 << 16)
            worker.data += part
            if not part:
                took = self._end(worker)
                yield worker, None, "it took more time or memory than it may", took
            elif len(worker.data) >= HEAD and len(worker.data) == HEAD + int.from_bytes(worker.data[:HEAD], "big"):
                found, why, took, used, large = pickle.loads(bytes(worker.data[HEAD:]))
                worker.data.clear()
                self.used, worker.used = self.used + used, worker.used + used
                if large:
                    self._end(worker)
                else:
                    self.busy.remove(worker)
                    self.idle.append(worker)
                yield worker, found, why, took

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

    def _end(self, worker: _Worker) -> float:
        """End a process, whatever it does, and return the seconds that it took for what it has not said."""
        (self.busy if worker in self.busy else self.idle).remove(worker)
        os.kill(worker.number, signal.SIGKILL)
        os.close(worker.asked)
        os.close(worker.answers)
        _, _, used = os.wait4(worker.number, 0)
        more = max(0.0, (used.ru_utime + used.ru_stime) / (METER.slow or 1.0) - worker.used)
        self.used += more
        return more


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
        METER.processor()  # for how slow this core is now
        limit = math.ceil(time.process_time() + seconds * max(1.0, METER.slow))  # the system counts whole seconds
        resource.setrlimit(resource.RLIMIT_CPU, (limit if most == resource.RLIM_INFINITY else min(limit, most), most))
        done, used = METER.counted, METER.processor()
        found, why = _tried(work, item)
        large = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - begun) * KILO > LARGE
        _send(answers, (found, why, METER.counted - done, METER.processor() - used, large))
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
