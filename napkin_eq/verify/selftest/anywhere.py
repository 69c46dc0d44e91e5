"""Laws at random places of random terms, over the whole alphabet: whatever of these the checker accepts must be true.

Samples use a law where it is known what it needs. Here nothing is known: what a law's variables stand for is drawn,
accumulators and previous values of the streams around it, prefix folds, recurrences, reads, places of maxima and whole
numbers among it, axes are merged as it falls out, and so is the place. An equation that is accepted is evaluated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cache
from random import Random

from napkin_eq.certify.certificate import Data, make
from napkin_eq.egraph.congruence import Step
from napkin_eq.lang.axis import Axis
from napkin_eq.lang.errors import NapkinError, Undecided
from napkin_eq.lang.term import (
    Acc,
    Const,
    Fold,
    Index,
    Input,
    Length,
    Map,
    Online,
    Prev,
    Read,
    Recur,
    Reduce,
    Scan,
    Size,
    Term,
    Tuple,
    subterms,
)  # fmt: skip
from napkin_eq.laws.axis_split import stretch_mask
from napkin_eq.laws.inference import BASE, Bindings, Derivation, Judge, substitute
from napkin_eq.laws.law import TRUE, Inference, Judgment, Law, Var, exp, inv, size
from napkin_eq.verify.selftest.samples import OWN, part, q, statements, verdicts, x, y

LONE = Axis("lone", 1)
AXES = (q, x, y, LONE)
INPUTS = (
    Input("A", (q, x)), Input("B", (x,)), Input("C", (q,)), Input("D", (y,)), Input("O", ()),
    Input("P", (x,), "float", ("pos",)), Input("N", (x, y), "float", ("nonneg",)), Input("U", (y, x)),
    Input("Z", (LONE,)), Input("K", (x,), "int32"), Input("J", (q,), "int64"), Input("M", (x,), "bool"),
    Input("W", (q, y), "bool"),
)  # fmt: skip
NUMBERS, WHOLES = (0.0, 1.0, -1.0, 2.0, 0.5, -3.0, float("-inf")), (0, 1, 2, -1, 3, 7)
BINARY, UNARY = ("add", "mul", "max", "min"), ("neg", "inv", "exp", "log", "sqrt", "abs", "floor", "tanh", "sigmoid")
EDGE = 0.4837  # what sums of whole numbers and halves do not come to, by which a mask would depend on rounding
RUNNING = ("carry", "carry-weighted", "rescale")  # laws of bodies of some form
TRIES = 12
Around = Callable[[Term], Term]


@cache
def _laws() -> tuple[Law, ...]:
    return tuple(s for s in statements() if isinstance(s, Law) and s not in OWN and not s.name.startswith("projection"))


class _Drawing:
    """Random terms. still: axes along which they do not vary; stream: the axis whose stream's update they stand in."""

    def __init__(self, seed: int) -> None:
        self.random = Random(f"anywhere/{seed}")

    def axis(self, still: tuple[str, ...] = ()) -> Axis:
        return self.random.choice([a for a in AXES if a.name not in still] or [part])

    def term(self, kind: str, depth: int, still: tuple[str, ...], stream: str) -> Term:
        """Return a term of a kind that varies along none of some axes."""
        made: Callable[[int, tuple[str, ...], str], Term]
        made = {"real": self.real, "int": self.whole, "bool": self.mask}[kind]
        for _ in range(TRIES):
            with suppress(NapkinError):
                found = made(depth, still, stream)
                if found.kind == kind and all(a.name not in still for a in found.axes):
                    return found
        return {"real": INPUTS[4], "int": Const(1), "bool": TRUE}[kind]

    def leaf(self, kind: str, still: tuple[str, ...]) -> Term:
        fitting = [i for i in INPUTS if i.kind == kind and all(a.name not in still for a in i.axes)]
        return self.random.choice(fitting) if fitting else self.term(kind, -1, still, "")

    def bound(self, still: tuple[str, ...]) -> tuple[Axis, tuple[str, ...]]:
        """Return an axis to be folded, and along which axes what is folded does not vary."""
        axis = self.axis()
        return axis, tuple(name for name in still if name != axis.name)

    def real(self, depth: int, still: tuple[str, ...], stream: str) -> Term:
        below, pick, real = depth - 1, self.random.random(), "real"
        if depth <= 0 or pick < 0.24:
            if stream and self.random.random() < 0.25:
                return Acc()
            return Const(self.random.choice(NUMBERS)) if self.random.random() < 0.2 else self.leaf(real, still)
        if pick < 0.45:
            return Map(self.random.choice(BINARY), tuple(self.term(real, below, still, stream) for _ in range(2)))
        if pick < 0.58:
            return Map(self.random.choice(UNARY), (self.term(real, below, still, stream),))
        if pick < 0.63:
            kinds = ("bool", real, real)
            return Map("where", tuple(self.term(kind, below, still, stream) for kind in kinds))
        if pick < 0.67:
            return Map("real", (self.term("int", below, still, stream),))
        axis, inner = self.bound(still)
        if pick < 0.78:
            mask = self.term("bool", depth - 2, inner, stream) if self.random.random() < 0.4 else TRUE
            monoid = self.random.choice(("sum", "max", "sum", "prod"))
            return Reduce(monoid, axis, self.term(real, below, inner, stream), mask)
        if pick < 0.82 and stream:
            return Prev(self.term(real, below, (*still, stream), ""))
        if pick < 0.88:
            along = self.axis(still)
            if self.random.random() < 0.4:
                return Recur(along, self.term(real, below, still, stream), self.term(real, below, still, stream))
            return Scan(self.random.choice(("sum", "max", "prod")), along, self.term(real, below, still, stream))
        if pick < 0.93:
            return Read(self.term(real, below, inner, stream), axis, self.term("int", below, still, stream))
        if pick < 0.95:
            fused = self.random.random() < 0.5
            return Fold(self.random.choice(("sum", "max")), axis, self.term(real, below, inner, stream), TRUE, fused)
        mask = self.term("bool", depth - 2, inner, stream) if self.random.random() < 0.4 else TRUE
        return Online(axis, self.term(real, below, inner, stream), mask, self.update(below, still, axis))

    def update(self, depth: int, still: tuple[str, ...], axis: Axis) -> Term:
        still, pick = (*still, axis.name), self.random.random()
        if pick < 0.3:
            return Acc()
        other = self.term("real", depth, still, axis.name)
        return Map(self.random.choice(("add", "mul")), (Acc(), other)) if pick < 0.7 else other

    def whole(self, depth: int, still: tuple[str, ...], stream: str) -> Term:
        below, pick = depth - 1, self.random.random()
        if depth <= 0 or pick < 0.5:
            axis = self.axis()
            others = [Index(axis)] if axis.name not in still else []
            given = [i for i in INPUTS if i.kind == "int" and all(a.name not in still for a in i.axes)]
            return self.random.choice([Const(self.random.choice(WHOLES)), Size(axis), Length(axis), *others, *given])
        if pick < 0.7:
            op = self.random.choice(("add", "mul", "max", "min", "floordiv", "mod"))
            return Map(op, tuple(self.term("int", below, still, stream) for _ in range(2)))
        axis, inner = self.bound(still)
        if pick < 0.87:
            mask = self.term("bool", depth - 2, inner, stream) if self.random.random() < 0.4 else TRUE
            return Reduce("argmax", axis, self.term("real", below, inner, stream), mask)
        return Read(self.term("int", below, inner, stream), axis, self.term("int", below, still, stream))

    def mask(self, depth: int, still: tuple[str, ...], stream: str) -> Term:
        below, pick = depth - 1, self.random.random()
        if depth <= 0 or pick < 0.3:
            given = [i for i in INPUTS if i.kind == "bool" and all(a.name not in still for a in i.axes)]
            return self.random.choice([TRUE, Const(False), *given])
        if pick < 0.55:
            op = self.random.choice(("lt", "le", "eq"))
            return Map(op, tuple(self.term("int", below, still, stream) for _ in range(2)))
        if pick < 0.7:
            return Map("le", (self.term("real", below, still, stream), Const(EDGE)))
        op = self.random.choice(("and", "or", "not"))
        return Map(op, tuple(self.term("bool", below, still, stream) for _ in range(1 if op == "not" else 2)))

    def place(self, layers: int) -> tuple[list[tuple[Around, tuple[int, ...]]], tuple[str, ...], str]:
        """Return what stands around a law, outermost first, with the path inward, and what may stand there."""
        around, still, stream = list[tuple[Around, tuple[int, ...]]](), tuple[str, ...](), ""
        for _ in range(layers):
            pick, (axis, inner) = self.random.random(), self.bound(still)
            real = self.term("real", 2, inner, stream)
            if pick < 0.3:
                around.append((lambda t, a=axis, r=real: Online(a, r, TRUE, Acc() + t), (2, 1)))  # type: ignore[misc]
                still, stream = (*still, axis.name), axis.name
            elif pick < 0.5:
                update, masked = self.update(1, inner, axis), self.random.random() < 0.3
                if masked:
                    around.append((lambda t, a=axis, r=real, u=update: Online(a, r, t <= EDGE, u), (1, 0)))  # type: ignore[misc]
                else:
                    around.append((lambda t, a=axis, r=real, u=update: Online(a, t * r, TRUE, u), (0, 0)))  # type: ignore[misc]
                still = inner
            elif pick < 0.62 and stream:
                around.append((Prev, (0,)))
                still, stream = (*still, stream), ""
            elif pick < 0.8:
                around.append((lambda t, a=axis: Reduce("sum", a, t), (0,)))  # type: ignore[misc]
                still = inner
            elif pick < 0.9:
                index = self.term("int", 1, still, stream)
                around.append((lambda t, a=axis, i=index: Read(t, a, i), (0,)))  # type: ignore[misc]
                still = inner
            elif axis.name not in still:
                around.append((lambda t, a=axis: Scan("max", a, t), (0,)))  # type: ignore[misc]
        return around, still, stream

    def bindings(self, law: Law, still: tuple[str, ...], stream: str) -> dict[str, Term | Axis]:
        """Return what some of a law's variables and all of its axes stand for; its conditions may bind the others."""
        parts = [law.lhs, law.rhs, *(a for c in law.conditions for a in c.args if isinstance(a, Term))]
        sorts = {t.name: t.sort for t in subterms(*parts) if isinstance(t, Var)}
        names = {f.name for t in subterms(*parts) for f in t.fields if isinstance(f, Axis)}
        names |= {a.name for c in law.conditions for a in c.args if isinstance(a, Axis)}
        found: dict[str, Term | Axis] = {name: self.axis() for name in sorted(names)}
        more = (*still, *map(str, found.values())) if self.random.random() < 0.5 else still
        for name, sort in sorted(sorts.items()):
            fixed = still if self.random.random() < 0.5 else more
            if sort == "number":
                found[name] = Const(self.random.choice(NUMBERS[:-1]))
            elif sort == "tuple":
                found[name] = Tuple(tuple(self.term("real", 1, fixed, stream) for _ in range(2)))
            elif law.name not in RUNNING and self.random.random() < 0.8:
                found[name] = self.term(sort, self.random.randrange(3), fixed, stream)
        if law.name in RUNNING and isinstance(axis := found["x"], Axis):
            found["a"] = self.body(axis, still, stream)
        for cut in (c for c in law.conditions if c.name == "stretch"):
            found |= {str(cut.args[0]): part, str(cut.args[1]): x}
            found |= {t.name: stretch_mask(part, x) for t in cut.args if isinstance(t, Var)}
        return found

    def body(self, axis: Axis, still: tuple[str, ...], stream: str) -> Term:
        """Return what a stream may carry: exponentials relative to a maximum, products of differences from means."""
        a, b = (self.term("real", 1, still, stream) for _ in range(2))
        if self.random.random() < 0.5:
            return exp(a - Reduce("max", axis, a)) * b
        return (a - Reduce("sum", axis, a) * inv(size(axis))) * (b - Reduce("sum", axis, b) * inv(size(axis)))


class _Claimed(Judge):
    """Who takes every condition for evident: what is not is for the checker to refuse."""

    def conditions(
        self, conditions: Iterable[Judgment], bindings: Bindings
    ) -> list[tuple[dict[str, Axis | Term], tuple[Derivation, ...]]]:
        """Return the conditions as they are asked for, nothing derived."""

        def stood(arg: Axis | Term) -> Axis | Term:
            return bindings[arg.name] if isinstance(arg, Axis) else substitute(arg, bindings)

        told = [Judgment(c.name, tuple(map(stood, c.args))) for c in conditions]
        return [(dict(bindings), tuple(Derivation(judgment, BASE) for judgment in told))]


def used(seed: int, only: str = "") -> tuple[str, Data] | None:
    """Return a certificate of one step, a law at a place, all drawn by a number; None where nothing fits together;
    `only`: the law's name.
    """
    drawing = _Drawing(seed)
    running = drawing.random.random() < 0.1
    names = (only,) if only else RUNNING if running else ()
    law = drawing.random.choice([law for law in _laws() if not names or law.name in names])
    rules = [s for s in statements() if isinstance(s, Inference)]
    judge = Judge(rules, placed=False) if running or drawing.random.random() < 0.5 else _Claimed(())
    around, still, stream = drawing.place(drawing.random.choice((0, 1, 1, 2, 2, 3)))
    for _ in range(TRIES):
        with suppress(NapkinError, Undecided):
            bindings = drawing.bindings(law, still, stream)
            if not isinstance(judge, _Claimed):
                if not (found := judge.conditions(law.conditions, bindings)):
                    continue
                bindings = dict(found[0][0])
            asked = [a for c in law.conditions for a in c.args if isinstance(a, Term)]
            for t in subterms(law.lhs, law.rhs, *asked):
                if isinstance(t, Var) and t.name not in bindings:
                    bindings[t.name] = drawing.term(t.kind, 1, still, stream)
            forward, path = drawing.random.random() < 0.5, tuple[int, ...]()
            before, after = (substitute(side, bindings) for side in (law.lhs, law.rhs)[:: 1 if forward else -1])
            for outer, inward in reversed(around):
                before, after, path = outer(before), outer(after), (*inward, *path)
            step = Step(law.name, forward, path, tuple(sorted(bindings.items())), before, after)
            return f"{law.name}, {seed}", make(before, after, [step], statements(), verdicts(), {}, judge)
    return None


def uses(count: int, first: int = 0, only: str = "") -> Iterator[tuple[str, Data]]:
    """Yield certificates of laws, or of `only` one, at random places, the first of which is drawn by a number."""
    yield from (made for seed in range(first, first + count) if (made := used(seed, only)) is not None)
