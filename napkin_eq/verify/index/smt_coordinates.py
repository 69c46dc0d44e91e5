"""Coordinates of a kernel as SMT-LIB over integers: where blocks start, which lane is meant, what masks and indices say
there.

Every integer of a plan becomes a definition, every block and lane a number with its range; questions about them are in
prove_index.py. What is no integer or mask is not read: NotRead says so, and the question stays open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from napkin_eq.lang.axis import Axis
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.term import Const, Index, Input, Length, Map, Size, Term
from napkin_eq.tile.ir import (
    Defining,
    Iota,
    Kernel,
    Let,
    Load,
    Loop,
    Operand,
    Part,
    ReduceTile,
    SizeOf,
    Start,
    Stmt,
    closure,
)
from napkin_eq.tile.lower.loop_bounds import FAR

WHOLE = ("i32", "i64", "i1")
Text = Callable[[str], str]  # writes a script, told what it is about


class NotRead(NapkinError):
    """A statement or a mask that speaks of more than coordinates and integers."""


@dataclass(frozen=True, slots=True)
class Site:
    """A statement with what is defined where it stands, and the loops around it with the part at hand."""

    stmt: Stmt
    defs: Mapping[str, Defining]
    path: tuple[tuple[Loop, Part], ...]


def sites(
    body: Sequence[Stmt], defs: Mapping[str, Defining] | None = None, path: tuple[tuple[Loop, Part], ...] = ()
) -> Iterator[Site]:
    """Yield every statement of a body with its surroundings, those inside loops too."""
    known = dict(defs or {})
    for stmt in body:
        yield Site(stmt, known, path)
        if isinstance(stmt, Loop):
            for part in stmt.parts:
                yield from sites(part.body, known, (*path, (stmt, part)))
        elif isinstance(stmt, Defining):
            known = {**known, stmt.out.name: stmt}


class Script:
    """The integer meaning of one site of a kernel, as lines of SMT-LIB; a second copy of all lanes is told apart by a
    suffix.

    apart: the coordinates whose blocks a second copy has for itself, everything else being shared; by default it shares
    nothing.
    """

    def __init__(self, kernel: Kernel, apart: str | None = None) -> None:
        self.kernel, self.apart = kernel, apart
        self.lines: list[str] = []
        self.done: set[str] = set()
        self.loads: dict[str, list[tuple[tuple[str, ...], str]]] = {}
        self.nonlinear = False
        self.numbers: list[str] = []

    def declare(self, name: str) -> str:
        if name not in self.done:
            self.done.add(name)
            self.lines.append(f"(declare-const {name} Int)")
        return name

    def say(self, *formulas: str) -> None:
        self.lines += [f"(assert {f})" for f in formulas]

    def size(self, axis: Axis) -> str:
        if axis.size is not None:
            return str(axis.size)
        name = f"{axis.name}.size"
        if name not in self.done:
            self.declare(name)
            self.say(f"(<= 1 {name} {FAR})")
            if axis.multiple > 1:
                self.say(f"(= (mod {name} {axis.multiple}) 0)")
            if (most := self.kernel.limits.get(axis.name)) is not None:
                self.say(f"(<= {name} {most})")
        return name

    def start(self, coord: str, site: Site, copy: str) -> str:
        """Return the first coordinate of the current block, its range stated once."""
        c = self.kernel.coord(coord)
        copy = copy if self.apart in (None, coord) else ""
        name = f"{coord}.start{copy}"
        if name in self.done:
            return name
        loop = next(((loop, part) for loop, part in site.path if loop.coord == coord), None)
        if loop is None and c.role != "group" and not c.single:
            raise NotRead(f"coordinate {coord} is used outside its loop")
        if loop is not None:
            low, high = self.range(loop[1], c.tile, site, copy)
        self.declare(name)
        if c.single:
            self.say(f"(= {name} 0)")
        elif loop is None:
            turn = self.declare(f"{coord}.block{copy}")
            self.say(f"(= {name} (* {c.tile} {turn}))", f"(<= 0 {turn})", f"(< {name} {self.size(c.axis)})")
        else:
            turn = self.declare(f"{coord}.turn{copy}")
            self.say(f"(= {name} (+ {low} (* {c.tile} {turn})))", f"(<= 0 {turn})", f"(< {name} {high})")
        return name

    def range(self, part: Part, tile: int, site: Site, copy: str = "") -> tuple[str, str]:
        """Return from where to where, end excluded, the blocks of a part start."""
        low = self.operand(part.lo, site, copy)
        return low, f"(+ {low} {tile})" if part.once else self.operand(part.hi, site, copy)

    def lane(self, coord: str, site: Site, copy: str) -> str:
        """Return the coordinate of the current lane."""
        c, start = self.kernel.coord(coord), self.start(coord, site, copy)
        if c.tile == 1:
            return start
        name = f"{coord}.lane{copy if self.apart is None else ''}"
        if name not in self.done:
            self.declare(name)
            self.say(f"(<= 0 {name} {c.tile - 1})")
        return f"(+ {start} {name})"

    def operand(self, operand: Operand, site: Site, copy: str = "") -> str:
        """Return an integer or mask operand as a term, its definition written first."""
        if isinstance(operand, bool):
            return str(operand).lower()
        if isinstance(operand, int):
            return str(operand) if operand >= 0 else f"(- {-operand})"
        if not isinstance(operand, str) or operand not in site.defs:
            raise NotRead(f"{operand} is no integer that is known here")
        if self.apart and copy and not self.moves(operand, site):
            copy = ""  # the same in both turns
        name = f"{operand}{copy}"
        if name not in self.done:
            made = site.defs[operand]
            out = made.out
            if out.dtype not in WHOLE:
                raise NotRead(f"{operand} is {out.dtype}")
            expression = self.expression(made, site, copy)
            self.done.add(name)
            self.lines.append(f"(define-fun {name} () {'Bool' if out.dtype == 'i1' else 'Int'} {expression})")
            if out.dtype == "i32" and isinstance(made, Let):
                self.numbers.append(name)
        return name

    def moves(self, operand: str, site: Site) -> bool:
        """Tell whether an integer depends on the coordinate in which two turns are apart."""
        return any(
            isinstance(s, (Start, Iota)) and s.coord == self.apart for s in closure(site.defs, [operand]).values()
        )

    def expression(self, stmt: Stmt, site: Site, copy: str) -> str:
        match stmt:
            case Start(_, coord):
                return self.start(coord, site, copy)
            case Iota(_, coord):
                return self.lane(coord, site, copy)
            case SizeOf(_, axis):
                return self.size(axis)
            case Load():
                return self.loaded(stmt, site, copy)
            case ReduceTile(out, "max", _, arg):
                # The greatest of a tile: nothing more is used of it than that it is at least every lane, and no more
                # than a lane can be.
                value, name = self.operand(arg, site, copy), self.declare(f"{out.name}.greatest{copy}")
                self.say(
                    f"(<= {value} {name})",
                    *(f"(<= {name} {most})" for _, most in [self.span(arg, site)] if most is not None),
                )
                return name
            case Let(_, op, args):
                parts = [self.operand(arg, site, copy) for arg in args]
                if (
                    op == "mul"
                    and not any(isinstance(a, int) for a in args)
                    or (op in ("floordiv", "mod") and not isinstance(args[1], int))
                ):
                    self.nonlinear = True
                return integer(op, parts)
        raise NotRead(f"{type(stmt).__name__} gives no coordinate")

    def span(self, operand: Operand, site: Site) -> tuple[int | None, int | None]:
        """Return the least and the most that an integer can be by how it is clamped, as far as that is known."""
        if isinstance(operand, int):
            return operand, operand
        made = site.defs.get(operand) if isinstance(operand, str) else None
        if isinstance(made, Load):
            return -FAR, FAR
        if isinstance(made, ReduceTile):
            return self.span(made.arg, site) if made.monoid == "max" else (None, None)
        if not isinstance(made, Let) or made.op not in ("min", "max", "neg"):
            return None, None
        spans = [self.span(arg, site) for arg in made.args]
        lows, highs = [low for low, _ in spans if low is not None], [high for _, high in spans if high is not None]
        if made.op == "neg":
            return (-highs[0] if highs else None), (-lows[0] if lows else None)
        both = len(spans)
        if made.op == "min":
            return (min(lows) if len(lows) == both else None), min(highs, default=None)
        return max(lows, default=None), (max(highs) if len(highs) == both else None)

    def loaded(self, stmt: Load, site: Site, copy: str) -> str:
        """Return a number for an element of an array, the same for the same element, 0 for a masked lane."""
        index = tuple(self.operand(i, site, copy) for i in stmt.index)
        masks = [self.operand(m, site, copy) for m in stmt.masks]
        name = self.element(
            stmt.buffer, index, "Bool" if stmt.out.dtype == "i1" else "Int", f"{stmt.out.name}.element{copy}"
        )
        none = "false" if stmt.out.dtype == "i1" else "0"
        return f"(ite {conjunction(masks)} {name} {none})" if masks else name

    def element(self, array: str, index: tuple[str, ...], sort: str, name: str) -> str:
        self.done.add(name)
        self.lines.append(f"(declare-const {name} {sort})")
        if sort == "Int":
            self.say(f"(<= (- {FAR}) {name} {FAR})")
        for other, value in self.loads.setdefault(array, []):
            same = conjunction([f"(= {a} {b})" for a, b in zip(index, other, strict=True)])
            self.say(f"(=> {same} (= {name} {value}))")
        self.loads[array].append((index, name))
        return name

    def mask(self, term: Term, site: Site, at: Mapping[str, str], copy: str = "") -> str:
        """Return a term over coordinates and integers, `at` giving the coordinate of each axis."""
        if isinstance(term, Const) and term.kind != "real":
            return str(term.value).lower() if term.kind == "bool" else self.operand(term.value, site)
        if isinstance(term, Index):
            return at[term.axis.name] if term.axis.name in at else self.at(term.axis, site, copy)
        if isinstance(term, (Size, Length)):
            return self.size(term.axis)
        if isinstance(term, Input) and term.kind in ("int", "bool"):
            index = tuple(self.mask(Index(d), site, at, copy) for d in term.dims)
            return self.element(
                term.name, index, "Bool" if term.kind == "bool" else "Int", f"{term.name}.{len(self.done)}"
            )
        if isinstance(term, Map) and term.kind != "real" and all(a.kind != "real" for a in term.args):
            constant = [isinstance(a, Const) for a in term.args]
            self.nonlinear |= (term.op == "mul" and not any(constant)) or (
                term.op in ("floordiv", "mod") and not constant[1]
            )
            return integer(term.op, [self.mask(a, site, at, copy) for a in term.args])
        raise NotRead(f"the mask {term} speaks of more than coordinates and integers")

    def coord(self, axis: Axis, site: Site) -> str:
        """Return the coordinate that walks an axis at a site: that of a loop around it, else that of the output, else
        of a fold.
        """
        for loop, _ in reversed(site.path):
            if self.kernel.coord(loop.coord).axis.name == axis.name:
                return loop.coord
        found = [c.name for c in self.kernel.coords if c.axis.name == axis.name]
        if not found:
            raise NotRead(f"axis {axis.name} is not walked here")
        return axis.name if axis.name in found else found[0]

    def at(self, axis: Axis, site: Site, copy: str) -> str:
        """Return the coordinate of an axis at a site; of one that has a single element nothing need walk it."""
        if axis.size == 1 and all(c.axis.name != axis.name for c in self.kernel.coords):
            return "0"
        return self.lane(self.coord(axis, site), site, copy)

    def asks(self, *goal: str) -> Text:
        """Return the question whether the negated goal can be met, all that was said so far being so."""
        return asks(self.lines, *goal, logic="QF_NIA" if self.nonlinear else "QF_LIA")


def asks(lines: Sequence[str], *goal: str, logic: str = "QF_NIA") -> Text:
    """Return a question: lines as they stand now, and a negated goal."""
    said = [f"(set-logic {logic})", "(set-info :status unsat)", *lines, *(f"(assert {g})" for g in goal), "(check-sat)"]
    return lambda about: "\n".join([f"; {about}", *said, ""])


SYMBOLS = {
    "add": "+", "sub": "-", "mul": "*", "neg": "-", "floordiv": "div", "mod": "mod", "lt": "<", "le": "<=", "eq": "=",
    "and": "and", "or": "or", "not": "not", "where": "ite",
}  # fmt: skip


def integer(op: str, args: Sequence[str]) -> str:
    """Return an operator over integers and masks; division rounds down for the positive divisors of the
    plan language.
    """
    if op in ("min", "max"):
        return f"(ite ({'<=' if op == 'min' else '>='} {args[0]} {args[1]}) {args[0]} {args[1]})"
    if op in ("cast", "real"):
        return args[0]
    if op not in SYMBOLS:
        raise NotRead(f"{op} is no operator over integers")
    return f"({SYMBOLS[op]} {' '.join(args)})"


def conjunction(parts: Sequence[str]) -> str:
    return "true" if not parts else parts[0] if len(parts) == 1 else f"(and {' '.join(parts)})"
