"""How much a derivation may do: seconds of processor time as a last resort, counted work wherever work can be counted.

Counted work gives the same plan on every machine. Time does not, so that it is said wherever it was time that ended a
search; what was found until then is still a plan. Processor time is counted, not the clock's, and in seconds of the
core that limits were chosen on: a core whose sibling is busy does little more than half as much in a second, and the
same search would end in another plan there.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

SECONDS = 30.0
INTERRUPTED, TELLING = "an interrupt", 0.1
Tell = Callable[[str, Mapping[str, float]], None]
# The probe of how fast a core is now: turns of its loop, seconds that it took on the core that limits were chosen on
# (Python 3.11, 2.x GHz, nothing beside it), seconds of processor time from one to the next, and the most that a slow
# or busy core counts for
TURNS, PROBE_S, PROBED, MOST_SLOW = 1500, 180e-6, 0.25, 2.5


def _probe() -> float:
    """Return the seconds of processor time that a small loop takes now, of the kind that searches are made of."""
    begun, counts = time.process_time(), dict[tuple[int, str], int]()
    for turn in range(TURNS):
        key = turn & 63, "probe"
        counts[key] = counts.get(key, 0) + len(key)
    return time.process_time() - begun


class Meter:
    """The processor time of this process, in seconds of the core that limits were chosen on.

    slow: how many seconds of this core are one of those, at the last probe; 1 / MOST_SLOW to MOST_SLOW.
    """

    def __init__(self, probe: Callable[[], float] = _probe) -> None:
        self.probe, self.raw, self.read, self.slow = probe, time.process_time(), 0.0, 0.0

    def seconds(self) -> float:
        """Return the seconds since the process began, or since this meter was made."""
        now = time.process_time()
        if not self.slow or now - self.raw > PROBED:
            if self.slow:
                self.read += (now - self.raw) / self.slow
            took = sorted(self.probe() for _ in range(3))[1] / PROBE_S
            self.slow = min(MOST_SLOW, max(1 / MOST_SLOW, took))
            self.raw = now = time.process_time()  # what the probe took is not counted
        return self.read + (now - self.raw) / self.slow


METER = Meter()


def _afresh() -> None:
    METER.raw, METER.read, METER.slow = time.process_time(), 0.0, 0.0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_afresh)  # a process begins at no seconds


@dataclass(slots=True)
class Clock:
    """What the parts of a budget share: the searches that ended before their end, how far they are, and the seconds of
    each stage.

    tell: is given the search at hand and its figures, at most every tenth of a second: nodes and classes of the
    e-graph, kernels priced, the best time so far and the bound below it in µs, whatever is known.
    lead: is given the derivation of an operator, or of outputs of one, as soon as its plan is chosen, while its proof
    is still looked for: it has no steps yet, and what is returned in the end may be another.
    """

    stopped: list[str] = field(default_factory=list)
    tell: Tell | None = None
    lead: Callable[[Any], None] | None = None
    told: float = field(default_factory=time.monotonic)
    figures: dict[str, float] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    _asked: float = -1.0
    _read: float = 0.0

    def processor(self) -> float:
        """Return the seconds of METER, as they were at most 20 ms ago: to ask costs a system call."""
        now = time.monotonic()
        if now > self._asked + 0.02:
            self._asked, self._read = now, METER.seconds()
        return self._read

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Add the seconds that pass within to those of a stage, by the clock."""
        begun = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - begun

    def note(self, search: str, **figures: float) -> None:
        """Note how far a search is, and tell whoever asked to be told."""
        if self.tell is None:
            return
        self.figures.update(figures)
        if time.monotonic() > self.told + TELLING:
            self.told = time.monotonic()
            self.tell(search, self.figures)


@dataclass(slots=True)
class Budget:
    """The time that is left to a derivation: `Budget(seconds)`, of METER; `clock.tell` is given how far it is.

    hard: after its end nothing is begun any more, not even what a plan still asks for: there is one without.
    work: the share of the counted work that searches may do, of nodes and of forms tried.
    """

    seconds: float = SECONDS
    clock: Clock = field(default_factory=Clock)
    hard: bool = False
    work: float = 1.0
    _begun: float = field(default_factory=METER.seconds)

    def begin(self) -> None:
        """Let the time begin now: what was done before is no part of the search."""
        self._begun = METER.seconds()

    def left(self) -> float:
        """Return the seconds of processor time that are left."""
        return self.seconds - (METER.seconds() - self._begun)

    def part(self, share: float) -> Budget:
        """Return a budget that begins now and has a share of what is left; it notes what stops in the same list."""
        return Budget(max(0.0, share * self.left()), self.clock, self.hard, self.work)

    def over(self, search: str, share: float = 1.0) -> bool:
        """Tell whether this share of the time is over, or all of it was ended, and note the search that
        stops for it.
        """
        clock = self.clock
        clock.note(search)
        if INTERRUPTED not in clock.stopped and clock.processor() - self._begun < share * self.seconds:
            return False
        if search not in clock.stopped:
            clock.stopped.append(search)
        return True

    def end(self) -> None:
        """End every search that asks from now on, as an interrupt does."""
        self.clock.stopped.append(INTERRUPTED)
