"""A circuit: the operations of a diagram or a plan, each a box between bundles of wires, wherever it is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from napkin_eq.lang.axis import Axis
from napkin_eq.lang.term import Term

# Where a value lies: in the memory of the GPU, on chip and shared, or in registers.
LEVELS = HIGH, CHIP, REGISTER = ("high", "chip", "register")
KINDS = ("input", "contract", "map", "fold", "scan", "read", "shape", "load", "store", "output", "times")


@dataclass(frozen=True, slots=True)
class Strand:
    """A wire of a bundle: an axis, and how much of it is present at a time.

    part: "g" for a group of a partitioned axis, "s" for a block of a streamed one, "" for the whole.
    tile: how many lanes of it.
    The strand of a scalar has no axis.
    """

    axis: Axis | None
    part: str = ""
    tile: int | None = None

    @property
    def name(self) -> str:
        """The axis's name; "" of a scalar."""
        return self.axis.name if self.axis else ""


@dataclass(frozen=True, slots=True)
class Node:
    """An operation with one output: `args` are places of nodes, `strands` the wires of its value.

    takes: the axes that it consumes; touches: those that it works along and keeps. caption: a few words; formula: what
    it computes, its arguments being variables arg0, arg1 and so on; title: the whole of it. flops: its operations;
    moved: the bytes that it sends between levels; held: those of its value on chip; None is not known. kernel: its
    number in a plan.
    """

    kind: str
    args: tuple[int, ...]
    strands: tuple[Strand, ...]
    level: str = HIGH
    takes: tuple[str, ...] = ()
    touches: tuple[str, ...] = ()
    caption: str = ""
    formula: Term | None = None
    title: str = ""
    sign: str = ""
    flops: int | None = None
    moved: int | None = None
    held: int | None = None
    kernel: int | None = None
    changed: bool = False
    term: Term | None = None


@dataclass(frozen=True, slots=True)
class Bracket:
    """A stretch of columns that belongs together: a kernel, or the loop of a stream.

    `nodes` are those that it holds.
    """

    kind: str
    caption: str
    nodes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Circuit:
    """Nodes, each after its arguments, what brackets hold several of them, and a caption of the whole."""

    nodes: tuple[Node, ...]
    brackets: tuple[Bracket, ...] = ()
    caption: str = ""
    costs: bool = True


@dataclass(slots=True)
class Building:
    """A circuit while it is built."""

    nodes: list[Node] = field(default_factory=list)

    def add(self, node: Node) -> int:
        """Append a node and return its place."""
        self.nodes.append(node)
        return len(self.nodes) - 1


def strands_of(axes: Sequence[Axis]) -> tuple[Strand, ...]:
    """Return a strand for each axis, for a scalar one without."""
    return tuple(Strand(axis) for axis in axes) or (Strand(None),)


def users(nodes: Sequence[Node]) -> list[list[int]]:
    """Return, for each node, the places of those that take its value, in order, once each."""
    found: list[list[int]] = [[] for _ in nodes]
    for place, node in enumerate(nodes):
        for arg in dict.fromkeys(node.args):
            found[arg].append(place)
    return found
