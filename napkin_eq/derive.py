"""The main job: diagram → saturated e-graph → cheapest term → plan, with the derivation between them explained.

    diagram ─► saturate(laws) ─► extract(cost) ─► place(full cost, tiles) ─► plan ─► printers
                   └──── every law that fired, with its substitution ────► explain ─► certificate
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from napkin_eq import hardware as machines
from napkin_eq import plan as p
from napkin_eq.accuracy import term_error, unit_error
from napkin_eq.axis import Axis
from napkin_eq.content import folder, load_rules
from napkin_eq.cost import BYTES, elements, extent, total_us
from napkin_eq.diagram import Diagram
from napkin_eq.egraph import Instance, Saturated, saturate
from napkin_eq.errors import NapkinError, Undecided
from napkin_eq.explain import Closure, Step
from napkin_eq.extract import Candidate, Extractor
from napkin_eq.floating import require_granted
from napkin_eq.hardware import Hardware
from napkin_eq.interval import interval
from napkin_eq.judge import Judge, match, substitute
from napkin_eq.law import REGISTRY, Inference, Judgment, Law, Statement, Var, variables
from napkin_eq.lower import NARROW, depth_along, fold_key, kernel_terms, modes_of, plain
from napkin_eq.place import MOST_BUNDLED, TARGET, Offers, Placed, Placer, parallel
from napkin_eq.proving import Verdict, require_proved
from napkin_eq.term import Fold, Group, Input, Map, Online, Proj, Read, Reduce, Store, Term, Tuple, rebuilt, subterms
from napkin_eq.tiles import Tiled

# Largest |exponent| whose exponential, narrowed to the storage type for the matrix unit, keeps its relative accuracy.
EXPONENT = {"bfloat16": 60.0, "float16": 9.0, "float32": 60.0}
STORAGE = {"bfloat16": "bf16", "float16": "f16", "float32": "f32"}
PRINTERS = ("auto", "gluon", "triton")
FINALISTS, SPREAD, SAME = 3, 1.25, 1e-3
IDLE, BUSY, LARGE, MOST_STRETCHES, LEAST_STRETCH = 0.6, 2.0, 128, 64, 256


@dataclass(frozen=True, slots=True)
class Aim:
    """What a plan is made for: a GPU, the storage type, who may print its kernels."""

    machine: Hardware
    dtype: str
    printer: str
    max_error: float | None = None
    precision: str = NARROW


@dataclass(slots=True)
class Output:
    """An output of a diagram, derived, or several derived together: then the terms are Tuples, and kernels may be shared."""

    names: tuple[str, ...]
    source: Term
    placed: Placed
    steps: list[Step]
    graph: Saturated
    precision: str = NARROW

    def each(self) -> list[tuple[str, Term, Term]]:
        """Return each output's name, its source and the term that its array is read off."""
        return list(zip(self.names, parallel(self.source), parallel(self.placed.term), strict=True))


@dataclass(slots=True)
class Derivation:
    """What a derivation gives: the plan, the term it was read off, each step from the diagram to it, and the costs."""

    diagram: Diagram
    hardware: Hardware
    dtype: str
    plan: p.Plan
    outputs: list[Output]
    tiled: list[Tiled]
    statements: list[Statement]
    verdicts: dict[str, Verdict]
    seconds: dict[str, float]
    printer: str = "triton"
    max_error: float | None = None
    _certificate: dict[str, Any] = field(default_factory=dict)

    @property
    def source(self) -> Term:
        """The diagram's term; where several outputs are derived together, a Tuple."""
        return self.outputs[0].source

    @property
    def term(self) -> Term:
        """The extracted term: every Store, Group, Walk, Fold and Online the plan is read off."""
        return self.outputs[0].placed.term

    @property
    def steps(self) -> list[Step]:
        """The chain from the source to the term."""
        return self.outputs[0].steps

    @property
    def certificate(self) -> dict[str, Any]:
        """The derivation as data that `napkin-eq check` re-validates; several outputs are one Tuple."""
        if not self._certificate:
            from napkin_eq import certificate

            self._certificate = certificate.of(self)
        return self._certificate

    def pseudocode(self) -> str:
        """Return the plan as looped pseudocode."""
        from napkin_eq.emit import emit

        return emit(self.plan, "pseudocode")

    def code(self) -> str:
        """Return the plan as a Python file that imports only torch and triton: kernels that groups of warps share in Gluon, the others in Triton."""
        from napkin_eq.emit import code

        return code(self.plan)

    def triton(self) -> str:
        """Return the plan in portable Triton, which also runs in its interpreter; a kernel whose tiles only groups of warps can share gets others."""
        from napkin_eq.emit import emit
        from napkin_eq.ranked import portable

        plan = portable(self).plan
        alone = (replace(k, workers=None, warps=4 * k.workers.groups) if k.workers else k for k in plan.kernels)
        return emit(replace(plan, kernels=tuple(alone)), "triton")

    def report(self) -> dict[str, Any]:
        """Return the numbers of the derivation, in the form of `napkin-eq derive --json`; sizes in bytes, times in µs."""
        return report(self)


def derive(
    diagram: Diagram | Term,
    hardware: str | Hardware = "h200",
    dtype: str = "bfloat16",
    without: Sequence[str] = (),
    rules: Sequence[str] = (),
    allow_tested: bool = False,
    printer: str = "auto",
    max_error: float | None = None,
) -> Derivation:
    """Derive the cheapest plan of a diagram for a GPU.

    dtype: storage of the inputs declared "float" and of the outputs. without: laws or families to leave out. rules: more
    rule files or folders. allow_tested: laws that are not proved but were tested are let in too. printer: "triton" for portable
    kernels, "gluon" for every kernel whose work groups of warps can share on this GPU, "auto" for those that are predicted to
    be faster so. max_error: the relative error, see accuracy.py, that no output's plan may pass; where plans that round the
    computed operands of contractions to the storage type do, they are kept in float32. Raises NapkinError for unknown names,
    a diagram that no tiles fit or an error that no plan keeps to, LawRefused for a law that is false or
    claims too much of floating point, Undecided for one that is not proved.
    """
    if not isinstance(diagram, Diagram):
        diagram = Diagram("diagram", (("out", diagram),))
    if dtype not in STORAGE:
        raise NapkinError(f"unknown dtype {dtype!r:.60}; one of {', '.join(STORAGE)}")
    if printer not in PRINTERS:
        raise NapkinError(f"unknown printer {printer!r:.60}; one of {', '.join(PRINTERS)}")
    if max_error is not None and not max_error > 0:
        raise NapkinError(f"the largest relative error is {max_error:g}, expected a positive number such as 1e-2")
    machine = machines.load(hardware) if isinstance(hardware, str) else hardware
    seconds = dict.fromkeys(("prove", "saturate", "extract", "explain", "total"), 0.0)
    begun = time.perf_counter()
    statements = chosen_statements(without, rules)
    if all(s.name != "level" for s in statements):
        raise NapkinError("without the law level no value may be stored, not even an output, so there is no kernel; leave it in")
    verdicts = require_proved(statements, allow_tested)
    if rules and not allow_tested:
        require_granted(s for s in statements if not s.place.startswith(str(folder("rules"))))
    seconds["prove"] = time.perf_counter() - begun
    outputs = _outputs(diagram, Aim(machine, dtype, printer, max_error), statements, seconds)
    plan, tiled = planned(diagram, outputs, machine, dtype)
    seconds["total"] = time.perf_counter() - begun
    return Derivation(diagram, machine, dtype, plan, outputs, tiled, statements, verdicts, seconds, printer, max_error)


def chosen_statements(without: Sequence[str], rules: Sequence[str]) -> list[Statement]:
    """Load the shipped rules and the user's, and leave out the laws and families named."""
    load_rules()
    known = set(REGISTRY.statements)
    if rules:
        load_rules(*rules)
    shipped = str(folder("rules"))
    added = set(REGISTRY.statements) - known
    places = tuple(str(r) for r in rules)
    statements = [s for s in REGISTRY.statements.values() if s.place.startswith(shipped) or s.name in added or s.place.startswith(places or ("\0",))]
    for name in without:
        if not any(name in (s.name, s.family, base_name(s.name)) for s in statements):
            families = ", ".join(sorted({s.family for s in statements}))
            raise NapkinError(f"--without {name!r:.60}: no such law or family; families: {families}; `napkin-eq laws` lists the laws")
    return [s for s in statements if not {s.name, s.family, base_name(s.name)} & set(without)]


def base_name(name: str) -> str:
    """Return the name of the statement that a schema law is an instance of: fuse-sum is of fuse."""
    return name.rsplit("-", 1)[0]


def _outputs(diagram: Diagram, aim: Aim, statements: list[Statement], seconds: dict[str, float]) -> list[Output]:
    """Derive the outputs that share inputs together, so that they may share kernels, and where there is no such form one by one."""
    terms = [term for _, term in diagram.outputs]
    shared = {t for t in subterms(terms[0]) if isinstance(t, Input)}.intersection(*(subterms(t) for t in terms[1:]))
    if 1 < len(terms) <= MOST_BUNDLED and shared and len(set(terms)) == len(terms):
        try:
            return [_output(diagram, diagram.outputs, aim, statements, seconds)]
        except NapkinError:
            pass  # what is refused together may be derived one by one, or is refused there with its own reason
    return [_output(diagram, (output,), aim, statements, seconds) for output in diagram.outputs]


def _output(
    diagram: Diagram, named: Sequence[tuple[str, Term]], aim: Aim, statements: list[Statement], seconds: dict[str, float]
) -> Output:
    """Derive an output, or several together: the cheapest plan that has a chain, within the error that is allowed, of equally cheap ones the most accurate."""
    names, terms = zip(*named, strict=True)
    source = terms[0] if len(terms) == 1 else Tuple(terms)
    least, missing = math.inf, ""
    for precision in precisions(aim):
        found = replace(aim, precision=precision)
        whole = replace(diagram, outputs=tuple(named))
        options = [(error(whole, option, aim), option) for option in _options(diagram, names, source, found, statements, seconds)]
        least = min(least, *(figure for figure, _ in options))
        begun = time.perf_counter()
        for _, option in preferred([o for o in options if aim.max_error is None or o[0] <= aim.max_error]):
            try:
                option.steps = explained(source, option.placed, option.graph.instances, statements)
            except Undecided as reason:
                missing = str(reason)  # a plan without a chain is no plan; the next best may have one
                continue
            seconds["explain"] += time.perf_counter() - begun
            return option
    if missing:
        raise Undecided(missing)
    limit = f"a relative error of {aim.max_error:g}; the most accurate rounds by {least:.2g}"
    raise NapkinError(f"diagram {diagram.name}: no plan of {', '.join(names)} keeps to {limit}")


def precisions(aim: Aim) -> tuple[str, ...]:
    """Return the precisions of contractions to try, fastest first; without an error to keep to, operands are as the storage type has them."""
    if aim.max_error is None:
        return (NARROW,)
    return tuple(p.MATRIX_ROUNDOFF) if aim.dtype == "float32" else (NARROW, *p.MATRIX_ROUNDOFF)


def error(diagram: Diagram, option: Output, aim: Aim) -> float:
    """Return the relative error of a plan's outputs, the largest."""
    plan, _ = planned(diagram, [option], aim.machine, aim.dtype)
    return max(unit_error(plan).values())


def preferred(options: list[tuple[float, Output]]) -> Iterator[tuple[float, Output]]:
    """Yield plans, cheapest first, the more accurate of equally cheap ones before the other."""
    left = sorted(options, key=lambda o: o[1].placed.predicted_us)
    while left:
        cheap = [o for o in left if o[1].placed.predicted_us <= (1 + SAME) * left[0][1].placed.predicted_us]
        chosen = min(cheap, key=lambda o: o[0])
        left.remove(chosen)
        yield chosen


def _options(
    diagram: Diagram, names: tuple[str, ...], source: Term, aim: Aim, statements: list[Statement], seconds: dict[str, float]
) -> list[Output]:
    """Return the plans found, without the steps to them: with the axes as they are, and with one cut where processors would idle."""
    plans, tried = _plans(diagram, names, source, aim, statements, (), seconds)
    for cut in _cuts(source, [*plans[0][0].tiled, *tried], aim.machine, statements):
        try:
            plans += _plans(diagram, names, source, aim, statements, (cut,), seconds)[0]
        except NapkinError:
            continue  # there is no form with this cut: the plans without it stand
    return [Output(names, source, placed, [], graph, aim.precision) for placed, graph in plans]


def _plans(
    diagram: Diagram,
    outputs: Sequence[str],
    source: Term,
    aim: Aim,
    statements: list[Statement],
    cuts: tuple[tuple[Axis, Axis], ...],
    seconds: dict[str, float],
) -> tuple[list[tuple[Placed, Saturated]], list[Tiled]]:
    """Saturate, extract and place an output, or several together, the axes of `cuts` folded a stretch at a time.

    Returns the plans found, and the kernels that hold all of a candidate.
    """
    begun = time.perf_counter()
    graph = saturate(source, statements, cuts)
    seconds["saturate"] += time.perf_counter() - begun
    begun = time.perf_counter()
    proved = prover(statements)
    candidates = _candidates(graph, aim, proved, {axis.name: part.name for part, axis in cuts})
    if not candidates:
        raise NapkinError(f"diagram {diagram.name}: output {', '.join(outputs)} has no form that can be computed with these laws; leave fewer out")
    names = {s.name for s in statements}
    offers = Offers("level" in names, "group" in names, "walk" in names, "level-several" in names)
    dtypes = tuple(_output_dtype(term, aim.dtype) for term in parallel(source))
    placer = Placer(outputs[0], dtypes, STORAGE[aim.dtype], aim.machine, offers, proved, aim.printer, aim.precision)
    placements = [found for c in _finalists(candidates, STORAGE[aim.dtype]) if (found := placer.best(c.term)) is not None]
    if not placements:
        raise NapkinError(f"diagram {diagram.name}: {placer.refusals[-1] if placer.refusals else 'no plan fits'}")
    seconds["extract"] += time.perf_counter() - begun
    return [(found, graph) for found in placements], placer.fused


def _cuts(source: Term, tiled: Sequence[Tiled], machine: Hardware, statements: Sequence[Statement]) -> list[tuple[Axis, Axis]]:
    """Offer to cut the streamed axis of a kernel whose blocks leave processors idle, into as many stretches as keep them busy."""
    if not any(c.name == "stretch" for s in statements if isinstance(s, Law) for c in s.conditions):
        return []
    idle = [t for t in tiled if _large_blocks(t.kernel) <= machine.chip.sms * IDLE and any(c.role == "stream" for c in t.kernel.coords)]
    if not idle:
        return []
    slow = max(idle, key=lambda t: t.cost.predicted_us)
    streams = [c for c in slow.kernel.coords if c.role == "stream"]
    axis = max((c.axis for c in streams), key=extent)
    wanted = max(2, round(BUSY * machine.chip.sms / _large_blocks(slow.kernel)))
    count = min(1 << (wanted - 1).bit_length(), MOST_STRETCHES, max(1, extent(axis) // LEAST_STRETCH))
    if count < 2:
        return []
    taken = {f.name for t in subterms(source) for f in (*t.fields, *t.axes) if isinstance(f, Axis)}
    name = next(n for n in (f"{axis.name}_part{i or ''}" for i in range(len(taken) + 1)) if n not in taken)
    return [(Axis(name, count), axis)]


def _large_blocks(kernel: p.Kernel) -> int:
    """Return how many blocks a kernel has if its tiles are as large as suits the matrix unit."""
    coords = (kernel.coord(name) for name in kernel.grid)
    return math.prod(-(-extent(c.axis) // (LARGE if c.tile > 1 else 1)) for c in coords)


def _candidates(
    graph: Saturated, aim: Aim, proved: Callable[[Judgment], bool], cut: dict[str, str]
) -> list[Candidate]:
    """Extract with exponentials proved safe; only where there is no such form, with those that the source itself takes."""
    limit = EXPONENT[aim.dtype]

    def strict(term: Term, given: bool) -> bool:
        low, high = interval(term)
        return high <= limit and (low >= -limit or given)

    def lenient(term: Term, given: bool) -> bool:
        return given or strict(term, given)

    for admitted in (strict, lenient):
        if candidates := Extractor(graph, aim.machine, BYTES[STORAGE[aim.dtype]], admitted, cut).run():
            return candidates
    return []


def prover(statements: Sequence[Statement]) -> Callable[[Judgment], bool]:
    """Return a function that tells whether a judgment is derived by the inferences among the statements; answers are kept."""
    judge = Judge(s for s in statements if isinstance(s, Inference))
    known: dict[Judgment, bool] = {}

    def proved(judgment: Judgment) -> bool:
        if judgment not in known:
            known[judgment] = judge.holds(judgment) is not None
        return known[judgment]

    return proved


def _finalists(candidates: Sequence[Candidate], storage: str) -> list[Candidate]:
    """Return the candidates to price in full: the first few, near the best, and of those that differ only in the order of operands the most accurate."""
    near = [c for c in candidates if c.cost <= SPREAD * candidates[0].cost]
    found: list[Candidate] = []
    while near and len(found) < FINALISTS:
        sides = computed_sides(near[0].term)
        same = [c for c in near if c.cost <= (1 + SAME) * near[0].cost and computed_sides(c.term) == sides]
        found.append(min(same, key=lambda c: term_error(c.term, storage)))
        near = [c for c in near if c not in same]
    return found


def computed_sides(term: Term) -> frozenset[tuple[Axis, ...]]:
    """Return the axes of the operands of contractions that are computed: which side that is decides what a kernel can hold."""
    bodies = (t.body for t in subterms(term) if isinstance(t, (Fold, Reduce, Online)))
    pairs = (body.args for body in bodies if isinstance(body, Map) and body.op == "mul")
    return frozenset(a.axes for pair in pairs if set(pair[0].axes) != set(pair[1].axes) for a in pair if a.children and not isinstance(a, Read))


def _output_dtype(source: Term, dtype: str) -> str:
    if source.kind == "real":
        return STORAGE[dtype]
    return {"int": "i32", "bool": "i1"}[source.kind]


def explained(source: Term, placed: Placed, instances: Iterable[Instance], statements: Sequence[Statement]) -> list[Step]:
    """Return the chain of law instances from a source to a placed term; raises Undecided where there is none."""
    closure = Closure(statements)
    closure.add(source)
    placement = ("level", "group", "walk")
    for instance in instances:
        if instance.law not in placement:
            closure.instance(instance.law, instance.forward, instance.bindings)
    for store in placed.stores:
        for law, bindings in _placements(store):
            closure.instance(law, True, bindings)
    _read_backward(closure, placed.term, statements)
    return closure.explain(source, placed.term)


def _read_backward(closure: Closure, term: Term, statements: Sequence[Statement]) -> None:
    """Enter the instances of structure laws that the destination itself shows, each read from its right side to its left.

    An e-graph fires a law on a class; the conditions of a law are derived of a term. These are the terms in question, with
    what is below them unstreamed and unstored, since that is the form that facts speak of.
    """
    laws = [s for s in statements if isinstance(s, Law) and s.stage == "structure" and not isinstance(s.lhs, Var) and s.lhs.kind == "real"]
    waiting = [rebuilt(t, tuple(map(plain, t.children))) for t in subterms(term) if isinstance(t, (Fold, Online, Reduce))]
    seen = set(waiting)
    while waiting:
        found = waiting.pop()
        for law in laws:
            bindings = match(law.rhs, found, {})
            if bindings is None or not variables(law.lhs) <= set(bindings):
                continue
            if closure.instance(law, True, bindings) and (before := substitute(law.lhs, bindings)) not in seen:
                seen.add(before)
                waiting.append(before)


def _placements(store: Store) -> Iterator[tuple[str, tuple[tuple[str, Any], ...]]]:
    """Yield the instances of the placement laws that put a value, or several, under a Store."""
    _, value = modes_of(store)
    suffix = ""
    if isinstance(value, Tuple):
        suffix = "-several"
        items = tuple(zip("abdef", value.items, strict=False))
        yield from ((f"projection-{i}-{len(items)}", items) for i in range(len(items)))
    body: Term = store
    while body is not value:
        inner = body.body
        if isinstance(body, Store):
            yield "level" + suffix, (("a", inner),)
        else:
            yield ("group" if isinstance(body, Group) else "walk") + suffix, (("a", inner), ("x", body.axis))
        body = inner


def planned(diagram: Diagram, outputs: list[Output], machine: Hardware, dtype: str) -> tuple[p.Plan, list[Tiled]]:
    """Number the kernels and name their arrays; the tiles are those that were priced."""
    kernels: list[p.Kernel] = []
    tiled: list[Tiled] = []
    targets: dict[str, p.Buffer] = {}
    for output in outputs:
        final = {term: name for name, _, term in output.each()}
        scratch = [(term, b.name) for term, b in output.placed.arrays]
        names = {name: final.get(term, f"{output.names[0]}__t{i}") for i, (term, name) in enumerate(scratch)}
        held = dict(scratch)
        for store, piece in zip(output.placed.stores, output.placed.tiled, strict=True):
            kept = [final[t] if t in final else names[held[t]] for t in _kept(store)]
            renaming = {**names, **{f"{TARGET}{i}": name for i, name in enumerate(kept)}}
            kernel = renamed(piece.kernel, f"kernel_{len(kernels)}", renaming)
            kernels.append(kernel)
            tiled.append(replace(piece, kernel=kernel, cost=replace(piece.cost, name=kernel.name)))
            targets |= {b.name: b for b in kernel.writes if b.name in final.values()}
    inputs = tuple(_input_buffer(i, dtype) for i in diagram.inputs())
    plan = p.Plan(diagram.name, inputs, tuple(targets[name] for name, _ in diagram.outputs), tuple(kernels))
    return replace(plan, notes=_notes(diagram, outputs, tiled, machine, dtype)), tiled


def _kept(store: Store) -> list[Term]:
    """Return the terms by which a plan reads what a Store holds: the Store, or the Proj of each of its values."""
    _, value = modes_of(store)
    return [Proj(i, store) for i in range(len(value.items))] if isinstance(value, Tuple) else [store]


def _input_buffer(array: Input, dtype: str) -> p.Buffer:
    held = {"float": STORAGE[dtype], "float16": "f16", "bfloat16": "bf16", "float32": "f32", "int32": "i32", "int64": "i64", "bool": "i1"}
    return p.Buffer(array.name, array.dims, held[array.dtype])


def renamed(kernel: p.Kernel, name: str, arrays: dict[str, str]) -> p.Kernel:
    """Return a kernel under another name, its arrays renamed."""

    def buffer(b: p.Buffer) -> p.Buffer:
        return replace(b, name=arrays.get(b.name, b.name))

    def stmts(body: tuple[p.Stmt, ...]) -> tuple[p.Stmt, ...]:
        return tuple(map(stmt, body))

    def stmt(s: p.Stmt) -> p.Stmt:
        if isinstance(s, (p.Load, p.StoreTile)):
            return replace(s, buffer=arrays.get(s.buffer, s.buffer))
        if isinstance(s, p.Loop):
            return replace(s, parts=tuple(replace(part, body=stmts(part.body)) for part in s.parts))
        return s

    return replace(
        kernel, name=name, reads=tuple(map(buffer, kernel.reads)), writes=tuple(map(buffer, kernel.writes)), body=stmts(kernel.body)
    )


def laws_used(outputs: Sequence[Output]) -> list[str]:
    """Return the laws of the derivation in order of first use."""
    return list(dict.fromkeys(step.law for output in outputs for step in output.steps))


def _notes(diagram: Diagram, outputs: list[Output], tiled: list[Tiled], machine: Hardware, dtype: str) -> tuple[str, ...]:
    sizes = ", ".join(f"{a.name}={a.size if a.size is not None else 'any'}" for a in diagram.axes())
    return (
        f"diagram: {diagram.name}  {'; '.join(f'{name} = {source}' for o in outputs for name, source, _ in o.each())}",
        f"sizes: {sizes}  storage: {dtype}  hardware: {machine.title} ({machine.arch})",
        f"laws: {', '.join(laws_used(outputs))}",
        f"predicted: {total_us([t.cost for t in tiled], machine):.1f} us, {sum(t.cost.bytes_hbm for t in tiled) / 1e6:.1f} MB to and from HBM",
    )


def passes(outputs: Sequence[Output]) -> dict[str, int]:
    """Count, per folded axis, how often the kernels walk it; an axis that one tile holds is walked once."""
    counts: dict[str, int] = {}
    for output in outputs:
        for store, piece in zip(output.placed.stores, output.placed.tiled, strict=True):
            whole = {c.axis.name for c in piece.kernel.coords if c.role == "whole"}
            keys: dict[str, set[Any]] = {}
            for term in kernel_terms(store):
                if isinstance(term, (Fold, Online, Reduce)):
                    shared = not isinstance(term, Reduce) and term.fused
                    keys.setdefault(term.axis.name, set()).add(depth_along(term, term.axis) if shared else fold_key(term))
            for name, found in keys.items():
                counts[name] = counts.get(name, 0) + (1 if name in whole else len(found))
    return dict(sorted(counts.items()))


def unfused_bytes(source: Term, element: int) -> int:
    """Return the bytes moved if every operator were a kernel of its own, a contraction counting as one."""
    contracted = {t.body for t in subterms(source) if isinstance(t, Reduce) and t.monoid == "sum" and isinstance(t.body, Map) and t.body.op == "mul"}
    total = 0
    for term in subterms(source):
        if not term.children or term in contracted or term.kind != "real":
            continue
        reads = term.body.children if isinstance(term, Reduce) and term.body in contracted else term.children
        total += sum(elements(t.axes) for t in (term, *reads) if t.kind == "real" and (t.axes or t.children))
    return total * element


def report(derivation: Derivation) -> dict[str, Any]:
    """Return a derivation's numbers as data; see Derivation.report."""
    d = derivation
    costs = [t.cost for t in d.tiled]
    graphs = [o.graph for o in d.outputs]
    certificate = d.certificate
    return {
        "schema": 1,
        "diagram": d.diagram.name,
        "hardware": d.hardware.name,
        "dtype": d.dtype,
        "sizes": {a.name: a.size for a in d.diagram.axes()},
        "kernels": [
            {
                "name": c.name, "groups": dict(c.groups), "streams": dict(c.streams), "blocks": c.blocks, "waves": round(c.waves, 3),
                "printer": "gluon" if c.workers else "triton", "warps": c.warps, "workers": c.workers, "stages": c.stages,
                "bytes_hbm": round(c.bytes_hbm), "bytes_l2": round(c.bytes_l2),
                "flops_tensor": round(c.flops_tensor), "ops_sfu": round(c.ops_sfu), "ops_alu": round(c.ops_alu), "smem_bytes": c.smem_bytes,
                "registers": c.registers, "limit": c.limit, "predicted_us": round(c.predicted_us, 3),
            }
            for c in costs
        ],
        "predicted_us": round(total_us(costs, derivation.hardware), 3),
        "bytes_hbm": round(sum(c.bytes_hbm for c in costs)),
        "unfused_bytes_hbm": sum(unfused_bytes(o.source, BYTES[STORAGE[d.dtype]]) for o in d.outputs),
        "passes": passes(d.outputs),
        "laws": laws_used(d.outputs),
        "grades": {name: d.verdicts[name].grade for name in laws_used(d.outputs) if name in d.verdicts},
        "certificate": {"path": "certificate.json", "status": certificate.get("status", "unproved"), "grade": certificate.get("grade", "D")},
        "egraph": {
            "nodes": sum(g.nodes for g in graphs), "classes": sum(len(g.classes) for g in graphs), "rounds": max(g.rounds for g in graphs),
            "notes": [n for g in graphs for n in g.notes],
        },
        "seconds": {k: round(v, 3) for k, v in d.seconds.items()},
        **({} if d.max_error is None else {"max_error": d.max_error, "rounding": unit_error(d.plan)}),
    }  # fmt: skip
