"""The door to the printers of the plan language: the files of `codegen/`, loaded when first asked for."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any, Literal, Protocol, TypeVar, overload

from napkin_eq.lang.errors import NapkinError
from napkin_eq.laws.loader import folder
from napkin_eq.tile.guards import Dispatch
from napkin_eq.tile.ir import (
    Iota,
    Kernel,
    Load,
    Loop,
    Plan,
    Start,
    closure,
    definitions,
    statements,
    used,
    values_of,
)

Printer = Callable[[Plan, tuple[str, ...]], Any]
F = TypeVar("F", bound=Printer)
AT_ONCE = 2**18  # elements of the largest tile, of all cases and of programs that the numpy target runs together
_printers: dict[str, Printer] = {}
_dispatchers: list[Callable[[Dispatch], str]] = []


class Runner(Protocol):
    """What the numpy target gives: a plan as a function of named arrays."""

    def __call__(
        self,
        arrays: Mapping[str, Any],
        emulate: bool = False,
        sizes: Mapping[str, int] | None = None,
        fuse: bool = False,
        cases: int = 0,
    ) -> dict[str, Any]: ...


def together(kernel: Kernel, cases: int) -> tuple[list[str], int]:
    """Return the coordinates of the grid of which the numpy target has each block run apart, as loops begin or end by
    them, and of how many others' blocks it runs the programs together on so many cases.
    """
    loops = [stmt for stmt in statements(kernel.body) if isinstance(stmt, Loop)]
    behind = closure(definitions(kernel.body), {name for loop in loops for name in used(loop)}).values()
    ends = {stmt.coord for stmt in behind if isinstance(stmt, (Start, Iota))}
    if any(stmt is None or isinstance(stmt, Load) for stmt in behind):
        ends = {*kernel.grid}  # of what is read, or carried, nobody knows whether it is one for several programs
    tiles = {coord.name: coord.tile for coord in kernel.coords}
    lanes = (math.prod(tiles.get(name, 1) for name in v.coords) for v in values_of(kernel.body).values())
    most = max(1, AT_ONCE // (max(1, cases) * max(lanes, default=1)))
    return [name for name in kernel.grid if name in ends], most


def emitter(target: str) -> Callable[[F], F]:
    """Register a printer, a function of a plan and the lines for the head of its file, under the name of its target."""

    def register(printer: F) -> F:
        _printers[target] = printer
        return printer

    return register


def dispatcher(printer: Callable[[Dispatch], str]) -> Callable[[Dispatch], str]:
    """Register what prints several plans, among which sizes decide, as one file."""
    _dispatchers[:] = [printer]
    return printer


@overload
def emit(  # type: ignore[overload-overlap]
    plan: Plan, target: Literal["numpy"], header: Mapping[str, object] | Sequence[str] = ()
) -> Runner: ...


@overload
def emit(plan: Plan, target: str = "triton", header: Mapping[str, object] | Sequence[str] = ()) -> str: ...
def emit(plan: Plan, target: str = "triton", header: Mapping[str, object] | Sequence[str] = ()) -> Any:
    """Print a plan for a target: "triton" and "pseudocode" give a text, "numpy" a function of named arrays.

    `header` holds lines, or a mapping printed as `key: value`, for the head of the text, followed by the plan's notes.
    """
    lines = [f"{key}: {value}" for key, value in header.items()] if isinstance(header, Mapping) else list(header)
    return _printer(target)(plan, (*comment_lines(lines), *comment_lines(plan.notes)))


def code(plan: Plan) -> str:
    """Print a plan as a Python file for a GPU: by "gluon" where groups of warps share a kernel, else by "triton"."""
    return emit(plan, "gluon" if any(kernel.workers for kernel in plan.kernels) else "triton")


def dispatch_code(dispatch: Dispatch) -> str:
    """Print several plans as one Python file whose `run` takes one of them by the sizes that it is given."""
    _load()
    return _dispatchers[0](dispatch)


def targets() -> tuple[str, ...]:
    """Return the names of the targets, sorted."""
    _load()
    return tuple(sorted(_printers))


def comment_lines(texts: Sequence[object]) -> tuple[str, ...]:
    """Split texts into lines that can stand in a comment of generated code without ending it."""
    return tuple(
        "".join(c if c.isprintable() else "?" for c in line)
        for text in texts
        for line in str(text).splitlines() or [""]
    )


def _printer(target: str) -> Printer:
    _load()
    if target not in _printers:
        raise NapkinError(f"unknown target {target!r:.60}; one of {', '.join(sorted(_printers))}")
    return _printers[target]


@cache
def _load() -> None:
    # A printer may consist of several files, which import each other as `.file`: the folder is a package wherever it
    # lies.
    place, package = folder("codegen"), ModuleType("napkin_eq.codegen")
    package.__path__ = [str(place)]
    sys.modules.setdefault(package.__name__, package)
    for file in sorted(place.rglob("*.py")):
        import_module(".".join((package.__name__, *file.relative_to(place).with_suffix("").parts)))
