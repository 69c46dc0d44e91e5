"""The text of one Triton kernel, statement by statement; coordinates with tile 1 are scalars, the others tensor
dimensions in the kernel's order.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, replace

from napkin_eq.lang.dtypes import device
from napkin_eq.lang.errors import NapkinError
from napkin_eq.tile.accesses import ends
from napkin_eq.tile.identifiers import buffers, kernel_function, pointer_argument, size_argument
from napkin_eq.tile.ir import (
    MATRIX_ROUNDOFF,
    Assign,
    Await,
    Buffer,
    Coord,
    Dot,
    Iota,
    Kernel,
    Let,
    Load,
    Loop,
    Operand,
    ReduceTile,
    ScanTile,
    SizeOf,
    Start,
    Stmt,
    StoreTile,
    Value,
    definitions,
    flattened,
    passes_31_bits,
    statements,
    unrolled,
    used,
)
from napkin_eq.tile.printers import comment_lines
from napkin_eq.tile.resources import BYTES

from ..axis_info import misled, unread
from .blocks import INDENT, Blocks
from .helpers import HELPERS
from .lanes import crossed
from .locality import gathered

DTYPES = device("tl")
INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/", "lt": "<", "le": "<=", "eq": "==", "and": "&", "or": "|"}
CALLS = {
    "max": "tl.maximum",
    "min": "tl.minimum",
    "where": "tl.where",
    "fma": "tl.fma",
    "sigmoid": "tl.sigmoid",
    "round": "round_half_even",
    "random": "random_bits",
    **{name: f"tl.{name}" for name in "exp exp2 log log2 sqrt rsqrt erf sin cos abs floor".split()},
}
LINE_BYTES = 128
REDUCE = {"sum": "tl.sum({0}, axis={1})", "max": "tl.max({0}, axis={1})", "prod": "tl.reduce({0}, {1}, product)"}
REDUCE |= {"argmax": "tl.argmax({0}, axis={1}, tie_break_left=True)"}
SCAN = {
    "sum": "tl.cumsum({0}, axis={1})",
    "max": "tl.associative_scan({0}, {1}, greatest)",
    "prod": "tl.cumprod({0}, axis={1})",
}
# The same in a kernel that says so: NaN where a number is NaN.
CALLS_NAN = {"max": "greatest_or_nan", "min": "least_or_nan"}
FOLDS_NAN = {"max": ("tl.reduce({0}, {1}, greatest_or_nan)", "tl.associative_scan({0}, {1}, greatest_or_nan)")}
KEEPS_SIGN = ("add", "mul", "max", "min", "floordiv", "mod", "cast")
SPECIAL: dict[str, Callable[[str, bool], str]] = {
    "neg": lambda x, loose: f"-{x}",
    "inv": lambda x, loose: f"1.0 / {x}",
    "tanh": lambda x, loose: f"2.0 * tl.sigmoid(2.0 * {x}) - 1.0",
    "not": lambda x, loose: f"not {x}" if loose else f"~{x}",
}


def operands(stmt: Stmt) -> Iterator[str]:
    """Yield the names that a statement uses, those of a loop's bounds included."""
    own = [
        getattr(stmt, f.name)
        for f in fields(stmt)
        if f.name not in ("out", "coord", "buffer", "op", "monoid", "axis", "precision", "target")
    ]
    if isinstance(stmt, Loop):
        own = [bound for part in stmt.parts for bound in (part.lo, part.hi)]
    for item in own:
        yield from (x for x in (item if isinstance(item, tuple) else (item,)) if isinstance(x, str))


def literal(value: float | int | bool) -> str:
    """Return a number as Triton reads it; raises NapkinError for one that is none."""
    if value != value:
        raise NapkinError("a plan holds the constant NaN, which no diagram does")
    if value in (float("inf"), float("-inf")):
        return f'float("{value}")'
    return repr(value)


class KernelText(Blocks):
    """The text of one kernel, printed statement by statement."""

    def __init__(self, kernel: Kernel) -> None:
        super().__init__(kernel, tuple(HELPERS))
        self.turn, self.cached, self.at, self.chained = kernel.turn, kernel.evictions, 0, self.names.fresh("CHAINED")
        if not self.turn.alone:
            self.params.append(f"{self.chained}: tl.constexpr")
        self.misled, self.made, self.gathered = misled(kernel), definitions(kernel.body), gathered(kernel)
        self.reaches: dict[str, float] = {}
        self.values: dict[str, Value] = {}
        self.text: dict[str, str] = {}
        # Numbers and sizes: Triton may know them as it compiles, and then they are no tensors.
        self.loose: set[str] = set()
        self.counters: set[str] = set()  # of the loops at hand
        self.outermost = 1  # the depth of the kernel's own statements
        self.left_out: frozenset[str] = frozenset()  # masks
        for stmt in statements(kernel.body):
            for value in (
                [v for v, _ in stmt.carried] if isinstance(stmt, Loop) else [stmt.out] if hasattr(stmt, "out") else []
            ):
                if value.name not in self.text:
                    self.text[value.name] = self.names.fresh(value.name)
        self.given = dict(self.text)
        self.turned = self.loaded_turned()
        outs = {s.out.name: s.out for s in statements(kernel.body) if hasattr(s, "out")}
        self.crossed = crossed(kernel, lambda operand: self.dims(outs[operand]) if operand in outs else ())
        self.blocks = {c.name: self.names.fresh(f"BLOCK_{c.name.upper()}") for c in kernel.coords if c.tile > 1}

    def loaded_turned(self) -> set[str]:
        """Return the loads that only a dot uses, and turned: read that way round, for turning a tile can cost its
        pipelining.
        """
        stmts = list(statements(self.kernel.body))
        outs = {s.out.name: s.out for s in stmts if hasattr(s, "out")}
        flat = {name for name, v in outs.items() if len(self.dims(v)) < 2}
        loads = {
            s.out.name
            for s in stmts
            if isinstance(s, Load) and {x for x in (*s.index, *s.masks) if isinstance(x, str)} <= flat
        }
        others = {s.out.name for s in stmts if hasattr(s, "out") and not isinstance(s, Load)}
        turns: dict[str, set[bool]] = {name: set() for name in loads - others}
        for stmt in stmts:
            for name in set(operands(stmt)) & set(turns):
                turns[name].add(isinstance(stmt, Dot) and name in (stmt.a, stmt.b) and self.turns(stmt, outs[name]))
        return {name for name, turn in turns.items() if turn == {True}}

    def turns(self, stmt: Dot, value: Value) -> bool:
        """Tell whether a dot's operand lies the wrong way round: on the left the contracted coordinate is last, on the
        right first.
        """
        dims, out = self.dims(value), self.dims(stmt.out)
        return (
            len(dims) == 2
            and stmt.coord in dims
            and (dims[1] == stmt.coord) != (next(d for d in dims if d != stmt.coord) == out[0])
        )

    def __str__(self) -> str:
        self.lines, self.depth = [], 1
        grid = ", ".join(
            f"{c} in {self.kernel.coord(c).tile}s" if self.kernel.coord(c).tile > 1 else c for c in self.kernel.grid
        )
        self.line(f'"""One program per block of: {grid}."""' if grid else '"""One program."""')
        for coord in self.kernel.coords:
            if coord.tile > 1:
                self.line(f"{self.blocks[coord.name]}: tl.constexpr = {coord.tile}")
        if self.turn.leads:
            self.when_chained("launch_dependents")
        self.grid()
        edge = next((ends(self.kernel)[mask] for mask in self.kernel.edges), "")
        if edge and self.starts[edge] != "0":
            self.whole_or_not(self.kernel.coord(edge), self.starts[edge])
        else:
            self.body(self.kernel.body, self.turn.waits)
        return "\n".join([*self.signature(), *self.lines, ""])

    def whole_or_not(self, coord: Coord, start: str) -> None:
        """Print the statements twice: without the masks of the end of an axis for blocks before it, and as they are."""
        self.line(f"if {start} + {self.blocks[coord.name]} <= {self.size(coord.axis)}:")
        for left_out in (frozenset(self.kernel.edges), frozenset[str]()):
            known = dict(self.values), dict(self.text), set(self.loose), set(self.nonneg)
            self.left_out, self.depth, self.outermost = left_out, 2, 2
            self.body(self.kernel.body, self.turn.waits)
            self.depth = self.outermost = 1
            if left_out:
                self.values, self.text, self.loose, self.nonneg = known
                self.line("else:")

    def signature(self) -> list[str]:
        name, one = kernel_function(self.kernel), ", ".join(self.params)
        if len(name) + len(one) < 120:
            return ["@triton.jit", f"def {name}({one}):"]
        return ["@triton.jit", f"def {name}(", *(f"{INDENT}{param}," for param in self.params), "):"]

    def dims(self, value: Value) -> tuple[str, ...]:
        return tuple(c.name for c in self.kernel.coords if c.name in value.coords and c.tile > 1)

    def known(self, name: str) -> Value:
        if name not in self.values:
            raise self.wrong(f"{name} is used where it is not defined")
        return self.values[name]

    def shape(self, dims: tuple[str, ...]) -> str:
        blocks = ", ".join(self.blocks[name] for name in dims)
        return f"({blocks},)" if len(dims) == 1 else f"({blocks})"

    def operand(self, operand: Operand, dims: tuple[str, ...], before: str = "") -> str:
        """Return an operand such that it broadcasts over `dims`; `before` is put ahead of the indexing."""
        if not isinstance(operand, str):
            return literal(operand)
        own = self.dims(self.known(operand))
        if not set(own) <= set(dims):
            raise self.wrong(f"{operand} spans {list(own)}, where only {list(dims)} are spanned")
        name, ordered = self.text[operand], tuple(d for d in dims if d in own)
        if own != ordered:  # a load read the other way round, at places that are themselves a tile
            name, own = f"tl.permute({name}, ({', '.join(str(own.index(d)) for d in ordered)}))", ordered
        name += before
        return name if own in ((), dims) else f"{name}[{', '.join(':' if d in own else 'None' for d in dims)}]"

    def union(self, names: tuple[Operand, ...]) -> tuple[str, ...]:
        spanned = {d for name in names if isinstance(name, str) for d in self.dims(self.known(name))}
        return tuple(c.name for c in self.kernel.coords if c.name in spanned)

    def is_loose(self, operand: Operand) -> bool:
        return not isinstance(operand, str) or operand in self.loose

    def is_number(self, operand: Operand) -> bool:
        """Tell whether an operand may be a number of Python, as what a loop counts is in Triton's interpreter."""
        return self.is_loose(operand) or self.text.get(str(operand)) in self.counters

    def is_nonneg(self, operand: Operand) -> bool:
        return operand in self.nonneg if isinstance(operand, str) else operand >= 0

    def when_chained(self, what: str, before: Sequence[str] = ()) -> None:
        """Print what a kernel does only where the next one may be launched before it ends."""
        self.line(f"if {self.chained}:")
        for text in (*before, f"tl.extra.cuda.gdc_{what}()"):
            self.line(f"    {text}")

    def asked(self, load: Load) -> str:
        """Return the call that asks for the first block of a load in the loop to come, one address a line of memory."""
        values, text = dict(self.values), dict(self.text)
        for name, stmt in (
            (s.out.name, s) for s in statements(self.kernel.body) if isinstance(s, Iota) and s.out.name in load.index
        ):
            step = 1
            if name == self.kernel.minor(load):
                step = min(LINE_BYTES // BYTES[load.out.dtype], self.kernel.coord(stmt.coord).tile)
            self.values[name] = stmt.out
            if name not in values or step > 1:
                self.text[name] = self.strided(stmt.coord, step)
        call = f"ask_for({self.pointer(load.buffer, load.index, self.union(load.index))})"
        self.values, self.text = values, text
        return call

    def strided(self, coord: str, step: int) -> str:
        """Return every so many of the lanes of a coordinate's block, of the first one where its loop is
        still to come.
        """
        begin, lanes = self.starts.get(coord, "0"), f"tl.arange(0, {self.blocks[coord]})"
        lanes = f"tl.arange(0, {self.blocks[coord]} // {step}) * {step}" if step > 1 else lanes
        return f"({lanes if begin == '0' else f'{begin} + {lanes}'})"

    def body(self, body: tuple[Stmt, ...], waits: int | None = None) -> None:
        """Print statements; before the one at `waits` the kernel waits for those before it."""
        uses = Counter(name for stmt in statements(body) for name in operands(stmt))
        skip = False
        for at, (stmt, after) in enumerate(zip(body, (*body[1:], None), strict=True)):
            self.at = at if self.depth == self.outermost else self.at
            if at == waits:
                self.when_chained("wait", [self.asked(load) for load in self.turn.asks])
            if skip:
                skip = False
                continue
            match stmt:
                case Loop():
                    self.loop(stmt)
                case Assign(target, value):
                    self.line(f"{self.text[target]} = {self.operand(value, self.dims(self.known(target)))}")
                case StoreTile():
                    self.store(stmt)
                case Await():
                    pass  # Triton waits for a contraction where its result is used
                case Let() if stmt.out.name in self.left_out and not self.computed_with(stmt.out.name):
                    pass
                case _:
                    expression = self.defined(stmt.out, stmt)
                    skip = isinstance(after, Assign) and after.value == stmt.out.name and uses[after.value] == 1
                    target = self.text[after.target] if skip and isinstance(after, Assign) else self.text[stmt.out.name]
                    if expression:
                        self.line(f"{target} = {expression}")
                    elif skip:
                        self.line(f"{target} = {self.text[stmt.out.name]}")

    def defined(self, out: Value, stmt: Stmt) -> str:
        """Return the expression of a value, and forget what its name stood for in an earlier part."""
        self.text[out.name] = self.given[out.name]
        self.loose.discard(out.name)
        self.nonneg.discard(out.name)
        expression = self.expression(stmt)
        self.values[out.name] = out
        return expression

    def loop(self, stmt: Loop) -> None:
        coord = self.kernel.coord(stmt.coord)
        for value, initial in stmt.carried:
            self.values[value.name] = value
            number, dims = literal(int(initial) if value.dtype in ("i32", "i64") else float(initial)), self.dims(value)
            zero = f"tl.zeros({self.shape(dims)}, {DTYPES[value.dtype]})"
            full = f"tl.full({self.shape(dims)}, {number}, {DTYPES[value.dtype]})"
            self.line(f"{self.text[value.name]} = {zero if initial == 0 and dims else full}")
        step = self.blocks.get(coord.name, "1")
        name = self.names.fresh(coord.name if coord.tile == 1 else f"{coord.name}_start")
        self.starts[coord.name] = name
        self.nonneg.add(name)
        static = unrolled(self.kernel, stmt) > 0
        if static:
            self.loose.add(name)
        self.counters.add(name)
        for part in stmt.parts:
            if static and int(part.hi) <= int(part.lo):
                continue
            for note in comment_lines([part.note] if part.note else []):
                self.line(f"# {note}")
            bounds = f"{self.operand(part.lo, ())}, {self.operand(part.hi, ())}, {step}"
            how = ", flatten=True" if not static and flattened(self.kernel, stmt) else ""
            self.line(f"for {name} in tl.{'static_' if static else ''}range({bounds}{how}):")
            self.depth += 1
            if isinstance(part.lo, str) and coord.tile > 1:
                self.line(f"{name} = tl.multiple_of({name}, {step})")
            self.body(part.body)
            if not part.body:
                self.line("pass")
            self.depth -= 1
        del self.starts[coord.name]
        self.counters.discard(name)

    def store(self, stmt: StoreTile) -> None:
        dims = self.crossed.get(stmt, self.union(stmt.index))
        masks = self.masks(stmt.masks, dims)
        hint = ', eviction_policy="evict_first"' if stmt.buffer in self.cached.stored else ""
        self.line(
            f"tl.store({self.pointer(stmt.buffer, stmt.index, dims)}, {self.operand(stmt.value, dims)}{masks}{hint})"
        )

    def computed_with(self, mask: str) -> bool:
        """Tell whether a mask is more than a mask of what is loaded and stored."""
        return any(
            mask in used(replace(s, masks=()) if isinstance(s, (Load, StoreTile)) else s)
            for s in statements(self.kernel.body)
        )

    def masks(self, masks: tuple[str, ...], dims: tuple[str, ...]) -> str:
        """Return the argument that says which lanes are loaded or stored, nothing where all are."""
        masks = tuple(mask for mask in masks if mask not in self.left_out)
        return f", mask={' & '.join(self.operand(m, dims) for m in masks)}" if masks else ""

    def pointer(self, name: str, index: tuple[Operand, ...], dims: tuple[str, ...]) -> str:
        """Return pointers to the elements at an index, what varies along few coordinates first; offsets that may pass
        2^31 are taken in 64 bits.

        Of a coordinate with several offsets, as of places that are computed, one sum is added: a kernel that read so
        took a quarter less time on an H100.
        """
        buffer = next((b for b in buffers(self.kernel) if b.name == name), None)
        if buffer is None or len(index) != len(buffer.dims):
            raise self.wrong(
                f"buffer {name} is not listed, or is indexed by {len(index)} numbers for another number of dimensions"
            )
        terms: dict[tuple[str, ...], list[str]] = {}
        rows: dict[tuple[str, ...], list[str]] = {}  # of one coordinate and in 32 bits, without the others
        for position, place in enumerate(index):
            stride = buffer.dims[position + 1 :]
            known = 1
            for axis in stride:
                known *= axis.size or 1
            factors = [size_argument(a) for a in stride if a.size is None] + ([str(known)] if known > 1 else [])
            split = self.addends(place)
            # Only the whole is sure to be a place: each part is multiplied by itself.
            if not all(self.reach(part) * known < 2**31 for part in split) or len(factors) > (known > 1):
                split = [place]
            for operand in split:
                if operand in (0, "0") or (isinstance(operand, str) and self.text[operand] == "0"):
                    continue
                span = self.union((operand,))
                terms.setdefault(span, []).append(
                    " * ".join([self.offset(operand, dims, buffer, position), *factors])
                )
                if len(span) == 1 < len(dims) and not passes_31_bits(buffer, position):
                    rows.setdefault(span, []).append(" * ".join([self.operand(operand, span), *factors]))
        for span, texts in rows.items():
            if len(terms[span]) == len(texts) > 1:
                lanes = ", ".join(":" if d in span else "None" for d in dims)
                terms[span] = [f"({' + '.join(texts)})[{lanes}]"]
        offsets = (text for span in sorted(terms, key=len) for text in terms[span])
        return " + ".join([pointer_argument(buffer), *offsets])

    def reach(self, operand: Operand) -> float:
        """Return what a whole number is not larger than, be it negative; infinity where that is not told."""
        if not isinstance(operand, str):
            return abs(operand)
        stmt = self.made.get(operand)
        if isinstance(stmt, (Iota, Start)):
            coord = self.kernel.coord(stmt.coord)
            return math.inf if coord.axis.size is None else coord.axis.size + coord.tile
        if not isinstance(stmt, Let):
            return math.inf
        if operand not in self.reaches:
            sides, op = [self.reach(arg) for arg in stmt.args], stmt.op
            self.reaches[operand] = (
                sum(sides) if op == "add"
                else math.prod(sides) if op == "mul"
                else sides[0] if op in ("neg", "cast", "floordiv")
                else sides[1] if op == "mod"
                else max(sides) if op in ("min", "max")
                else math.inf
            )  # fmt: skip
        return self.reaches[operand]

    def addends(self, place: Operand) -> list[Operand]:
        """Return what a place is the sum of, if it varies along more coordinates than these: an offset that varies
        along few is added to a pointer before it has lanes along the others.
        """
        stmt = self.made.get(str(place))
        if not (isinstance(stmt, Let) and stmt.op == "add" and stmt.out.dtype == "i32"):
            return [place]
        fewer = all(len(self.union((arg,))) < len(stmt.out.coords) for arg in stmt.args)
        return [part for arg in stmt.args for part in self.addends(arg)] if fewer else [place]

    def offset(self, operand: Operand, dims: tuple[str, ...], buffer: Buffer, position: int) -> str:
        if not passes_31_bits(buffer, position) or (isinstance(operand, str) and self.known(operand).dtype == "i64"):
            return self.operand(operand, dims)
        if self.is_number(operand):
            return f"tl.cast({self.operand(operand, dims)}, tl.int64)"
        return self.operand(operand, dims, before=".to(tl.int64)")

    def expression(self, stmt: Stmt) -> str:
        """Return what a statement's value is; nothing where its name became another's."""
        match stmt:
            case Start(out, coord):
                return self.alias(out, self.begin(coord), loose=self.known_begin(coord))
            case Iota(out, coord):
                self.nonneg.add(out.name)
                begin = self.begin(coord)
                if coord not in self.blocks:
                    return self.alias(out, begin, loose=self.known_begin(coord))
                lanes = f"tl.arange(0, {self.blocks[coord]})"
                return lanes if begin == "0" else f"{begin} + {lanes}"
            case SizeOf(out, axis):
                return self.alias(out, self.size(axis), loose=True)
            case Load():
                return self.load(stmt)
            case Let():
                return self.let(stmt)
            case ReduceTile(out, monoid, coord, arg):
                result = self.folded(self.forms(monoid, arg)[0], coord, arg)
                return f"from_all_threads({result})" if out.name in self.gathered else result
            case ScanTile(out, _, coord, arg, str(gain)):
                dims = self.dims(out)
                sides = ", ".join(self.operand(name, dims) for name in (gain, arg))
                return f"tl.associative_scan(tl.broadcast({sides}), {dims.index(coord)}, compose)[1]"
            case ScanTile(_, monoid, coord, arg):
                return self.folded(self.forms(monoid, arg)[1], coord, arg)
            case Dot():
                return self.dot(stmt)
        raise self.wrong(f"no statement: {stmt!r:.80}")

    def load(self, stmt: Load) -> str:
        own = self.union(stmt.index)[:: -1 if stmt.out.name in self.turned else 1]
        dims = self.crossed.get(stmt, own)
        masks = self.masks(stmt.masks, dims)
        other = f", other={'0' if stmt.out.dtype.startswith('i') else '0.0'}" if masks else ""
        goes = self.cached.of(stmt.buffer, self.at)
        hint = f', eviction_policy="evict_{goes}"' if goes else ""
        read = f"tl.load({self.pointer(stmt.buffer, stmt.index, dims)}{masks}{other}{hint})"
        return read if dims == own else f"tl.permute({read}, ({', '.join(str(dims.index(d)) for d in own)}))"

    def begin(self, coord: str) -> str:
        if coord not in self.starts:
            raise self.wrong(f"coordinate {coord} is used outside its loop")
        return self.starts[coord]

    def known_begin(self, coord: str) -> bool:
        """Tell whether Triton knows where a coordinate's block begins: at 0, or in a loop that is written out."""
        return self.begin(coord) == "0" or self.begin(coord) in self.loose

    def alias(self, out: Value, text: str, loose: bool) -> str:
        self.text[out.name] = text
        self.nonneg.add(out.name)
        if loose:
            self.loose.add(out.name)
        return ""

    def forms(self, monoid: str, arg: str) -> tuple[str, str]:
        """Return how a reduction and a scan by a monoid are written."""
        if self.kernel.nan and monoid in FOLDS_NAN and self.known(arg).dtype == "f32":
            return FOLDS_NAN[monoid]
        return REDUCE[monoid], SCAN.get(monoid, "")

    def folded(self, form: str, coord: str, arg: str) -> str:
        dims = self.dims(self.known(arg))
        return form.format(self.text[arg], dims.index(coord)) if coord in dims else self.text[arg]

    def dot(self, stmt: Dot) -> str:
        """Contract on the matrix unit: of two operands the one with the earlier free coordinate goes left, turned as
        needed.
        """
        sides = []
        for name in (stmt.a, stmt.b):
            value = self.known(name)
            dims = self.dims(value)
            if len(dims) != 2 or stmt.coord not in dims:
                raise self.wrong(
                    f"dot over {stmt.coord}: {name} spans {list(dims)}, expected {stmt.coord} and one other"
                )
            turn = self.turns(stmt, value) and name not in self.turned
            at = self.dims(stmt.out).index(next(d for d in dims if d != stmt.coord))
            sides.append((at, f"tl.trans({self.text[name]})" if turn else self.text[name]))
        (_, left), (_, right) = sorted(sides)
        acc = "" if stmt.acc is None else f", {self.text[stmt.acc]}"
        if stmt.precision not in MATRIX_ROUNDOFF:
            raise self.wrong(
                f"{stmt.out.name}: unknown precision {stmt.precision!r:.60}; one of {', '.join(MATRIX_ROUNDOFF)}"
            )
        precision = f', input_precision="{stmt.precision}"' if self.known(stmt.a).dtype == "f32" else ""
        return f"tl.dot({left}, {right}{acc}{precision})"

    def let(self, stmt: Let) -> str:
        dims, op = self.union(stmt.args), stmt.op
        if all(self.is_loose(arg) for arg in stmt.args):
            self.loose.add(stmt.out.name)
        if op in KEEPS_SIGN and (any if op == "max" else all)(self.is_nonneg(arg) for arg in stmt.args):
            self.nonneg.add(stmt.out.name)
        args = [self.operand(arg, dims) for arg in stmt.args]
        if (
            op in ("and", "or")
            and len(
                scalars := [at for at, arg in enumerate(stmt.args) if isinstance(arg, str) and not self.union((arg,))]
            )
            == 1
            and dims
        ):
            # Triton's interpreter keeps the type of the operands for a comparison of two scalars, which then joins no
            # tile.
            scalar, tile = args[scalars[0]], args[1 - scalars[0]]
            return f"tl.where({scalar}, {tile}, False)" if op == "and" else f"tl.where({scalar}, True, {tile})"
        if stmt.out.name in self.misled and op != "mod":
            return unread(op, args, "tl.where", "tl.maximum", "tl.minimum")
        if op in INFIX:
            return f"{args[0]} {INFIX[op]} {args[1]}"
        if op in ("floordiv", "mod"):
            plain = stmt.out.name not in self.misled and all(self.is_nonneg(arg) for arg in stmt.args)
            return (
                f"{args[0]} {'//' if op == 'floordiv' else '%'} {args[1]}"
                if plain
                else f"floor_{'div' if op == 'floordiv' else op}({', '.join(args)})"
            )
        if op in ("cast", "real"):
            dtype = DTYPES[stmt.out.dtype]
            return f"tl.cast({args[0]}, {dtype})" if self.is_number(stmt.args[0]) else f"{args[0]}.to({dtype})"
        if op in SPECIAL:
            return SPECIAL[op](args[0], self.is_loose(stmt.args[0]))
        if op in CALLS:
            name = CALLS_NAN[op] if self.kernel.nan and op in CALLS_NAN and stmt.out.dtype == "f32" else CALLS[op]
            call = f"{name}({', '.join(args)})"
            typed = op == "where" and not any(isinstance(arg, str) for arg in stmt.args[1:])
            return f"{call}.to({DTYPES[stmt.out.dtype]})" if typed else call
        raise self.wrong(f"unknown operator {op!r:.60}")
