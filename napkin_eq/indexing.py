"""Index proofs: questions to a solver about the coordinates of a kernel, read off its plan, for every size at once.

Each question is an SMT-LIB 2 script over integers, ground, unsatisfiable if the kernel is right:

    bounds     no live lane of a load or a store is outside its array
    cover      every element of an output is written by some lane of some program
    once       no two lanes of any programs write one element
    grid       a program's number gives each choice of blocks exactly once
    parts      no block of a loop is walked twice, and every part starts at a block
    skipped    a block that no part walks holds no lane that its fold takes
    kept       the tests of a fold, those of which any that fails makes a lane 0 (in a sum) or absent (in a maximum), hold
               only of lanes inside the axis that the fold takes: masked lanes contribute nothing
    tested     and hold of all of those lanes; a part with no test therefore walks only blocks that need none
    integers   no 32-bit integer overflows, nor does an offset that is taken in 32 bits

What is assumed: sizes are positive, those given as numbers are these numbers, a symbolic one keeps to its declared multiple
and is at most 2^31 - 2^16; so are the magnitudes of integers read from arrays. Where the folds of an axis take different lanes,
"skipped" is asked of the lanes that all take, and "kept" only of the axis. A lane that holds 0 contributes nothing to a
product only if the other factor is finite.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from napkin_eq.axis import Axis
from napkin_eq.errors import NapkinError
from napkin_eq.plan import Buffer, Coord, Dot, Iota, Kernel, Let, Load, Loop, Operand, Part, ReduceTile, SizeOf, Start, Stmt, StoreTile
from napkin_eq.term import Const, Index, Input, Length, Map, Size, Term

if TYPE_CHECKING:
    from napkin_eq.derive import Derivation

MOST, LARGEST_SYMBOL = 2**31 - 1, 2**31 - 2**16
TIMEOUT_S, SECOND_S = 5.0, 0.5
WHOLE = ("i32", "i64", "i1")
Lines = list[str]


class NotRead(NapkinError):
    """A statement or a mask that speaks of more than coordinates and integers."""


@dataclass(frozen=True, slots=True)
class Query:
    """One question: what it is about, in words, and its script, unsatisfiable if the kernel is right; a script may be missing, with the reason."""

    kernel: str
    kind: str
    about: str
    text: str

    @property
    def sha256(self) -> str:
        from napkin_eq.question import sha256

        return sha256(self.text)


@dataclass(frozen=True, slots=True)
class Answered:
    """A question with its answers, by solver: "proved" if all that answer say unsat, "refuted" if one says sat."""

    query: Query
    verdict: str
    answers: Mapping[str, str]
    seconds: float


@dataclass(frozen=True, slots=True)
class Report:
    """All questions about the kernels of a plan, answered."""

    answered: tuple[Answered, ...]
    seconds: float

    @property
    def verdict(self) -> str:
        """Refuted if any question is, proved if all are, else unknown."""
        found = {a.verdict for a in self.answered}
        return "refuted" if "refuted" in found else "proved" if found <= {"proved"} else "unknown"

    def data(self) -> dict[str, Any]:
        """Return the report as data: per question kernel, kind, what it is about, hash of the script, verdict, answers."""
        rows = [{"kernel": a.query.kernel, "kind": a.query.kind, "about": a.query.about, "sha256": a.query.sha256, "verdict": a.verdict,
                 "answers": dict(a.answers)} for a in self.answered]  # fmt: skip
        return {"schema": 1, "verdict": self.verdict, "queries": rows}

    def __str__(self) -> str:
        bad = [a for a in self.answered if a.verdict != "proved"]
        head = f"index proofs: {self.verdict}, {len(self.answered) - len(bad)} of {len(self.answered)} questions proved in {self.seconds:.2f} s"
        return "\n".join([head, *(f"  {a.verdict}: {a.query.kernel}, {a.query.kind}: {a.query.about}" for a in bad)])


def proved(derivation: Derivation, every: bool = False) -> Report:
    """Ask all questions about a derivation's kernels; `every`: of all installed solvers, the others for less long, else of the first."""
    masks = [masks_of(store) for output in derivation.outputs for store in output.placed.stores]
    given = masks if len(masks) == len(derivation.plan.kernels) else [_merged(masks)] * len(derivation.plan.kernels)
    return answered([q for kernel, known in zip(derivation.plan.kernels, given, strict=True) for q in queries(kernel, known)], every)


def answered(asked: Iterable[Query], every: bool = False) -> Report:
    """Put questions to the solvers; a script that occurs twice is asked once. Unknown is no proof."""
    from napkin_eq.solving import solvers

    begun = time.perf_counter()
    said: dict[str, tuple[str, dict[str, str], float]] = {}
    found: list[Answered] = []
    for query in asked:
        if query.text not in said:
            at = time.perf_counter()
            asked_now = list(solvers().items())[: None if every else 1] if query.text else []
            answers = {name: ask(query.text, TIMEOUT_S if name == asked_now[0][0] else SECOND_S) for name, ask in asked_now}
            definite = {a for a in answers.values() if a in ("sat", "unsat")}
            verdict = "refuted" if "sat" in definite else "proved" if definite else "unknown"
            said[query.text] = verdict, answers, time.perf_counter() - at
        found.append(Answered(query, *said[query.text]))
    return Report(tuple(found), time.perf_counter() - begun)


def scripts(report: Report) -> dict[str, str]:
    """Return the scripts of a report by file name, each once: index/NUMBER-KIND.smt2."""
    kinds: dict[str, str] = {}
    for a in report.answered:
        if a.query.text:
            kinds.setdefault(a.query.text, a.query.kind)
    return {f"index/{number:03}-{kind}.smt2": text for number, (text, kind) in enumerate(kinds.items())}


@dataclass(slots=True)
class Masks:
    """Of a kernel's folds, by axis: the masks of the lanes that they take, and the masks by which their bodies choose."""

    taken: dict[str, list[Term]] = field(default_factory=dict)
    chosen: dict[str, list[Term]] = field(default_factory=dict)


def masks_of(store: Term) -> Masks:
    from napkin_eq.lower import kernel_terms
    from napkin_eq.term import Fold, Online, Reduce, subterms

    found = Masks()
    for term in kernel_terms(store):
        if isinstance(term, (Fold, Online, Reduce)):
            name = term.axis.name
            if term.where not in found.taken.setdefault(name, []):
                found.taken[name].append(term.where)
            inner = [p.args[0] for p in subterms(term.body) if isinstance(p, Map) and p.op == "where"]
            found.chosen.setdefault(name, []).extend(m for m in dict.fromkeys(inner) if m not in found.chosen[name])
    return found


def _merged(masks: Sequence[Masks]) -> Masks:
    whole = Masks()
    for one in masks:
        for into, part in ((whole.taken, one.taken), (whole.chosen, one.chosen)):
            for name, found in part.items():
                into.setdefault(name, []).extend(m for m in found if m not in into[name])
    return whole


# Scripts ----------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Site:
    """A statement with what is defined where it stands, and the loops around it with the part at hand."""

    stmt: Stmt
    defs: Mapping[str, Stmt]
    path: tuple[tuple[Loop, Part], ...]


def sites(body: Sequence[Stmt], defs: Mapping[str, Stmt] | None = None, path: tuple[tuple[Loop, Part], ...] = ()) -> Iterator[Site]:
    """Yield every statement of a body with its surroundings, those inside loops too."""
    known = dict(defs or {})
    for stmt in body:
        yield Site(stmt, known, path)
        if isinstance(stmt, Loop):
            for part in stmt.parts:
                yield from sites(part.body, known, (*path, (stmt, part)))
        elif hasattr(stmt, "out"):
            known = {**known, stmt.out.name: stmt}


class Script:
    """The integer meaning of one site of a kernel, as lines of SMT-LIB; a second copy of all lanes is told apart by a suffix."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.lines: Lines = []
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
            self.say(f"(<= 1 {name} {LARGEST_SYMBOL})")
            if axis.multiple > 1:
                self.say(f"(= (mod {name} {axis.multiple}) 0)")
        return name

    def start(self, coord: str, site: Site, copy: str) -> str:
        """Return the first coordinate of the current block, its range stated once."""
        c = self.kernel.coord(coord)
        name = f"{coord}.start{copy}"
        if name in self.done:
            return name
        loop = next(((loop, part) for loop, part in site.path if loop.coord == coord), None)
        if loop is None and c.role not in ("group", "whole"):
            raise NotRead(f"coordinate {coord} is used outside its loop")
        if loop is not None:
            low, high = self.range(loop[1], c.tile, site, copy)
        self.declare(name)
        if c.role == "whole":
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
        name = f"{coord}.lane{copy}"
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
        name = f"{operand}{copy}"
        if name not in self.done:
            made = site.defs[operand]
            out = made.out  # type: ignore[union-attr]
            if out.dtype not in WHOLE:
                raise NotRead(f"{operand} is {out.dtype}")
            expression = self.expression(made, site, copy)
            self.done.add(name)
            self.lines.append(f"(define-fun {name} () {'Bool' if out.dtype == 'i1' else 'Int'} {expression})")
            if out.dtype == "i32" and isinstance(made, Let):
                self.numbers.append(name)
        return name

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
                # The greatest of a tile: nothing more is used of it than that it is at least every lane.
                value, name = self.operand(arg, site, copy), self.declare(f"{out.name}.greatest{copy}")
                self.say(f"(<= {value} {name})")
                return name
            case Let(_, op, args):
                parts = [self.operand(arg, site, copy) for arg in args]
                if op == "mul" and not any(isinstance(a, int) for a in args) or (op in ("floordiv", "mod") and not isinstance(args[1], int)):
                    self.nonlinear = True
                return integer(op, parts)
        raise NotRead(f"{type(stmt).__name__} gives no coordinate")

    def loaded(self, stmt: Load, site: Site, copy: str) -> str:
        """Return a number for an element of an array, the same for the same element, 0 for a masked lane."""
        index = tuple(self.operand(i, site, copy) for i in stmt.index)
        masks = [self.operand(m, site, copy) for m in stmt.masks]
        name = self.element(stmt.buffer, index, "Bool" if stmt.out.dtype == "i1" else "Int", f"{stmt.out.name}.element{copy}")
        none = "false" if stmt.out.dtype == "i1" else "0"
        return f"(ite {conjunction(masks)} {name} {none})" if masks else name

    def element(self, array: str, index: tuple[str, ...], sort: str, name: str) -> str:
        self.done.add(name)
        self.lines.append(f"(declare-const {name} {sort})")
        if sort == "Int":
            self.say(f"(<= (- {LARGEST_SYMBOL}) {name} {LARGEST_SYMBOL})")
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
            return at[term.axis.name] if term.axis.name in at else self.lane(self.coord(term.axis, site), site, copy)
        if isinstance(term, (Size, Length)):
            return self.size(term.axis)
        if isinstance(term, Input) and term.kind in ("int", "bool"):
            index = tuple(self.mask(Index(d), site, at, copy) for d in term.dims)
            return self.element(term.name, index, "Bool" if term.kind == "bool" else "Int", f"{term.name}.{len(self.done)}")
        if isinstance(term, Map) and term.kind != "real" and all(a.kind != "real" for a in term.args):
            constant = [isinstance(a, Const) for a in term.args]
            self.nonlinear |= (term.op == "mul" and not any(constant)) or (term.op in ("floordiv", "mod") and not constant[1])
            return integer(term.op, [self.mask(a, site, at, copy) for a in term.args])
        raise NotRead(f"the mask {term} speaks of more than coordinates and integers")

    def coord(self, axis: Axis, site: Site) -> str:
        """Return the coordinate that walks an axis at a site: that of a loop around it, else that of the output, else of a fold."""
        for loop, _ in reversed(site.path):
            if self.kernel.coord(loop.coord).axis.name == axis.name:
                return loop.coord
        found = [c.name for c in self.kernel.coords if c.axis.name == axis.name]
        if not found:
            raise NotRead(f"axis {axis.name} is not walked here")
        return axis.name if axis.name in found else found[0]

    def text(self, about: str, *goal: str) -> str:
        """Return the script that asks whether the negated goal, the last lines, can be met."""
        logic = "QF_NIA" if self.nonlinear else "QF_LIA"
        lines = [f"; {about}", f"(set-logic {logic})", "(set-info :status unsat)", *self.lines, *(f"(assert {g})" for g in goal), "(check-sat)"]
        return "\n".join(lines) + "\n"


SYMBOLS = {
    "add": "+", "sub": "-", "mul": "*", "neg": "-", "floordiv": "div", "mod": "mod", "lt": "<", "le": "<=", "eq": "=",
    "and": "and", "or": "or", "not": "not", "where": "ite",
}  # fmt: skip


def integer(op: str, args: Sequence[str]) -> str:
    """Return an operator over integers and masks; division rounds down for the positive divisors of the plan language."""
    if op in ("min", "max"):
        return f"(ite ({'<=' if op == 'min' else '>='} {args[0]} {args[1]}) {args[0]} {args[1]})"
    if op in ("cast", "real"):
        return args[0]
    if op not in SYMBOLS:
        raise NotRead(f"{op} is no operator over integers")
    return f"({SYMBOLS[op]} {' '.join(args)})"


def conjunction(parts: Sequence[str]) -> str:
    return "true" if not parts else parts[0] if len(parts) == 1 else f"(and {' '.join(parts)})"


# Questions --------------------------------------------------------------------------------------------------------------------


def queries(kernel: Kernel, masks: Masks) -> list[Query]:
    """Return all questions about a kernel; one that cannot be put into integers has no script, and stays unknown."""
    found: list[Query] = []
    for site in sites(kernel.body):
        match site.stmt:
            case Load() | StoreTile():
                found += _asked(kernel, "bounds", f"{_shown(site.stmt)}", _bounds, site)
                found += _asked(kernel, "integers", f"offsets of {_shown(site.stmt)}", _offsets, site)
                if isinstance(site.stmt, StoreTile):
                    found += _asked(kernel, "cover", site.stmt.buffer, _cover, site)
                    found += _asked(kernel, "once", site.stmt.buffer, _once, site)
            case Loop():
                if site.stmt.carried:
                    found += _asked(kernel, "parts", site.stmt.coord, _parts, site)
                    found += _asked(kernel, "skipped", site.stmt.coord, _skipped, site, masks)
            case ReduceTile() | Dot():
                if _folds(kernel, site):
                    found += _asked(kernel, "kept", _shown(site.stmt), _kept, site, masks)
                    found += _asked(kernel, "tested", _shown(site.stmt), _tested, site, masks)
    return found + _asked(kernel, "grid", "the numbers of programs", _grid, Site(StoreTile("", (), ""), {}, ()))


def _asked(kernel: Kernel, kind: str, about: str, ask: Any, site: Site, *more: Any) -> list[Query]:
    place = "".join(f", {part.note or 'the whole'} part of {loop.coord}" for loop, part in site.path)
    try:
        texts = list(ask(kernel, site, *more))
    except NotRead as error:
        return [Query(kernel.name, kind, f"{about}{place}: {error}", "")]
    return [Query(kernel.name, kind, f"{about}{place}", text(f"{kernel.name}, {kind}: {about}{place}")) for text in texts]


def _shown(stmt: Stmt) -> str:
    if isinstance(stmt, (Load, StoreTile)):
        return f"{'load' if isinstance(stmt, Load) else 'store'} {stmt.buffer}"
    return f"{stmt.out.name}, over {stmt.coord}"  # type: ignore[union-attr]


def _folds(kernel: Kernel, site: Site) -> bool:
    """Tell whether a statement folds numbers; the greatest of a tile of integers only serves the bounds of loops."""
    return site.stmt.out.dtype not in WHOLE  # type: ignore[union-attr]


def _buffer(kernel: Kernel, name: str) -> Buffer:
    return next(b for b in (*kernel.reads, *kernel.writes) if b.name == name)


def _live(script: Script, site: Site, copy: str = "") -> tuple[list[str], str]:
    """Return the index of a lane, and that it is live."""
    stmt = site.stmt
    assert isinstance(stmt, (Load, StoreTile))
    index = [script.operand(i, site, copy) for i in stmt.index]
    return index, conjunction([script.operand(m, site, copy) for m in stmt.masks])


def _bounds(kernel: Kernel, site: Site) -> Iterator[Any]:
    script = Script(kernel)
    index, live = _live(script, site)
    dims = _buffer(kernel, site.stmt.buffer).dims  # type: ignore[union-attr]
    outside = [f"(not (and (<= 0 {i}) (< {i} {script.size(d)})))" for i, d in zip(index, dims, strict=True)]
    yield lambda about: script.text(about, live, f"(or {' '.join(outside)})")


def passes_31_bits(buffer: Buffer, position: int) -> bool:
    """Tell whether offsets along a dimension are to be taken in 64 bits: those that may reach 2^31 elements."""
    dims = buffer.dims[position:]
    if any(axis.size is None for axis in dims):
        return len(dims) > 1
    return math.prod(axis.size or 1 for axis in dims) > MOST


def _offsets(kernel: Kernel, site: Site) -> Iterator[Any]:
    script = Script(kernel)
    index, live = _live(script, site)
    buffer = _buffer(kernel, site.stmt.buffer)  # type: ignore[union-attr]
    for loop, part in site.path:
        for bound in (part.lo, part.hi):
            script.operand(bound, site)
        script.start(loop.coord, site, "")
    wrong = [f"(not (<= (- {MOST + 1}) {n} {MOST}))" for n in script.numbers]
    for position, i in enumerate(index):
        stride = math.prod(axis.size or 1 for axis in buffer.dims[position + 1 :])
        if not passes_31_bits(buffer, position):
            wrong.append(f"(and {live} (not (<= (* {stride} {i}) {MOST})))")
    if wrong:
        yield lambda about: script.text(about, f"(or {' '.join(wrong)})" if len(wrong) > 1 else wrong[0])


def _cover(kernel: Kernel, site: Site) -> Iterator[Any]:
    """The witness: the block that an element's index falls into, and the lane in it."""
    stmt = site.stmt
    assert isinstance(stmt, StoreTile)
    script = Script(kernel)
    wanted: list[str] = []
    for position, (operand, axis) in enumerate(zip(stmt.index, _buffer(kernel, stmt.buffer).dims, strict=True)):
        element = script.declare(f"element.{position}")
        script.say(f"(<= 0 {element})", f"(< {element} {script.size(axis)})")
        made = site.defs.get(operand) if isinstance(operand, str) else None
        if isinstance(made, (Iota, Start)):
            wanted += _witness(script, kernel.coord(made.coord), site, element)
        elif operand == 0 and not isinstance(operand, bool):
            wanted.append(f"(= {element} 0)")
        else:
            raise NotRead(f"an index of {stmt.buffer} is no coordinate")
    for name in {*kernel.grid, *(loop.coord for loop, _ in site.path)}:
        if f"{name}.start" not in script.done:
            raise NotRead(f"{stmt.buffer} is written by every block of {name}")
    index, live = _live(script, site)
    wanted += [live, *(f"(= {i} element.{position})" for position, i in enumerate(index))]
    yield lambda about: script.text(about, f"(not {conjunction(wanted)})")


def _witness(script: Script, coord: Coord, site: Site, element: str) -> list[str]:
    """Define the block and lane of a coordinate that hold an element, and return what must be true of them."""
    start, lane = f"{coord.name}.start", f"{coord.name}.lane"
    script.done |= {start, lane}
    script.lines.append(f"(define-fun {start} () Int {'0' if coord.role == 'whole' else f'(* {coord.tile} (div {element} {coord.tile}))'})")
    script.lines.append(f"(define-fun {lane} () Int (- {element} {start}))")
    wanted = [f"(<= 0 {lane} {coord.tile - 1})", f"(< {start} {script.size(coord.axis)})"]
    for loop, part in site.path:
        if loop.coord == coord.name:
            low, high = script.range(part, coord.tile, site)
            wanted += [f"(<= {low} {start})", f"(< {start} {high})", f"(= (mod (- {start} {low}) {coord.tile}) 0)"]
    return wanted


def _once(kernel: Kernel, site: Site) -> Iterator[Any]:
    script = Script(kernel)
    one, live = _live(script, site)
    two, alive = _live(script, site, "!2")
    value = site.defs.get(site.stmt.value)  # type: ignore[union-attr]
    coords = {*kernel.grid, *(loop.coord for loop, _ in site.path), *(value.out.coords if value is not None and hasattr(value, "out") else ())}
    differ = []
    for name in sorted(coords):
        lanes = [script.lane(name, site, copy) for copy in ("", "!2")]
        starts = [script.start(name, site, copy) for copy in ("", "!2")]
        differ += [f"(not (= {lanes[0]} {lanes[1]}))", f"(not (= {starts[0]} {starts[1]}))"]
    same = [f"(= {a} {b})" for a, b in zip(one, two, strict=True)]
    if differ:
        yield lambda about: script.text(about, live, alive, *same, f"(or {' '.join(differ)})")


def _parts(kernel: Kernel, site: Site) -> Iterator[Any]:
    loop = site.stmt
    assert isinstance(loop, Loop)
    tile = kernel.coord(loop.coord).tile
    for number, part in enumerate(loop.parts):
        script = Script(kernel)
        low, high = script.range(part, tile, site)
        wrong = [f"(and (< {low} {high}) (not (and (<= 0 {low}) (= (mod {low} {tile}) 0))))"]
        block = script.declare("block")
        for other in loop.parts[:number]:
            begin, end = script.range(other, tile, site)
            wrong.append(f"(and (<= {low} (* {tile} block)) (< (* {tile} block) {high}) (<= {begin} (* {tile} block)) (< (* {tile} block) {end}))")
        yield lambda about, script=script, wrong=wrong, block=block: script.text(about, f"(or {' '.join(wrong)} false)")


def _rows(script: Script, kernel: Kernel, site: Site, but: str) -> list[str]:
    """Say that the lanes at hand are inside the axes of all coordinates used, but one: others are never stored."""
    used = [c for c in kernel.coords if c.name != but and f"{c.name}.start" in script.done]
    return [f"(< {script.lane(c.name, site, '')} {script.size(c.axis)})" for c in used]


def _taken(script: Script, kernel: Kernel, site: Site, axis: Axis, x: str, of: Sequence[Term]) -> list[str]:
    return [script.mask(mask, site, {axis.name: x}) for mask in of if mask != Const(True)]


def _skipped(kernel: Kernel, site: Site, masks: Masks) -> Iterator[Any]:
    """For one of the masks of the axis's folds; where there are several, the weakest is all of them together."""
    loop = site.stmt
    assert isinstance(loop, Loop)
    coord = kernel.coord(loop.coord)
    script = Script(kernel)
    x = script.declare("lane.x")
    block = f"(* {coord.tile} (div {x} {coord.tile}))"
    ranges = [script.range(part, coord.tile, site) for part in loop.parts]
    walked = [f"(and (<= {low} {block}) (< {block} {high}))" for low, high in ranges]
    taken = _taken(script, kernel, site, coord.axis, x, masks.taken.get(coord.axis.name, []))
    inside = [f"(<= 0 {x})", f"(< {x} {script.size(coord.axis)})"]
    yield lambda about: script.text(about, *inside, *_rows(script, kernel, site, coord.name), *taken, f"(not (or {' '.join(walked)} false))")


ABSENT, ZERO, ONE = -math.inf, 0.0, 1.0
NEUTRAL = {"sum": ZERO, "max": ABSENT, "prod": ONE}
KEEPS_ZERO = ("cast", "neg", "abs", "sqrt", "tanh", "erf", "sin", "floor", "round")


def settling(operand: Operand, value: float, site: Site) -> frozenset[str]:
    """Return tests of which any one that fails makes a lane 0, absent or 1, whatever else is in it, as long as that is finite."""
    made = site.defs.get(operand) if isinstance(operand, str) else None
    if isinstance(made, Load):
        return frozenset(made.masks if value == ZERO else ())
    if isinstance(made, ReduceTile):
        return settling(made.arg, value, site) if value != ONE else frozenset()
    if isinstance(made, Dot):
        return settling(made.a, ZERO, site) | settling(made.b, ZERO, site) if value == ZERO and made.acc is None else frozenset()
    return _settling_map(made, value, site) if isinstance(made, Let) else frozenset()


def _settling_map(made: Let, value: float, site: Site) -> frozenset[str]:
    def of(arg: Operand, wanted: float = value) -> frozenset[str]:
        return settling(arg, wanted, site)

    args = made.args
    if made.op == "where":
        if not isinstance(args[2], str):
            return of(args[1]) | {str(args[0])} if args[2] == value else frozenset()
        return of(args[1]) & of(args[2])
    if made.op in ("add", "sub", "max", "min"):
        either = value == ABSENT and made.op in ("add", "min")
        parts = [of(arg) for arg in args[: 1 if value == ABSENT and made.op == "sub" else 2]]
        return frozenset.union(*parts) if either else frozenset.intersection(*parts)
    if made.op == "mul":
        scaled = [of(one) for one, other in (args, args[::-1]) if value == ZERO or (not isinstance(other, str) and other > 0)]
        return frozenset().union(*scaled) if value != ONE else frozenset()
    if made.op in ("exp", "exp2"):
        return {ZERO: of(args[0], ABSENT), ONE: of(args[0], ZERO)}.get(value, frozenset())
    if made.op in ("log", "log2") and value == ABSENT:
        return of(args[0], ZERO)
    if made.op == "div" and value == ZERO:
        return of(args[0])
    return of(args[0]) if made.op == "cast" or (value == ZERO and made.op in KEEPS_ZERO) else frozenset()


def _tests(script: Script, site: Site) -> list[str]:
    """Return the tests of coordinates that keep lanes out of a fold: where one fails, the lane holds what the fold is neutral to."""
    stmt = site.stmt
    if isinstance(stmt, Dot):
        names = settling(stmt.a, ZERO, site) | settling(stmt.b, ZERO, site)
    else:
        assert isinstance(stmt, ReduceTile)
        names = settling(stmt.arg, NEUTRAL[stmt.monoid], site)
    found: dict[str, None] = {}
    for name in sorted(names):
        try:
            found.setdefault(script.operand(name, site))
        except NotRead:
            continue  # a choice by values: it keeps no lane out for where it is
    return list(found)


def _fold_lane(script: Script, kernel: Kernel, site: Site) -> tuple[Coord, str]:
    coord = kernel.coord(site.stmt.coord)  # type: ignore[union-attr]
    return coord, script.lane(coord.name, site, "")


def _kept(kernel: Kernel, site: Site, masks: Masks) -> Iterator[Any]:
    script = Script(kernel)
    coord, x = _fold_lane(script, kernel, site)
    tests = _tests(script, site)
    wanted = [f"(< {x} {script.size(coord.axis)})"]
    several = masks.taken.get(coord.axis.name, [])
    if len(several) == 1:
        wanted += _taken(script, kernel, site, coord.axis, x, several)
    yield lambda about: script.text(about, *_rows(script, kernel, site, coord.name), *tests, f"(not {conjunction(wanted)})")


def _tested(kernel: Kernel, site: Site, masks: Masks) -> Iterator[Any]:
    script = Script(kernel)
    coord, x = _fold_lane(script, kernel, site)
    tests = _tests(script, site)
    axis = coord.axis
    given = [f"(< {x} {script.size(axis)})"]
    for mask in (*masks.taken.get(axis.name, []), *(m for found in masks.chosen.values() for m in found)):
        try:
            given += _taken(script, kernel, site, axis, x, [mask])
        except NotRead:
            continue  # a choice of the body by values: no test of coordinates comes of it
    yield lambda about: script.text(about, *_rows(script, kernel, site, coord.name), *given, f"(not {conjunction(tests)})")


def _grid(kernel: Kernel, site: Site) -> Iterator[Any]:
    """A number in mixed radix has one digit string, that of quotients and remainders; blocks visited in groups of rows are visited once."""
    for name in kernel.grid[1:]:
        script = Script(kernel)
        count = _count(script, kernel.coord(name), "count")
        for digit, most in (("rest", script.declare("rest.count")), ("digit", count), ("quotient", ""), ("remainder", count)):
            script.declare(digit)
            script.say(*([f"(<= 0 {digit})", f"(< {digit} {most})"] if most else []))
        script.say(f"(= (+ (* {count} rest) digit) (+ (* {count} quotient) remainder))")
        yield lambda about, script=script: script.text(about, "(not (and (= quotient rest) (= remainder digit)))")
    if kernel.swizzle:
        yield from _swizzled(kernel, *kernel.swizzle)


def _count(script: Script, coord: Coord, name: str) -> str:
    """Return how many blocks a coordinate has: a number, or a name where the size is symbolic."""
    if coord.axis.size is not None:
        return str(-(-coord.axis.size // coord.tile))
    script.nonlinear = True
    script.declare(name)
    script.say(f"(<= 1 {name})")
    return name


def _swizzled(kernel: Kernel, row: str, column: str, depth: int) -> Iterator[Any]:
    """Rows in groups of `depth`, a group column by column (tl.swizzle2d): the new place is in range, and gives the old one back.

    Quotients and remainders stand as numbers with the facts that define them, which solvers take to better than to div and mod.
    """

    def stated() -> tuple[Script, str, str]:
        script = Script(kernel)
        script.nonlinear = True
        rows, columns = _count(script, kernel.coord(row), "rows"), _count(script, kernel.coord(column), "columns")
        for name in ("i", "j", "group", "rest", "column", "line"):
            script.declare(name)
        defined = {
            "place": f"(+ (* i {columns}) j)",
            "first": f"(* {depth} group)",
            "deep": f"(ite (<= (- {rows} first) {depth}) (- {rows} first) {depth})",
            "row": "(+ first line)",
        }
        script.lines += [f"(define-fun {name} () Int {expression})" for name, expression in defined.items()]
        script.say("(<= 0 i)", f"(< i {rows})", "(<= 0 j)", f"(< j {columns})")
        script.say(f"(= place (+ (* {depth} (* {columns} group)) rest))", "(<= 0 rest)", f"(< rest (* {depth} {columns}))")
        return script, rows, columns

    first, rows, _ = stated()
    yield lambda about: first.text(about, f"(not (and (<= 0 group) (< (* {depth} group) {rows})))")
    divided = "(= rest (+ (* deep column) line))", "(<= 0 line)", "(< line deep)"
    second, rows, columns = stated()
    second.say(*divided, "(<= 0 group)", "(<= 1 deep)")
    yield lambda about: second.text(about, f"(not (and (<= 0 row) (< row {rows}) (<= 0 column) (< column {columns})))")
    third, _, columns = stated()
    third.say(*divided, "(<= 1 deep)")
    again = f"(= place (+ (* {columns} first) (* column deep) (- row first)))"
    yield lambda about: third.text(about, f"(not (and (= (div row {depth}) group) {again}))")
