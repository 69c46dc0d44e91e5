"""Plans for sizes that are known only when they run: a few plans of one diagram, each derived for other sizes, and
tests that choose among them.

Each plan is derived, proved and validated for all sizes that it needs no more of than its own facts: an axis of one
element, a size that 16 divides, a size that one tile holds. At sample sizes the cost model says which is fastest, and a
tree of tests, grown where plans change places, takes it from there: see tile/guards.py for why each is right where it
is taken.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from napkin_eq.lang.axis import Axis
from napkin_eq.lang.diagram import Diagram
from napkin_eq.lang.errors import NapkinError
from napkin_eq.machine.cost import in_a_row, price, profile
from napkin_eq.machine.gpu import Hardware
from napkin_eq.machine.tile_scheduler import dealt
from napkin_eq.machine.warp_specialized import footprint, priced
from napkin_eq.pipeline.derivation import Derivation
from napkin_eq.pipeline.derive import derive
from napkin_eq.pipeline.top_k import lowered, tilings, with_pieces, with_tilings
from napkin_eq.pipeline.tree import grown
from napkin_eq.search.assemble import renamed
from napkin_eq.search.tiling import Tiled
from napkin_eq.tile import ir as p
from napkin_eq.tile.expected import Expected, expecting
from napkin_eq.tile.guards import Case, Dispatch, Needs, Parts, SizeTest, leaves, numbered
from napkin_eq.tile.printers import dispatch_code

LEVELS = (1, 17, 64, 128, 512, 1000, 2048, 4096, 8192, 16384, 65536)
FEW = (1, 17, 128, 1000, 4096, 16384)  # of more than two sizes
SAMPLES, MOST_ELEMENTS = 150, 2**32
SEEDS, MOST_PLANS, ALIGNED = 10, 24, 16
HELD = 32768  # the longest axis that one tile may hold
NEARLY = 1.01  # a plan so much slower than the fastest is as good


@dataclass(frozen=True, slots=True)
class Sized:
    """One of the plans: its derivation, of a diagram with the facts that it needs, its tilings, and what is needed."""

    derivation: Derivation
    tiled: tuple[Tiled, ...]
    needs: Needs
    parts: tuple[Parts, ...]
    kernels: tuple[p.Kernel, ...]
    plain: tuple[p.Kernel, ...]  # the kernels as they are before groups of warps share their work

    def us(self, sizes: Mapping[str, int]) -> float:
        """Return the predicted microseconds at sizes by name; infinite where the plan does not hold or does not fit."""
        return predicted(self, sizes) if self.needs.met(sizes) else math.inf


@dataclass(frozen=True, slots=True)
class Family:
    """The plans of a diagram for sizes that are known only when it runs, the general one last."""

    diagram: Diagram
    sized: tuple[Sized, ...]
    dispatch: Dispatch

    def code(self) -> str:
        """Return one Python file with the kernels of all plans, and a `run` that takes the one for the sizes it is
        given.
        """
        return dispatch_code(self.dispatch)

    def chosen(self, sizes: Mapping[str, int]) -> Sized:
        """Return the plan that is taken at sizes by name."""
        return self.sized[self.dispatch.chosen(sizes)]

    def data(self) -> dict[str, Any]:
        """Return the guards and plans as data, keys stable."""
        rows = [
            {"guard": [f"{'' if held else 'not '}{test}" for test, held in way], "plan": at}
            for way, at in self.dispatch.guards()
        ]
        return {
            "schema": 1,
            "diagram": self.diagram.name,
            "guards": rows,
            "plans": [s.derivation.report() for s in self.sized],
        }


def symbols(diagram: Diagram) -> tuple[Axis, ...]:
    """Return the axes of a diagram whose sizes are not known and that an input has, so that they can be read off it."""
    held = {d.name for array in diagram.inputs() for d in array.dims}
    return tuple({a.name: a for a in diagram.axes() if a.size is None and a.name in held}.values())


def family(diagram: Diagram, *, plans: int = MOST_PLANS, seeds: int = SEEDS, **asked: Any) -> Family:
    """Return a few plans of a diagram some of whose sizes are known only when it runs, and the guards that choose among
    them.

    plans: the most plans. seeds: how many sizes to derive it for anew; for others what was derived gets other tiles.
    asked: as for `derive`. Raises NapkinError where all sizes are known, or nothing is derived.
    """
    free = symbols(diagram)
    if not free:
        raise NapkinError(
            f"diagram {diagram.name}: every size is a number, and one plan is for it; leave sizes open that are known"
            " only when it runs"
        )
    points = samples(diagram, free)
    found = _Found(free)
    found.add(derive(diagram, **asked))
    for point in _spread(points, seeds):
        for facts, expected in _facts(diagram, free, point):
            try:
                found.add(derive(facts, **{**asked, "expected": expected}))
            except NapkinError:
                continue  # facts with which nothing fits: others stand
    for derivation in list(found.terms.values()):
        for point in _levels(points, free):
            found.tile(derivation, point)
    times = [[one.us(point) for one in found.sized] for point in points]
    dropped: set[int] = set()
    while True:
        kept = _few(times, plans, dropped)
        wrong = {at for at in kept[:-1] if not found.holds(at)}
        if not wrong:
            break
        dropped |= wrong
    sized = [found.sized[at] for at in kept]
    table = [(point, [row[at] for at in kept]) for point, row in zip(points, times, strict=True)]
    tree = grown(table, [one.needs for one in sized], _features(free, sized))
    used = sorted({leaf for _, leaf in leaves(tree)} | {len(sized) - 1})
    sized = [sized[at] for at in used]
    cases = tuple(Case(_named(one.derivation.plan, f"plan_{at}"), one.needs, one.parts) for at, one in enumerate(sized))
    return Family(diagram, tuple(sized), Dispatch(diagram.name, cases, numbered(tree, used), _notes(diagram, sized)))


class _Found:
    """The plans that were found, each once, the first one right for all sizes."""

    def __init__(self, free: Sequence[Axis]) -> None:
        self.free = free
        self.sized: list[Sized] = []
        self.terms: dict[Any, Derivation] = {}
        self.seen: set[tuple[p.Kernel, ...]] = set()

    def add(self, derivation: Derivation, pieces: Sequence[Tiled] = ()) -> None:
        """Note a derivation, with other tilings where they are given: these are validated only once the
        plan is wanted.
        """
        tiled = tuple(pieces) or tuple(derivation.tiled)
        plan = with_pieces(derivation, tiled) if pieces else derivation.plan
        if plan.kernels in self.seen:
            return
        self.seen.add(plan.kernels)
        held = {a.name: a for a in derivation.diagram.axes()}
        own = [held[a.name] for a in self.free if a.name in held]
        exact = {a.name: a.size for a in own if a.size is not None}
        declared = {a.name: a.multiple for a in self.free}
        divisor = {a.name: a.multiple for a in own if a.size is None and declared[a.name] % a.multiple}
        needs = Needs(
            exact, divisor, {name: most for name, most in plan.limits.items() if name not in derivation.expected.parts}
        )
        if (parts := _parts(derivation, plan)) is None:
            return
        kernels = lowered(replace(derivation, plan=plan), tiled)
        self.sized.append(Sized(derivation, tuple(pieces), needs, parts, plan.kernels, tuple(kernels)))
        if not pieces:
            self.terms.setdefault(
                (tuple(o.placed.term for o in derivation.outputs), tuple(exact.items()), tuple(divisor.items())),
                derivation,
            )

    def tile(self, derivation: Derivation, point: Mapping[str, int]) -> None:
        """Find the best tiles of what was derived at other sizes, where its facts hold there."""
        base = next(one for one in self.sized if one.derivation is derivation)
        if not replace(base.needs, most={}).met(point):
            return
        machine = derivation.hardware
        parts = {c.part: (c.axis, c.count(point, machine.chip.sms), c.most) for c in base.parts}
        expected = Expected(dict(point), _most(self.free, point), True, parts)
        again = replace(derivation, expected=expected)
        try:
            self.add(again, [tilings(again, at, 1, again.printer)[0] for at in range(len(again.tiled))])
        except NapkinError:
            return  # nothing fits with such promises

    def holds(self, at: int) -> bool:
        """Make a plan's derivation with its tilings, and tell whether it agrees with the diagram."""
        one = self.sized[at]
        if one.tiled:
            try:
                made = with_tilings(one.derivation, one.tiled)
            except NapkinError:  # it differs, or cannot be made
                return False
            self.sized[at] = replace(one, derivation=made, tiled=())
        return True


def _most(free: Sequence[Axis], point: Mapping[str, int]) -> dict[str, int]:
    """Return what sizes are promised never to pass at a point: the next power of two, where one tile may
    hold as much.
    """
    return {a.name: 1 << (point[a.name] - 1).bit_length() for a in free if 1 < point[a.name] <= HELD}


def _facts(diagram: Diagram, free: Sequence[Axis], point: Mapping[str, int]) -> Iterator[tuple[Diagram, Expected]]:
    """Yield the diagram with what is known at a point, with and without what divides sizes there, and what
    is expected.
    """
    exact = {a.name: 1 for a in free if point[a.name] == 1}
    wide = {a.name: ALIGNED for a in free if point[a.name] % ALIGNED == 0}
    for divisor in [wide, {}] if wide else [{}]:
        try:
            yield (
                diagram.with_sizes(exact).with_multiples(divisor),
                Expected(dict(point), _most(free, point), counted=True),
            )
        except NapkinError:
            return  # sizes to which others are tied


def _levels(points: Sequence[dict[str, int]], free: Sequence[Axis]) -> list[dict[str, int]]:
    """Return sample sizes such that each level of each axis comes with small others and with large ones."""
    found: list[dict[str, int]] = []
    for axis in free:
        for level in sorted({point[axis.name] for point in points}):
            own = sorted((s for s in points if s[axis.name] == level), key=lambda s: math.prod(s.values()))
            found += [own[0], own[len(own) // 3], own[-1]]
    return list({tuple(s.items()): s for s in found}.values())


def _parts(found: Derivation, plan: p.Plan) -> tuple[Parts, ...] | None:
    """Return the stretches that a plan counts at launch; None where the number of some is not to be told from the grid
    that computes them.
    """
    counted: dict[str, Parts] = {}
    own = {a.name for a in found.diagram.axes()}
    for kernel in plan.kernels:
        for name, (axis, _, most) in found.expected.parts.items():
            if name in (kernel.coord(g).axis.name for g in kernel.grid) and name not in counted:
                others = [kernel.coord(g) for g in kernel.grid if kernel.coord(g).axis.name != name]
                blocks = tuple((c.axis.name if c.axis.size is None else c.axis.size, c.tile) for c in others)
                counted[name] = Parts(name, axis, blocks, most)
    free = {a.name for k in plan.kernels for a in k.symbols} - own
    return tuple(counted.values()) if free <= set(counted) else None


def predicted(one: Sized, sizes: Mapping[str, int]) -> float:
    """Return the microseconds that the cost model predicts for a plan at sizes by name; infinite where it
    does not fit.
    """
    machine = one.derivation.hardware
    parts = {c.part: (c.axis, c.count(sizes, machine.chip.sms), c.most) for c in one.parts}
    with expecting(Expected(dict(sizes), parts=parts)):
        times = [_kernel_us(kernel, plain, machine) for kernel, plain in zip(one.kernels, one.plain, strict=True)]
    return in_a_row(times, machine)


def _kernel_us(kernel: p.Kernel, plain: p.Kernel, machine: Hardware) -> float:
    read = profile(plain)
    if kernel.workers is None:
        cost = price(read, {}, kernel.warps, kernel.stages, machine)
    else:
        use = footprint(kernel)
        cost = None if use is None else priced(read, use, {}, kernel.stages, machine)
        if cost is not None and use is not None:
            cost = priced(read, use, {}, kernel.stages, machine, dealt(kernel, cost, machine))
    return math.inf if cost is None else cost.predicted_us


def samples(diagram: Diagram, free: Sequence[Axis]) -> list[dict[str, int]]:
    """Return sizes at which plans are weighed: all of a few levels, of many axes a sample of them, none of arrays past
    2^32 elements.
    """
    levels = LEVELS if len(free) <= 2 else FEW
    names = [a.name for a in free]
    fitting = [-(-level // a.multiple) * a.multiple for a in free for level in levels]
    each = [sorted(set(fitting[at * len(levels) : (at + 1) * len(levels)])) for at in range(len(free))]
    every = (
        [dict(zip(names, values, strict=True)) for values in itertools.product(*each)]
        if math.prod(map(len, each)) <= 10**5
        else []
    )
    if not every:
        every = [
            {n: Random(f"{i}/{n}").choice(choice) for n, choice in zip(names, each, strict=True)}
            for i in range(10 * SAMPLES)
        ]
    arrays = [array.dims for array in diagram.inputs()] + [term.axes for _, term in diagram.outputs]
    small = [
        s for s in every if all(math.prod(s.get(d.name, d.size or 1) for d in dims) <= MOST_ELEMENTS for dims in arrays)
    ]
    if len(small) > SAMPLES:
        small = Random(0).sample(small, SAMPLES)
    return sorted(small, key=lambda s: tuple(s.values()))


def _spread(points: Sequence[dict[str, int]], count: int) -> list[dict[str, int]]:
    """Return points far from each other: the largest first, then those where one size is the largest and the others are
    least, as what few blocks do is cut into parts, then each as far from those before it as there is one.
    """
    def apart(a: Mapping[str, int], b: Mapping[str, int]) -> float:
        return sum((math.log(a[n] / b[n]) + (2 if (a[n] == 1) != (b[n] == 1) else 0)) ** 2 for n in a)

    left = sorted(points, key=lambda s: -math.prod(s.values()))
    corners = [min(points, key=lambda s: (-s[name], math.prod(s.values()))) for name in points[0]] if points else []
    found = list({tuple(s.items()): s for s in [*left[:1], *corners]}.values())[:count]
    while len(found) < min(count, len(points)):
        found.append(max(left, key=lambda s: min(apart(s, f) for f in found)))
    return found


def _few(times: Sequence[Sequence[float]], most: int, dropped: set[int]) -> list[int]:
    """Return the plans to keep, the general one, which is the first, last: as few as are nearly as fast everywhere as
    all that are not dropped.
    """
    times = [[math.inf if at in dropped else us for at, us in enumerate(row)] for row in times]
    best = [min(row) for row in times]
    kept = [0]
    while len(kept) < most:
        lost = [min(row[k] for k in kept) / least for row, least in zip(times, best, strict=True)]
        if max(lost) <= NEARLY:
            break
        losing = [(row, least, now) for row, least, now in zip(times, best, lost, strict=True) if now > NEARLY]
        left = [at for at in range(len(times[0])) if at not in kept]
        gains = {
            at: sum(math.log(now / max(1.0, min(now, row[at] / least))) for row, least, now in losing) for at in left
        }
        kept.append(max(gains, key=lambda at: (gains[at], -at)))
    return [*kept[1:], 0]


def _features(free: Sequence[Axis], sized: Sequence[Sized]) -> tuple[list[SizeTest], list[tuple[str, ...]]]:
    """Return the tests that plans need, and the products of sizes that tests of how large they are may be of."""
    names = [a.name for a in free]
    tests = sorted({test for one in sized for test in one.needs.tests()})
    return tests, [group for n in range(1, min(len(names), 4) + 1) for group in itertools.combinations(names, n)]


def _named(plan: p.Plan, name: str) -> p.Plan:
    """Return a plan whose kernels have names that no other plan's have."""
    return replace(plan, kernels=tuple(renamed(kernel, f"{name}_{kernel.name}", {}) for kernel in plan.kernels))


def _notes(diagram: Diagram, sized: Sequence[Sized]) -> tuple[str, ...]:
    general = sized[-1].derivation.plan.notes
    plans = (
        f"{len(sized)} plans, of which `chosen` takes one by the sizes" if len(sized) > 1 else "one plan for all sizes"
    )
    return (*(note for note in general if not note.startswith("predicted:")), plans)
