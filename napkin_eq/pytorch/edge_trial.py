"""Kernels that are PyTorch's at the edges too: without the guards by which the language has a number there, and tried
on NaN, infinities and zeros.

The laws speak of numbers, so nothing of this is proved: the plan in small, the same statements over few blocks, is run
on data that hold each edge, and held against PyTorch's arithmetic of the program's own term. Where one element differs
the program is not taken.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import islice, product
from typing import Any

from napkin_eq.lang.diagram import Diagram
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.operators import PLACES
from napkin_eq.lang.term import subterms
from napkin_eq.search.derivation import Derived
from napkin_eq.search.job import prover
from napkin_eq.tile import ir as p
from napkin_eq.tile.passes.bare_edges import bare
from napkin_eq.tile.printers import emit
from napkin_eq.verify.miniature import Miniature, at_its_sizes, miniature
from napkin_eq.verify.translation import drawn, work

Change = Callable[[Any], Any]

NEAR = 1e-7  # of the largest number of an array: both compute in float64
LANES = 5  # of an axis: of two numbers, one of them NaN, the other is the largest and the least
MIXTURES = 32  # of data with edges of several kinds
# Elements that the cases of a run have together of any array of the plan, of an evaluation of any part of the program
ABREAST, EVALUATED = 2**22, 2**18
FIRST = 8  # cases of the first run, with NaN among them: where it is lost, a plan that keeps it is tried soon
# Nanoseconds, about, that a trial may take in the plan in small that is most faithful, in any; seconds of processor
# time after which it ends
QUICK, MOST_WORK, SECONDS = 5e8, 1e10, 20.0
CASES = " case"  # the axis of several data
INF, NAN = float("inf"), float("nan")
AT_EDGE = "at an edge"  # how the reason begins


class Differs(NapkinError):
    """A plan that is not PyTorch's at an edge."""


def _places_of_any(kernel: p.Kernel) -> bool:
    """Tell whether a kernel takes the place of a largest number that may be NaN: not where it is chosen among
    constants.
    """
    chosen: set[str] = set()
    for stmt in p.statements(kernel.body):
        if (
            isinstance(stmt, p.Let)
            and stmt.op == "where"
            and all(arg in chosen or not isinstance(arg, str) for arg in stmt.args[1:])
        ):
            chosen.add(stmt.out.name)
        if isinstance(stmt, (p.ReduceTile, p.ScanTile)) and stmt.monoid in PLACES and stmt.arg not in chosen:
            return True
    return False


def with_edges(found: Derived) -> p.Plan:
    """Return a derivation's plan with the machine's own values at edges, NaN kept in maxima, and -inf not in products,
    if that is needed.

    Raises Differs where it is not PyTorch's on some of the data tried, or cannot be tried.
    """
    if any(map(_places_of_any, found.plan.kernels)):
        raise Differs(f"{AT_EDGE} not tried: the place of a largest number is another one beside NaN")
    trial, why = Trial(small := _in_small(found)), ""
    tried: list[p.Plan] = []
    for absorbing, nan in product((True, False), (False, True)):
        plan = _bare(small.plan, nan, absorbing)
        if plan in tried or (nan and any(kernel.workers is not None for kernel in found.plan.kernels)):
            continue
        tried.append(plan)
        if not (why := trial.difference(plan)):
            return _bare(found.plan, nan, absorbing)
    raise Differs(f"{AT_EDGE} not PyTorch's: {why}")


def _bare(plan: p.Plan, nan: bool, absorbing: bool) -> p.Plan:
    return replace(plan, kernels=tuple(bare(kernel, nan=nan, absorbing=absorbing) for kernel in plan.kernels))


def _in_small(found: Derived) -> Miniature:
    """Return a derivation's plan in small, the most faithful one that is quickly tried, or the quickest."""
    proved, made = prover(found.statements), list[Miniature]()
    try:
        for ranked, near in ((False, False), (True, False), (True, True)):
            made.append(
                miniature(
                    found.diagram, found.outputs, found.plan, found.hardware, found.dtype, proved, LANES, ranked, near
                )
            )
            if _work(made[-1]) <= QUICK:
                return made[-1]
    except NapkinError:
        return min(made, key=_work, default=at_its_sizes(found.outputs, found.plan))
    return min(made, key=_work)


def _work(small: Miniature) -> float:
    """Return how long a trial takes, about, in nanoseconds of processor time."""
    cases = sum(1 for _ in _kinds(small))
    return work(small, -(-cases // _abreast(small)), cases)


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
        self.known: list[tuple[list[str], dict[str, Any], dict[str, Any]]] = []

    def difference(self, plan: p.Plan) -> str:
        """Return on which data a plan first differs from PyTorch's arithmetic, nothing where it does on none."""
        if _work(self.small) > MOST_WORK:
            return "the plan in small is too large to be tried"
        run, begun = emit(plan, "numpy"), time.process_time()
        for names, data, wanted in self.cases():
            if time.process_time() - begun > SECONDS:
                return f"{names[0]} could not be tried in {SECONDS:g} s"
            found = run(data, sizes=dict(self.small.sizes), cases=len(names))
            for at, said in enumerate(names):
                for name in wanted:
                    if why := _apart(found[name][at], wanted[name][at]):
                        return f"on {said} output {name}{why}"
        return ""

    def cases(self) -> Iterator[tuple[list[str], dict[str, Any], dict[str, Any]]]:
        """Yield what some data with edges are, the data, and what PyTorch gives of them."""
        import numpy as np

        yield from self.known
        while some := list(islice(self.waiting, self.step if self.known else min(self.step, FIRST))):
            edged = {name: np.stack([data[name] for _, data in some]) for name in some[0][1]}
            data = {**self.plain, **edged}
            self.known.append(([said for said, _ in some], data, self.exact(data, list(edged), len(some))))
            yield self.known[-1]

    def exact(self, data: dict[str, Any], edged: list[str], cases: int) -> dict[str, Any]:
        """Return what PyTorch's arithmetic gives of some cases, a few at once."""
        import numpy as np

        from napkin_eq.pipeline.reference import Evaluation

        parts, sizes = subterms(*(source for _, source in self.small.sources)), self.small.sizes
        step = max(1, EVALUATED // max(math.prod(sizes[axis.name] for axis in part.axes) for part in parts))
        found = []
        for start in range(0, cases, step):
            few = {**data, **{name: data[name][start : start + step] for name in edged}}
            arrays = {name: self.torch.from_numpy(np.array(array)) for name, array in few.items()}
            work = Evaluation(arrays, {**sizes, CASES: min(step, cases - start)}, self.torch.float64, None, CASES)
            found.append(
                {name: work.value(term, (CASES, *self.orders[name])).numpy() for name, term in self.small.sources}
            )
        return {name: np.concatenate([values[name] for values in found]) for name in self.orders}


def _apart(found: Any, wanted: Any) -> str:
    import numpy as np

    found = np.broadcast_to(found, wanted.shape)
    if wanted.dtype.kind != "f":
        bad = found != wanted
    else:
        held = np.isfinite(wanted)
        size = np.abs(wanted[held]).max(initial=1.0)
        with np.errstate(all="ignore"):
            bad = np.where(
                held,
                ~(np.abs(found - wanted) <= NEAR * size),
                ~((found == wanted) | (np.isnan(found) & np.isnan(wanted))),
            )
    if not bad.any():
        return ""
    at = tuple(int(i) for i in np.argwhere(bad)[0])
    return f" is {found[at]:.6g} at {list(at)}, PyTorch's {wanted[at]:.6g}"


def _edged(small: Miniature, plain: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what data with edges are, and the data of each input of real numbers."""
    import numpy as np

    real = {name: np.array(plain[name], dtype=np.float64) for name in _real(small)}
    for said, changes in _kinds(small):
        yield said, {name: changes[name](array) if name in changes else array for name, array in real.items()}


def _real(small: Miniature) -> dict[str, int]:
    """Return the inputs of real numbers, with the number of their dimensions, in the order of their names."""
    found = sorted(Diagram("small", small.sources).inputs(), key=lambda array: array.name)
    return {array.name: len(array.dims) for array in found if array.kind == "real"}


def _kinds(small: Miniature) -> Iterator[tuple[str, dict[str, Change]]]:
    """Yield what data with edges are, and how they come of plain numbers: all of one sign, zeros, of each input zeros,
    rows of -inf, NaN and infinities, and mixtures.
    """
    import numpy as np

    real = _real(small)
    yield "plain numbers", {}
    if not real:
        return
    yield "zeros", dict.fromkeys(real, np.zeros_like)
    yield "negative numbers", dict.fromkeys(real, lambda array: -np.abs(array))
    yield "positive numbers", dict.fromkeys(real, np.abs)
    for name, rank in real.items():
        for said, change in _changes(rank):
            yield f"{said} of {name}", {name: change}
    random = np.random.default_rng(0)
    for number in range(MIXTURES):
        yield f"mixture {number}", dict.fromkeys(real, partial(_mixed, random=random))


def _mixed(plain: Any, random: Any) -> Any:
    """Return numbers of which some are NaN, infinite or 0, and now and then a row along one axis is of one kind."""
    import numpy as np

    edges = np.array([NAN, INF, -INF, 0.0])
    array = random.permutation(np.ravel(plain)).reshape(plain.shape)
    if random.random() < 0.3:
        array = abs(array)
    chosen = random.random(array.shape) < random.choice([0.0, 0.05, 0.2, 0.5])
    array = np.where(chosen, random.choice(edges, size=array.shape, p=[0.2, 0.3, 0.3, 0.2]), array)
    if array.ndim > 1 and random.random() < 0.3:
        axis = random.integers(array.ndim)
        array[tuple(random.integers(n) if at != axis else slice(None) for at, n in enumerate(array.shape))] = (
            random.choice(edges)
        )
    return array


def _changes(rank: int) -> Iterator[tuple[str, Change]]:
    def at(number: float, *index: Any) -> Change:
        def changed(plain: Any) -> Any:
            array = plain.copy()
            array[index] = number
            return array

        return changed

    first, last = (0,) * rank, (-1,) * rank
    yield "all zero", at(0.0, ...)
    yield "all -inf", at(-INF, ...)
    for number in (NAN, INF, -INF, 0.0):
        for where, index in (("the first", first), ("the last", last)):
            yield f"{number:g} at {where} element", at(number, *index)
    for number in (-INF, INF, NAN, 0.0):
        for axis in range(rank if rank > 1 else 0):
            yield (
                f"{number:g} in a row along {axis}",
                at(number, *(slice(None) if other == axis else 0 for other in range(rank))),
            )
