"""How much a derivation may do, in seconds, which are counted: the same plan comes out on every machine.

What searches consist of is counted where it is done, each at what it takes on the core that limits were chosen on. By
counts alone a search could go on for long at what nobody counts, or on a slow machine: where processor time is far
beyond what was counted, it counts in the place of that. Then a plan may be another one elsewhere, as after an
interrupt; whatever ended a search is said, and what was found until then is still a plan.
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
# What searches consist of, and the seconds that one of each takes on the core that limits were chosen on (Python 3.11,
# 2.x GHz, nothing beside it), fitted to fourteen operators and four networks: within a fifth of what each stage took
TAKEN = {
    "engine": 0.08,  # an e-graph engine, its laws entered
    "node": 3.3e-5,  # a node of an e-graph, a round
    "form": 1.65e-5,  # a form of a class, made of forms of its parts
    "bound": 1.5e-4,  # a part of a form, bounded on a family of inputs
    "kernel": 2.2e-2,  # a kernel whose tiles are sought
    "lowered": 1.15e-4,  # a statement of a kernel, lowered and its work read off
    "tiling": 2.5e-5,  # tiles of a kernel, priced
    "launch": 2.5e-5,  # warps and stages of these, priced
    "column": 4.7e-4,  # a column of a cover's integer program, solved
    "entered": 3.5e-5,  # an instance of a law, entered for a chain of steps
    "move": 5.4e-5,  # a search for a part of such a chain
    "row": 1.85e-4,  # a row of a certificate, checked
    "element": 3e-9,  # an element of a plan in small, computed
}
# Times the counted seconds, and so many more for what is loaded first: processor time that counts in their place
PATIENT, LOADING = 3.0, 5.0
LEAST = 0.1  # of the time of a search, what a chain to what it found has at the least
# The probe of how fast a core is now: turns of its loop, seconds that it took on the core that limits were chosen on,
# seconds of processor time from one to the next, and the most that a slow or busy core counts for
TURNS, PROBE_S, PROBED, MOST_SLOW = 1500, 180e-6, 0.25, 2.5


def _probe() -> float:
    """Return the seconds of processor time that a small loop takes now, of the kind that searches are made of.

    They are this thread's: where its processor time is limited, that of a process is told by the clock's ticks alone.
    """
    begun, counts = time.thread_time(), dict[tuple[int, str], int]()
    for turn in range(TURNS):
        key = turn & 63, "probe"
        counts[key] = counts.get(key, 0) + len(key)
    return time.thread_time() - begun


class Meter:
    """What this process has done, in seconds of the core that limits were chosen on.

    counted: the seconds of what was counted. slow: how many seconds of this core are one of those, at the last probe;
    1 / MOST_SLOW to MOST_SLOW.
    """

    def __init__(self, probe: Callable[[], float] = _probe) -> None:
        self.probe, self.counted = probe, 0.0
        self.raw, self.read, self.slow, self.asked = time.process_time(), 0.0, 0.0, -1.0

    def did(self, what: str, times: float = 1) -> None:
        """Count something that was done so many times."""
        self.counted += TAKEN[what] * times

    def passed(self, counted: float, processor: float) -> None:
        """Count what other processes did meanwhile, in seconds that they counted and of their processor time."""
        self.counted, self.read = self.counted + counted, self.read + processor

    def processor(self) -> float:
        """Return the seconds of processor time since the process began, or since this meter was made, as they were at
        most 20 ms ago: to ask costs a system call.
        """
        if (clock := time.monotonic()) > self.asked + 0.02:
            self.asked, now = clock, time.process_time()
            if not self.slow or now - self.raw > PROBED:
                if self.slow:
                    self.read += (now - self.raw) / self.slow
                took = sorted(self.probe() for _ in range(3))[1] / PROBE_S
                self.slow = min(MOST_SLOW, max(1 / MOST_SLOW, took))
                self.raw = now = time.process_time()  # what the probe took is not counted
            self.last = self.read + (now - self.raw) / self.slow
        return self.last


METER = Meter()


def patient(counted: float, processor: float) -> float:
    """Return counted seconds; where there were far more of processor time, what those count for."""
    return max(counted, (processor - LOADING) / PATIENT)


def _afresh() -> None:
    METER.counted, METER.raw, METER.read, METER.slow, METER.asked = 0.0, time.process_time(), 0.0, 0.0, -1.0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_afresh)  # a process begins at no seconds


@dataclass(slots=True)
class Clock:
    """What the parts of a budget share: the searches that ended before their end, how far they are, and the seconds of
    each stage.

    shared: what searches of a derivation have found out for those after them.
    tell: is given the search at hand and its figures, at most every tenth of a second: nodes and classes of the
    e-graph, kernels priced, the best time so far and the bound below it in µs, whatever is known.
    lead: is given the derivation of an operator, or of outputs of one, as soon as its plan is chosen, while its proof
    is still looked for: it has no steps yet, and what is returned in the end may be another.
    """

    stopped: list[str] = field(default_factory=list)
    tell: Tell | None = None
    lead: Callable[[Any], None] | None = None
    shared: dict[str, Any] = field(default_factory=dict)
    told: float = field(default_factory=time.monotonic)
    figures: dict[str, float] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
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
    """What is left to a derivation: `Budget(seconds)`, of METER; `clock.tell` is given how far it is.

    hard: after its end nothing is begun any more, not even what a plan still asks for: there is one without.
    work: the share of the counted work that searches may do, of nodes and of forms tried.
    """

    seconds: float = SECONDS
    clock: Clock = field(default_factory=Clock)
    hard: bool = False
    work: float = 1.0
    whole: Budget | None = None  # which this is a part of
    _begun: float = field(default_factory=lambda: METER.counted)
    _processor: float = field(default_factory=METER.processor)

    def begin(self) -> None:
        """Let the time begin now: what was done before is no part of the search."""
        self._begun, self._processor = METER.counted, METER.processor()

    def spent(self) -> float:
        """Return the seconds since it began."""
        return patient(METER.counted - self._begun, METER.processor() - self._processor)

    def left(self) -> float:
        """Return the seconds that are left."""
        return self.seconds - self.spent()

    def part(self, share: float) -> Budget:
        """Return a budget that begins now and has a share of what is left; it notes what stops in the same list."""
        return Budget(max(0.0, share * self.left()), self.clock, self.hard, self.work, self)

    def to_end(self) -> Budget:
        """Return a budget for what a plan that was found still asks for, its chain: what is left, and where the search
        for the plan has taken all of that, what is left of the time that it was given a part of.
        """
        budget = self
        while budget.whole is not None and budget.left() < LEAST * budget.seconds:
            budget = budget.whole
        return budget.part(1.0)

    def over(self, search: str, share: float = 1.0) -> bool:
        """Tell whether this share of the time is over, or all of it was ended, and note the search that
        stops for it.
        """
        clock = self.clock
        clock.note(search)
        if INTERRUPTED not in clock.stopped and self.spent() < share * self.seconds:
            return False
        if search not in clock.stopped:
            clock.stopped.append(search)
        return True

    def end(self) -> None:
        """End every search that asks from now on, as an interrupt does."""
        self.clock.stopped.append(INTERRUPTED)
