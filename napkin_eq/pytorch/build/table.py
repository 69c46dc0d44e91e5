"""The table of operators: for each of PyTorch's, by name, the rule that builds its term; the rules stand in files by
kind.

A rule is a function of the Builder and of the operator's arguments, by the names of its schema. It gets those that it
names; where another one has a value that is not its default the operator is refused, unless it says nothing of the
numbers (`SILENT`).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any, TypeVar

from napkin_eq.lang.errors import NapkinError

Rule = Callable[..., Any]
R = TypeVar("R", bound=Rule)
RULES: dict[str, tuple[Rule, tuple[str, ...]]] = {}
KINDS = tuple(
    "elementwise arithmetic logic reductions views gathers products convolutions pooling norms losses "
    "scans backward".split()
)
SILENT = frozenset(
    "dtype out_int32 layout device pin_memory memory_format physical_layout non_blocking copy generator implicit"
    " cudnn_enabled cudnn_enable benchmark deterministic allow_tf32 out_dtype half_to_float input_dtype"
    " grad_input_dtype sparse".split()
)


def operator(*names: str) -> Callable[[R], R]:
    """Enter a rule for operators of `aten`, such as "add.Tensor"."""

    def entered(rule: R) -> R:
        for name in names:
            enter(name, rule)
        return rule

    return entered


def enter(name: str, rule: Rule) -> None:
    """Enter a rule for one operator."""
    if name in RULES:
        raise NapkinError(f"operator {name} has two rules")
    RULES[name] = (rule, tuple(inspect.signature(rule).parameters)[1:])


@cache
def rules() -> dict[str, tuple[Rule, tuple[str, ...]]]:
    """Return the table, every file of it loaded, which is done once: it is asked for with every operator."""
    for kind in KINDS:
        import_module(f"napkin_eq.pytorch.operators.{kind}")
    return RULES


def arguments(target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return a call's arguments by the names of the operator's schema, defaults filled in; raises NapkinError for
    what its rule does not know.
    """
    name = name_of(target)
    rule, takes = rules()[name]
    found: dict[str, Any] = {}
    for place, argument in enumerate(target._schema.arguments):
        given = args[place] if place < len(args) else kwargs.get(argument.name, argument.default_value)
        if argument.name in takes:
            found[argument.name] = given
        elif given != argument.default_value and argument.name not in SILENT:
            raise NapkinError(f"{name} with {argument.name}={given!r:.60} is not supported")
    return found


def kind_of(name: str) -> str:
    """Return the kind of an operator of the table, as the file of its rule is called, "" of another."""
    return rules()[name][0].__module__.rpartition(".")[2] if name in rules() else ""


def name_of(target: Any) -> str:
    """Return an operator's name in the table: `add.Tensor`; of another library than aten with its name before it."""
    text = str(target)
    return text.removeprefix("aten.")
