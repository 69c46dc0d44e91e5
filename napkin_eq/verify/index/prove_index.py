"""Index proofs: questions to a solver about the coordinates of a kernel, read off its plan, for every size at once.

Each question is an SMT-LIB 2 script over integers, ground, unsatisfiable if the kernel is right:

    bounds     no live lane of a load or a store is outside its array
    cover      every element of an output is written by some lane of some program
    once       no two lanes of any programs write one element
    grid       each choice of blocks is one program's, in one of its turns
    parts      no block of a loop is folded twice, and every part starts at a block
    skipped    a block that no part folds holds no lane that its fold takes
    kept       the tests of a fold, those of which any that fails makes a lane 0 (in a sum) or absent (in a maximum),
               hold only of lanes inside the axis that the fold takes: masked lanes contribute nothing
    tested     and hold of all of those lanes; a part with no test therefore walks only blocks that need none
    aligned    what a fold reads of an array along its axis is of the lane that it folds: operands that wait for the
               next block meet what belongs to their own
    box        where a box of an array is copied, every lane that lies inside the array is one that the plan reads or
               writes
    integers   no 32-bit integer overflows, nor does an offset that is taken in 32 bits

The copy engine reads 0 past the ends of an array, in each of its dimensions, and writes nothing there. A load gives 0
where a mask fails, and masks of live lanes are inside by "bounds", those inside live by "box": both therefore read and
write the same.

What is assumed: sizes are positive, those given as numbers are these numbers, a symbolic one keeps to its declared
multiple and is at most 2^31 - 2^16; so are the magnitudes of integers read from arrays. Where the folds of an axis take
different lanes, "skipped" is asked of the lanes that all take, and "kept" only of the axis. A lane that holds 0
contributes nothing to a product only if the other factor is finite.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from napkin_eq.lang.term import Term
from napkin_eq.tile.boxes import roles_of
from napkin_eq.tile.ir import (
    Buffer,
    Coord,
    Dot,
    Iota,
    Kernel,
    Load,
    Loop,
    ReduceTile,
    Start,
    Stmt,
    StoreTile,
    passes_31_bits,
    statements,
)
from napkin_eq.verify.index import loops as walks
from napkin_eq.verify.index import masks as lanes
from napkin_eq.verify.index import program_order as dealing
from napkin_eq.verify.index.loops import Folded
from napkin_eq.verify.index.loops import Masks as Masks
from napkin_eq.verify.index.smt_coordinates import WHOLE, NotRead, Script, Site, Text, conjunction, sites

if TYPE_CHECKING:
    from napkin_eq.pipeline.derivation import Derivation

MOST = 2**31 - 1
TIMEOUT_S = 5.0


@dataclass(frozen=True, slots=True)
class Query:
    """One question: what it is about, in words, and its script, unsatisfiable if the kernel is right; a script may be
    missing, with the reason.
    """

    kernel: str
    kind: str
    about: str
    text: str

    @property
    def sha256(self) -> str:
        from napkin_eq.prove.query import sha256

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
        """Return the report as data: per question kernel, kind, what it is about, hash of the script,
        verdict, answers.
        """
        rows = [{"kernel": a.query.kernel, "kind": a.query.kind, "about": a.query.about, "sha256": a.query.sha256,
            "verdict": a.verdict,
                 "answers": dict(a.answers)} for a in self.answered]  # fmt: skip
        return {"schema": 1, "verdict": self.verdict, "queries": rows}

    def __str__(self) -> str:
        bad = [a for a in self.answered if a.verdict != "proved"]
        head = (
            f"index proofs: {self.verdict}, {len(self.answered) - len(bad)} of {len(self.answered)} questions proved in"
            f" {self.seconds:.2f} s"
        )
        return "\n".join([head, *(f"  {a.verdict}: {a.query.kernel}, {a.query.kind}: {a.query.about}" for a in bad)])


def proved(derivation: Derivation, every: bool = False) -> Report:
    """Ask all questions about a derivation's kernels; `every`: of all installed solvers, the others for less long, else
    of the first.
    """
    masks = [masks_of(store) for store in _as_lowered(derivation)]
    plan = derivation.plan
    given = masks if len(masks) == len(plan.kernels) else [_merged(masks)] * len(plan.kernels)
    source = derivation.code() if any(kernel.workers for kernel in plan.kernels) else ""
    return answered(
        [q for kernel, known in zip(plan.kernels, given, strict=True) for q in queries(kernel, known, source)], every
    )


def _as_lowered(derivation: Derivation) -> Iterator[Term]:
    """Yield the Stores of a derivation as its kernels are lowered from them."""
    from napkin_eq.search.job import prover

    holds = prover(derivation.statements)
    for output in derivation.outputs:
        yield from (output.placed.lowered(store, holds).store for store in output.placed.stores)


def answered(asked: Iterable[Query], every: bool = False) -> Report:
    """Put questions to the solvers; a script that occurs twice is asked once. Unknown is no proof."""
    from napkin_eq.prove.portfolio import SECOND_S, solvers

    begun = time.perf_counter()
    said: dict[str, tuple[str, dict[str, str], float]] = {}
    found: list[Answered] = []
    for query in asked:
        if query.text not in said:
            at = time.perf_counter()
            asked_now = list(solvers().items())[: None if every else 1] if query.text else []
            answers = {
                name: ask(query.text, TIMEOUT_S if name == asked_now[0][0] else SECOND_S) for name, ask in asked_now
            }
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


def masks_of(store: Term) -> Masks:
    """Return the folds of a kernel, with their masks."""
    from napkin_eq.lang.term import Fold, Input, Online, Read, Reduce, subterms
    from napkin_eq.tile.stream_facts import kernel_terms

    found = Masks(read={t.axis.name for t in subterms(store) if isinstance(t, Read)})
    for term in kernel_terms(store):
        if isinstance(term, (Fold, Online, Reduce)):
            kept = lanes.chosen(term)
            fold = Folded(
                term.where,
                tuple(mask for mask in subterms(term.body) if mask in kept),
                "sum" if isinstance(term, Online) else term.monoid,
                frozenset(t.name for part in (term.body, term.where) for t in subterms(part) if isinstance(t, Input)),
            )
            known = found.folds.setdefault(term.axis.name, [])
            known.extend([fold] if fold not in known else [])
    return found


def _merged(masks: Sequence[Masks]) -> Masks:
    whole = Masks()
    for one in masks:
        whole.read |= one.read
        for name, found in one.folds.items():
            known = whole.folds.setdefault(name, [])
            known.extend(fold for fold in found if fold not in known)
    return whole


def queries(kernel: Kernel, masks: Masks, source: str = "") -> list[Query]:
    """Return all questions about a kernel; one that cannot be put into integers has no script, and stays unknown.

    source: the printed kernel, off which is read how one with workers deals out its blocks.
    """
    found: list[Query] = []
    boxed = boxes(kernel)
    for place, site in enumerate(sites(kernel.body)):
        match site.stmt:
            case Load() | StoreTile():
                found += _asked(kernel, "bounds", f"{_shown(site.stmt)}", _bounds, site)
                found += _asked(kernel, "integers", f"offsets of {_shown(site.stmt)}", _offsets, site)
                if place in boxed:
                    found += _asked(kernel, "box", f"{_shown(site.stmt)}", _box, site)
                if isinstance(site.stmt, StoreTile):
                    found += _asked(kernel, "cover", site.stmt.buffer, _cover, site)
                    found += _asked(kernel, "once", site.stmt.buffer, _once, site)
            case Loop():
                if site.stmt.carried:
                    found += _asked(kernel, "parts", site.stmt.coord, walks.parts, site)
                    found += _asked(kernel, "skipped", site.stmt.coord, walks.skipped, site, masks)
            case ReduceTile() | Dot():
                if _folds(kernel, site):
                    for kind, ask in (("kept", lanes.kept), ("tested", lanes.tested), ("aligned", lanes.aligned)):
                        found += _asked(kernel, kind, _shown(site.stmt), ask, site, masks)
    nowhere = Site(StoreTile("", (), ""), {}, ())
    found += _asked(kernel, "grid", "the numbers of programs", _launched, nowhere)
    return found + (
        _asked(kernel, "grid", "the blocks that programs take in turn", _dealt, nowhere, source)
        if kernel.workers
        else []
    )


def boxes(kernel: Kernel) -> set[int]:
    """Return the places, among a kernel's statements, of what the copy engine moves."""
    if kernel.workers is None:
        return set()
    roles = roles_of(kernel)
    loads = {at for at, s in enumerate(statements(kernel.body)) if isinstance(s, Load) and s.out.name in roles.shared}
    return loads | set(dict(roles.stores))


def _launched(kernel: Kernel, site: Site) -> Iterator[Text]:
    """Of a kernel with workers this is asked for its portable form, in which a program has one block."""
    return dealing.launched(kernel)


def _dealt(kernel: Kernel, site: Site, source: str) -> Iterator[Text]:
    return dealing.dealt(kernel, source)


def _asked(kernel: Kernel, kind: str, about: str, ask: Any, site: Site, *more: Any) -> list[Query]:
    place = "".join(f", {part.note or 'the whole'} part of {loop.coord}" for loop, part in site.path)
    try:
        texts = list(ask(kernel, site, *more))
    except NotRead as error:
        return [Query(kernel.name, kind, f"{about}{place}: {error}", "")]
    return [
        Query(kernel.name, kind, f"{about}{place}", text(f"{kernel.name}, {kind}: {about}{place}")) for text in texts
    ]


def _shown(stmt: Stmt) -> str:
    if isinstance(stmt, (Load, StoreTile)):
        return f"{'load' if isinstance(stmt, Load) else 'store'} {stmt.buffer}"
    assert isinstance(stmt, (ReduceTile, Dot))
    return f"{stmt.out.name}, over {stmt.coord}"


def _folds(kernel: Kernel, site: Site) -> bool:
    """Tell whether a statement folds elements: the greatest of a tile of integers only serves the bounds of loops, and
    lanes hold what runs of them gave.
    """
    if not isinstance(site.stmt, (ReduceTile, Dot)) or site.stmt.out.dtype in WHOLE:
        return False
    return kernel.coord(site.stmt.coord).role != "lane"


def _touched(kernel: Kernel, site: Site) -> Buffer:
    """Return the array that a load or a store reaches."""
    assert isinstance(site.stmt, (Load, StoreTile))
    return kernel.buffer(site.stmt.buffer)


def _live(script: Script, site: Site, copy: str = "") -> tuple[list[str], str]:
    """Return the index of a lane, and that it is live."""
    stmt = site.stmt
    assert isinstance(stmt, (Load, StoreTile))
    index = [script.operand(i, site, copy) for i in stmt.index]
    return index, conjunction([script.operand(m, site, copy) for m in stmt.masks])


def _bounds(kernel: Kernel, site: Site) -> Iterator[Text]:
    script = Script(kernel)
    index, live = _live(script, site)
    dims = _touched(kernel, site).dims
    outside = [f"(not (and (<= 0 {i}) (< {i} {script.size(d)})))" for i, d in zip(index, dims, strict=True)]
    if outside:  # an array of one number has no places
        yield script.asks(live, f"(or {' '.join(outside)})")


def _box(kernel: Kernel, site: Site) -> Iterator[Text]:
    script = Script(kernel)
    index, live = _live(script, site)
    dims = _touched(kernel, site).dims
    inside = [f"(<= 0 {i})" for i in index] + [f"(< {i} {script.size(d)})" for i, d in zip(index, dims, strict=True)]
    yield script.asks(*inside, f"(not {live})")


def _offsets(kernel: Kernel, site: Site) -> Iterator[Text]:
    script = Script(kernel)
    index, live = _live(script, site)
    buffer = _touched(kernel, site)
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
        yield script.asks(f"(or {' '.join(wrong)})" if len(wrong) > 1 else wrong[0])


def _cover(kernel: Kernel, site: Site) -> Iterator[Text]:
    """The witness: the block that an element's index falls into, and the lane in it."""
    stmt = site.stmt
    assert isinstance(stmt, StoreTile)
    script = Script(kernel)
    wanted: list[str] = []
    for position, (operand, axis) in enumerate(zip(stmt.index, kernel.buffer(stmt.buffer).dims, strict=True)):
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
    yield script.asks(f"(not {conjunction(wanted)})")


def _witness(script: Script, coord: Coord, site: Site, element: str) -> list[str]:
    """Define the block and lane of a coordinate that hold an element, and return what must be true of them."""
    start, lane = f"{coord.name}.start", f"{coord.name}.lane"
    script.done |= {start, lane}
    script.lines.append(
        f"(define-fun {start} () Int {'0' if coord.single else f'(* {coord.tile} (div {element} {coord.tile}))'})"
    )
    script.lines.append(f"(define-fun {lane} () Int (- {element} {start}))")
    wanted = [f"(<= 0 {lane} {coord.tile - 1})", f"(< {start} {script.size(coord.axis)})"]
    for loop, part in site.path:
        if loop.coord == coord.name:
            low, high = script.range(part, coord.tile, site)
            wanted += [f"(<= {low} {start})", f"(< {start} {high})", f"(= (mod (- {start} {low}) {coord.tile}) 0)"]
    return wanted


def _once(kernel: Kernel, site: Site) -> Iterator[Text]:
    script = Script(kernel)
    one, live = _live(script, site)
    two, alive = _live(script, site, "!2")
    assert isinstance(site.stmt, StoreTile)
    value = site.defs.get(site.stmt.value)
    coords = {*kernel.grid, *(loop.coord for loop, _ in site.path), *(value.out.coords if value is not None else ())}
    differ = []
    for name in sorted(coords):
        lanes = [script.lane(name, site, copy) for copy in ("", "!2")]
        starts = [script.start(name, site, copy) for copy in ("", "!2")]
        differ += [f"(not (= {lanes[0]} {lanes[1]}))", f"(not (= {starts[0]} {starts[1]}))"]
    same = [f"(= {a} {b})" for a, b in zip(one, two, strict=True)]
    if differ:
        yield script.asks(live, alive, *same, f"(or {' '.join(differ)})")
