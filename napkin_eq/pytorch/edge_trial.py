"""Kernels that are PyTorch's at the edges too: without the guards by which the language has a number there, and tried
on NaN, infinities and zeros.

The laws speak of numbers, so nothing of this is proved: the plan in small, the same statements over few blocks, is run
on data that hold each edge, and held against PyTorch's arithmetic of the program's own term. Where one element differs
the program is not taken.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from napkin_eq.lang.diagram import Diagram
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.operators import PLACES
from napkin_eq.search.derivation import Derived
from napkin_eq.search.job import prover
from napkin_eq.tile import ir as p
from napkin_eq.tile.passes.bare_edges import bare
from napkin_eq.tile.printers import emit
from napkin_eq.verify.miniature import Miniature, at_its_sizes, miniature
from napkin_eq.verify.translation import drawn

NEAR = 1e-7  # of the largest number of an array: both compute in float64
LANES = 5  # of an axis: of two numbers, one of them NaN, the other is the largest and the least
MOST_ELEMENTS, SECONDS = 2**18, 20.0  # of an input in small; of processor time for all trials of a plan
MIXTURES = 32  # of data with edges of several kinds
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
    """Return a derivation's plan with the machine's own values at edges, NaN kept in maxima if that is needed.

    Raises Differs where it is not PyTorch's on some of the data tried, or cannot be tried.
    """
    if any(map(_places_of_any, found.plan.kernels)):
        raise Differs(f"{AT_EDGE} not tried: the place of a largest number is another one beside NaN")
    try:
        proved = prover(found.statements)
        small = miniature(found.diagram, found.outputs, found.plan, found.hardware, found.dtype, proved, LANES)
    except NapkinError:
        small = at_its_sizes(found.outputs, found.plan)
    why = ""
    for nan in (False, True):
        if nan and any(kernel.workers is not None for kernel in found.plan.kernels):
            break
        if not (why := difference(replace(small, plan=_bare(small.plan, nan)))):
            return _bare(found.plan, nan)
    raise Differs(f"{AT_EDGE} not PyTorch's: {why}")


def _bare(plan: p.Plan, nan: bool) -> p.Plan:
    return replace(plan, kernels=tuple(bare(kernel, nan=nan) for kernel in plan.kernels))


def difference(small: Miniature) -> str:
    """Return on which data a plan in small first differs from PyTorch's arithmetic, nothing where it does on none."""
    import numpy as np

    arrays = drawn(small, "rounded", 1)
    if max((np.asarray(a).size for a in arrays.values()), default=0) > MOST_ELEMENTS:
        return "the plan in small is too large to be tried"
    run, begun = emit(small.plan, "numpy"), time.process_time()
    orders = {buffer.name: [axis.name for axis in buffer.dims] for buffer in small.plan.outputs}
    for said, data in _edged(small, arrays):
        if time.process_time() - begun > SECONDS:
            return f"{said} could not be tried in {SECONDS:g} s"
        found = run(data, sizes=dict(small.sizes))
        for name, wanted in _exact(small, data, orders).items():
            if why := _apart(np.asarray(found[name]), wanted):
                return f"on {said} output {name}{why}"
    return ""


def _exact(small: Miniature, data: dict[str, Any], orders: dict[str, list[str]]) -> dict[str, Any]:
    import numpy as np
    import torch

    from napkin_eq.pipeline.reference import Evaluation

    arrays = {name: torch.from_numpy(np.array(array)) for name, array in data.items()}
    work = Evaluation(arrays, small.sizes, torch.float64, None)
    return {name: work.value(source, tuple(orders[name])).numpy() for name, source in small.sources}


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
    """Yield data with edges, and what they are: all of one sign, zeros, of each input zeros, rows of -inf, NaN and
    infinities, and mixtures.
    """
    import numpy as np

    real = sorted(a.name for a in Diagram("small", small.sources).inputs() if a.kind == "real")
    yield "plain numbers", plain
    for said, change in (
        ("zeros", np.zeros_like),
        ("negative numbers", lambda a: -np.abs(a)),
        ("positive numbers", np.abs),
    ):
        yield said, {**plain, **{name: change(plain[name]) for name in real}}
    for name in real:
        for said, change in _changes(plain[name].ndim):
            array = np.array(plain[name], dtype=np.float64)
            change(array)
            yield f"{said} of {name}", {**plain, name: array}
    random = np.random.default_rng(0)
    for number in range(MIXTURES if real else 0):
        yield f"mixture {number}", {**plain, **{name: _mixed(plain[name], random) for name in real}}


def _mixed(plain: Any, random: Any) -> Any:
    """Return numbers of which some are NaN, infinite or 0, and now and then a row along one axis is of one kind."""
    import numpy as np

    edges = np.array([NAN, INF, -INF, 0.0])
    array = np.asarray(random.permutation(np.ravel(plain)), dtype=np.float64).reshape(plain.shape)
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


def _changes(rank: int) -> Iterator[tuple[str, Callable[[Any], None]]]:
    def at(number: float, *index: Any) -> Callable[[Any], None]:
        return lambda array: array.__setitem__(index, number)

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
