"""Axes: the wires of a diagram, known by name, with a size that is a number or left open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from napkin_eq.lang.errors import NapkinError, checked_name

LARGEST = 2**40


@dataclass(frozen=True, slots=True, order=True)
class Axis:
    """A named axis. `size` is a positive integer, or None for a symbol bound at run time.

    `multiple` is a fact about the size: it is known to be a multiple of this number, so that a tile dividing it needs
    no tail.
    """

    name: str
    size: int | None = None
    multiple: int = 1

    def __post_init__(self) -> None:
        checked_name(self.name, "axis")
        for what, value in (("size", self.size), ("multiple", self.multiple)):
            if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
                raise NapkinError(
                    f"axis {self.name}: {what} {value!r} is not an integer; leave the size out to keep it symbolic"
                )
        if self.size is not None and not 0 < self.size <= LARGEST:
            raise NapkinError(
                f"axis {self.name}: size {self.size} is out of range; an axis has between 1 and 2^40 elements"
            )
        if self.multiple < 1 or (self.size is not None and self.size % self.multiple):
            raise NapkinError(f"axis {self.name}: size {self.size} is not a multiple of {self.multiple}")

    def __str__(self) -> str:
        return self.name

    def divides(self, tile: int) -> bool:
        """Tell whether `tile` is known to divide the size; nothing known means no."""
        return (self.size or self.multiple) % tile == 0


def minor(dims: Sequence[Axis]) -> int:
    """Return the place among an array's dimensions of the one along which neighbours are neighbours in memory: the last
    that has more than one element, or the last of all.
    """
    return next((at for at in reversed(range(len(dims))) if dims[at].size != 1), len(dims) - 1)


def named_anew(name: str, taken: set[str]) -> str:
    """Return a name that is not taken, with a number where the name is, and take it."""
    made = next(n for n in (f"{name}{number or ''}" for number in range(len(taken) + 1)) if n not in taken)
    taken.add(made)
    return made


def axes(names: str, **sizes: int | None) -> tuple[Axis, ...]:
    """Make several axes at once: `q, x, d = axes("q x d", d=128)`; a size left out is symbolic."""
    if not isinstance(names, str):
        raise NapkinError(f"axes: expected the names in one text, such as \"q x d\", found {type(names).__name__}")
    listed = names.replace(",", " ").split()
    if unknown := [name for name in sizes if name not in listed]:
        raise NapkinError(f"axes({names!r}): a size is given for {unknown[0]!r}, which is not listed")
    if repeated := [name for name in listed if listed.count(name) > 1]:
        raise NapkinError(f"axes({names!r}): {repeated[0]!r} is listed twice")
    return tuple(Axis(name, sizes.get(name)) for name in listed)
