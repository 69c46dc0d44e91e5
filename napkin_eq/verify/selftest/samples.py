"""Good certificates, small, that use every rule of the checker: what must be accepted, and what forgeries are made of.

Each law is used alone, and then at places inside of streams, where what it needs decides whether it may be:
`Sample.allowed` says that from what the sample is stated to need, not from what the checker finds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import Any

from napkin_eq.certify.certificate import Data, make
from napkin_eq.egraph.congruence import ARITHMETIC, Step
from napkin_eq.lang.axis import Axis
from napkin_eq.lang.term import Acc, Const, Index, Input, Map, Online, Prev, Proj, Reduce, Term, Tuple, with_part
from napkin_eq.laws.axis_split import stretch_mask
from napkin_eq.laws.inference import Judge, substitute
from napkin_eq.laws.law import (
    ABSENT,
    REGISTRY,
    TRUE,
    Inference,
    Law,
    Max,
    Sum,
    Var,
    exp,
    inv,
    le,
    nonneg,
    size,
    stretch,
    where,
)
from napkin_eq.laws.loader import load_rules
from napkin_eq.prove.verdict import Verdict

q, x, y, z, part = (Axis(name, size) for name, size in (("q", 2), ("x", 5), ("y", 3), ("z", 4), ("part", 2)))
A, B, C, D, E, O = (  # noqa: E741 - O has no axis
    Input(name, dims) for name, dims in (("A", (q, x)), ("B", (x,)), ("C", (q,)), ("D", (y,)), ("E", (z,)), ("O", ()))
)  # fmt: skip
F = Input("F", (Axis("w"), Axis("v", None, 4)), "float16", ("pos", "abs<=4", "nonzero"))
a, b = Var("a"), Var("b")
# True laws that do not ship, for conditions that no shipped law has.
LARGER = Law("larger", "samples", "", Map("max", (a, b)), b, (le(a, b),), False, "algebra", "", "here")
TWICE = Law(
    "twice",
    "samples",
    "",
    Var("n", "number") + Var("n", "number"),
    Var("n", "number") * 2.0,
    (),
    False,
    "algebra",
    "",
    "here",
)
HELD = Law(
    "held", "samples", "", Sum(Axis("y"), a), Online(Axis("y"), a, TRUE, Acc()), (), False, "structure", "", "here"
)
_y, _x, d = Axis("y"), Axis("x"), Var("d")
_sum, _both, _stands = Online(_y, d, TRUE, Acc()), Online(_y, a, TRUE, Acc() + a), Online(_y, a, TRUE, Acc() * b)
SWAPPED = Law("swapped", "samples", "", _both, Online(_y, a, TRUE, a + Acc()), (), False, "structure", "", "here")
SHIFTED = Law(
    "shifted", "samples", "", Prev(_stands) + _stands, _stands + Prev(_stands), (), False, "structure", "", "here"
)
EARLIER = Law("earlier", "samples", "", Prev(b) + a, a + Prev(b), (), False, "structure", "", "here")
STRIPED = Law(
    "striped", "samples", "", Sum(_x, a), Online(_y, Reduce("sum", _x, a, Var("c", "bool")), TRUE, Acc()),
    (stretch(_y, _x, Var("c", "bool")),),
    False, "structure", "", "here",
)  # fmt: skip
BESIDE = Law("beside", "samples", "", Map("max", (a, b)) + _sum, b + _sum, (le(a, b),), False, "structure", "", "here")
_larger = Map("max", (a, b))
EXCEEDED = Law(
    "exceeded",
    "samples",
    "",
    Max(_y, _larger),
    Max(_y, Map("max", (a, _larger))),
    (le(a, _larger),),
    False,
    "algebra",
    "",
    "here",
)
UNSIGNED = Law("unsigned", "samples", "", Map("abs", (a,)), a, (nonneg(a),), False, "algebra", "", "here")
UNNEEDED = Law("unneeded", "samples", "", d + d, d * 2.0, (le(a, b),), False, "algebra", "", "here")
OWN = (LARGER, TWICE, HELD, SWAPPED, SHIFTED, EARLIER, STRIPED, BESIDE, EXCEEDED, UNSIGNED, UNNEEDED)
# A number for what it is computed of
COMPUTED = Law(ARITHMETIC, "samples", "", Var("left"), Var("right"), (), False, "algebra", "", "here")
LANES = {name: ("x",) for name in ("distribute", "sum-constant", "pos-size", "pos-sum", "finite-reduce-max", "le-max")}
Move = tuple[str, tuple[int, ...], bool, dict[str, Term | Axis]]


@dataclass(frozen=True, slots=True)
class Sample:
    """An equation and its steps; what it needs: lanes of axes, all of an axis, a place in the update of a stream over
    an axis.
    """

    name: str
    source: Term
    steps: tuple[Step, ...]
    lanes: frozenset[str] = frozenset()
    full: frozenset[str] = frozenset()
    within: frozenset[str] = frozenset()
    allowed: bool = True

    @property
    def destination(self) -> Term:
        """What the source becomes."""
        return self.steps[-1].after if self.steps else self.source

    def certificate(self) -> Data:
        """Return the certificate of this sample, as it is written whether it is right or not."""
        return make(self.source, self.destination, self.steps, statements(), verdicts(), {})


@cache
def statements() -> tuple[Any, ...]:
    """Return the shipped statements and those of the samples."""
    load_rules()
    return (*REGISTRY.statements.values(), *OWN)


@cache
def verdicts() -> dict[str, Verdict]:
    """Return verdicts that the samples cite; that these laws are true is another test."""
    return {
        s.name: Verdict(s.name, "proved", "A", "definition", "", 0.0, lanes=LANES.get(s.name, ())) for s in statements()
    }


def _found(law: str, **bindings: Term | Axis) -> dict[str, Term | Axis]:
    """Return a substitution with what the law's conditions bind besides."""
    judge = Judge((s for s in statements() if isinstance(s, Inference)), placed=False)
    return next(
        full
        for s in statements()
        if s.name == law and isinstance(s, Law)
        for full, _ in judge.conditions(s.conditions, bindings)
    )


def moved(root: Term, moves: Sequence[Move]) -> tuple[Step, ...]:
    """Return the steps that these moves are: a law, a path, a direction, a substitution."""
    laws = {s.name: s for s in (*statements(), COMPUTED) if isinstance(s, Law)}
    steps: list[Step] = []
    for name, path, forward, bindings in moves:
        law = laws[name]
        after = with_part(root, path, substitute(law.rhs if forward else law.lhs, bindings))
        steps.append(Step(name, forward, path, tuple(sorted(bindings.items())), root, after))
        root = after
    return tuple(steps)


def _sample(name: str, source: Term, *moves: Move, lanes: str = "", full: str = "", within: str = "") -> Sample:
    needs = [frozenset(text.split()) for text in (lanes, full, within)]
    return Sample(name, source, moved(source, moves), needs[0], needs[1], needs[2], not within)


def alone() -> list[Sample]:
    """Return one sample for each way in which a law may be bound to a place."""
    top, total = Max(x, A), Sum(x, exp(B))
    body, mask = exp(A - top), stretch_mask(part, x)
    running = Map("max", (Prev(Max(x, B)), Max(x, B)))
    square = (A - Sum(x, A) * inv(size(x))) * (A - Sum(x, A) * inv(size(x)))
    half, larger = Const(0.25) * 2.0, Map("max", (ABSENT, Const(2.0)))
    first, second, hidden = Index(x) < 3, Index(x) < 4, Online(z, O * E, TRUE, Acc())
    masked, lane = where(first, C, ABSENT), Map("real", (Index(x),))
    return [
        _sample("folding", half * C, (ARITHMETIC, (0,), True, {"left": half, "right": Const(0.5)})),
        _sample(
            "thirds",
            inv(Const(3.0)) * C,
            (ARITHMETIC, (0,), True, {"left": inv(Const(3.0)), "right": Const(Fraction(1, 3))}),
        ),
        _sample("the absent value", larger * F, (ARITHMETIC, (0,), True, {"left": larger, "right": Const(2.0)})),
        _sample(
            "several items",
            Tuple((Sum(x, B + B), first & second, Index(x))),
            ("sum-add", (0,), True, {"a": B, "b": B, "x": x}),
        ),
        _sample("a number", (Const(0.1) + Const(0.1)) * C, ("twice", (0,), True, {"n": Const(0.1)})),
        _sample("distribute", Sum(x, C * B), ("distribute", (), True, {"a": C, "b": B, "x": x}), lanes="x"),
        _sample("distribute back", C * Sum(x, B), ("distribute", (), False, {"a": C, "b": B, "x": x}), lanes="x"),
        _sample("sums", Sum(x, A + B), ("sum-add", (), True, {"a": A, "b": B, "x": x})),
        _sample("a constant summand", Sum(x, C), ("sum-constant", (), True, {"a": C, "x": x}), lanes="x"),
        _sample("a size", size(x) * inv(size(x)) * C, ("cancel", (0,), True, {"a": size(x)}), lanes="x"),
        _sample("a sum of exponentials", total * inv(total) * C, ("cancel", (0,), True, {"a": total}), lanes="x"),
        _sample("stretches", Sum(x, B), ("split-sum", (), True, {"a": B, "c": mask, "x": x, "p": part}), full="part"),
        _sample("maxima", Max(x, A), ("split-max", (), True, {"a": A, "c": mask, "x": x, "p": part}), full="part"),
        _sample(
            "rescaled", Sum(x, body), ("rescale", (), True, {"a": body, "r": exp(Prev(top) - top), "x": x}), lanes="x"
        ),
        _sample("moved by a step", Sum(x, square), ("carry", (), True, _found("carry", a=square, x=x))),
        _sample(
            "walked",
            Max(x, A),
            ("stream-max", (), True, {"a": A, "c": TRUE, "x": x}),
            ("fuse-max", (), True, {"a": A, "c": TRUE, "x": x}),
        ),
        _sample("two axes", Sum(x, Sum(q, A)), ("fubini-sum", (), True, {"a": A, "x": x, "y": q})),
        _sample("a positive factor", Max(x, exp(C) * B), ("max-scale", (), True, {"a": exp(C), "b": B, "x": x})),
        _sample("a shift", Max(x, C + B), ("max-shift", (), True, {"a": C, "b": B, "x": x})),
        _sample("masked lanes", Max(x, masked), ("skip-max", (), True, {"a": masked, "c": first, "x": x})),
        _sample(
            "two masks",
            where(first, where(second, B, O), O),
            ("where-and", (), True, {"a": B, "b": O, "c": first, "e": second}),
        ),
        _sample("the larger", running * C, ("larger", (0,), True, {"a": running.args[0], "b": Max(x, B)}), within="x"),
        _sample("carried", Sum(y, D * C), ("held", (), True, {"a": D * C, "y": y})),
        _sample("an item", Proj(0, Tuple((C, O))), ("projection-0-2", (), True, {"a": C, "b": O})),
        _sample(
            "a hidden factor", Sum(x, hidden * B), ("distribute", (), True, {"a": hidden, "b": B, "x": x}), lanes="x"
        ),
        _sample("an index", Sum(x, Map("abs", (lane,)) * B), ("unsigned", (0, 0), True, {"a": lane})),
        _sample("a hidden summand", Sum(x, -C + B), ("sum-add", (), True, {"a": -C, "b": B, "x": x})),
    ]


def placed(sample: Sample) -> Iterator[Sample]:
    """Yield a sample at places inside of streams over each of three axes, with what may be there and what may not."""
    for axis, other in ((x, y), (y, z), (part, y)):
        yield from _placed(sample, axis, other)


def _placed(sample: Sample, axis: Axis, other: Axis) -> Iterator[Sample]:
    beside, along = Input(f"H_{axis}", (axis,)), Input(f"H_{other}", (other,))
    whole = axis.name not in sample.full
    both = whole and other.name not in sample.full
    lanes, anywhere = axis.name not in sample.lanes, not sample.within
    varies = {a.name for a in sample.source.axes}

    def inside(where_: str, context: Callable[[Term], Term], path: tuple[int, ...], allowed: bool) -> Sample:
        steps = tuple(
            replace(s, path=(*path, *s.path), before=context(s.before), after=context(s.after)) for s in sample.steps
        )
        return replace(
            sample, name=f"{sample.name}, {where_} {axis}", source=context(sample.source), steps=steps, allowed=allowed
        )

    def summed(t: Term) -> Term:
        return Online(other, t * along, TRUE, Acc())

    def updating(t: Term) -> Term:
        return Online(axis, beside, TRUE, Acc() + t)

    yield inside("in a sum over", lambda t: Sum(axis, t * beside), (0, 0), anywhere)
    yield inside("in the body over", lambda t: Online(axis, t * beside, TRUE, Acc()), (0, 0), whole and anywhere)
    yield inside("in the mask over", lambda t: Online(axis, beside, t <= 0.0, Acc()), (1, 0), whole and anywhere)
    if axis.name in varies:
        return  # an update does not vary along its axis
    yield inside("in the update over", updating, (2, 1), whole and sample.within <= {axis.name})
    yield inside("in a body in the update over", lambda t: updating(summed(t)), (2, 1, 0, 0), both and anywhere)
    if anywhere:  # else it is ill-formed, a Prev in a Prev
        yield inside("before the block over", lambda t: updating(Prev(t)), (2, 1, 0), whole and lanes)
        yield inside(
            "in a body, before the block over", lambda t: updating(summed(Prev(t))), (2, 1, 0, 0, 0), both and lanes
        )
    if other.name not in varies:
        within = sample.within <= {other.name}
        nested = (2, 1, 0, 2, 1)
        yield inside(
            "in an update before the block over",
            lambda t: updating(Prev(Online(other, along, TRUE, Acc() + t))),
            nested,
            both and lanes and within,
        )


def samples() -> Iterator[Sample]:
    """Yield every sample, alone and at its places."""
    for sample in alone():
        yield sample
        if sample.source.kind == "real":
            yield from placed(sample)
