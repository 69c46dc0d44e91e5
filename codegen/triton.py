"""Prints a plan as a Python file of Triton kernels with their launcher: every statement as it stands, nothing decided here.

Coordinates with tile 1 are scalars; the others are tensor dimensions in the kernel's order. Bounds, masks and casts are the plan's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import fields

from napkin_eq.axis import Axis
from napkin_eq.emit import comment_lines, emit, emitter
from napkin_eq.errors import NapkinError
from napkin_eq.names import Names, buffers, kernel_function, pointer_argument, size_argument
from napkin_eq.plan import (
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
    Plan,
    ReduceTile,
    ScanTile,
    SizeOf,
    Start,
    Stmt,
    StoreTile,
    Value,
    passes_31_bits,
    statements,
)

DTYPES = {
    "f64": "tl.float64",
    "f32": "tl.float32",
    "f16": "tl.float16",
    "bf16": "tl.bfloat16",
    "i32": "tl.int32",
    "i64": "tl.int64",
    "i1": "tl.int1",
}
INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/", "lt": "<", "le": "<=", "eq": "==", "and": "&", "or": "|"}
CALLS = {
    "max": "tl.maximum",
    "min": "tl.minimum",
    "where": "tl.where",
    "fma": "tl.fma",
    "sigmoid": "tl.sigmoid",
    "round": "round_half_even",
    **{name: f"tl.{name}" for name in "exp exp2 log log2 sqrt rsqrt erf sin cos abs floor".split()},
}
REDUCE = {"sum": "tl.sum({0}, axis={1})", "max": "tl.max({0}, axis={1})", "prod": "tl.reduce({0}, {1}, product)"}
SCAN = {"sum": "tl.cumsum({0}, axis={1})", "max": "tl.associative_scan({0}, {1}, greatest)", "prod": "tl.cumprod({0}, axis={1})"}
HELPERS = {
    "floor_div": """
@triton.jit
def floor_div(a, b):
    # // on a GPU rounds to zero, a quotient of coordinates rounds down
    return a // b - ((a % b != 0) & ((a < 0) != (b < 0)))
""",
    "floor_mod": """
@triton.jit
def floor_mod(a, b):
    # % on a GPU has the sign of a, a remainder of coordinates the sign of b
    return tl.where((a % b != 0) & ((a < 0) != (b < 0)), a % b + b, a % b)
""",
    "round_half_even": """
@triton.jit
def round_half_even(x):
    low = tl.floor(x)
    odd = low - 2.0 * tl.floor(0.5 * low) == 1.0
    return tl.where((x - low > 0.5) | ((x - low == 0.5) & odd), low + 1.0, low)
""",
    "product": """
@triton.jit
def product(a, b):
    return a * b
""",
    "greatest": """
@triton.jit
def greatest(a, b):
    return tl.maximum(a, b)
""",
}
INDENT = "    "


@emitter("triton")
def triton_file(plan: Plan, header: tuple[str, ...]) -> str:
    """Print a plan as one Python file that imports torch and triton alone."""
    # The first two lines are ours: Python looks for an encoding there, and the header is somebody else's text.
    head = [f"# The kernels of {Names().fresh(plan.name)}, written by napkin_eq.", "#", *(f"# {line}".rstrip() for line in header)]
    imports = "\nimport torch\nimport triton\nimport triton.language as tl\n"
    return "\n".join(["\n".join(head), imports, emit(plan, "triton kernels"), emit(plan, "launcher")])


@emitter("triton kernels")
def triton_kernels(plan: Plan, header: tuple[str, ...] = ()) -> str:
    """Print the kernels of a plan and what they call, for a file that has a head of its own."""
    if repeated := [name for name, n in Counter(k.name for k in plan.kernels).items() if n > 1]:
        raise NapkinError(f"plan {plan.name}: two kernels are called {repeated[0]}")
    if odd := next(((k.name, c) for k in plan.kernels for c in k.coords if c.tile & (c.tile - 1)), None):
        raise NapkinError(f"kernel {odd[0]}: {odd[1].tile} lanes of {odd[1].name} are no power of two, which Triton takes alone")
    kernels = "\n".join(f"\n{KernelText(k)}" for k in plan.kernels)
    helpers = "\n".join(text for name, text in HELPERS.items() if f"{name}(" in kernels or f", {name})" in kernels)
    return "\n".join(part for part in (helpers, kernels) if part)


def operands(stmt: Stmt) -> Iterator[str]:
    """Yield the names that a statement uses, those of a loop's bounds included."""
    own = [getattr(stmt, f.name) for f in fields(stmt) if f.name not in ("out", "coord", "buffer", "op", "monoid", "axis", "precision", "target")]
    if isinstance(stmt, Loop):
        own = [bound for part in stmt.parts for bound in (part.lo, part.hi)]
    for item in own:
        yield from (x for x in (item if isinstance(item, tuple) else (item,)) if isinstance(x, str))


class KernelText:
    """The text of one kernel, printed statement by statement."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.lines: list[str] = []
        self.depth = 1
        self.params = [pointer_argument(b) for b in buffers(kernel)] + [size_argument(a) for a in kernel.symbols]
        self.names = Names((*self.params, *HELPERS, kernel_function(kernel)))
        self.values: dict[str, Value] = {}
        self.text: dict[str, str] = {}
        self.starts: dict[str, str] = {}
        self.nonneg: set[str] = set()
        # Numbers and sizes: Triton may know them as it compiles, and then they are no tensors.
        self.loose: set[str] = set()
        for stmt in statements(kernel.body):
            for value in [v for v, _ in stmt.carried] if isinstance(stmt, Loop) else [stmt.out] if hasattr(stmt, "out") else []:
                if value.name not in self.text:
                    self.text[value.name] = self.names.fresh(value.name)
        self.given = dict(self.text)
        self.turned = self.loaded_turned()
        self.blocks = {c.name: self.names.fresh(f"BLOCK_{c.name.upper()}") for c in kernel.coords if c.tile > 1}

    def loaded_turned(self) -> set[str]:
        """Return the loads that only a dot uses, and turned: read that way round, for turning a tile can cost its pipelining."""
        stmts = list(statements(self.kernel.body))
        outs = {s.out.name: s.out for s in stmts if hasattr(s, "out")}
        flat = {name for name, v in outs.items() if len(self.dims(v)) < 2}
        loads = {s.out.name for s in stmts if isinstance(s, Load) and {x for x in (*s.index, *s.masks) if isinstance(x, str)} <= flat}
        others = {s.out.name for s in stmts if hasattr(s, "out") and not isinstance(s, Load)}
        turns: dict[str, set[bool]] = {name: set() for name in loads - others}
        for stmt in stmts:
            for name in set(operands(stmt)) & set(turns):
                turns[name].add(isinstance(stmt, Dot) and name in (stmt.a, stmt.b) and self.turns(stmt, outs[name]))
        return {name for name, turn in turns.items() if turn == {True}}

    def turns(self, stmt: Dot, value: Value) -> bool:
        """Tell whether a dot's operand lies the wrong way round: on the left the contracted coordinate is last, on the right first."""
        dims, out = self.dims(value), self.dims(stmt.out)
        return len(dims) == 2 and stmt.coord in dims and (dims[1] == stmt.coord) != (next(d for d in dims if d != stmt.coord) == out[0])

    def __str__(self) -> str:
        self.lines, self.depth = [], 1
        grid = ", ".join(f"{c} in {self.kernel.coord(c).tile}s" if self.kernel.coord(c).tile > 1 else c for c in self.kernel.grid)
        self.line(f'"""One program per block of: {grid}."""' if grid else '"""One program."""')
        for coord in self.kernel.coords:
            if coord.tile > 1:
                self.line(f"{self.blocks[coord.name]}: tl.constexpr = {coord.tile}")
        self.grid()
        self.body(self.kernel.body)
        return "\n".join([*self.signature(), *self.lines, ""])

    def signature(self) -> list[str]:
        name, one = kernel_function(self.kernel), ", ".join(self.params)
        if len(name) + len(one) < 120:
            return ["@triton.jit", f"def {name}({one}):"]
        return ["@triton.jit", f"def {name}(", *(f"{INDENT}{param}," for param in self.params), "):"]

    def line(self, text: str) -> None:
        self.lines.append(INDENT * self.depth + text)

    def wrong(self, what: str) -> NapkinError:
        return NapkinError(f"kernel {self.kernel.name}: {what}")

    # Coordinates ----------------------------------------------------------------------------------------------------------

    def size(self, axis: Axis) -> str:
        return size_argument(axis) if axis.size is None else str(axis.size)

    def count(self, coord: Coord) -> str:
        """Return how many blocks a grid coordinate has."""
        if coord.axis.size is not None:
            return str(-(-coord.axis.size // coord.tile))
        return self.size(coord.axis) if coord.tile == 1 else f"tl.cdiv({self.size(coord.axis)}, {self.blocks[coord.name]})"

    def grid(self) -> None:
        """Find the start of each grid coordinate's block from the program's number, the last coordinate running fastest."""
        self.starts = {c.name: "0" for c in self.kernel.coords if c.role == "whole"}
        walked = []
        for name in self.kernel.grid:
            if self.count(self.kernel.coord(name)) == "1":
                self.starts[name] = "0"
            else:
                walked.append(self.kernel.coord(name))
        swizzle = self.kernel.swizzle
        if swizzle and [c.name for c in walked[-2:]] in (list(swizzle[:2]), list(swizzle[1::-1])):
            self.swizzled(walked, swizzle[2])
        elif len(walked) == 1:
            self.start(walked[0], "tl.program_id(0)")
        elif walked:
            pid = self.names.fresh("pid")
            self.line(f"{pid} = tl.program_id(0)")
            self.decoded(pid, walked)

    def decoded(self, pid: str, walked: list[Coord]) -> None:
        for rest, coord in reversed(list(enumerate(walked[1:]))):
            blocks = self.named_count(coord)
            self.start(coord, f"{pid} % {blocks}")
            if rest:
                self.line(f"{pid} = {pid} // {blocks}")
            else:
                self.start(walked[0], f"{pid} // {blocks}")

    def named_count(self, coord: Coord) -> str:
        count = self.count(coord)
        if not count.startswith("tl."):
            return count
        name = self.names.fresh(f"{coord.name}_blocks")
        self.line(f"{name} = {count}")
        return name

    def start(self, coord: Coord, block: str) -> None:
        name = self.starts[coord.name] = self.names.fresh(coord.name if coord.tile == 1 else f"{coord.name}_start")
        self.nonneg.add(name)
        self.line(f"{name} = {block}" if coord.tile == 1 else f"{name} = {block} * {self.blocks[coord.name]}")

    def swizzled(self, walked: list[Coord], depth: int) -> None:
        """Visit the last two grid coordinates in groups of `depth` rows, column by column, so that blocks nearby share operands."""
        row, column = (self.kernel.coord(name) for name in self.kernel.swizzle[:2]) if self.kernel.swizzle else walked[-2:]
        pid, row_block, column_block = (self.names.fresh(n) for n in ("pid", f"{row.name}_block", f"{column.name}_block"))
        self.line(f"{pid} = tl.program_id(0)")
        rows, columns = self.named_count(row), self.named_count(column)
        tile = pid if len(walked) == 2 else f"{pid} % ({rows} * {columns})"
        self.line(f"{row_block}, {column_block} = tl.swizzle2d({tile} // {columns}, {tile} % {columns}, {rows}, {columns}, {depth})")
        self.start(row, row_block)
        self.start(column, column_block)
        if len(walked) == 3:
            self.start(walked[0], f"{pid} // ({rows} * {columns})")
        elif len(walked) > 3:
            self.line(f"{pid} = {pid} // ({rows} * {columns})")
            self.decoded(pid, walked[:-2])

    # Values ---------------------------------------------------------------------------------------------------------------

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
        name = self.text[operand] + before
        return name if own in ((), dims) else f"{name}[{', '.join(':' if d in own else 'None' for d in dims)}]"

    def union(self, names: tuple[Operand, ...]) -> tuple[str, ...]:
        spanned = {d for name in names if isinstance(name, str) for d in self.dims(self.known(name))}
        return tuple(c.name for c in self.kernel.coords if c.name in spanned)

    def is_loose(self, operand: Operand) -> bool:
        return not isinstance(operand, str) or operand in self.loose

    def is_nonneg(self, operand: Operand) -> bool:
        return operand in self.nonneg if isinstance(operand, str) else operand >= 0

    # Statements -----------------------------------------------------------------------------------------------------------

    def body(self, body: tuple[Stmt, ...]) -> None:
        uses = Counter(name for stmt in statements(body) for name in operands(stmt))
        skip = False
        for stmt, after in zip(body, (*body[1:], None), strict=True):
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
        for part in stmt.parts:
            for note in comment_lines([part.note] if part.note else []):
                self.line(f"# {note}")
            self.line(f"for {name} in tl.range({self.operand(part.lo, ())}, {self.operand(part.hi, ())}, {step}):")
            self.depth += 1
            if isinstance(part.lo, str) and coord.tile > 1:
                self.line(f"{name} = tl.multiple_of({name}, {step})")
            self.body(part.body)
            if not part.body:
                self.line("pass")
            self.depth -= 1
        del self.starts[coord.name]

    def store(self, stmt: StoreTile) -> None:
        dims = self.union(stmt.index)
        masks = self.masks(stmt.masks, dims)
        self.line(f"tl.store({self.pointer(stmt.buffer, stmt.index, dims)}, {self.operand(stmt.value, dims)}{masks})")

    def masks(self, masks: tuple[str, ...], dims: tuple[str, ...]) -> str:
        return f", mask={' & '.join(self.operand(m, dims) for m in masks)}" if masks else ""

    def pointer(self, name: str, index: tuple[Operand, ...], dims: tuple[str, ...]) -> str:
        """Return the pointers to the elements at an index, scalars first; offsets that may pass 2^31 are taken in 64 bits."""
        buffer = next((b for b in buffers(self.kernel) if b.name == name), None)
        if buffer is None or len(index) != len(buffer.dims):
            raise self.wrong(f"buffer {name} is not listed, or is indexed by {len(index)} numbers for another number of dimensions")
        terms: list[tuple[bool, str]] = []
        for position, operand in enumerate(index):
            if operand in (0, "0") or (isinstance(operand, str) and self.text[operand] == "0"):
                continue
            stride = buffer.dims[position + 1 :]
            known = 1
            for axis in stride:
                known *= axis.size or 1
            factors = [size_argument(a) for a in stride if a.size is None] + ([str(known)] if known > 1 else [])
            terms.append((bool(self.union((operand,))), " * ".join([self.offset(operand, dims, buffer, position), *factors])))
        ordered = [text for tiled, text in terms if not tiled] + [text for tiled, text in terms if tiled]
        return " + ".join([pointer_argument(buffer), *ordered])

    def offset(self, operand: Operand, dims: tuple[str, ...], buffer: Buffer, position: int) -> str:
        if not passes_31_bits(buffer, position) or (isinstance(operand, str) and self.known(operand).dtype == "i64"):
            return self.operand(operand, dims)
        if self.is_loose(operand):
            return f"tl.cast({self.operand(operand, dims)}, tl.int64)"
        return self.operand(operand, dims, before=".to(tl.int64)")

    def expression(self, stmt: Stmt) -> str:
        """Return what a statement's value is; nothing where its name became another's."""
        match stmt:
            case Start(out, coord):
                return self.alias(out, self.begin(coord), loose=self.begin(coord) == "0")
            case Iota(out, coord):
                self.nonneg.add(out.name)
                begin = self.begin(coord)
                if coord not in self.blocks:
                    return self.alias(out, begin, loose=begin == "0")
                lanes = f"tl.arange(0, {self.blocks[coord]})"
                return lanes if begin == "0" else f"{begin} + {lanes}"
            case SizeOf(out, axis):
                return self.alias(out, self.size(axis), loose=True)
            case Load(_, buffer, index, masks):
                dims = self.union(index)[:: -1 if stmt.out.name in self.turned else 1]
                other = f", other={'0' if stmt.out.dtype.startswith('i') else '0.0'}" if masks else ""
                return f"tl.load({self.pointer(buffer, index, dims)}{self.masks(masks, dims)}{other})"
            case Let():
                return self.let(stmt)
            case ReduceTile(_, monoid, coord, arg):
                return self.folded(REDUCE[monoid], coord, arg)
            case ScanTile(_, monoid, coord, arg):
                return self.folded(SCAN[monoid], coord, arg)
            case Dot():
                return self.dot(stmt)
        raise self.wrong(f"no statement: {stmt!r:.80}")

    def begin(self, coord: str) -> str:
        if coord not in self.starts:
            raise self.wrong(f"coordinate {coord} is used outside its loop")
        return self.starts[coord]

    def alias(self, out: Value, text: str, loose: bool) -> str:
        self.text[out.name] = text
        self.nonneg.add(out.name)
        if loose:
            self.loose.add(out.name)
        return ""

    def folded(self, form: str, coord: str, arg: str) -> str:
        dims = self.dims(self.known(arg))
        return form.format(self.text[arg], dims.index(coord)) if coord in dims else self.text[arg]

    def dot(self, stmt: Dot) -> str:
        """Contract on the matrix unit: of two operands the one with the earlier free coordinate goes left, turned as needed."""
        sides = []
        for name in (stmt.a, stmt.b):
            value = self.known(name)
            dims = self.dims(value)
            if len(dims) != 2 or stmt.coord not in dims:
                raise self.wrong(f"dot over {stmt.coord}: {name} spans {list(dims)}, expected {stmt.coord} and one other")
            turn = self.turns(stmt, value) and name not in self.turned
            at = self.dims(stmt.out).index(next(d for d in dims if d != stmt.coord))
            sides.append((at, f"tl.trans({self.text[name]})" if turn else self.text[name]))
        (_, left), (_, right) = sorted(sides)
        acc = "" if stmt.acc is None else f", {self.text[stmt.acc]}"
        if stmt.precision not in MATRIX_ROUNDOFF:
            raise self.wrong(f"{stmt.out.name}: unknown precision {stmt.precision!r:.60}; one of {', '.join(MATRIX_ROUNDOFF)}")
        precision = f', input_precision="{stmt.precision}"' if self.known(stmt.a).dtype == "f32" else ""
        return f"tl.dot({left}, {right}{acc}{precision})"

    def let(self, stmt: Let) -> str:
        dims, op = self.union(stmt.args), stmt.op
        if all(self.is_loose(arg) for arg in stmt.args):
            self.loose.add(stmt.out.name)
        if op in KEEPS_SIGN and all(self.is_nonneg(arg) for arg in stmt.args):
            self.nonneg.add(stmt.out.name)
        args = [self.operand(arg, dims) for arg in stmt.args]
        if op in INFIX:
            return f"{args[0]} {INFIX[op]} {args[1]}"
        if op in ("floordiv", "mod"):
            plain = all(self.is_nonneg(arg) for arg in stmt.args)
            return f"{args[0]} {'//' if op == 'floordiv' else '%'} {args[1]}" if plain else f"floor_{'div' if op == 'floordiv' else op}({', '.join(args)})"
        if op in ("cast", "real"):
            dtype = DTYPES[stmt.out.dtype]
            return f"tl.cast({args[0]}, {dtype})" if self.is_loose(stmt.args[0]) else f"{args[0]}.to({dtype})"
        if op in SPECIAL:
            return SPECIAL[op](args[0], self.is_loose(stmt.args[0]))
        if op in CALLS:
            call = f"{CALLS[op]}({', '.join(args)})"
            typed = op == "where" and not any(isinstance(arg, str) for arg in stmt.args[1:])
            return f"{call}.to({DTYPES[stmt.out.dtype]})" if typed else call
        raise self.wrong(f"unknown operator {op!r:.60}")


KEEPS_SIGN = ("add", "mul", "max", "min", "floordiv", "mod", "cast")
SPECIAL: dict[str, Callable[[str, bool], str]] = {
    "neg": lambda x, loose: f"-{x}",
    "inv": lambda x, loose: f"1.0 / {x}",
    "tanh": lambda x, loose: f"2.0 * tl.sigmoid(2.0 * {x}) - 1.0",
    "not": lambda x, loose: f"not {x}" if loose else f"~{x}",
}


def literal(value: float | int | bool) -> str:
    """Return a number as Triton reads it; raises NapkinError for one that is none."""
    if value != value:
        raise NapkinError("a plan holds the constant NaN, which no diagram does")
    if value in (float("inf"), float("-inf")):
        return f'float("{value}")'
    return repr(value)
