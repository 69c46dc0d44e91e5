"""Laws: one statement each, from which come the rewrite, the proof obligation, the numeric test and the docs entry.

A law file in `rules/` looks like this (see rules/semiring.py):

    @law("A factor that does not vary along x moves out of a sum over x.")
    def distribute(a, b, x):
        return Sum(x, a * b), a * Sum(x, b), free(x, a)

The function returns left side, right side, then side conditions; `@infer` returns a conclusion, then its premises.
Parameters are pattern variables. Their kind is their annotation: Axis, Real, Mask, Coordinate, Number, Several, or one
of the schema kinds Monoid, Unary, Binary, Item, which stand for every monoid, operator or item of a tuple, one law
each. Without annotation x, y, z are axes, c is a mask and everything else is a real term. A condition fires only when
it is *proved*; unknown means no.
"""

from __future__ import annotations

import inspect
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from napkin_eq.lang.axis import Axis
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.operators import FUNCTIONS, MONOIDS, OPS, REDUCTIONS
from napkin_eq.lang.term import (
    Acc,
    Const,
    Fold,
    Group,
    Index,
    Map,
    Online,
    Pattern,
    Prev,
    Proj,
    Read,
    Recur,
    Reduce,
    Scan,
    Size,
    Store,
    Term,
    Tuple,
    Walk,
    _make,
    subterms,
)

MAX_NESTING = 64  # operators in a law, one inside the other; provers take a term apart by recursion
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,62}\Z")
STAGES = ("prepare", "algebra", "cut", "structure", "cited")


class Real:
    """Annotation: a real-valued pattern variable."""


class Mask:
    """Annotation: a boolean pattern variable."""


class Coordinate:
    """Annotation: an integer pattern variable."""


class Number:
    """Annotation: a pattern variable that stands for a real constant."""


class Monoid:
    """Annotation: the law holds for every monoid of numbers; it becomes one law for each."""


class Reduction:
    """Annotation: the law holds for every monoid, those of places too; it becomes one law for each."""


class Several:
    """Annotation: a pattern variable that stands for a Tuple, which may lie under Store, Group and Walk."""


# Kinds of what may stand in a Tuple after numbers, and what the laws are called
ITEMS = {"bool": "mask", "int": "whole"}


def together(kinds: Iterable[str]) -> bool:
    """Tell whether values of these kinds may stand in one Tuple: numbers, and either masks or whole numbers."""
    return len({*kinds} - {"real"}) <= 1


@dataclass(frozen=True, slots=True)
class Item:
    """Annotation: the law holds for every item of every Tuple of 2 to 5 numbers, of which the last may be masks or
    whole numbers.
    """

    place: int
    count: int
    kind: str = "real"  # of the last items, as many as `last` says
    last: int = 0

    def __str__(self) -> str:
        return f"{self.place}-{self.count}" + (f"-{ITEMS[self.kind]}-{self.last}" if self.last else "")

    def of(self, *items: Term) -> tuple[Term, ...]:
        """Return as many pattern variables as the Tuple has items, each of its kind."""
        numbers, others = items[: self.count - self.last], items[self.count - self.last : self.count]
        return *numbers, *(Var(item.name, self.kind) for item in others if isinstance(item, Var))

    @property
    def own(self) -> str:
        """The item's own kind."""
        return self.kind if self.place >= self.count - self.last else "real"

    @staticmethod
    def every() -> tuple[Item, ...]:
        """Return all items of all Tuples that the laws speak of."""
        ways = [
            (count, kind, last)
            for count in range(2, 6)
            for kind, last in (("real", 0), *((k, n + 1) for k in ITEMS for n in range(count)))
        ]
        return tuple(Item(place, count, kind, last) for count, kind, last in ways for place in range(count))

    @staticmethod
    def of_kinds(place: int, kinds: Sequence[str]) -> Item:
        """Return the item of a Tuple whose items have these kinds, numbers first."""
        last = sum(kind != "real" for kind in kinds)
        return Item(place, len(kinds), kinds[-1] if last else "real", last)


class Unary:
    """Annotation: the law holds for every real operator of one argument."""


class Binary:
    """Annotation: the law holds for every real operator of two arguments."""


_KINDS = {Real: "real", Mask: "bool", Coordinate: "int", Number: "number", Several: "tuple"}
_SCHEMAS: dict[type, tuple[str | Item, ...]] = {
    Item: Item.every(),
    Monoid: MONOIDS,
    Reduction: tuple(REDUCTIONS),
    Unary: tuple(
        o.name
        for o in OPS.values()
        if len(o.takes) == 1 and o.takes[0] in ("real", "num") and o.gives in ("real", "num")
    ),
    Binary: ("add", "mul", "max", "min"),
}


class Var(Pattern):
    """A pattern variable of a law: `Var(name, kind)`; kind "number" matches constants only."""

    names = ("name", "sort")
    __slots__ = ()

    def __new__(cls, name: str, sort: str = "real") -> Var:
        return _make(cls, (name, sort), (), "real" if sort == "number" else sort, ())


@dataclass(frozen=True, slots=True)
class Judgment:
    """A statement about terms, such as free(x, a); `args` are axes and terms."""

    name: str
    args: tuple[Axis | Term, ...]

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(str, self.args))})"


JUDGMENTS: dict[str, tuple[tuple[str, ...], str]] = {
    "free": (("axis", "term"), "{1} does not vary along {0}"),
    "along": (("axis", "term"), "{1} varies along {0}"),
    "distinct": (("axis", "axis"), "{0} and {1} are different axes"),
    "nonneg": (("term",), "{0} is present and >= 0"),
    "pos": (("term",), "{0} is present and > 0"),
    "nonzero": (("term",), "{0} is present and not 0"),
    "finite": (("term",), "{0} is present everywhere"),
    "le": (("term", "term"), "{0} <= {1}, the absent value being least"),
    "local": (("axis", "term"), "{1} holds no reduction, scan or read along {0}"),
    "scales": (("axis", "term", "term"), "as the stream over {0} goes on, {1} changes by the factor {2}"),
    "moves": (
        ("axis", "term", "term", "term"),
        "as the stream over {0} goes on, the sum of {1} over the lanes so far, times {2} as it was, changes by {3}",
    ),
    "settled": (("axis", "term"), "{1} is present over the lanes of {0} so far, none of them included"),
    "null": (("axis", "term"), "the sum of {1} over {0} is 0"),
    "absent": (("mask", "term"), "{1} is absent wherever {0} is false"),
    "zero": (("mask", "term"), "{1} is 0 wherever {0} is false"),
    "safe": (("term",), "exp({0}) cannot overflow"),
    "divides": (("term", "term"), "{0} divides {1}, both whole numbers"),
    "disjoint": (("mask", "mask"), "{0} and {1} never hold together"),
    "present": (("mask", "term"), "{1} is present wherever {0} is true"),
    "leaves": (("axis", "mask"), "{1} is true of a lane of {0}"),
    "stretch": (
        ("axis", "axis", "mask"),
        "{2} holds on the lanes of {1} that belong to stretch {0}, each lane in exactly one",
    ),
}
BUILT_IN = ("free", "along", "distinct")
FLOATING = ("exact", "reassociating", "unsafe")


def _judgment(name: str) -> Callable[..., Judgment]:
    def make(*args: Axis | Term | float) -> Judgment:
        takes, _ = JUDGMENTS[name]
        if len(args) != len(takes):
            raise NapkinError(f"{name} takes {len(takes)} arguments, {len(args)} given")
        # Only what divides is a whole number; elsewhere 0 means the real one, as patterns hold it.
        return Judgment(
            name, tuple(Const(a if name == "divides" else float(a)) if isinstance(a, (int, float)) else a for a in args)
        )

    make.__name__, make.__doc__ = name, JUDGMENTS[name][1]
    return make


free, along, distinct, nonneg, pos, nonzero, finite, le, local, scales, *_others = map(_judgment, JUDGMENTS)
moves, settled, null, absent, zero, safe, divides, disjoint, present, leaves, stretch = _others


@dataclass(frozen=True, slots=True)
class Law:
    """An equation lhs = rhs that holds for all sizes and values under its conditions.

    `ranges`: what must hold besides for a rewrite in floating point to keep its digits; no premise of the proof.
    """

    name: str
    family: str
    reading: str
    lhs: Term
    rhs: Term
    conditions: tuple[Judgment, ...]
    both: bool
    stage: str
    source: str
    place: str = field(compare=False)
    floating: str = "reassociating"
    ranges: tuple[Judgment, ...] = ()

    def statement(self) -> str:
        given = f"   if {', '.join(map(str, self.conditions))}" if self.conditions else ""
        return f"{self.lhs}  {'=' if self.both else '→'}  {self.rhs}{given}"


@dataclass(frozen=True, slots=True)
class Within:
    """What a law's function returns beside its conditions: the range in which an "unsafe" law keeps its digits."""

    judgments: tuple[Judgment, ...]


def within(*judgments: Judgment) -> Within:
    """State the range in which a law marked "unsafe" neither overflows nor cancels in floating point."""
    return Within(judgments)


@dataclass(frozen=True, slots=True)
class Inference:
    """A rule premises ⟹ conclusion between judgments."""

    name: str
    family: str
    reading: str
    conclusion: Judgment
    premises: tuple[Judgment, ...]
    source: str
    place: str = field(compare=False)

    def statement(self) -> str:
        return f"{', '.join(map(str, self.premises)) or 'always'}  ⟹  {self.conclusion}"


Statement = Law | Inference


class Registry:
    """The statements loaded so far, in order of loading; a name is given once."""

    def __init__(self) -> None:
        self.statements: dict[str, Statement] = {}
        self.family = "user"
        self.given: list[Statement] = []  # by the place that is loaded now, in order, the same one again included

    def add(self, statement: Statement) -> None:
        known = self.statements.get(statement.name)
        if known is not None and known.place != statement.place:
            raise NapkinError(
                f"law {statement.name} at {statement.place} has the name of the one at {known.place}; rename one"
            )
        self.statements[statement.name] = statement
        self.given.append(statement)

    def laws(self) -> list[Law]:
        return [s for s in self.statements.values() if isinstance(s, Law)]

    def inferences(self) -> list[Inference]:
        return [s for s in self.statements.values() if isinstance(s, Inference)]


REGISTRY = Registry()


def law(
    reading: str, *, both: bool = False, stage: str = "algebra", source: str = "", floating: str = "reassociating"
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register the decorated statement as a law; see the module's text for its form.

    stage: "prepare" laws fire once, first; "algebra" laws round after round; "cut" laws with them, but only where an
    axis is offered in stretches; "structure" laws last; "cited" laws in no e-graph: a search that knows where they lead
    cites them. floating: "exact" (the same number), "reassociating" (rounding differs) or "unsafe" (may overflow or
    cancel, outside the range that `within(...)` names); proofs/floating.py decides it. Raises NapkinError for unbound
    variables, a bare variable on the left, sides of different kinds, duplicate names.
    """
    reading = _sentence(reading, "law")

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        for name, family, place, sides in _expanded(function):
            statement = _law_of(name, family, reading, sides, both, stage, source, place, floating)
            _check_law(statement)
            REGISTRY.add(statement)
        return function

    return register


def infer(reading: str, *, source: str = "") -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register the decorated statement as a rule between judgments: it returns the conclusion, then the premises."""
    reading = _sentence(reading, "infer")

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        for name, family, place, (conclusion, *premises) in _expanded(function):
            statement = Inference(name, family, reading, conclusion, tuple(premises), source, place)
            _check_inference(statement)
            REGISTRY.add(statement)
        return function

    return register


def statements_of(function: Callable[..., Any], floating: str = "reassociating") -> list[Statement]:
    """Return what a function states, unregistered and in whatever form: a law, or an inference where a judgment comes
    first.
    """
    found: list[Statement] = []
    for name, family, place, sides in _expanded(function):
        if isinstance(sides[0], Judgment):
            found.append(Inference(name, family, "", sides[0], tuple(sides[1:]), "", place))
        else:
            found.append(_law_of(name, family, "", sides, False, "algebra", "", place, floating))
    return found


def _sentence(reading: object, decorator: str) -> str:
    """Return a reading on one line: it stands in the catalogue and at the head of solvers' scripts."""
    if callable(reading):
        code = getattr(reading, "__code__", None)
        place = f" at {code.co_filename}:{code.co_firstlineno}" if code else ""
        raise NapkinError(f'@{decorator}{place} lacks its reading; write @{decorator}("What the statement says.")')
    if not isinstance(reading, str) or not reading.strip():
        raise NapkinError(f"@{decorator}: its reading is {reading!r:.60}, expected a sentence")
    return " ".join(reading.split())


def _law_of(
    name: str,
    family: str,
    reading: str,
    sides: tuple[Any, ...],
    both: bool,
    stage: str,
    source: str,
    place: str,
    floating: str,
) -> Law:
    lhs, rhs, *rest = sides
    ranges = tuple(j for part in rest if isinstance(part, Within) for j in part.judgments)
    conditions = tuple(part for part in rest if not isinstance(part, Within))
    return Law(name, family, reading, lhs, rhs, conditions, both, stage, source, place, floating, ranges)


def _expanded(function: Callable[..., Any]) -> Iterator[tuple[str, str, str, tuple[Any, ...]]]:
    if not inspect.isfunction(function):
        raise NapkinError(f"a law is stated by a function, not by {function!r:.60}; write def under @law(...)")
    place = f"{function.__code__.co_filename}:{function.__code__.co_firstlineno}"
    base = _word(function.__name__, f"law at {place}").replace("_", "-")
    hints = {k: getattr(v, "__name__", v) for k, v in function.__annotations__.items()}
    by_name = {cls.__name__: cls for cls in (*_KINDS, *_SCHEMAS)}
    choices: list[list[tuple[str | None, Any]]] = []
    for name in inspect.signature(function).parameters:
        hint = hints.get(name)
        if hint == "Axis" or (hint is None and name in "xyz"):
            choices.append([(None, Axis(name))])
        elif by_name.get(str(hint)) in _SCHEMAS:
            choices.append([(str(value), value) for value in _SCHEMAS[by_name[str(hint)]]])
        else:
            kind: Any = by_name.get(str(hint), Real)
            sort = _KINDS.get(kind, "real") if hint else ("bool" if name == "c" else "real")
            choices.append([(None, Var(name, sort))])
    for picked in itertools.product(*choices):
        suffix = "-".join(tag for tag, _ in picked if tag is not None)
        try:
            sides = function(*(value for _, value in picked))
        except NapkinError as error:
            raise NapkinError(f"law {base} at {place}: {error}") from None
        stated = _stated(f"law {base} at {place}", sides if isinstance(sides, tuple) else (sides,))
        yield (f"{base}-{suffix}" if suffix else base), REGISTRY.family, place, stated


def _word(name: str, where: str) -> str:
    """Return a name that may stand in scripts for solvers and in Rocq: of a law, of a variable."""
    if not _WORD.match(name):
        raise NapkinError(
            f"{where}: {name!r:.60} is no usable name; expected a letter, then letters, digits and underscores"
        )
    return name


def _stated(where: str, parts: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return what a law's function gives, numbers as constants; raise NapkinError for what is no part of a law."""
    found = tuple(Const(float(part)) if isinstance(part, (int, float)) else part for part in parts)
    for part in found:
        if not isinstance(part, (Term, Judgment, Within)):
            raise NapkinError(f"{where}: {part!r:.60} is neither a term nor a condition")
    if not isinstance(found[0], Judgment) and sum(isinstance(part, Term) for part in found) != 2:
        raise NapkinError(
            f"{where}: expected two sides, then conditions; a rule between judgments is stated under @infer"
        )
    spoken = [part for part in found if not isinstance(part, Within)]
    for name in sorted(variables(*spoken, *(j for part in found if isinstance(part, Within) for j in part.judgments))):
        _word(name, where)
    terms = [
        t for part in spoken for t in (part.args if isinstance(part, Judgment) else (part,)) if isinstance(t, Term)
    ]
    if (deepest := max((t.depth for t in terms), default=0)) > MAX_NESTING:
        raise NapkinError(
            f"{where}: it nests {deepest} operators; at most {MAX_NESTING} are understood: state smaller laws"
        )
    return (found[0], *(spelled for part in found[1:] for spelled in _freed(part)))


def _freed(part: Any) -> tuple[Any, ...]:
    """Return a part of a statement; of the condition that a term does not vary along an axis, the same of its
    variables, which is what provers understand.

    What a reduction over another axis holds is asked not to vary either: where the two axes are one it may.
    """
    if not (isinstance(part, Judgment) and part.name == "free"):
        return (part,)
    axis, term = part.args
    found, stack, seen = dict[Judgment, None](), [term] if isinstance(term, Term) else [], set[Term]()
    while stack:
        if (inner := stack.pop()) in seen:
            continue
        seen.add(inner)
        if isinstance(inner, Acc):  # along which axes that varies is not told by variables
            return (part,)
        if isinstance(inner, Var):
            found[free(axis, inner)] = None
        if isinstance(inner, (Index, Scan, Recur)):
            found[distinct(axis, inner.axis)] = None
        if not (isinstance(inner, (Reduce, Fold, Online, Read)) and inner.axis == axis):
            stack += reversed(inner.children)
        elif isinstance(inner, Read):
            stack.append(inner.index)
    return tuple(found)


def variables(*parts: Axis | Term | Judgment) -> set[str]:
    """Return the names of the pattern variables, axes included, that occur in terms and judgments."""
    found: set[str] = set()
    for part in parts:
        for root in part.args if isinstance(part, Judgment) else (part,):
            found |= {root.name} if isinstance(root, Axis) else _variables(root) if isinstance(root, Term) else ()
    return found


@lru_cache(maxsize=1 << 14)  # asked again of the same laws for every step of a chain
def _variables(root: Term) -> frozenset[str]:
    found: set[str] = set()
    for term in subterms(root):
        if isinstance(term, Var):
            found.add(term.name)
        found |= {f.name for f in term.fields if isinstance(f, Axis)}
    return frozenset(found)


def _check_law(law: Law) -> None:
    where = f"law {law.name} at {law.place}"
    if isinstance(law.lhs, Var) and law.stage != "structure":
        raise NapkinError(
            f"{where}: the left side is a bare variable, so it would fire everywhere; put an operator there"
        )
    if law.both and isinstance(law.rhs, Var):
        raise NapkinError(f"{where}: with both=True the right side must not be a bare variable")
    bound = variables(law.lhs, *(c for c in law.conditions if c.name != "free" and c.name != "distinct"))
    if unbound := sorted(variables(law.rhs, *law.conditions, *law.ranges) - bound):
        raise NapkinError(f"{where}: {', '.join(unbound)} on the right side or in a condition is not bound on the left")
    if law.both and (
        unbound := sorted(
            variables(law.lhs) - variables(law.rhs, *(c for c in law.conditions if c.name not in BUILT_IN))
        )
    ):
        raise NapkinError(f"{where}: both=True, but {', '.join(unbound)} does not occur on the right side")
    if law.lhs.kind != law.rhs.kind:
        raise NapkinError(f"{where}: the left side is {law.lhs.kind}, the right side {law.rhs.kind}")
    if law.floating not in FLOATING:
        raise NapkinError(f"{where}: unknown floating-point class {law.floating!r:.60}; one of {', '.join(FLOATING)}")
    if bool(law.ranges) != (law.floating == "unsafe"):
        raise NapkinError(f"{where}: a law is marked unsafe if and only if it names its range, as within(safe(a))")
    if law.stage not in STAGES:
        raise NapkinError(f"{where}: unknown stage {law.stage!r}; one of {', '.join(STAGES)}")


def _check_inference(rule: Inference) -> None:
    if any(p.name == "stretch" for p in (rule.conclusion, *rule.premises)):
        # It holds of a whole axis and not of a stream's prefix of it: only where a law is used can that be told.
        raise NapkinError(f"inference {rule.name} at {rule.place}: stretch(...) is a condition of laws only")
    # What only the conclusion binds is bound by the pattern it holds, which must be more than a variable.
    bound = variables(*rule.premises) | {
        name
        for arg in rule.conclusion.args
        if isinstance(arg, Term) and not isinstance(arg, Var)
        for name in variables(arg)
    }
    axes = {a.name for a in rule.conclusion.args if isinstance(a, Axis)}
    if unbound := sorted(variables(rule.conclusion) - bound - axes):
        raise NapkinError(f"inference {rule.name} at {rule.place}: {', '.join(unbound)} in the conclusion is not bound")


def Sum(x: Axis, a: Term, c: Term | None = None) -> Term:  # noqa: N802 - reads as the mathematician's Σ
    """Sum over an axis, over the lanes where the mask c holds."""
    return Reduce("sum", x, a, c)


def Max(x: Axis, a: Term, c: Term | None = None) -> Term:  # noqa: N802
    """Maximum over an axis, over the lanes where the mask c holds."""
    return Reduce("max", x, a, c)


def inv(a: Term) -> Term:
    """1 / a, and 0 for a = 0."""
    return Map("inv", (a,))


def exp(a: Term) -> Term:
    """e to the a, and 0 for the absent value."""
    return Map("exp", (a,))


def log(a: Term) -> Term:
    """Natural logarithm; the absent value for a = 0."""
    return Map("log", (a,))


def where(c: Term, a: Term, b: Term | float) -> Term:
    """a where the mask c holds, else b."""
    return Map("where", (c, a, Const(float(b)) if isinstance(b, (int, float)) else b))


def size(x: Axis) -> Term:
    """The number of elements along x, as a real."""
    return Map("real", (Size(x),))


TRUE = Const(True)
ABSENT = Const(float("-inf"))
__all__ = [  # what a law file may import
    "ABSENT", "FUNCTIONS", "TRUE", "Acc", "Axis", "Binary", "Const", "Coordinate", "Fold", "Group", "Index", "Item",
    "Map", "Mask", "Max", "Monoid", "Number",
    "Online", "Prev", "Proj", "Read", "Real", "Recur", "Reduce", "Reduction", "Scan", "Several", "Size", "Store", "Sum",
    "Tuple", "Unary", "Walk",
    "absent", "along", "disjoint", "distinct", "divides", "exp", "finite", "free", "infer", "inv", "law", "le",
    "leaves", "local", "log",
    "moves", "nonneg", "nonzero", "null", "pos", "present", "safe", "scales", "settled", "size", "stretch", "where",
    "within", "zero",
]  # fmt: skip
