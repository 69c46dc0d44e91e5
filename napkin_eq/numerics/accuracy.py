"""How accurate a plan or a term is, whatever its data: one figure, to choose among plans and to refuse some.

The figure is the relative error, to first order, of what the plan computes where nothing cancels and where exponents
are of size 1: every operator adds its roundoffs, every cast to 16 bits that of its type, every sum twice its additions
in a row, and what an accumulator goes through in one turn of its loop counts once for every turn. It is no bound for
given data, which rounding.py and running_bound.py compute; of two plans for one diagram it tells which rounds more. Of
a term it takes tiles of TILE lanes.
"""

from __future__ import annotations

from collections.abc import Mapping

from napkin_eq.lang.dtypes import BY_SHORT, NARROW, REAL
from napkin_eq.lang.operators import VALUES
from napkin_eq.lang.term import Fold, Map, Online, Read, Reduce, Scan, Term, subterms
from napkin_eq.tile.ir import (
    MATRIX_ROUNDOFF,
    Assign,
    Await,
    Dot,
    Kernel,
    Let,
    Load,
    Loop,
    Part,
    Plan,
    ReduceTile,
    ScanTile,
    Stmt,
    StoreTile,
    used,
)

# Roundoffs of float32 and of narrower types, and how many an operator is charged with; as in rounding.py, which needs
# NumPy.
W, K = 2.0**-24, 4
UNIT = {short: BY_SHORT[short].roundoff for short in NARROW}
# The size of a symbolic axis: far more tiles than one.
NOMINAL = 4096
TURNS, TILE = 3, 128
EXACT = ("where", "max", "min", "neg", "abs")


def unit_error(plan: Plan) -> dict[str, float]:
    """Return the figure of each output of a plan, by its name; inputs are taken to be exact."""
    stored: dict[str, float] = {}
    for kernel in plan.kernels:
        _Walk(kernel, stored).run(kernel.body, {})
    return {b.name: stored.get(b.name, 0.0) for b in plan.outputs}


def term_error(term: Term, storage: str) -> float:
    """Return the figure of a term before it has tiles; of several outputs the largest. `storage`: what computed
    operands are rounded to.
    """
    found: dict[Term, float] = {}
    for part in subterms(term):
        most = max((found[child] for child in part.children), default=0.0)
        if isinstance(part, Map) and part.kind == "real" and part.op not in EXACT:
            most = (sum(found[a] for a in part.args) if part.op in ("mul", "div") else most) + K * W
        elif isinstance(part, (Reduce, Fold, Online, Scan)):
            most += UNIT.get(storage, 0.0) * _computed_operands(part.body)
            if VALUES.get(getattr(part, "monoid", "sum")) != "max":
                most += 2 * W * ((part.axis.size or NOMINAL) / TILE + TILE / 4 + 16)
        found[part] = most
    return found[term]


def _computed_operands(body: Term) -> int:
    return (
        sum(bool(a.children) and not isinstance(a, Read) for a in body.args)
        if isinstance(body, Map) and body.op == "mul"
        else 0
    )


class _Walk:
    def __init__(self, kernel: Kernel, stored: dict[str, float]) -> None:
        self.kernel, self.stored = kernel, stored
        self.turning = ""

    def run(self, body: tuple[Stmt, ...], known: dict[str, float]) -> None:
        for stmt in body:
            match stmt:
                case Loop():
                    self.loop(stmt, known)
                case Assign(target, value):
                    known[target] = known[value]
                case StoreTile():
                    self.stored[stmt.buffer] = max(self.stored.get(stmt.buffer, 0.0), known[stmt.value])
                case Await():
                    pass
                case _:
                    known[stmt.out.name] = self.error(stmt, known)

    def loop(self, stmt: Loop, known: dict[str, float]) -> None:
        """Take the turns that are made once, and a few of the longest other part, in which what accumulators gain
        settles; the rest gain at that rate.
        """
        coord = self.kernel.coord(stmt.coord)
        turns = -(-(coord.axis.size or NOMINAL) // coord.tile)
        known.update({value.name: 0.0 for value, _ in stmt.carried})
        many = max((p for p in stmt.parts if not p.once), key=lambda p: len(p.body), default=None)
        outer, self.turning = self.turning, stmt.coord
        for part in stmt.parts:
            if part.once:
                self.turn(part, known)
            elif part is many:
                # An opening that is made once takes the first block; what ends a loop takes none of its own.
                left = turns - sum(p.once for p in stmt.parts[: stmt.parts.index(part)])
                before: Mapping[str, float] = known
                for _ in range(min(left, TURNS)):
                    before = dict(known)
                    self.turn(part, known)
                rest = max(0, left - TURNS)
                known.update(
                    {
                        value.name: known[value.name] + rest * (known[value.name] - before[value.name])
                        for value, _ in stmt.carried
                    }
                )
        self.turning = outer

    def turn(self, part: Part, known: dict[str, float]) -> None:
        inner = dict(known)
        self.run(part.body, inner)
        known.update({name: inner[name] for name in known})

    def error(self, stmt: Stmt, known: Mapping[str, float]) -> float:
        parts = [known.get(name, 0.0) for name in used(stmt)]
        most = max(parts, default=0.0)
        match stmt:
            case Load():
                return self.stored.get(stmt.buffer, 0.0)
            case ReduceTile() | ScanTile():
                return most + (2 * W * self.depth(stmt.coord) if VALUES.get(stmt.monoid) != "max" else 0.0)
            case Dot():
                product = known.get(stmt.a, 0.0) + known.get(stmt.b, 0.0) + 2 * MATRIX_ROUNDOFF[stmt.precision]
                return max(product, known.get(stmt.acc or "", 0.0)) + 2 * W * self.depth(stmt.coord)
            case Let(out, op, _):
                if out.dtype not in REAL:
                    return 0.0
                if op == "cast":
                    return most + UNIT.get(out.dtype, 0.0)
                if op in ("exp", "exp2") and self.turning and self.turning not in out.coords:
                    # A rescaling by a difference of references: what they are off by themselves, the sums that they
                    # serve share.
                    return 2 * K * W
                if op in EXACT:
                    return most
                return (sum(parts) if op in ("mul", "div", "fma") else most) + K * W
        return 0.0

    def depth(self, coord: str) -> float:
        return self.kernel.coord(coord).tile / 4 + 16
