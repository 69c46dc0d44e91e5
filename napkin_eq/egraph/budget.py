"""How much a derivation may do: seconds of processor time as a last resort, counted work wherever work can be counted.

Counted work gives the same plan on every machine. Time does not, so that it is said wherever it was time that ended a search;
what was found until then is still a plan. Processor time is counted, not the clock's: a busy machine changes nothing.
"""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

SECONDS = 30.0
INTERRUPTED, TELLING = "an interrupt", 10.0


@dataclass(slots=True)
class Clock:
    """What the parts of a budget share: the searches that ended before their end, in order, and when progress was told last."""

    stopped: list[str] = field(default_factory=list)
    tell: Callable[[str], None] | None = None
    told: float = field(default_factory=time.monotonic)
    _asked: float = -1.0
    _read: float = 0.0

    def processor(self) -> float:
        """Return the seconds of processor time of this process, as they were at most 20 ms ago: to ask costs a system call."""
        now = time.monotonic()
        if now > self._asked + 0.02:
            self._asked, self._read = now, time.process_time()
        return self._read


@dataclass(slots=True)
class Budget:
    """The time that is left to a derivation: `Budget(seconds)`; `clock.tell` is given the search at hand every ten seconds."""

    seconds: float = SECONDS
    clock: Clock = field(default_factory=Clock)
    _begun: float = field(default_factory=time.process_time)

    def left(self) -> float:
        """Return the seconds of processor time that are left."""
        return self.seconds - (time.process_time() - self._begun)

    def part(self, share: float) -> Budget:
        """Return a budget that begins now and has a share of what is left; it notes what stops in the same list."""
        return Budget(max(0.0, share * self.left()), self.clock)

    def over(self, search: str, share: float = 1.0) -> bool:
        """Tell whether this share of the time is over, or all of it was ended, and note the search that stops for it."""
        clock = self.clock
        if clock.tell is not None and time.monotonic() > clock.told + TELLING:
            clock.told = time.monotonic()
            clock.tell(search)
        if INTERRUPTED not in clock.stopped and clock.processor() - self._begun < share * self.seconds:
            return False
        if search not in clock.stopped:
            clock.stopped.append(search)
        return True

    def end(self) -> None:
        """End every search that asks from now on, as an interrupt does."""
        self.clock.stopped.append(INTERRUPTED)


@contextmanager
def told(seconds: float) -> Iterator[Budget]:
    """Give a budget whose searches are told on stderr as they go on, and which a first interrupt ends: what was found is taken.

    A second interrupt goes its usual way.
    """
    budget = Budget(seconds, Clock(tell=lambda search: print(f"napkin-eq: still at work: {search}", file=sys.stderr)))
    if threading.current_thread() is not threading.main_thread():
        yield budget  # only the main thread may say what an interrupt does
        return

    def end(number: int, frame: object) -> None:
        signal.signal(signal.SIGINT, before)
        print("napkin-eq: interrupted: taking the best plan so far; once more ends it", file=sys.stderr)
        budget.end()

    before = signal.signal(signal.SIGINT, end)
    try:
        yield budget
    finally:
        signal.signal(signal.SIGINT, before)
