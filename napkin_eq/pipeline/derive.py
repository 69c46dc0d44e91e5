"""The main job: diagram → saturated e-graph → cheapest term → plan, with the derivation between them explained.

    diagram ─► saturate(laws) ─► extract(cost) ─► place(full cost, tiles) ─► plan ─► printers
                   └──── every law that fired, with its substitution ────► explain ─► certificate

A graph goes another way: it is covered by kernels, each found so (cover/).
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from napkin_eq.certify.asked import require_asked
from napkin_eq.certify.certificate import require_accepted
from napkin_eq.certify.chain import explained
from napkin_eq.cover.graph import contractions
from napkin_eq.egraph.budget import SECONDS, Budget
from napkin_eq.egraph.congruence import Closure
from napkin_eq.lang.diagram import Diagram
from napkin_eq.lang.dtypes import BY_NAME, STORAGE
from napkin_eq.lang.errors import NapkinError, Undecided, WrongPlan
from napkin_eq.lang.substitute import settled
from napkin_eq.lang.term import Input, Term, Tuple, subterms
from napkin_eq.laws.law import REGISTRY, Law, Statement
from napkin_eq.laws.loader import folder, load_rules
from napkin_eq.machine import gpu as machines
from napkin_eq.machine.gpu import Hardware
from napkin_eq.numerics.accuracy import unit_error
from napkin_eq.pipeline.derivation import Derivation
from napkin_eq.pipeline.unfused import unfused
from napkin_eq.prove.float_class import require_granted
from napkin_eq.prove.prove import require_proved
from napkin_eq.prove.verdict import Verdict
from napkin_eq.search.assemble import planned
from napkin_eq.search.candidates import Aim, Graphs, options, precisions, preferred, prover
from napkin_eq.search.derivation import Output
from napkin_eq.search.placement import MOST_BUNDLED
from napkin_eq.verify.translation import accepted

PRINTERS = ("auto", "gluon", "triton")
GRAPH = 3  # contractions from which a diagram is covered by kernels: the search of one operator takes minutes from there on
WHOLE = 16  # contractions from which one search is no way out
WIDE = 0.1  # over its bound: a cover that is so much dearer is held against what one search finds
TOGETHER = 0.5  # of the time, for several outputs together: what is left is for each alone, should that fail


def derive(
    diagram: Diagram | Term,
    hardware: str | Hardware = "h200",
    dtype: str = "bfloat16",
    without: Sequence[str] = (),
    rules: Sequence[str] = (),
    allow_tested: bool = False,
    printer: str = "auto",
    max_error: float | None = None,
    refused: Sequence[Term] = (),
    limit: float | Budget = SECONDS,
) -> Derivation:
    """Derive the cheapest plan of a diagram for a GPU.

    dtype: storage of the inputs declared "float" and of the outputs. without: laws or families to leave out. rules: more
    rule files or folders. allow_tested: laws that are not proved but were tested are let in too. printer: "triton" for portable
    kernels, "gluon" for every kernel whose work groups of warps can share on this GPU, "auto" for those that are predicted to
    be faster so. max_error: the relative error, see accuracy.py, that no output's plan may pass; where plans that round the
    computed operands of contractions to the storage type do, they are kept in float32. refused: terms of plans that are not
    to be taken. limit: seconds of processor time for the search; where they end it, the best plan until then is returned, or one
    operator by operator, and the derivation's `limited` says what was ended. Raises NapkinError for unknown names,
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
    budget = limit if isinstance(limit, Budget) else Budget(limit)
    if not budget.seconds > 0:
        raise NapkinError(f"the limit is {budget.seconds:g} seconds, expected a positive number such as {SECONDS:g}")
    machine = machines.load(hardware) if isinstance(hardware, str) else hardware
    seconds = dict.fromkeys(("prove", "saturate", "extract", "explain", "validate", "total"), 0.0)
    for held in (dtype, *(array.dtype for array in diagram.inputs() if array.dtype != "float")):
        if (needed := BY_NAME[held].needs) and needed not in machine.tensor:
            raise NapkinError(f"{held} is not a type of {machine.title}, which has no contractions of {needed}")
    begun = time.perf_counter()
    statements = chosen_statements(without, rules)
    if all(s.name != "level" for s in statements):
        raise NapkinError("without the law level no value may be stored, not even an output, so there is no kernel; leave it in")
    verdicts = require_proved(statements, allow_tested)
    if rules and not allow_tested:
        require_granted(s for s in statements if not s.place.startswith(str(folder("rules"))))
    seconds["prove"] = time.perf_counter() - begun
    aim = Aim(machine, dtype, printer, max_error, refused=frozenset(refused), budget=budget, held=dict(diagram.held))
    try:
        outputs = _outputs(diagram, aim, statements, verdicts, seconds)
        plan, tiled = planned(diagram, outputs, machine, dtype)
    except RecursionError:
        deep = max(term.depth for _, term in diagram.outputs)
        raise NapkinError(
            f"diagram {diagram.name}: its term nests {deep} levels deep, too many for a kernel; "
            "make parts of it outputs of their own"
        ) from None
    seconds["total"] = time.perf_counter() - begun
    again = partial(derive, diagram, machine, dtype, without, rules, allow_tested, printer, max_error, limit=budget.seconds)
    return Derivation(
        diagram, machine, dtype, plan, outputs, tiled, statements, verdicts, seconds, printer, max_error,
        lambda terms: again(refused=(*refused, *terms)), tuple(budget.clock.stopped),
    )  # fmt: skip


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


def _outputs(
    diagram: Diagram, aim: Aim, statements: list[Statement], verdicts: Mapping[str, Verdict], seconds: dict[str, float]
) -> list[Output]:
    """Derive a graph as a cover by kernels, and anything else as one search; what neither gives, operator by operator."""
    graph = spans_kernels(diagram)
    found = _cover(diagram, aim, statements, verdicts, seconds) if graph else None
    if found is not None and found.cover is not None and found.cover["gap"] is not None and found.cover["gap"] <= WIDE:
        return [found]
    if found is None and graph and contractions(subterms(*(t for _, t in diagram.outputs))) > WHOLE:
        raise NapkinError(f"diagram {diagram.name}: {aim.budget.clock.stopped[-1]}; it is too large for one search")
    # One search computes copies where they are read.
    try:
        whole = replace(diagram, outputs=tuple((name, settled(term)) for name, term in diagram.outputs))
        require_asked(f"diagram {diagram.name}", *([term for _, term in d.outputs] for d in (diagram, whole)))
        rest = aim if found is None else replace(aim, budget=Budget(aim.budget.seconds, aim.budget.clock))
        searched = _searched(whole, rest, statements, verdicts, seconds)
    except NapkinError:
        if found is None:
            raise
        return [found]
    if found is not None:
        return [found] if found.placed.predicted_us <= sum(o.placed.predicted_us for o in searched) else searched
    if not graph and aim.budget.clock.stopped and contractions(subterms(*(t for _, t in diagram.outputs))) > 1:
        other = _cover(diagram, replace(aim, budget=Budget(aim.budget.seconds)), statements, verdicts, seconds)
        if other is not None and other.placed.predicted_us < sum(o.placed.predicted_us for o in searched):
            return [other]
    return searched


def spans_kernels(diagram: Diagram) -> bool:
    """Tell whether a diagram is a graph rather than an operator: it has many contractions, or has once what it reads elsewhere is computed there."""
    roots = [term for _, term in diagram.outputs]
    if contractions(subterms(*roots)) >= GRAPH:
        return True
    try:
        return contractions(subterms(*map(settled, roots))) >= GRAPH
    except NapkinError:
        return True  # what is too deep to be one search


def _cover(
    diagram: Diagram, aim: Aim, statements: list[Statement], verdicts: Mapping[str, Verdict], seconds: dict[str, float]
) -> Output | None:
    """Return a diagram's plan as a cover by kernels, None where there is none that is proved, is not refused and keeps to the error allowed."""
    from napkin_eq.cover.covering import covered

    try:
        option = covered(diagram, aim, statements, verdicts, seconds)
    except NapkinError as reason:
        aim.budget.clock.stopped.append(f"covering ({reason})"[:200])
        return None
    if option.placed.term in aim.refused or (aim.max_error is not None and error(diagram, option, aim) > aim.max_error):
        return None
    return option


def _searched(
    diagram: Diagram, aim: Aim, statements: list[Statement], verdicts: Mapping[str, Verdict], seconds: dict[str, float]
) -> list[Output]:
    """Derive the outputs that share inputs together, so that they may share kernels, and where there is no such form one by one."""
    terms = [term for _, term in diagram.outputs]
    budget = aim.budget
    shared = {t for t in subterms(terms[0]) if isinstance(t, Input)}.intersection(*(subterms(t) for t in terms[1:]))
    if 1 < len(terms) <= MOST_BUNDLED and shared and len(set(terms)) == len(terms):
        try:
            return [_output(diagram, diagram.outputs, replace(aim, budget=budget.part(TOGETHER)), statements, verdicts, seconds)]
        except NapkinError:
            pass  # what is refused together may be derived one by one, or is refused there with its own reason
    found: list[Output] = []
    for output in diagram.outputs:
        mine = replace(aim, budget=budget.part(1 / (len(terms) - len(found))))
        try:
            found.append(_output(diagram, (output,), mine, statements, verdicts, seconds))
        except NapkinError as reason:
            found.append(_plainly(diagram, output, mine, statements, verdicts, reason))
    return found


def _plainly(
    diagram: Diagram, named: tuple[str, Term], aim: Aim, statements: list[Statement], verdicts: Mapping[str, Verdict], reason: NapkinError
) -> Output:
    """Return the plan of an output operator by operator; raises the reason for which the search found none where not even that may be."""
    alone = replace(diagram, outputs=(named,))
    try:
        option = unfused(diagram, (named[0],), named[1], replace(aim, budget=Budget(math.inf)), statements)
        require_accepted(option.source, option.placed.term, option.steps, statements, verdicts)
    except NapkinError:
        raise reason from None
    if option.placed.term in aim.refused or (aim.max_error is not None and error(alone, option, aim) > aim.max_error):
        raise reason
    if not accepted(alone, option, aim.machine, aim.dtype, prover(statements), []):
        raise reason
    option.graph.notes.append(str(reason))
    return option


def _output(
    diagram: Diagram,
    named: Sequence[tuple[str, Term]],
    aim: Aim,
    statements: list[Statement],
    verdicts: Mapping[str, Verdict],
    seconds: dict[str, float],
) -> Output:
    """Derive an output, or several together; where every plan is refused, or time ended the search for one, in plainer ways.

    First with what Prev speaks of as it was written, then without sums that are carried by steps.
    """
    graphs: Graphs = {}
    try:
        return _best(diagram, named, aim, statements, verdicts, seconds, graphs)
    except NapkinError as reason:
        if not isinstance(reason, (Undecided, WrongPlan)) and not aim.budget.clock.stopped:
            raise
        # Steps speak of what was before a block, where fewer laws hold: a chain to such a form may rest on one that does not.
        plainer = [s for s in statements if not (isinstance(s, Law) and any(c.name == "moves" for c in s.conditions))]
        if len(plainer) == len(statements):
            raise
        if isinstance(reason, (Undecided, WrongPlan)):  # where time ended the search of all forms, it would end this one too
            try:
                return _best(diagram, named, replace(aim, written=True, budget=aim.budget.part(1.0)), statements, verdicts, seconds, graphs)
            except NapkinError:
                pass
        try:
            return _best(diagram, named, aim, plainer, verdicts, seconds, {})
        except NapkinError:
            pass
        raise


def _best(
    diagram: Diagram,
    named: Sequence[tuple[str, Term]],
    aim: Aim,
    statements: list[Statement],
    verdicts: Mapping[str, Verdict],
    seconds: dict[str, float],
    graphs: Graphs,
) -> Output:
    """Derive an output, or several together: the cheapest plan whose chain the checker accepts, within the error that is allowed.

    Of equally cheap plans the most accurate. graphs: the e-graphs that are known already, and will be.
    """
    names, terms = zip(*named, strict=True)
    source = terms[0] if len(terms) == 1 else Tuple(terms)
    whole = replace(diagram, outputs=tuple(named))
    least, missing, refused, proved = math.inf, "", list[str](), prover(statements)
    for precision in precisions(aim):
        found = replace(aim, precision=precision)
        priced = [(error(whole, option, aim), option) for option in options(diagram, names, source, found, statements, seconds, graphs)]
        least = min(least, *(figure for figure, _ in priced))
        begun, entered = time.perf_counter(), dict[int, Closure]()
        for _, option in preferred([o for o in priced if (aim.max_error is None or o[0] <= aim.max_error) and o[1].placed.term not in aim.refused]):
            try:
                option.steps = explained(source, option.placed, option.graph.instances, statements, aim.budget, entered, verdicts)
                require_accepted(source, option.placed.term, option.steps, statements, verdicts)
            except Undecided as reason:
                missing = str(reason)  # a plan without a chain, or of one that is refused, is no plan; the next best may have one
                continue
            seconds["explain"] += time.perf_counter() - begun
            begun = time.perf_counter()
            agrees = accepted(whole, option, aim.machine, aim.dtype, proved, refused)
            seconds["validate"] += time.perf_counter() - begun
            if agrees:
                return option
    if refused:
        raise WrongPlan(f"diagram {diagram.name}: no plan of {', '.join(names)} gives what the diagram says; {refused[0]}")
    if missing:
        raise Undecided(missing)
    if aim.max_error is None:
        raise NapkinError(f"diagram {diagram.name}: every plan of {', '.join(names)} was refused")
    limit = f"a relative error of {aim.max_error:g}; the most accurate rounds by {least:.2g}"
    raise NapkinError(f"diagram {diagram.name}: no plan of {', '.join(names)} keeps to {limit}")


def error(diagram: Diagram, option: Output, aim: Aim) -> float:
    """Return the relative error of a plan's outputs, the largest."""
    plan, _ = planned(diagram, [option], aim.machine, aim.dtype)
    return max(unit_error(plan).values())
