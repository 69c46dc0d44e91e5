"""Translation validation: a plan is run against its diagram before anyone gets it, by ways that lowering does not
share.

The chain of laws ends at a term; from there to the kernels nothing is proved. So the plan in small (miniature.py), the
same statements over few blocks of small tiles, is run by the NumPy printer in float64 on numbers of every kind, and
held against the value of the diagram. What is said of a plan that agrees: the same statements, at sizes with the same
facts about tiles, gave the diagram's values on these inputs. That is a test, no proof for large sizes, and silent on
printers, shared memory and how rounding grows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from napkin_eq.egraph.budget import METER
from napkin_eq.lang.diagram import MOST_AXES, Diagram
from napkin_eq.lang.dtypes import BY_NAME, BY_SHORT, REAL, output_type
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.evaluate import axes_in, evaluate
from napkin_eq.lang.interval import wide
from napkin_eq.lang.numpy_semantics import held as as_stored
from napkin_eq.lang.term import Input, Term, subterms
from napkin_eq.machine.gpu import Hardware
from napkin_eq.search.assemble import planned
from napkin_eq.search.derivation import AGREES, DIFFERS, UNKNOWN, Output, Translation
from napkin_eq.tile import ir as p
from napkin_eq.tile.lower.elementwise import Proved
from napkin_eq.tile.printers import emit, together
from napkin_eq.verify.miniature import Miniature, at_its_sizes, miniature

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

KINDS = ("mixed", "low", "nothing", "rounded")
# How near, of the largest number of an array; of the rounding in float32, what that in float64 may be; what no plan
# that rounds makes infinite.
NEAR, MODERATE = 1e-9, 1e3
EPSILON = 2.0**-50  # what a sum in float64 may lose of its largest summand, some additions in a row
NUDGED, NUDGE = 3, 2.0**-20  # inputs beside those drawn on which rounding is measured, how far they are
# Elements computed, what a statement costs beside its elements, how many an element of evaluation is worth: together
# about half a second; and a part of it, in which the most faithful plan in small is run, else a smaller one.
MOST_WORK, STATEMENT, ELEMENT, QUICK = 6e8, 1e4, 4.0, 1.5e8


def validated(
    diagram: Diagram,
    outputs: Sequence[Output],
    plan: p.Plan,
    machine: Hardware,
    dtype: str,
    proved: Proved,
    held: Mapping[str, str] | None = None,
) -> Translation:
    """Hold a plan against the diagram it was derived from.

    held: the types in which outputs are stored that have not the storage type, as what only kernels read may have.
    Order: axes and types of what it stores, whole numbers among reals, then its values in small. Statuses: "agrees",
    "differs" with the counterexample, "not validated" with the reason, as where it would take longer than half a
    second.
    """
    if why := next(_misfits(outputs, plan, dtype, held or {}, dict(diagram.held)), ""):
        return Translation(DIFFERS, why)
    why, small = "", None
    for ranked, near in ((False, False), (True, False), (True, True)):  # smaller still where that is much to compute
        try:
            small = miniature(diagram, outputs, plan, machine, dtype, proved, ranked=ranked, near=near)
        except NapkinError as reason:
            why = f"no plan in small: {reason}"
            continue
        if work(small, len(KINDS), len(KINDS)) <= QUICK:
            break
    small, why = (at_its_sizes(outputs, plan), why) if small is None else (small, "")
    sizes = tuple(sorted(small.sizes.items()))
    axes = {a.name for t in (*(source for _, source in small.sources), *small.placed.values()) for a in axes_in(t)}
    if not axes.union(c.axis.name for kernel in plan.kernels for c in kernel.coords) <= small.sizes.keys():
        return Translation(UNKNOWN, why)  # an axis without a size; the plan may have none of the diagram's
    if (all_work := work(small, len(KINDS), len(KINDS))) > MOST_WORK:
        return Translation(
            UNKNOWN, why or f"in small it still computes {all_work:.1g} elements, at most {MOST_WORK:.0g} are tried"
        )
    if any(len(kernel.coords) > MOST_AXES for kernel in small.plan.kernels):
        return Translation(UNKNOWN, f"a kernel walks more axes than NumPy's arrays have, {MOST_AXES}")
    METER.did("element", all_work)
    return disagreement(small) or Translation(AGREES, "", sizes, KINDS)


def accepted(
    diagram: Diagram,
    option: Output,
    machine: Hardware,
    dtype: str,
    proved: Proved,
    refused: list[str],
    held: Mapping[str, str] | None = None,
) -> bool:
    """Validate a plan of some outputs and note the result on it, in `refused` if it differs; what could not be
    validated is accepted, and says so.
    """
    option.translation = validated(
        diagram, [option], planned(diagram, [option], machine, dtype)[0], machine, dtype, proved, held
    )
    if option.translation.status == DIFFERS:
        refused.append(f"a plan of {option.placed.predicted_us:.1f} us: {option.translation.why}")
    option.refused = tuple(refused)
    return option.translation.status != DIFFERS


def _misfits(
    outputs: Sequence[Output], plan: p.Plan, dtype: str, given: Mapping[str, str], asked: Mapping[str, str]
) -> Iterator[str]:
    """Yield what does not fit about a plan whatever it computes: axes and types of outputs, whole numbers where real
    ones belong.
    """
    stored = {buffer.name: buffer for buffer in plan.outputs}
    for output in outputs:
        for name, source, _ in output.each():
            held = given.get(name) or output_type(source.kind, dtype, wide(source), asked.get(name))
            found, wanted = sorted(a.name for a in stored[name].dims), sorted(a.name for a in source.axes)
            if found != wanted:
                yield (
                    f"output {name} is stored along [{' '.join(found)}], the diagram's has the axes"
                    f" [{' '.join(wanted)}]"
                )
            if stored[name].dtype != held:
                yield f"output {name} is stored as {stored[name].dtype}, expected {held}"
    for kernel in plan.kernels:
        for stmt in p.statements(kernel.body):
            if isinstance(stmt, p.Let) and stmt.out.dtype in REAL:
                numbers = stmt.args[1:] if stmt.op == "where" else stmt.args
                if whole := [a for a in numbers if type(a) is int and stmt.op not in ("cast", "real")]:
                    yield f"kernel {kernel.name}: {stmt.out.name} takes the whole number {whole[0]} among reals"


def work(small: Miniature, runs: int, cases: int) -> float:
    """Return how many elements it takes to run a plan in small, and to evaluate its diagram, on some data: nanoseconds,
    about.

    runs: how often the plan is run, each time on one or several of the cases.
    """
    return computed(small.plan, small.sizes, runs, cases) + cases * _elements(small)


def computed(plan: p.Plan, sizes: Mapping[str, int], runs: int, cases: int) -> float:
    """Return how many elements a plan computes of some cases, each statement of a run counted as some more; several
    programs are run at once.
    """

    def blocks(coord: p.Coord) -> int:
        return -(-(coord.axis.size or sizes[coord.axis.name]) // coord.tile)

    def of(kernel: p.Kernel, body: Sequence[p.Stmt]) -> tuple[float, float]:
        """Return how many statements of a program are run, and how many elements they compute of one case."""
        run, made = 0.0, 0.0
        for stmt in body:
            run += 1
            if isinstance(stmt, p.Loop):
                trips = blocks(kernel.coord(stmt.coord)) + len(stmt.parts) - 1
                parts = [of(kernel, part.body) for part in stmt.parts]
                run += trips * max(statements for statements, _ in parts)
                made += trips * max(elements for _, elements in parts)
            elif isinstance(stmt, p.Dot):
                made += _lanes(kernel, stmt.out) * kernel.coord(stmt.coord).tile / 8
            elif (out := getattr(stmt, "out", None)) is not None:
                made += _lanes(kernel, out)
        return run, made

    found = 0.0
    for kernel in plan.kernels:
        (apart, most), (run, made) = together(kernel, -(-cases // runs)), of(kernel, kernel.body)
        alone = math.prod(blocks(kernel.coord(name)) for name in apart)
        others = math.prod(blocks(kernel.coord(name)) for name in kernel.grid if name not in apart)
        found += alone * (-(-others // most) * STATEMENT * runs * run + others * cases * made)
    return found


def _elements(small: Miniature) -> float:
    """Return how many elements the values of the diagram's parts have together."""
    parts = subterms(*(source for _, source in small.sources), *small.placed.values())
    return float(sum(math.prod(small.sizes[axis.name] for axis in part.axes) for part in parts)) * ELEMENT


def _lanes(kernel: p.Kernel, value: p.Value) -> int:
    lanes = 1
    for name in value.coords:
        lanes *= kernel.coord(name).tile
    return lanes


def disagreement(small: Miniature, seed: int = 0) -> Translation | None:
    """Run a plan in small on each kind of inputs and return the first disagreement, None where there is none."""
    run = emit(small.plan, "numpy")
    orders = {buffer.name: [axis.name for axis in buffer.dims] for buffer in small.plan.outputs}
    types = {buffer.name: BY_SHORT[buffer.dtype].name for buffer in small.plan.outputs}
    sizes = tuple(sorted(small.sizes.items()))
    for number, kind in enumerate(KINDS):
        arrays = drawn(small, kind, seed + number)
        given = f"at {', '.join(f'{name}={size}' for name, size in sizes)} on {kind} numbers"
        try:
            found = run(arrays, emulate=kind == "rounded", sizes=dict(small.sizes))
        except NapkinError as reason:
            return Translation(DIFFERS, f"{given}: {reason}", sizes, KINDS)
        for name, source in small.sources:
            rounded = types[name] if kind == "rounded" else ""
            why = _apart(found[name], source, small.placed[name], arrays, small.sizes, orders[name], rounded)
            if why:
                return Translation(DIFFERS, f"{given}: {name}{why}", sizes, KINDS)
    return None


def drawn(small: Miniature, kind: str, seed: int) -> dict[str, Any]:
    """Draw the inputs of a plan in small.

    mixed: numbers of all sizes, zeros, whole ones, rows all zero or large; masks hold here and there. low: one input
    far above and the next far below zero, so that products are very negative. nothing: negative numbers, masks that
    hold nowhere, lengths of zero. rounded: plain ones that the types of the plan's arrays have, for a run that rounds
    as these say.
    """
    import numpy as np

    random = np.random.default_rng(seed)
    types = {buffer.name: buffer.dtype for buffer in small.plan.inputs}
    arrays: dict[str, Any] = {}
    for array in _inputs(small):
        shape = tuple(small.sizes[axis.name] for axis in array.dims)
        if array.kind == "bool":
            arrays[array.name] = np.zeros(shape, bool) if kind == "nothing" else random.random(shape) < 0.5
        elif array.kind == "int":
            most = max(small.sizes.values(), default=1)
            edges = random.choice([-1, 0, 1, 2, 15, 16, 17, most - 1, most, most + 1], shape)
            whole = (
                np.zeros(shape, int)
                if kind == "nothing"
                else np.where(random.random(shape) < 0.5, edges, random.integers(0, most + 1, shape))
            )
            own = BY_NAME[array.dtype]
            arrays[array.name] = np.clip(whole, int(own.whole[0]), int(own.whole[1])) if own.bytes < 4 else whole
        else:
            numbers = random.standard_normal(shape)
            if kind == "low":
                numbers = 40.0 * np.abs(numbers) * (-1) ** len(arrays)
            elif kind == "nothing":
                numbers = -np.abs(numbers)
            elif kind == "mixed":
                share = random.random(shape)
                numbers = np.where(
                    share < 0.05,
                    0.0,
                    np.where(share < 0.08, -0.0, np.where(share < 0.2, np.round(2 * numbers), numbers)),
                )
                if len(shape) > 1:
                    numbers = numbers * random.choice([0.0, 1.0, 1.0, 1.0, 20.0, 1e3], (*shape[:-1], 1))
            numbers = _within(numbers, array.facts)
            arrays[array.name] = (
                as_stored(numbers, BY_SHORT[types[array.name]])
                if kind == "rounded" and array.name in types
                else numbers
            )
    return arrays


def _inputs(small: Miniature) -> tuple[Input, ...]:
    found = Diagram("small", small.sources).inputs()
    return tuple(sorted(found, key=lambda array: array.name))


def _within(numbers: Array, facts: Sequence[str]) -> Array:
    """Return numbers for which the facts of an input hold."""
    import numpy as np

    for fact in facts:
        if fact.startswith("abs<="):
            bound = float(fact.removeprefix("abs<="))
            numbers = np.clip(numbers, -bound, bound)
    if "pos" in facts:
        return np.asarray(np.maximum(np.abs(numbers), 1e-3))
    if "nonneg" in facts:
        return np.abs(numbers)
    return np.asarray(np.where(numbers == 0, 0.5, numbers)) if "nonzero" in facts else numbers


def _apart(
    found: Array,
    source: Term,
    placed: Term,
    arrays: dict[str, Any],
    sizes: dict[str, int],
    order: list[str],
    rounded: str,
) -> str:
    """Return where a plan's output is not the diagram's, nothing where it is; of one that rounds, where it is no number
    and should be.

    rounded: the type that the output of one that rounds is stored in, nothing of one in float64. The reference may
    itself run out of range or digits: where the two differ, both terms are evaluated in long double, and a plan that
    does what its own term does in float64 is right if that term is the diagram in long double. What cancels is near to
    nothing but its own rounding, of which the bounds of both terms are the measure.
    """
    import numpy as np

    def value(term: Term, dtype: str) -> Array:
        own = {axis.name: sizes[axis.name] for axis in axes_in(term)}
        return np.asarray(evaluate(term, arrays, own, dtype=dtype, order=order))

    wanted = value(source, "float64")
    if rounded:
        bad = (
            np.isfinite(wanted) & (np.abs(wanted) < MODERATE) & ~np.isfinite(found)
            if wanted.dtype.kind == "f"
            else np.zeros(wanted.shape, bool)
        )
        if bad.any():  # unless the diagram itself, as it is written, may pass the range of its type there
            bad &= np.abs(wanted) + _bounds((source,), arrays, sizes, order, rounded) <= BY_NAME[rounded].top
    else:
        bad = _bad(found, wanted)
    if bad.any() and wanted.dtype.kind == "f" and not rounded:
        wanted = value(source, "longdouble")
        noise, known = _noise((source, placed), arrays, sizes, order, wanted)
        bad &= _bad(found, wanted, noise) & (known | (np.isfinite(wanted) & np.isfinite(found)))
        if bad.any():
            bad &= _bad(value(placed, "longdouble"), wanted, noise) | _bad(found, value(placed, "float64"), noise)
    if bad.any() and wanted.dtype.kind != "f":  # a comparison of what differs by rounding alone may come out either way
        bad &= _bounds((source, placed), arrays, sizes, order, "float64") == 0
    if not bad.any():
        return ""
    at = tuple(int(i) for i in np.argwhere(bad)[0])
    place = "".join(f"[{name}={i}]" for name, i in zip(order, at, strict=True))
    return f"{place} is {found[at]:.6g}, the diagram's is {wanted[at]:.6g} ({int(bad.sum())} of {bad.size} differ)"


def _noise(
    terms: Sequence[Term], arrays: dict[str, Any], sizes: dict[str, int], order: list[str], wanted: Array
) -> tuple[Array, Array]:
    """Return by how much runs of two terms in float64 may differ, and where that is known.

    It is their bounds; where an element has none, what it is off by in float32, on these inputs and some that are
    smaller by a few roundings, since what cancels may happen to be exact, and the last digit of the largest number
    that the first term is computed by: what is added to that may be lost. What moves farther by a few roundings of
    float64 is beside a pole, an inverse of what happens to be 0, say: that may be anything. What is infinite without a
    bound has passed the range of float64, or is absent by a mask in doubt: the reference does not tell what it should
    be.
    """
    import numpy as np

    bound = _bounds(terms, arrays, sizes, order, "float64")
    known = np.isfinite(bound)
    if known.all():
        return bound, known

    def value(term: Term, at: dict[str, Any], dtype: str) -> Array:
        own = {axis.name: sizes[axis.name] for axis in axes_in(term)}
        return np.asarray(evaluate(term, at, own, dtype=dtype, order=order))

    random, distance = np.random.default_rng(0), np.zeros(wanted.shape)

    def nudged(by: float) -> dict[str, Array]:
        return {
            name: array * (1 - by * random.random(array.shape)) if array.dtype.kind == "f" else array
            for name, array in arrays.items()
        }

    for trial in range(1 + NUDGED):
        near = nudged(NUDGE) if trial else arrays
        meant = value(terms[0], near, "longdouble") if trial else wanted
        for term in terms:
            with np.errstate(all="ignore"):
                apart = np.abs(value(term, near, "float32") - meant)
            distance = np.maximum(distance, np.where(np.isfinite(apart), apart, np.inf))
    for _ in range(NUDGED):
        with np.errstate(all="ignore"):
            moved = np.abs(value(terms[0], nudged(EPSILON), "float64") - wanted)
        distance = np.where(moved > distance, np.inf, distance)
    return np.where(known, bound, distance + EPSILON * _largest(terms[0], arrays, sizes)), known


def _largest(root: Term, arrays: dict[str, Any], sizes: dict[str, int]) -> float:
    """Return the magnitude of the largest number that a term is computed by, infinite where one passes the range of
    float64.
    """
    import numpy as np

    most = 0.0
    for part in subterms(root):
        if part.kind == "real":
            found = np.asarray(
                evaluate(part, arrays, {axis.name: sizes[axis.name] for axis in axes_in(part)}, dtype="float64")
            )
            most = max(
                most,
                float(
                    np.nan_to_num(np.abs(np.where(np.isneginf(found), 0.0, found)), nan=np.inf, posinf=np.inf).max(
                        initial=0.0
                    )
                ),
            )
    return most


def _bounds(
    terms: Sequence[Term], arrays: dict[str, Any], sizes: dict[str, int], order: list[str], dtype: str
) -> Array:
    """Return how far runs of terms in a type may be from their exact values, added up; of a mask 0 where it is in no
    doubt.
    """
    import numpy as np

    from napkin_eq.numerics.error_bound import error_bound

    own = ({axis.name: sizes[axis.name] for axis in axes_in(term)} for term in terms)
    return np.asarray(
        sum(error_bound(term, arrays, its, dtype, order=order)[0] for term, its in zip(terms, own, strict=True))
    )


def _bad(found: Array, wanted: Array, noise: Array | float = 0.0) -> Array:
    """Return where two arrays differ: one absent, infinite or no number where the other is not, or apart by more than
    rounding.
    """
    import numpy as np

    if wanted.dtype.kind != "f" or found.dtype.kind != "f":
        return np.asarray(found != wanted)
    finite = np.isfinite(wanted)
    most = float(np.abs(wanted[finite]).max(initial=0.0))
    with np.errstate(all="ignore"):
        near = np.abs(found - wanted) <= NEAR * (most + np.abs(wanted)) + noise
    return np.asarray(~np.where(finite, near, (found == wanted) | ~np.isneginf(wanted) & ~np.isneginf(found)))
