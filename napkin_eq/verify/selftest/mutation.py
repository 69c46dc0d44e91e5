"""How a mutation of a plan is stated: as a change of statements, whatever they compute, with what they are to each
other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from napkin_eq.lang.dtypes import NARROW
from napkin_eq.machine.dependent_launch import dependent_launch
from napkin_eq.tile.ir import (
    Assign,
    Defining,
    Dot,
    Kernel,
    Let,
    Load,
    Loop,
    Operand,
    Plan,
    ReduceTile,
    ScanTile,
    Stmt,
    Value,
    statements,
)
from napkin_eq.tile.passes.cache_hints import cache_hints

Body = tuple[Stmt, ...]
Change = Callable[[Stmt, "Facts"], Body | None]
Mutation = Callable[[Plan], Plan | None]
NEG = -math.inf
F = TypeVar("F", bound=Change)


@dataclass(slots=True)
class Facts:
    """What a kernel's statements are to each other: who defines a value, which values are carried through
    which loop.
    """

    kernel: Kernel
    storage: str
    defs: dict[str, Stmt] = field(default_factory=dict)
    carried: dict[str, float] = field(default_factory=dict)
    values: dict[str, Value] = field(default_factory=dict)
    inside: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for stmt in statements(self.kernel.body):
            if isinstance(stmt, Loop):
                self.carried.update({value.name: start for value, start in stmt.carried})
                self.values.update({value.name: value for value, _ in stmt.carried})
                self.inside.update(
                    {s.out.name: stmt.coord for part in stmt.parts for s in statements(part.body) if hasattr(s, "out")}
                )
            elif hasattr(stmt, "out"):
                self.defs[stmt.out.name], self.values[stmt.out.name] = stmt, stmt.out

    def is_op(self, operand: Operand, *ops: str) -> bool:
        made = self.defs.get(operand) if isinstance(operand, str) else None
        return isinstance(made, Let) and made.op in ops

    def rescales(self, stmt: Stmt) -> str | None:
        """Return the accumulator that a statement multiplies by an exponential that does not vary along the loop."""
        if isinstance(stmt, Let) and stmt.op == "mul" and stmt.out.name in self.inside:
            for acc, factor in (stmt.args, stmt.args[::-1]):
                if acc in self.carried and self.is_op(factor, "exp2"):
                    return str(acc)
        return None

    def factor(self, stmt: Let) -> int:
        """Return which argument of a rescaling is the exponential."""
        return 0 if stmt.args[1] in self.carried else 1

    def reference(self, stmt: Stmt) -> str | None:
        """Return the carried maximum that a statement updates from the maximum of a tile."""
        if isinstance(stmt, Let) and stmt.op == "max" and stmt.out.dtype == "f32":
            return next((str(a) for a in stmt.args if a in self.carried), None)
        return None

    def guard(self, stmt: Stmt, absent: bool) -> tuple[str, Operand, Operand] | None:
        """Return (test, picked, otherwise) of a choice that guards against an absent value, or against zero."""
        if isinstance(stmt, Let) and stmt.op == "where" and self.is_op(stmt.args[0], "eq"):
            made = self.defs[str(stmt.args[0])]
            if isinstance(made, Let) and made.args[1] == (NEG if absent else 0.0):
                return str(stmt.args[0]), stmt.args[1], stmt.args[2]
        return None

    def fill(self, stmt: Stmt, *values: float) -> bool:
        """Tell whether a statement keeps a value by a mask of coordinates and puts one of these numbers elsewhere."""
        if (
            not isinstance(stmt, Let)
            or stmt.op != "where"
            or isinstance(stmt.args[2], str)
            or stmt.args[2] not in values
        ):
            return False
        return self.is_op(stmt.args[0], "lt", "le", "and", "not") or isinstance(self.defs.get(str(stmt.args[0])), Load)


def rewrite(body: Body, facts: Facts, change: Change) -> Body:
    """Return a body with each statement changed, those inside loops first; None leaves one as it is."""
    found: list[Stmt] = []
    for stmt in body:
        if isinstance(stmt, Loop):
            stmt = replace(stmt, parts=tuple(replace(p, body=rewrite(p.body, facts, change)) for p in stmt.parts))
        new = change(stmt, facts)
        found.extend((stmt,) if new is None else new)
    return tuple(found)


def mutated(plan: Plan, change: Change) -> Plan | None:
    """Return the plan with a change made at every statement that it fits, None if it fits none."""
    kernels = []
    for kernel in plan.kernels:
        facts = Facts(kernel, next((b.dtype for b in plan.inputs if b.dtype in NARROW), "f32"))
        # Who does what was decided of the kernel as it was: of what it has become nothing is, until that is asked.
        workers = replace(kernel.workers, roles=None) if kernel.workers else None
        kernels.append(replace(kernel, body=rewrite(kernel.body, facts, change), workers=workers))
    found = replace(plan, kernels=tuple(kernels))
    same = all(new.body == old.body for new, old in zip(found.kernels, plan.kernels, strict=True))
    return None if same else replace(found, kernels=dependent_launch(cache_hints(found)).kernels)


class Family:
    """Mutations that are about one thing, in the order in which they are written down."""

    def __init__(self) -> None:
        self.mutations: dict[str, Mutation] = {}
        self.says: dict[str, str] = {}

    def __call__(self, says: str) -> Callable[[F], F]:
        """Register a change of statements as a mutation, under its function's name."""

        def register(change: F) -> F:
            name = change.__name__.replace("_", "-")
            self.mutations[name] = lambda plan: mutated(plan, change)
            self.says[name] = says
            return change

        return register


def using(stmt: Stmt, names: Mapping[str, Operand]) -> Stmt:
    """Return a statement with some of the values that it uses exchanged."""

    def other(item: Operand) -> Operand:
        return names.get(item, item) if isinstance(item, str) else item

    match stmt:
        case Let():
            return replace(stmt, args=tuple(map(other, stmt.args)))
        case ScanTile():
            return replace(stmt, arg=str(other(stmt.arg)), gain=None if stmt.gain is None else str(other(stmt.gain)))
        case ReduceTile():
            return replace(stmt, arg=str(other(stmt.arg)))
        case Dot():
            return replace(
                stmt, a=str(other(stmt.a)), b=str(other(stmt.b)), acc=None if stmt.acc is None else str(other(stmt.acc))
            )
        case Assign():
            return replace(stmt, value=str(other(stmt.value)))
    return stmt


def made(stmt: Stmt, suffix: str, op: str, *args: Operand, dtype: str = "") -> Let:
    """Return a new elementwise value beside the one that a statement defines."""
    assert isinstance(stmt, Defining)
    out = stmt.out
    return Let(replace(out, name=f"{out.name}__{suffix}", dtype=dtype or out.dtype), op, args)


def instead(stmt: Stmt, *before: Let, op: str, args: tuple[Operand, ...]) -> Body:
    """Define a statement's value by another operator, after the values that it needs."""
    assert isinstance(stmt, Defining)
    return (*before, Let(stmt.out, op, args))
