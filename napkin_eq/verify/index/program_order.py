"""Questions about how the blocks of a grid come to programs: each block to one program, in one turn of it.

Without workers a program has one block, and its number says which. With workers a program takes one block after
another: which ones is read off the printed kernel itself, both of the warp that copies and of the groups that compute,
as a syntax tree of which nothing is run. Two steps lead to a block, each a one-to-one map, for any number of programs
and all sizes:

    program, turn -> number     in range, never one number twice, and every number by a turn that is named
    or draw -> number           the same, where programs draw numbers off a counter: who has the k-th draw does not
                                matter
    number -> blocks            in range, and never the same blocks twice: then, since there are as many numbers as
                                choices of blocks (which is asked too), each choice is met

A quotient and a remainder stand as numbers with the facts that define them, which solvers take to better than to div
and mod. The facts are those of a dividend that is not negative and a divisor that is positive: asked first, division by
division, each with the facts of those before. That a number decides nothing twice is shown from the blocks back, one
dividend after another. What is assumed: blocks and programs are fewer than 2^31, so that numbers are integers of 32
bits; of a counter, that it is zero at first and additions to it are atomic; of a ring in shared memory, that it hands
on what was put into it, in order.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from napkin_eq.tile.identifiers import size_argument
from napkin_eq.tile.ir import Coord, Kernel
from napkin_eq.tile.passes.warp_specialize import GROUP_LANES
from napkin_eq.verify.index.read_printed import Head, Reading, counted, is_called, is_number
from napkin_eq.verify.index.smt_coordinates import NotRead, Script, Text, asks, conjunction


def launched(kernel: Kernel) -> Iterator[Text]:
    """A number in mixed radix has one digit string, that of quotients and remainders; blocks visited in groups of rows
    are visited once.
    """
    for name in kernel.grid[1:]:
        script = Script(kernel)
        count = _count(script, kernel.coord(name), "count")
        for digit, most in (
            ("rest", script.declare("rest.count")),
            ("digit", count),
            ("quotient", ""),
            ("remainder", count),
        ):
            script.declare(digit)
            script.say(*([f"(<= 0 {digit})", f"(< {digit} {most})"] if most else []))
        script.say(f"(= (+ (* {count} rest) digit) (+ (* {count} quotient) remainder))")
        yield script.asks("(not (and (= quotient rest) (= remainder digit)))")
    if kernel.swizzle:
        yield from _swizzled(kernel, *kernel.swizzle)


def _count(script: Script, coord: Coord, name: str) -> str:
    """Return how many blocks a coordinate has: a number, or a name where the size is symbolic."""
    if coord.blocks is not None:
        return str(coord.blocks)
    script.nonlinear = True
    script.declare(name)
    script.say(f"(<= 1 {name})")
    return name


def _swizzled(kernel: Kernel, row: str, column: str, depth: int) -> Iterator[Text]:
    """Rows in groups of `depth`, a group column by column (tl.swizzle2d): the new place is in range, and gives the old
    one back.

    Quotients and remainders stand as numbers with the facts that define them, which solvers take to better than to div
    and mod.
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
        script.say(
            f"(= place (+ (* {depth} (* {columns} group)) rest))", "(<= 0 rest)", f"(< rest (* {depth} {columns}))"
        )
        return script, rows, columns

    first, rows, _ = stated()
    yield first.asks(f"(not (and (<= 0 group) (< (* {depth} group) {rows})))")
    divided = "(= rest (+ (* deep column) line))", "(<= 0 line)", "(< line deep)"
    second, rows, columns = stated()
    second.say(*divided, "(<= 0 group)", "(<= 1 deep)")
    yield second.asks(f"(not (and (<= 0 row) (< row {rows}) (<= 0 column) (< column {columns})))")
    third, _, columns = stated()
    third.say(*divided, "(<= 1 deep)")
    again = f"(= place (+ (* {columns} first) (* column deep) (- row first)))"
    yield third.asks(f"(not (and (= (div row {depth}) group) {again}))")


# -- blocks dealt out by the kernel itself -----------------------------------------------------------------------------


def dealt(kernel: Kernel, source: str) -> Iterator[Text]:
    """Each block of the grid comes to one program in one turn, by what both sides of a printed kernel say; raises
    NotRead for other code.
    """
    assert kernel.workers is not None
    sides = ("compute", "copy", *(["ahead"] if kernel.turn.asks else []))
    first, *others = heads = [Head.of(kernel, source, side) for side in sides]
    if any(other.ring != first.ring for other in others):
        raise NotRead("the sides of the kernel do not draw from one ring")
    for other in others:
        if other.said != first.said:
            yield from _alike(kernel, first, other)
    for head in {head.said: head for head in heads}.values():
        yield from _draws(head) if head.step else _numbers(head)
        yield from _blocks(kernel, head)
    lanes, groups = kernel.coord(kernel.workers.rows).tile, kernel.workers.groups
    who = (
        f"(and (<= 0 (div lane {GROUP_LANES})) (< (div lane {GROUP_LANES}) {groups}) (= {groups * GROUP_LANES}"
        f" {lanes}))"
    )
    yield asks(["(declare-const lane Int)", f"(assert (<= 0 lane {lanes - 1}))"], f"(not {who})", logic="QF_LIA")


def _turned(head: Head, reading: Reading, program: str, turn: str, given: Mapping[str, str]) -> tuple[str, str, str]:
    """Read the walk in one turn of one program; return the walk's variable, its end, and the number of the block."""
    reading.names["program_id"] = program
    reading.run(head.before, given)
    walk = head.walk
    if (
        not isinstance(walk.iter, ast.Call)
        or ast.unparse(walk.iter.func) != "range"
        or not isinstance(walk.target, ast.Name)
    ):
        raise NotRead("the walk over blocks is no range")
    bounds = [reading.value(arg) for arg in walk.iter.args]
    low, high, step = (*bounds, "1")[:3] if len(bounds) > 1 else ("0", bounds[0], "1")
    at = reading.names[walk.target.id] = turn if (low, step) == ("0", "1") else f"(+ {low} (* {step} {turn}))"
    if not is_number(walk.target.id):
        reading.run(walk.body, {}, until="tile")
    return at, high, next(reading.names[n] for n in reversed(reading.names) if is_number(n))


def _numbers(head: Head) -> Iterator[Text]:
    """Program and turn give a number, one to one: in range, no two alike, and each number has a program and a turn."""
    first, total = counted(head.before)
    head = Head(head.kernel, head.before[first:], head.walk, head.starts, head.said)
    plain = isinstance(head.walk.target, ast.Name) and is_number(head.walk.target.id)

    def open_reading(suffix: str) -> Reading:
        reading = Reading(suffix)
        reading.declare("blocks", "(<= 1 blocks)")
        reading.declare("programs", "(<= 1 programs)")
        reading.names = {"num_programs": "programs"}
        return reading

    def turn_of(suffix: str) -> tuple[Reading, str, str]:
        reading = open_reading(suffix)
        shared = len(reading.lines)
        program = reading.declare(f"program{suffix}", f"(<= 0 program{suffix})", f"(< program{suffix} programs)")
        turn = reading.declare(f"turn{suffix}", f"(<= 0 turn{suffix})")
        at, high, number = _turned(head, reading, program, turn, {total: "blocks"})
        reading.lines.append(f"(assert (< {at} {high}))")
        reading.lines = reading.lines[shared:] if suffix == ".2" else reading.lines
        return reading, turn, number

    one, turn, number = turn_of("")
    yield from one.sound(0)
    whole = [q for (_, divisor), (q, _) in one.divided.items() if divisor == "programs"][:1]
    for case in [c for q in whole for c in (f"(< {turn} {q})", f"(>= {turn} {q})")] or ["true"]:
        yield asks(one.lines, case, f"(or (< {number} 0) (>= {number} blocks))")
    two, again, other = turn_of(".2")
    both = [*one.lines, *two.lines, f"(assert (= {number} {other}))"]
    yield asks(both, f"(not (= {turn} {again}))")
    yield asks(both, f"(= {turn} {again})", "(not (= program program.2))")
    named = open_reading("")
    named.declare("block", "(<= 0 block)", "(< block blocks)")
    t, rest = named.division("block", "programs")
    odd = "" if plain else named.division(t, "2")[1]
    program = rest if plain else f"(ite (= {odd} 0) {rest} (- (- programs 1) {rest}))"
    at, high, found = _turned(head, named, program, t, {total: "blocks"})
    whole = [q for (what, _), (q, _) in named.divided.items() if what == "blocks"][:1]
    yield from (asks(named.lines, f"(not (<= {t} {q}))") for q in whole)
    cases = [f"(and (= {odd} {side}) ({sign} {t} {q}))" for q in whole for side in (0, 1) for sign in ("<", "=")] or [
        "true"
    ]
    for wanted in (
        f"(<= 0 {program})",
        f"(< {program} programs)",
        f"(<= 0 {t})",
        f"(< {at} {high})",
        f"(= {found} block)",
    ):
        yield from (asks(named.lines, case, f"(not {wanted})") for case in cases)


def _draws(head: Head) -> Iterator[Text]:
    """Draws give numbers, one to one: those that pass the walk's test are in range, no two draws give one, and each in
    range has a draw and passes.
    """
    assert head.step is not None
    reading = Reading("")
    _, total = counted(head.before)
    step = reading.value(head.step)
    reading.declare("blocks", "(<= 1 blocks)")
    for draw in ("draw", "draw.2"):
        reading.declare(draw, f"(<= 0 {draw})")
    number, other = f"(* {step} draw)", f"(* {step} draw.2)"
    names = [n.id for n in ast.walk(head.walk.iter) if isinstance(n, ast.Name) and n.id != total]
    reading.names = {total: "blocks", **dict.fromkeys(names, number)}
    test, inside = reading.value(head.walk.iter), f"(and (<= 0 {number}) (< {number} blocks))"
    yield asks(reading.lines, test, f"(not {inside})")
    yield asks(reading.lines, inside, f"(not {test})")
    yield asks(reading.lines, f"(= {number} {other})", "(not (= draw draw.2))")
    yield asks(reading.lines, "(< draw blocks)", f"(not (= {number} draw))")


def _sizes(kernel: Kernel) -> Reading:
    """Return a reading that knows the sizes of symbolic axes."""
    reading = Reading("")
    for axis in kernel.symbols:
        name = size_argument(axis)
        multiple = [f"(= (mod {name} {axis.multiple}) 0)"] if axis.multiple > 1 else []
        reading.names[name] = reading.declare(name, f"(<= 1 {name})", *multiple)
    reading.names |= {
        "num_programs": reading.declare("programs", "(<= 1 programs)"),
        "program_id": reading.declare("program", "(<= 0 program)"),
    }
    return reading


def _decoded(head: Head, suffix: str) -> tuple[Reading, int, int, str]:
    """Read how a number gives blocks; return the reading, its lines and divisions before the number, and the number of
    blocks.
    """
    reading = _sizes(head.kernel)
    at, name = counted(head.before)
    reading.run(head.before[: at + 1], {})
    total = reading.names[name]
    lines, divisions = len(reading.lines), len(reading.divided)
    reading.suffix = suffix
    number = reading.declare(f"number{suffix}", f"(<= 0 number{suffix})", f"(< number{suffix} {total})")
    body = head.walk.body
    assert isinstance(head.walk.target, ast.Name)
    if is_number(head.walk.target.id):
        reading.names[head.walk.target.id] = number
    else:
        at = next(i for i, s in enumerate(body) if isinstance(s, ast.Assign) and is_called(s, "tile"))
        reading.names[body[at].targets[0].id] = number  # type: ignore[attr-defined]
        body = body[at + 1 :]
    reading.run(body, {})
    return reading, lines, divisions, total


def _blocks(kernel: Kernel, head: Head) -> Iterator[Text]:
    """A number gives blocks, one to one."""
    one, _, _, total = _decoded(head, "")
    yield from one.sound(0)
    counts = []
    for coord in map(kernel.coord, head.starts):
        known, size = coord.blocks, size_argument(coord.axis)
        count = (
            str(known)
            if known
            else size
            if coord.tile == 1
            else one.division(f"(+ {size} {coord.tile - 1})", str(coord.tile))[0]
        )
        counts.append(count)
        block = _block(head, one, coord)
        yield asks(one.lines, f"(not (and (<= 0 {block}) (< {block} {count})))")
    yield asks(one.lines, f"(not (= {total} (* 1 1 {' '.join(counts)})))")
    first, lines, divisions, _ = _decoded(head, "")
    two, *_ = _decoded(head, ".2")
    every = [*first.lines, *two.lines[lines:]]
    ranges = [line for line in every if line not in first.defining | two.defining]
    same = [f"(assert (= {_block(head, first, c)} {_block(head, two, c)}))" for c in map(kernel.coord, head.starts)]
    pairs = [list(r.divided.items())[divisions:] for r in (first, two)]
    for place in reversed(range(len(pairs[0]))):
        ((a, b), (q, r)), ((a2, b2), (q2, r2)) = pairs[0][place], pairs[1][place]
        before = [(pairs[0][place - 1][1][0], pairs[1][place - 1][1][0])] if place else []
        for x, y in (*before, (q, q2), (r, r2), (b, b2), (a, a2)):
            if x != y and f"(assert (= {x} {y}))" not in same:
                # A dividend follows by what defines it, as does the first quotient; all else by what it adds up to.
                facts = every if x in (a, pairs[0][0][1][0]) else ranges
                yield asks([*facts, *same], f"(not (= {x} {y}))")
                same.append(f"(assert (= {x} {y}))")
    if "(assert (= number number.2))" not in same:
        yield asks([*every, *same], "(not (= number number.2))")


def _block(head: Head, reading: Reading, coord: Coord) -> str:
    """Return the number of a coordinate's block, given that the text multiplies it by the tile."""
    name = head.starts[coord.name]
    start = next(
        s.value
        for s in head.walk.body
        if isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name) and s.targets[0].id == name
    )
    if coord.tile > 1 and not (
        isinstance(start, ast.BinOp) and isinstance(start.op, ast.Mult) and ast.unparse(start.right) == str(coord.tile)
    ):
        raise NotRead(f"{name} is no multiple of {coord.tile} by its form")
    return reading.starts[name] if coord.tile > 1 else reading.names[name]


def _alike(kernel: Kernel, one: Head, other: Head) -> Iterator[Text]:
    """Both sides of a kernel have the same blocks in the same turn."""
    reading = _sizes(kernel)
    shared = dict(reading.names)
    reading.declare("turn", "(<= 0 turn)", "(< program programs)")
    starts = []
    for head in (one, other):
        reading.names = dict(shared)
        if head.step:
            reading.run(head.before, {})
            reading.names[ast.unparse(head.walk.target)] = "turn"
        else:
            at, high, _ = _turned(head, reading, "program", "turn", {})
            reading.lines.append(f"(assert (< {at} {high}))")
        reading.run(head.walk.body, {})
        starts.append([reading.names[head.starts[name]] for name in one.starts])
    yield asks(reading.lines, f"(not {conjunction([f'(= {a} {b})' for a, b in zip(*starts, strict=True)])})")
