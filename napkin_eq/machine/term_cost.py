"""What work on a term takes before it is lowered: the rates of the cost model on counts of elements, to rank forms of
one value.

It tells forms apart, and no kernel's time: nothing of it reaches a plan's price. What it ranks first is lowered, tiled
and priced by cost.py. Where that counts a statement's work, the same counts stand here; what only lowering decides
(tiles, blocks, what level 2 keeps) is left out.
"""

from __future__ import annotations

from napkin_eq.lang.axis import Axis
from napkin_eq.machine.cost import CASTING, FOLDING, extent
from napkin_eq.machine.gpu import Hardware
from napkin_eq.tile.resources import SPECIAL
from napkin_eq.tile.stream_facts import MIN_DOT

OF_THE_UNIT = ("exp", "log", "inv")  # special functions whatever they are written of
# Operations of a factor that is a constant, of a sign or a conversion, of any other operator
FOLDED_INTO, SIGN, OTHER = 0.02, 0.25, 1.0
# Seconds that keep forms of equal cost in order: an operator, a fold, a pass that is not shared
TIE = 1e-13, 1e-9, 1e-10


class TermCost:
    """Seconds of work over the whole of a value, of elements of so many bytes, for a GPU."""

    def __init__(self, hardware: Hardware, element_bytes: int) -> None:
        self.ranking, self.bytes, self.following = hardware.ranking, element_bytes, hardware.model.following_s
        self.reading, self.special, self.plain = hardware.l2.copy_bandwidth, hardware.rate("sfu"), hardware.rate("fma")
        self.matrix = hardware.flops("bfloat16") * hardware.ranking.matrix

    def load(self, lanes: int) -> float:
        """Return what it takes to read so many elements, from level 2: each pass over an axis reads once."""
        return lanes * self.bytes / self.reading

    def store(self, lanes: int) -> float:
        """Return what it takes to write so many elements and to read them in another kernel, its launch included."""
        return 2 * self.load(lanes) + self.following

    def pointwise(self, op: str, lanes: int, *, scaled: bool) -> float:
        """Return what an operator takes; scaled: it multiplies by a constant, which becomes part of what reads it."""
        if op in SPECIAL or op in OF_THE_UNIT:
            return lanes * SPECIAL.get(op, 1) / self.special
        if op == "mul" and scaled:
            return lanes * FOLDED_INTO / self.plain
        return lanes * (SIGN if op in ("neg", "real") else OTHER) / self.plain + TIE[0]

    def fold(self, lanes: int, share: float, *, contraction: bool) -> float:
        """Return what adding up takes, of a share of the elements, beside the contraction that does so by itself."""
        return (0.0 if contraction else FOLDING * lanes * (1 / self.plain) * share) + TIE[1]

    def walk(self, *, shared: bool) -> float:
        """Return what a pass over an axis takes beside its work; one that others may share comes first."""
        return self.ranking.pass_s if shared else self.ranking.pass_s + TIE[2]

    def contraction(self, products: int, axis: Axis, share: float) -> float:
        """Return what products take on the matrix unit, which folds no fewer than MIN_DOT at a time."""
        return 2.0 * max(1.0, MIN_DOT / extent(axis)) * products / self.matrix * share

    def operand(self, lanes: float) -> float:
        """Return what it takes to round the results of a contraction, and an operand that is computed."""
        return lanes * CASTING * (1 / self.plain)
