"""Kernels that are PyTorch's at the edges too: without the guards by which the language has a number there, and tried
on NaN, infinities and zeros of both signs, on masks that hold nowhere and on the whole numbers that a program names.

The laws speak of numbers, so nothing of this is proved: the plan in small, the same statements over few blocks, is run
on data that hold each edge, and held against PyTorch's arithmetic of the program's own term, or against that without
what a mask leaves out, which PyTorch multiplies by 0. Where one element differs the program is not taken.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from itertools import islice, product
from typing import Any

from napkin_eq.lang.diagram import Diagram
from napkin_eq.lang.dtypes import BY_NAME
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.operators import PLACES
from napkin_eq.lang.term import Const, Fold, Input, Online, Read, Reduce, Scan, Term, subterms
from napkin_eq.pipeline.reference import Evaluation, masked, needed, summed
from napkin_eq.search.derivation import Derived
from napkin_eq.search.job import prover
from napkin_eq.tile import ir as p
from napkin_eq.tile.passes.bare_edges import bare
from napkin_eq.tile.printers import emit
from napkin_eq.verify.miniature import Miniature, at_its_sizes, miniature
from napkin_eq.verify.translation import ELEMENT, computed, drawn

Change = Callable[[Any], Any]

# Of the largest number of an array, on these data or on plain ones, which counts as LEAST at least: both compute in
# float64, and what numbers of about 1 are off by where they cancel is no difference.
NEAR, LEAST = 1e-7, 1e-6
NAMED = 6  # of the whole numbers that a program names, those that are tried in each input of whole numbers
LANES = 5  # of an axis: of two numbers, one of them NaN, the other is the largest and the least
MIXTURES = 32  # of data with edges of several kinds
# Elements that the cases of a run have together of any array of the plan, of an evaluation of any part of the program
ABREAST, EVALUATED = 2**22, 2**18
MAXIMA = ((False, False), (True, False), (True, True))  # how running maxima are begun and ended
FIRST = 8  # cases of the first run, with NaN among them: where it is lost, a plan that keeps it is tried soon
# Nanoseconds, about, that a trial may take in the plan in small that is most faithful, in any; seconds of processor
# time after which it ends
QUICK, MOST_WORK, SECONDS = 5e8, 1e10, 20.0
CASES = " case"  # the axis of several data
INF, NAN = float("inf"), float("nan")
AT_EDGE = "at an edge"  # how the reason begins
TOO_LARGE = "the plan in small is too large to be tried"  # how it may end: nothing is wrong there


class Differs(NapkinError):
    """A plan that is not PyTorch's at an edge."""


def _places_of_any(kernel: p.Kernel) -> bool:
    """Tell whether a kernel takes the place of a largest number that may be NaN: not where it is chosen among
    constants, and numbers of which a comparison holds.
    """
    chosen: set[str] = set()
    compared: dict[str, tuple[p.Operand, ...]] = {}
    for stmt in p.statements(kernel.body):
        if isinstance(stmt, p.Let) and stmt.op in ("lt", "le", "eq"):
            compared[stmt.out.name] = stmt.args
        if isinstance(stmt, p.Let) and stmt.op == "where":
            mask, one, other = stmt.args
            held = compared.get(str(mask), ())
            if all(arg in chosen or not isinstance(arg, str) for arg in (other, *(() if one in held else (one,)))):
                chosen.add(stmt.out.name)
        if isinstance(stmt, (p.ReduceTile, p.ScanTile)) and stmt.monoid in PLACES and stmt.arg not in chosen:
            return True
    return False


def with_edges(found: Derived) -> p.Plan:
    """Return a derivation's plan with the machine's own values at edges, NaN kept in maxima, -inf not in products, and
    running maxima begun with the first that is no -inf, and what rows without one give NaN, if that is needed.

    Raises Differs where it is not PyTorch's on some of the data tried, or cannot be tried.
    """
    if any(map(_places_of_any, found.plan.kernels)):
        raise Differs(f"{AT_EDGE} not tried: the place of a largest number is another one beside NaN")
    small = _in_small(found)
    if any(coord.axis.name not in small.sizes for kernel in small.plan.kernels for coord in kernel.coords):
        raise Differs(f"{AT_EDGE} not tried: there is no plan in small, and the sizes of its axes are not known")
    trial, why = Trial(small), ""
    tried: list[p.Plan] = []
    # Where groups of warps share a kernel's work NaN is not kept in its maxima
    shared = [kernel.workers is not None for kernel in found.plan.kernels]
    for absorbing, nan, (begun, ended) in product((True, False), (False, True), MAXIMA):
        how = {"absorbing": absorbing, "nan": nan, "begun": begun, "ended": ended}
        plan = _bare(small.plan, how, shared)
        if plan in tried:
            continue
        tried.append(plan)
        if not (why := trial.difference(plan)):
            return _bare(found.plan, how, shared)
    raise Differs(f"{AT_EDGE} not PyTorch's: {why}")


def _bare(plan: p.Plan, how: Mapping[str, bool], shared: Sequence[bool] = ()) -> p.Plan:
    """Return a plan whose kernels are bare in a way; `shared`: those in whose maxima NaN is not kept, if any."""
    kept = {**how, "nan": False}
    own = shared or [False] * len(plan.kernels)
    kernels = (bare(kernel, **(kept if stays else how)) for kernel, stays in zip(plan.kernels, own, strict=True))
    return replace(plan, kernels=tuple(kernels))


def _in_small(found: Derived) -> Miniature:
    """Return a derivation's plan in small, the most faithful one that is quickly tried, or the quickest: with fewer
    lanes of axes along which nothing is folded, with tiles whose order alone is kept, with whole numbers nearer.
    """
    proved, made = prover(found.statements), list[Miniature]()
    given = found.diagram, found.outputs, found.plan, found.hardware, found.dtype, proved
    parts = subterms(*(term for o in found.outputs for term in (o.source, o.placed.term)))
    folded = {part.axis.name: LANES for part in parts if isinstance(part, (Reduce, Fold, Online, Scan, Read))}
    every = folded | {axis.name: LANES for part in parts for axis in part.axes}
    for least, ranked, near in (
        (every, False, False),
        (folded, False, False),
        (folded, True, False),
        (folded, True, True),
    ):
        with suppress(NapkinError):  # a more faithful one, or a smaller one, may be there
            made.append(miniature(*given, least, ranked, near))
            if _work(made[-1]) <= QUICK:
                return made[-1]
    return min(made, key=_work, default=at_its_sizes(found.outputs, found.plan))


def _work(small: Miniature) -> float:
    """Return how long a trial takes, about, in nanoseconds of processor time."""
    cases, evaluated = sum(1 for _ in _kinds(small)), 0.0
    for part in needed(*(source for _, source in small.sources)):
        folded = small.sizes[part.axis.name] / 8 if summed(part) and isinstance(part, Reduce) else 1.0
        evaluated += ELEMENT * max(1.0, folded) * _size(small, part)
    return computed(small.plan, small.sizes, -(-cases // _abreast(small)), cases) + cases * evaluated


def _size(small: Miniature, term: Term) -> int:
    return math.prod(small.sizes[axis.name] for axis in term.axes)


def _abreast(small: Miniature) -> int:
    """Return how many cases one run of the plan takes."""
    arrays = (*small.plan.inputs, *small.plan.outputs, *small.plan.scratch)
    return max(1, ABREAST // max(math.prod(small.sizes[axis.name] for axis in array.dims) for array in arrays))


class Trial:
    """Data with edges for a plan in small, several cases at once, and what PyTorch's arithmetic gives of them, computed
    once for all plans that are held against it.
    """

    def __init__(self, small: Miniature) -> None:
        import torch  # which takes seconds, and is no part of the time for a trial

        self.torch = torch
        self.small, self.plain, self.step = small, drawn(small, "rounded", 1), _abreast(small)
        self.orders = {buffer.name: [axis.name for axis in buffer.dims] for buffer in small.plan.outputs}
        self.waiting = _edged(small, self.plain)
        sums = [part for _, source in small.sources for part in subterms(source) if summed(part) is not None]
        self.masks = any(map(masked, sums))
        self.known: list[tuple[list[str], dict[str, Any], dict[str, Any]]] = []

    def difference(self, plan: p.Plan) -> str:
        """Return on which data a plan first differs from PyTorch's arithmetic, nothing where it does on none."""
        if _work(self.small) > MOST_WORK:
            return TOO_LARGE
        run, begun = emit(plan, "numpy"), time.process_time()
        for names, data, wanted in self.cases():
            if time.process_time() - begun > SECONDS:
                return f"{names[0]} could not be tried in {SECONDS:g} s"
            unread = cache(partial(self.unread, data))
            for at, found in enumerate(self.ran(run, data, len(names))):
                if isinstance(found, NapkinError):
                    return f"on {names[at]}: {found}"
                for name in wanted:
                    plain, own = self.known[0][2][name][0], wanted[name][at]
                    why = _apart(found[name], [own], plain)
                    if why and self.masks:
                        why = _apart(found[name], [own, unread(at)[name][0]], plain)
                    if why:
                        return f"on {names[at]} output {name}{why}"
        return ""

    def unread(self, data: dict[str, Any], at: int) -> dict[str, Any]:
        """Return what PyTorch's arithmetic gives of a case where what a mask leaves out is not read."""
        return self.exact({name: self.few(name, data, at, at + 1) for name in data}, 1, absent=True)

    def ran(self, run: Any, data: dict[str, Any], cases: int) -> Iterator[Mapping[str, Any] | NapkinError]:
        """Yield what a plan gives of each case, run at once where all take the same blocks and elements, else one by
        one, or why it gives nothing.
        """
        try:
            found = run(data, sizes=dict(self.small.sizes), cases=cases)
        except NapkinError as reason:
            if cases == 1:
                yield reason
                return
            for at in range(cases):
                yield from self.ran(run, {name: self.few(name, data, at, at + 1) for name in data}, 1)
        else:
            yield from ({name: array[at] for name, array in found.items()} for at in range(cases))

    def few(self, name: str, data: dict[str, Any], start: int, end: int) -> Any:
        """Return some cases of an input, all that there is of one that is the same in all cases."""
        return data[name][start:end] if data[name].ndim > self.plain[name].ndim else data[name]

    def cases(self) -> Iterator[tuple[list[str], dict[str, Any], dict[str, Any]]]:
        """Yield what some data with edges are, the data, and what PyTorch gives of them."""
        import numpy as np

        yield from self.known
        while some := list(islice(self.waiting, self.step if self.known else min(self.step, FIRST))):
            changed = [name for name in self.plain if any(name in data for _, data in some)]
            edged = {name: np.stack([data.get(name, self.plain[name]) for _, data in some]) for name in changed}
            data = {**self.plain, **edged}
            self.known.append(([said for said, _ in some], data, self.exact(data, len(some))))
            yield self.known[-1]

    def exact(self, data: dict[str, Any], cases: int, absent: bool = False) -> dict[str, Any]:
        """Return what PyTorch's arithmetic gives of some cases, a few at once."""
        import numpy as np

        sizes, parts = self.small.sizes, needed(*(source for _, source in self.small.sources))
        step = max(1, EVALUATED // max(_size(self.small, part) for part in parts))
        found = []
        for start in range(0, cases, step):
            few = {name: self.few(name, data, start, start + step) for name in data}
            arrays = {name: self.torch.from_numpy(np.array(array)) for name, array in few.items()}
            of = {**sizes, CASES: min(step, cases - start)}
            work = Evaluation(arrays, of, self.torch.float64, None, CASES, absent)
            found.append(
                {name: work.value(term, (CASES, *self.orders[name])).numpy() for name, term in self.small.sources}
            )
        return {name: np.concatenate([values[name] for values in found]) for name in self.orders}


def _apart(found: Any, wanted: Sequence[Any], plain: Any) -> str:
    """Return where an output is none of what is wanted, nothing where each element is one of these; plain: what PyTorch
    gives of plain numbers.
    """
    import numpy as np

    first = wanted[0]
    if found.shape != first.shape:
        return f" is of the shape {found.shape}, PyTorch's {first.shape}"
    bad = np.ones(found.shape, dtype=bool)
    for one in wanted:
        if one.dtype.kind != "f":
            bad &= found != one
            continue
        size = max(np.abs(array[np.isfinite(array)]).max(initial=LEAST) for array in (one, plain))
        with np.errstate(all="ignore"):
            near = np.abs(found - one) <= NEAR * size
            bad &= ~np.where(np.isfinite(one), near, (found == one) | (np.isnan(found) & np.isnan(one)))
    if not bad.any():
        return ""
    at = tuple(int(i) for i in np.argwhere(bad)[0])
    return f" is {found[at]:.6g} at {list(at)}, PyTorch's {first[at]:.6g}"


def _edged(small: Miniature, plain: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what data with edges are, and the inputs that are other ones than plain."""
    for said, changes in _kinds(small):
        yield said, {name: change(plain[name]) for name, change in changes.items()}


def _kinds(small: Miniature) -> Iterator[tuple[str, dict[str, Change]]]:
    """Yield what data with edges are, and how they come of plain numbers: all of one sign, zeros, of each input zeros,
    rows of -inf, NaN and infinities, masks that hold everywhere or nowhere, whole numbers that the program names, and
    mixtures.
    """
    import numpy as np

    inputs = sorted(Diagram("small", small.sources).inputs(), key=lambda array: array.name)
    real = [array.name for array in inputs if array.kind == "real"]
    yield "plain numbers", {}
    if real:
        yield "zeros", dict.fromkeys(real, np.zeros_like)
        yield "zeros with a minus sign", dict.fromkeys(real, lambda array: -np.zeros_like(array))
        yield "negative numbers", dict.fromkeys(real, lambda array: -np.abs(array))
        yield "positive numbers", dict.fromkeys(real, np.abs)
    named = _named(small)
    for array in inputs:
        for said, change in _changes(array.kind, len(array.dims), _held(array, named)):
            yield f"{said} of {array.name}", {array.name: change}
    for chosen in inputs:
        for value, number in product(_numbers(chosen.kind, _held(chosen, named)), (NAN, INF)):
            if chosen.kind != "real" and real:  # what a mask or a label leaves out is no number
                changes: dict[str, Change] = {
                    array.name: _row(number, len(array.dims)) for array in inputs if array.kind == "real"
                }
                changes[chosen.name] = _row(value, len(chosen.dims))
                yield f"{number:g} where {chosen.name} is {value:g}", changes
    random = np.random.default_rng(0)
    mixed: dict[str, Change] = {
        array.name: partial(MIXED[array.kind], random=random, named=_held(array, named)) for array in inputs
    }
    for number in range(MIXTURES if inputs else 0):
        yield f"mixture {number}", mixed


def _named(small: Miniature) -> list[int]:
    """Return 0 and the whole numbers in a program, the least first."""
    parts = subterms(*(source for _, source in small.sources))
    found = {0, *(int(part.value) for part in parts if isinstance(part, Const) and part.kind == "int")}
    return sorted(found, key=lambda number: (abs(number), number))


def _held(array: Input, named: list[int]) -> list[int]:
    """Return the whole numbers that an input's type has."""
    least, most = BY_NAME[array.dtype].whole if array.kind == "int" else (0, 1)
    return [number for number in named if least <= number <= most][:NAMED]


def _mixed(plain: Any, random: Any, named: list[int]) -> Any:
    """Return numbers of which some are NaN, infinite or 0, now and then all others whole, and now and then a row along
    one axis is of one kind.
    """
    import numpy as np

    edges = np.array([NAN, INF, -INF, 0.0, -0.0])
    array = random.permutation(np.ravel(plain)).reshape(plain.shape)
    if random.random() < 0.3:
        array = abs(array)
    if random.random() < 0.3:
        array = np.round(array)
    chosen = random.random(array.shape) < random.choice([0.0, 0.05, 0.2, 0.5])
    array = np.where(chosen, random.choice(edges, size=array.shape, p=[0.2, 0.3, 0.3, 0.1, 0.1]), array)
    if array.ndim > 1 and random.random() < 0.3:
        axis = random.integers(array.ndim)
        array[tuple(random.integers(n) if at != axis else slice(None) for at, n in enumerate(array.shape))] = (
            random.choice(edges)
        )
    return array


def _mixed_whole(plain: Any, random: Any, named: list[int]) -> Any:
    """Return whole numbers of which some are those that a program names."""
    import numpy as np

    array = random.permutation(np.ravel(plain)).reshape(plain.shape)
    chosen = random.random(array.shape) < random.choice([0.0, 0.2, 0.5])
    return np.where(chosen, random.choice(named, size=array.shape), array).astype(plain.dtype)


def _mixed_masks(plain: Any, random: Any, named: list[int]) -> Any:
    """Return a mask that holds nearly nowhere, here and there, or nearly everywhere."""
    return random.random(plain.shape) < random.choice([0.1, 0.5, 0.9])


MIXED = {"real": _mixed, "int": _mixed_whole, "bool": _mixed_masks}


def _at(number: float, *index: Any) -> Change:
    def changed(plain: Any) -> Any:
        array = plain.copy()
        array[index] = number
        return array

    return changed


def _row(number: float, rank: int, axis: int = -1) -> Change:
    """Put a number in the first row along an axis; of an array of one dimension in the first element."""
    index: list[Any] = [0] * rank
    if rank > 1:
        index[axis] = slice(None)
    return _at(number, *index)


def _numbers(kind: str, named: list[int]) -> list[float]:
    return {"real": [NAN, INF, -INF, 0.0, -0.0], "int": [*map(float, named)], "bool": [0.0, 1.0]}[kind]


def _changes(kind: str, rank: int, named: list[int]) -> Iterator[tuple[str, Change]]:
    """Yield what an input may hold: a number everywhere, at the first and last element, -inf everywhere but there, a
    number in a row along each axis.
    """
    numbers = _numbers(kind, named)
    for number in [0.0, -INF] if kind == "real" else numbers:
        yield f"all {number:g}", _at(number, ...)
    for number in numbers:
        yield f"{number:g} at the first element", _at(number, *(0,) * rank)
        yield f"{number:g} at the last element", _at(number, *(-1,) * rank)
    for axis in range(rank if kind == "real" else 0):  # whole blocks before the first that is not so
        yield f"-inf before the last along {axis}", _at(-INF, *(slice(None),) * axis, slice(None, -1))
    for number in numbers if rank > 1 else ():
        for axis in range(rank):
            yield f"{number:g} in a row along {axis}", _row(number, rank, axis)
