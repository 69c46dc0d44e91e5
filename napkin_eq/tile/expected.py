"""What is expected of sizes that are symbols while a plan is sought: about how large they are, and what they never
pass.

A plan holds for every size; what is expected says which tiles pay. That an axis never passes a number is a promise: a
tile as long may hold the whole of it, and the plan is then right for no longer one. Each such promise can be read off
the plan (`ir.limits`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from napkin_eq.lang.axis import Axis
from napkin_eq.lang.errors import NapkinError

NOMINAL = 4096


@dataclass(frozen=True, slots=True)
class Expected:
    """About how large axes without a size are, by name, and the most that they may be.

    Where `counted`, the stretches that an axis is cut into are counted at launch; `parts` has, by the name of the axis
    that counts them, the axis that is cut, about how many there are and the most: the search adds them.
    """

    sizes: Mapping[str, int] = field(default_factory=dict)
    most: Mapping[str, int] = field(default_factory=dict)
    counted: bool = False
    parts: dict[str, tuple[str, int, int]] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        for name, size in (*self.sizes.items(), *self.most.items()):
            if isinstance(size, bool) or not isinstance(size, int) or size < 1:
                raise NapkinError(
                    f"axis {name!r:.60}: {size!r:.40} is expected, which is no size; give a positive integer"
                )


ANY = Expected()
_EXPECTED: ContextVar[Expected] = ContextVar("expected", default=ANY)


@contextmanager
def expecting(expected: Expected) -> Iterator[None]:
    """Expect so much of sizes in what is done inside."""
    token = _EXPECTED.set(expected)
    try:
        yield
    finally:
        _EXPECTED.reset(token)


def expected() -> Expected:
    """Return what is expected of sizes."""
    return _EXPECTED.get()


def nominal(axis: Axis) -> int:
    """Return an axis' size, or about how large a symbol is."""
    if axis.size is not None:
        return axis.size
    known = expected()
    return known.parts[axis.name][1] if axis.name in known.parts else known.sizes.get(axis.name, NOMINAL)


def at_most(axis: Axis) -> int | None:
    """Return what an axis' size never passes, None where nothing is known."""
    if axis.size is not None:
        return axis.size
    known = expected()
    return known.parts[axis.name][2] if axis.name in known.parts else known.most.get(axis.name)
