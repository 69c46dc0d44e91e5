"""What an e-graph holds, decoded: its nodes, the instances of laws that fired, the terms that nodes stand for."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from napkin_eq.lang.axis import Axis
from napkin_eq.lang.operators import MONOIDS, OPS, RECURRENCE, REDUCTIONS
from napkin_eq.lang.term import (
    Acc,
    Const,
    Fold,
    Group,
    Input,
    Map,
    Online,
    Prev,
    Read,
    Recur,
    Reduce,
    Scan,
    Size,
    Store,
    Term,
    Tuple,
    Walk,
    subterms,
)

# Constructor → positions of its term arguments among its columns; axes first, a flag last.
KINDS: dict[str, tuple[int, ...]] = {"Leaf": (), "Num": (), "Absent": (), "Yes": (), "SizeOf": (), "Acc": ()}
KINDS |= {f"op_{op.name}": tuple(range(len(op.takes))) for op in OPS.values()}
# What is made of whole numbers that are computed, places say: no law of real numbers speaks of these.
KINDS |= {f"int_{op.name}": tuple(range(len(op.takes))) for op in OPS.values() if "real" not in op.takes}
KINDS |= (
    {f"Reduce_{m}": (1, 2) for m in REDUCTIONS}
    | {f"Fold_{m}": (1, 2) for m in REDUCTIONS}
    | {f"Scan_{m}": (1,) for m in MONOIDS}
)
KINDS |= {f"Recur_{RECURRENCE}": (1, 2)}
KINDS |= {"Online": (1, 2, 3), "Read": (1, 2), "Store": (0,), "Group": (1,), "Walk": (1,), "Prev": (0,)}
AXIS_AT = {
    k: (0,)
    for k in KINDS
    if k.split("_")[0] in ("Reduce", "Fold", "Scan", "Recur", "Online", "Read", "Group", "Walk", "SizeOf")
}
FLAGGED = frozenset(k for k in KINDS if k.startswith("Fold_")) | {"Online"}

VARIANTS = 16  # so many instances at most are made of one that fired


@dataclass(frozen=True, slots=True)
class Node:
    """An e-node: a constructor, its fields that are not terms, and its children's class numbers."""

    kind: str
    fields: tuple[Any, ...]
    children: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Instance:
    """A law or an inference that fired: its substitution, from pattern variable to term or axis; `forward` is left to
    right.

    law "arithmetic" equates an operator over numbers (binding "left") with the number it gives ("right").
    """

    law: str
    forward: bool
    bindings: tuple[tuple[str, Term | Axis], ...]


@dataclass(frozen=True, slots=True)
class Merged:
    """An instance that fired of classes which the same round merged with others: of each variable the terms that it may
    have stood for then.
    """

    law: str
    forward: bool
    bindings: tuple[tuple[str, tuple[Term | Axis, ...]], ...]

    def variants(self) -> Iterator[Instance]:
        """Yield the instances of other terms than the first of each variable, so many at most."""
        names = [name for name, _ in self.bindings]
        for chosen in itertools.islice(itertools.product(*(found for _, found in self.bindings)), 1, VARIANTS):
            yield Instance(self.law, self.forward, tuple(zip(names, chosen, strict=True)))


@dataclass(slots=True)
class Saturated:
    """What saturation leaves: the nodes of every class, the root, a term of each, fired instances, and counts.

    safe: classes whose exponential is proved not to overflow; given: classes whose exponential the source itself takes;
    nonneg: classes proved to hold no negative number; ties: classes of comparisons that rounding would decide, with the
    source's term, and `places`: the class of each term below one; sources: classes that hold a part of the source, with
    that part;
    merged: the instances that fired of classes which the same round merged with others.
    """

    classes: dict[int, list[Node]]
    root: int
    reps: dict[int, Term]
    safe: frozenset[int]
    given: frozenset[int]
    nonneg: frozenset[int]
    instances: list[Instance]
    rounds: int
    nodes: int
    leaves: list[Term]
    notes: list[str] = field(default_factory=list)
    ties: dict[int, Term] = field(default_factory=dict)
    places: dict[Term, int] = field(default_factory=dict)
    sources: dict[int, Term] = field(default_factory=dict)
    merged: list[Merged] = field(default_factory=list)


def tied(term: Term) -> bool:
    """Whether a comparison of computed numbers may hang on their last bits: an equality, or one of two values made of
    the same input.
    """
    if not (isinstance(term, Map) and term.op in ("lt", "le", "eq") and term.args[0].kind == "real") or not any(
        a.children for a in term.args
    ):
        return False
    left, right = ({t for t in subterms(a) if isinstance(t, Input)} for a in term.args)
    return term.op == "eq" or bool(left & right)


def computed(op: str, numbers: list[Fraction]) -> Fraction:
    """Return an operator over numbers, exactly."""
    return (
        sum(numbers, Fraction(0))
        if op == "add"
        else math.prod(numbers, start=Fraction(1))
        if op == "mul"
        else -numbers[0]
    )


def built(kind: str, fields: tuple[Any, ...], children: tuple[Term, ...], leaves: Sequence[Term]) -> Term:
    """Return the term of an e-node."""
    head, _, rest = kind.partition("_")
    if kind == "Leaf":
        leaf: int = fields[0]
        return leaves[leaf]
    if kind == "Num":
        return Const(fields[0])
    if kind == "Absent":
        return Const(-math.inf)
    if kind == "Yes":
        return Const(True)
    if head in ("op", "int"):
        return Map(rest, children)
    if head == "Reduce":
        return Reduce(rest, fields[0], *children)
    if head == "Fold":
        return Fold(rest, fields[0], children[0], children[1], fields[1])
    if head == "Scan":
        return Scan(rest, fields[0], *children)
    if head == "Recur":
        return Recur(fields[0], *children)
    if kind == "Online":
        return Online(fields[0], children[0], children[1], children[2], fields[1])
    if kind == "Read":
        return Read(children[0], fields[0], children[1])
    if kind == "Tuple":
        return Tuple(children)
    make: Any = {"SizeOf": Size, "Store": Store, "Group": Group, "Walk": Walk, "Acc": Acc, "Prev": Prev}[kind]
    found: Term = make(*fields, *children)
    return found
