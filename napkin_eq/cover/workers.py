"""Work done in processes of its own: a limit of time and of memory each, so that one that explodes costs no more than that."""

from __future__ import annotations

import os
import pickle
import select
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from napkin_eq.egraph.saturate import threaded

T = TypeVar("T")
PROCESSES, SECONDS, BYTES = 2, 20.0, 4 << 30
WAIT = 30.0  # times the seconds of a job, by the clock, which a busy machine makes long


def each(jobs: Iterable[tuple[T, Callable[[], Any]]], seconds: float = SECONDS) -> Iterator[tuple[T, Any, str]]:
    """Do jobs, a few at a time, and yield of each its key, what it gave, and why it gave nothing; in no order of their own.

    seconds: of processor time that a job may take. Where a process cannot be forked, as after a derivation in this one, jobs
    are done here, and only their own budgets limit them.
    """
    if not hasattr(os, "fork") or threaded():
        for key, job in jobs:
            yield (key, *_tried(job))
        return
    waiting, running = iter(jobs), dict[int, tuple[T, int, bytearray]]()
    try:
        while True:
            while len(running) < PROCESSES and (item := next(waiting, None)) is not None:
                begun, number = _begin(item[1], seconds)
                running[begun] = item[0], number, bytearray()
            if not running:
                return
            ready, _, _ = select.select(list(running), [], [], WAIT * seconds)
            if not ready:  # nothing at all has come for so long: what waits takes no processor time, and would not end by itself
                for _, number, _ in running.values():
                    os.kill(number, signal.SIGKILL)
            for pipe in ready:
                key, number, data = running[pipe]
                if part := os.read(pipe, 1 << 16):
                    data += part
                    continue
                del running[pipe]
                os.close(pipe)
                os.waitpid(number, 0)
                yield (key, *(pickle.loads(bytes(data)) if data else (None, "it took more time or memory than it may")))
    finally:
        for pipe, (_, number, _) in running.items():
            os.kill(number, signal.SIGKILL)
            os.close(pipe)
            os.waitpid(number, 0)


def processor() -> float:
    """Return the seconds of processor time that workers have taken which are done."""
    try:
        import resource
    except ImportError:
        return 0.0
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _tried(job: Callable[[], Any]) -> tuple[Any, str]:
    from napkin_eq.lang.errors import NapkinError

    try:
        return job(), ""
    except (NapkinError, MemoryError, RecursionError) as reason:
        return None, str(reason) or type(reason).__name__


def _begin(job: Callable[[], Any], seconds: float) -> tuple[int, int]:
    """Begin a job in a process of its own; return the pipe that it writes to, and its number."""
    reading, writing = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    number = os.fork()
    if number:
        os.close(writing)
        return reading, number
    status = 1
    try:
        os.close(reading)
        _limit(seconds)
        data = pickle.dumps(_tried(job))
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(data)
        status = 0
    finally:
        os._exit(status)  # what the parent would do at its end is not done here


def _limit(seconds: float) -> None:
    import resource
    import time

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt ends the search, which ends its workers
    used = int(time.process_time()) + max(1, int(seconds))
    resource.setrlimit(resource.RLIMIT_CPU, (used, used + 1))
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = BYTES if hard == resource.RLIM_INFINITY else min(BYTES, hard)
    resource.setrlimit(resource.RLIMIT_AS, (most if soft == resource.RLIM_INFINITY else min(most, soft), hard))
