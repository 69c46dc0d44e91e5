"""Induction over the size of an axis: a claim with reductions becomes claims without them, for the normal form or a
solver to answer.

The axis has one lane (base), then one more (step): every reduction over it is an accumulator, an unknown number of
which only the claim itself is known. A reduction inside another one, such as a maximum that exponentials are relative
to, is held fixed: an unknown number of which only what holds at every lane is known (reference independence).
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from inspect import signature

from napkin_eq.lang.axis import Axis
from napkin_eq.lang.operators import COMBINE, EDGES, NEUTRAL
from napkin_eq.lang.term import (
    Acc,
    Const,
    Index,
    Map,
    Online,
    Prev,
    Read,
    Recur,
    Reduce,
    Scan,
    Size,
    Term,
    rebuilt,
    subterms,
)
from napkin_eq.laws.claim import JUDGMENT, Claim, NotUnderstood, eq, le
from napkin_eq.laws.law import ABSENT, TRUE, Statement, Var, exp, inv, log
from napkin_eq.laws.obligation import claims_of, longer
from napkin_eq.prove.normal.lanes import INEQUALITIES, ONE, offered
from napkin_eq.prove.normal.linearity import AXIS, LEMMAS, count, defined, normal
from napkin_eq.prove.normal.reads import followed, written
from napkin_eq.prove.portfolio import decided, decided_deeply, vacuous
from napkin_eq.prove.prove import Outcome, prover
from napkin_eq.prove.query import Step

QUESTIONS = 6
LEMMA_TIMEOUT_S = 5.0


class Unproved(Exception):  # noqa: N818 - no error: the search goes on elsewhere
    """No proof of a claim was found; the text says of which."""


@prover("induction", rank=2)
def induction(statement: Statement, timeout_s: float) -> Outcome | None:
    """Prove every claim of a statement, by definition, by a decider, or by induction and a decider."""
    search = Search(timeout_s)
    steps: list[Step] = []
    for claim in (part for whole in claims_of(statement) for part in written(whole)):
        if claim.premises and vacuous(claim, timeout_s):
            return Outcome("refuted", "vacuous", f"no values meet the conditions ({claim.what})")
        try:
            steps += search.proof(claim)
        except Unproved as failed:
            deep = decided_deeply(claim) if timeout_s > 0 else None
            found = [deep] if deep is not None else Search(timeout_s).once_more(claim)
            if found is None:
                return _following(statement, timeout_s) or Outcome("unknown", "induction", str(failed))
            steps += found
    return Outcome(
        "proved",
        ", ".join(dict.fromkeys(step.method for step in steps)) or "definition",
        steps=tuple(dict.fromkeys(steps)),
    )


def _following(statement: Statement, timeout_s: float) -> Outcome | None:
    """Prove claims that need more of what is read elsewhere than that it is a number: it is that of a lane, which is
    found as lanes are added; None where there is no such read or no proof.
    """
    search, steps = Search(timeout_s), list[Step]()
    claims = [part for whole in claims_of(statement) for part in written(whole, kept=True)]
    if not any(isinstance(t, Read) for claim in claims for t in subterms(claim.goal)):
        return None
    try:
        for claim in claims:
            steps += search.proof(claim)
    except (Unproved, NotUnderstood):
        return None
    return Outcome("proved", ", ".join(dict.fromkeys(step.method for step in steps)), steps=tuple(dict.fromkeys(steps)))


class Search:
    """The search for a proof, which has a time."""

    def __init__(self, timeout_s: float) -> None:
        self.timeout_s, self.until = timeout_s, time.process_time() + QUESTIONS * timeout_s

    def decided(self, claim: Claim, lemma: str = "") -> Step | None:
        """Return the claim as a step of a proof, if it is decided without induction."""
        return decided(claim, min(self.timeout_s, self.until - time.process_time()), lemma)

    def proof(self, claim: Claim) -> list[Step]:
        """Return the steps that prove a claim; raises Unproved."""
        if claim.goal is TRUE:
            return []
        for term in subterms(claim.goal, *claim.premises):
            if isinstance(term, (Online, Prev, Acc)) or (isinstance(term, Read) and not followed(term, claim)):
                raise NotUnderstood(f"no prover understands {type(term).__name__}")
        if (read := next((t for t in subterms(claim.goal) if isinstance(t, Read)), None)) is not None:
            return [step for part in induct(claim, read.axis) for step in self.proof(part)]
        if (scan := next((t for t in subterms(claim.goal) if isinstance(t, Scan)), None)) is not None:
            return self.by_prefixes(claim, scan.axis)
        if step := self.decided(claim):
            return [step]
        axes = sorted({t.axis for t in subterms(claim.goal) if isinstance(t, (Reduce, Size))})
        for shaped in dict.fromkeys((claim, defined(claim))) if axes else ():
            if (found := self.by_linearity(shaped)) is not None:
                return found
        failed = f"no proof found ({claim.what})"
        for axis in axes:
            try:
                return [step for part in induct(claim, axis) for step in self.proof(part)]
            except Unproved as inner:
                failed = str(inner)
        if axes and isinstance(claim.goal, Map) and claim.goal.op in ("le", "lt"):
            known, facts = self.informed(claim, bounds=True)
            if known != claim and (step := self.decided(known)) is not None:
                return [*facts, step]
        for axis in axes:
            with suppress(Unproved):
                return self.by_induction_knowing(claim, axis)
        raise Unproved(failed if self.until > time.process_time() else f"{failed}, time is up")

    def once_more(self, claim: Claim) -> list[Step] | None:
        """Return a proof of an inequality that knows more: that what the smaller side sums is present, and the tangents
        of what is summed.
        """
        known = present(claim)
        if any(isinstance(t, Scan) for t in subterms(claim.goal, *claim.premises)):
            return None
        if known != claim:
            with suppress(Unproved):
                return self.proof(known)
        with suppress(Unproved):
            return self.by_parts(known)
        known, facts = self.lane_by_lane(known)
        found = self.by_linearity(known) if facts else None
        return None if found is None else [*facts, *found]

    def by_parts(self, claim: Claim) -> list[Step]:
        """Return a proof that one side rises to the other part by part: functions that rise, folds of what rises, sums
        under wider masks; raises Unproved.
        """
        if claim.goal is TRUE:
            return []
        if step := self.decided(claim):
            return [step]
        less, more = claim.goal.args if isinstance(claim.goal, Map) and claim.goal.op == "le" else (TRUE, TRUE)
        if (
            isinstance(less, Map)
            and isinstance(more, Map)
            and less.op == more.op
            and len(less.args) == 1
            and (rises := function_rises(less.op))
        ):
            return [*rises, *self.by_parts(replace(claim, goal=le(*less.args, *more.args)))]
        if (
            isinstance(less, Reduce)
            and isinstance(more, Reduce)
            and (less.axis, less.monoid) == (more.axis, more.monoid)
            and (lemma := wider(less.monoid))
        ):
            return [*lemma, *(step for goal in _wider(less, more) for step in self.by_parts(replace(claim, goal=goal)))]
        raise Unproved(f"no proof found ({claim.what})")

    def lane_by_lane(self, claim: Claim) -> tuple[Claim, list[Step]]:
        """Return the claim with what holds of sums as it holds in every lane of them (lanes.py), and of those under
        wider masks, and the proofs.
        """
        known, steps = self.informed(claim, bounds=True)
        facts, proofs = dict[Term, None](), list[Step]()

        def held(asks: Sequence[Term], fact: Term, *lemmas: tuple[Step, ...] | None) -> None:
            if self.until > time.process_time() and None not in lemmas:
                asked = [
                    None if ask is TRUE else self.decided(replace(known, what=f"{claim.what}: every lane", goal=ask))
                    for ask in asks
                ]
                if all(ask is TRUE or step for ask, step in zip(asks, asked, strict=True)):
                    facts[fact] = None
                    proofs.extend(step for steps in (*lemmas, asked) for step in steps or () if step)

        sums = [t for t in subterms(claim.goal) if isinstance(t, Reduce) and t.monoid == "sum"]
        for t in sums:
            for name, terms in dict.fromkeys(offered(claim, t)):
                inequality = INEQUALITIES[name](*terms)
                if t.where is TRUE:
                    fact = le(Reduce("sum", t.axis, inequality.less), Reduce("sum", t.axis, inequality.more))
                    held(inequality.asks, fact, lane(name), rising("sum"))
                elif name == "weighted-bound" and terms[0] is ONE:
                    lanes, (_, a, r) = count(t.axis, t.where), terms
                    held(
                        (~t.where | le(a, r), JUDGMENT["finite"](r)),
                        le(Reduce("sum", t.axis, a, t.where), r * lanes),
                        counted(),
                    )
                    held((), le(lanes, Map("real", (Size(t.axis),))), counted())
        for less, more in itertools.permutations(sums, 2):
            if (less.axis, less.body) == (more.axis, more.body):
                held(_wider(less, more), le(less, more), wider("sum"))
        return replace(claim, premises=(*claim.premises, *facts)), list(
            dict.fromkeys([*steps, *proofs] if facts else [])
        )

    def by_prefixes(self, claim: Claim, axis: Axis) -> list[Step]:
        """Return a proof by induction over the lanes of an axis that prefix folds run along, or over how many there
        are; raises Unproved.
        """
        with suppress(Unproved):
            return [step for part in prefixes(claim, axis) for step in self.proof(part)]
        with suppress(Unproved):
            return self.by_prefixes_knowing(claim, axis)
        with suppress(Unproved):
            return self.by_induction_knowing(claim, axis)
        return [step for part in induct(claim, axis) for step in self.proof(part)]

    def by_prefixes_knowing(self, claim: Claim, axis: Axis) -> list[Step]:
        """Return a proof by induction over lanes that knows which sign prefix folds have; raises Unproved."""
        steps, facts = list[Step](), list[tuple[Scan, Term]]()
        for t in (t for t in subterms(claim.goal) if isinstance(t, Scan) and t.axis == axis):
            for name in ("finite", "nonneg", "nonzero"):
                fact = replace(claim, what=f"{claim.what}: {name} of a prefix", goal=JUDGMENT[name](t))
                with suppress(Unproved):
                    steps += (
                        []
                        if fact.goal is claim.goal
                        else [step for part in prefixes(fact, axis) for step in self.at_once(part)]
                    )
                    facts.append((t, fact.goal))
        if not steps:
            raise Unproved(f"no sign of a prefix is known ({claim.what})")
        return [*steps, *(step for part in prefixes(claim, axis, facts) for step in self.proof(part))]

    def at_once(self, claim: Claim) -> list[Step]:
        """Return the step that decides a claim with no induction; raises Unproved."""
        if claim.goal is TRUE:
            return []
        if any(isinstance(t, Scan) for t in subterms(claim.goal)) or (step := self.decided(claim)) is None:
            raise Unproved(f"no proof found ({claim.what})")
        return [step]

    def by_linearity(self, claim: Claim) -> list[Step] | None:
        """Return the proof of a claim in the normal form of sums and maxima, and of what that rests on; None if there
        is none.
        """
        shaped, cited = normal(claim)
        lemmas = [linear(name) for name in cited]
        if None in lemmas:
            return None
        for bounds in (False, True):
            known, facts = self.informed(shaped, bounds)
            if (step := self.decided(known)) is not None:
                break
            if known == shaped:
                return None
        else:
            return None
        told = (
            f"sums and maxima are in a normal form, by the lemmas {', '.join(cited)}"
            if cited
            else "what holds of every lane holds of the reduction"
        )
        return [*(part for lemma in lemmas for part in lemma or ()), *facts, replace(step, legend=(*step.legend, told))]

    def by_induction_knowing(self, claim: Claim, axis: Axis) -> list[Step]:
        """Return a proof by induction that uses of the reductions over the lanes so far what holds of them by what they
        reduce; raises Unproved.
        """
        steps: list[Step] = []

        def known(t: Reduce, within: Claim) -> tuple[Term, ...]:
            found = list(self.inherited(t, within, bounds=True))
            steps.extend(step for _, proof in found for step in proof)
            return tuple(fact for fact, _ in found)

        parts = list(induct(claim, axis, known))
        if not steps:
            raise Unproved("nothing more is known of what is reduced")
        return [*steps, *(step for part in parts for step in self.proof(part))]

    def inherited(self, t: Reduce, claim: Claim, bounds: bool) -> Iterator[tuple[Term, list[Step]]]:
        """Yield what holds of a reduction because it holds of what is reduced, with its proof; `bounds`: also that it
        is no less than what it reduces.
        """
        masked, names = t.where is not TRUE, set[str]()
        if any(isinstance(part, Scan) for part in subterms(t.body, t.where)):
            return  # it is not decided at once what holds of a prefix fold
        for name in ("finite", "nonneg", "pos"):
            lemma = hereditary(name, t.monoid, masked)
            every = lemma and self.decided(
                replace(claim, what=f"{claim.what}: {name} of what is reduced", goal=JUDGMENT[name](t.body))
            )
            if lemma and every:
                names.add(name)
                yield JUDGMENT[name](t), [*lemma, every]
        if (
            bounds
            and (t.monoid == "max" or (t.monoid == "sum" and "nonneg" in names))
            and (lemma := bounding(t.monoid, masked))
        ):
            yield (~t.where | le(t.body, t) if masked else le(t.body, t)), [*lemma]

    def informed(self, claim: Claim, bounds: bool) -> tuple[Claim, list[Step]]:
        """Return the claim with what holds of each reduction because it holds of what is reduced, and the proofs of
        that.
        """
        steps: list[Step] = []
        for t in (t for t in subterms(claim.goal, *claim.premises) if isinstance(t, Reduce)):
            for fact, proof in self.inherited(t, claim, bounds):
                claim = replace(claim, premises=(*claim.premises, fact))
                steps += proof
        sums = [t for t in subterms(claim.goal) if isinstance(t, Reduce) and t.monoid == "sum" and t.where is TRUE]
        for weights, total in itertools.permutations(sums, 2):
            other = _beside(weights.body, total.body) if weights.axis == total.axis else None
            if other is None or JUDGMENT["nonneg"](weights) not in claim.premises or (lemma := weighted()) is None:
                continue
            what = f"{claim.what}: finite of what is weighted"
            if every := self.decided(replace(claim, what=what, goal=JUDGMENT["finite"](other))):
                claim = replace(claim, premises=(*claim.premises, _vanishing(weights, total)))
                steps += [*lemma, every]
        return claim, steps


# -- base and step -----------------------------------------------------------------------------------------------------


def induct(
    claim: Claim, axis: Axis, facts: Callable[[Reduce, Claim], tuple[Term, ...]] | None = None
) -> Iterator[Claim]:
    """Yield the base and the steps that give the claim for all sizes of an axis; facts: what else is known of a
    reduction over the lanes so far.
    """
    claim = _references(_somewhere(claim, axis), axis)
    # A prefix fold is in no lane another number for one lane more; in the new lane it is the fold of all of them.
    prefix = _prefixes(claim, axis)
    whole = {t: Reduce(t.monoid, axis, t.body) for t in prefix}
    totals = list(
        dict.fromkeys([*(t for t in subterms(claim.goal) if isinstance(t, Reduce) and t.axis == axis), *whole.values()])
    )
    # A fold reads what it reads elsewhere in every lane so far, and more lanes may change that
    if any(isinstance(t, Read) and t.axis == axis for total in totals for t in subterms(*total.children)):
        raise Unproved(f"a fold over {axis} reads what more lanes change ({claim.what})")
    size, lane = Var(f"size of {axis}", "int"), Var(f"lane of {axis}", "int")
    holes = {t: Var(f"acc {i} over {axis}") for i, t in enumerate(totals, 1)}
    inside: dict[Term, Term] = {t: Var(f"prefix {i} over {axis}") for i, t in enumerate(prefix, 1)}
    varying = [t for t in subterms(claim.goal, *claim.premises) if isinstance(t, Var) and claim.varies(t, axis)]
    fresh: dict[Term, Term] = {v: Var(f"{v.name}⁺{axis}", v.sort) for v in varying}
    reads = [t for t in subterms(claim.goal) if isinstance(t, Read) and t.axis == axis]
    there = {t: Var(f"read {i} over {axis}", t.kind) for i, t in enumerate(reads, 1)}
    # Where the place counts lanes from the last one, it is another than it was
    counted = [t for t in reads if Size(axis) in subterms(t.index)]
    other = {t: Var(f"other {i} over {axis}", t.kind) for i, t in enumerate(counted, 1)}
    fixed = {(axis.name, hole.name) for hole in (size, *holes.values(), *there.values(), *other.values())}
    numbers = [*holes.items(), *((t, hole) for t, hole in inside.items() if isinstance(hole, Var))]
    numbers += [*there.items(), *other.items()]
    fixed |= {
        (other.name, hole.name) for t, hole in numbers for other in _axes(claim) - {axis} if not claim.varies(t, other)
    }
    fixed |= {(other, f"{v.name}⁺{axis}") for v in varying for other, name in claim.free if name == v.name}
    free = claim.free | fixed

    legend = (*claim.legend, *(f"{hole.name} stands for {t} over the lanes so far" for t, hole in holes.items()))
    legend = (*legend, *(f"{hole} stands for {t} in a lane before the new one" for t, hole in inside.items()))
    elsewhere = [*there.items(), *other.items()]
    legend = (*legend, *(f"{hole.name} stands for {t} of the lanes so far" for t, hole in elsewhere))
    legend = (
        *legend,
        *(
            f"{new.name} stands for {v.name} in the new lane"
            for v, new in fresh.items()
            if isinstance(new, Var) and isinstance(v, Var)
        ),
    )
    first: dict[Term, Term] = {Size(axis): Const(1), Index(axis): Const(0)}
    alone = {t: _lane(t, first, Const(NEUTRAL[t.monoid]), None) for t in whole.values()}
    start = first | {t: alone[total] for t, total in whole.items()}
    alone |= {t: _lane(t, start, Const(NEUTRAL[t.monoid]), None) for t in totals}
    one: dict[Term, Term] = {t: t.body for t in reads}
    known = tuple(_swapped(p, first) for p in claim.premises)
    yield Claim(
        f"{claim.what}: {axis} has one lane", _swapped(claim.goal, start | alone | one), known, free, claim.legend
    )

    before: dict[Term, Term] = {Size(axis): size, Index(axis): lane}
    old: dict[Term, Term] = {Size(axis): size + 1, Index(axis): lane}
    new: dict[Term, Term] = {**fresh, Size(axis): size + 1, Index(axis): size}
    grown = {t: _lane(t, new, holes[t], holes[t]) for t in whole.values()}
    last = {t: grown[total] for t, total in whole.items()}
    grown |= {t: _lane(t, new | last, holes[t], holes[t]) for t in totals}
    longer_reads: dict[Term, Term] = {
        t: Map("where", (le(size, _swapped(t.index, new)), fresh.get(t.body, t.body), other.get(t, there[t])))
        for t in reads
    }
    places = le(Const(1), size), le(Const(0), lane), ~le(size, lane)
    premises = [_swapped(p, table) for table in (old, new) for p in claim.premises]
    premises += [
        _swapped(p, {t.body: hole})
        for t, hole in elsewhere
        for p in claim.premises
        if {v for v in subterms(p) if isinstance(v, Var) and claim.varies(v, axis)} == {t.body}
        and not any(isinstance(part, (Reduce, Scan, Index, Size)) for part in subterms(p))
    ]
    beside = [] if facts is None else [_swapped(fact, before | holes) for t in totals for fact in facts(t, claim)]
    known = tuple(dict.fromkeys([*premises, _swapped(claim.goal, before | holes | inside | there), *places, *beside]))
    for goal in dict.fromkeys(
        (
            _swapped(claim.goal, old | grown | inside | longer_reads),
            _swapped(claim.goal, new | grown | last | longer_reads),
        )
    ):
        yield Claim(f"{claim.what}: one more lane of {axis}", goal, known, free, legend)


def _prefixes(claim: Claim, axis: Axis) -> list[Scan]:
    """Return the prefix folds along an axis, if each lane of them is settled by the lanes up to it; raises Unproved.

    In a fold over the axis they are numbers like any other: those of earlier lanes stay as a lane is added.
    """
    found = [t for t in subterms(claim.goal) if isinstance(t, Scan) and t.axis == axis]
    if any(isinstance(t, Scan) for t in subterms(*claim.premises)):
        raise Unproved(f"a prefix fold over {axis} stands in a condition ({claim.what})")
    for t in found:
        inside = subterms(t.body)
        if isinstance(t, Recur) or any(
            isinstance(part, Scan) or getattr(part, "axis", None) == axis
            for part in inside
            if not isinstance(part, Index)
        ):
            raise Unproved(f"a prefix fold over {axis} of what more lanes change ({claim.what})")
    return found


def prefixes(claim: Claim, axis: Axis, facts: Sequence[tuple[Scan, Term]] = ()) -> Iterator[Claim]:
    """Yield the claim in the first lane of an axis, and in one more lane given that it holds in the lane before, with
    no prefix fold along it.

    Each prefix fold is a number for the lane before, of which only the claim itself is known, and what `facts` say of
    it, with that lane's own value added. What else varies along the axis is another value in the lane before, of which
    the premises are known.
    """
    scans = [t for t in subterms(claim.goal) if isinstance(t, Scan) and t.axis == axis]
    folds: dict[Term, Term] = {
        t: t for t in subterms(claim.goal, *claim.premises) if isinstance(t, Reduce) and t.axis == axis
    }
    if any(
        isinstance(t, Scan) and t.axis == axis for t in subterms(*(part for fold in folds for part in fold.children))
    ):
        raise Unproved(f"a prefix fold over {axis} stands inside a fold over {axis}, of all its lanes ({claim.what})")
    holes: dict[Term, Term] = {t: Var(f"prefix {i} over {axis}") for i, t in enumerate(scans, 1)}
    if any(isinstance(t, Scan) for t in subterms(*claim.premises)):
        raise NotUnderstood("no prover understands Scan in a condition")
    fixed = {
        (other.name, hole.name)
        for t, hole in holes.items()
        for other in _axes(claim)
        if other == axis or not claim.varies(t, other)
    }
    # Outside of folds and prefix folds: a fold's lanes are all of them, of the lane before as of this one.
    beside = [
        t for t in _outside(claim.goal, {*holes, *folds}) if isinstance(t, (Var, Index)) and claim.varies(t, axis)
    ]
    varying = (
        [t for t in subterms(claim.goal, *claim.premises) if isinstance(t, Var) and claim.varies(t, axis)]
        if beside
        else []
    )
    before: dict[Term, Term] = {v: Var(f"{v.name}°{axis}", v.sort) for v in varying}
    fixed |= {
        (other, f"{v.name}°{axis}")
        for v in varying
        for other in (axis.name, *(o for o, name in claim.free if name == v.name))
    }
    lane = Index(axis)
    before |= {lane: lane + Const(-1)} if lane in beside else {}
    start: dict[Term, Term] = folds | {lane: Const(0)} if lane in beside else dict(folds)
    first, later = dict(start), dict[Term, Term]()
    for t in scans:
        for made, at in ((first, Const(NEUTRAL[t.monoid])), (later, holes[t])):
            made[t] = longer(t, at, {part: _swapped(part, made) for part in t.children})
    known = _swapped(claim.goal, before | folds | holes)
    there = [_swapped(p, before | folds) for p in claim.premises] if before else []
    there += [le(Const(1), lane)] if lane in beside else []
    there += [_swapped(fact, before | folds | holes) for _, fact in facts]
    legend = (*claim.legend, *(f"{hole.name} stands for {t} in the lane before" for t, hole in holes.items()))
    legend = (*legend, *(f"{v.name}°{axis} stands for {v.name} in the lane before" for v in varying))
    own = tuple(_swapped(p, start) for p in claim.premises)
    yield Claim(f"{claim.what}: the first lane of {axis}", _swapped(claim.goal, first), own, claim.free, claim.legend)
    premises = tuple(dict.fromkeys((*claim.premises, *there, known)))
    yield Claim(
        f"{claim.what}: the next lane of {axis}", _swapped(claim.goal, later), premises, claim.free | fixed, legend
    )


def _outside(root: Term, closed: set[Term]) -> Iterator[Term]:
    """Yield the parts of a term, itself included, that stand in none of some others."""
    if root not in closed:
        yield root
        for child in root.children:
            yield from _outside(child, closed)


def _somewhere(claim: Claim, axis: Axis) -> Claim:
    """Return a stronger claim without premises that a mask holds somewhere: until it does, what it masks is neutral;
    from then on the goal holds.
    """
    for premise in claim.premises:
        count = (
            premise.args[1]
            if isinstance(premise, Map) and premise.op == "lt" and premise.args[0] is Const(0.0)
            else None
        )
        if isinstance(count, Reduce) and count.axis == axis and isinstance(mask := _counted(count), Term):
            waiting = eq(count, Const(0.0))
            for t in (t for t in subterms(claim.goal) if isinstance(t, Reduce) and t.axis == axis and t.where is mask):
                waiting = waiting & eq(t, Const(NEUTRAL[t.monoid]))
            claim = replace(
                claim,
                goal=waiting | (premise & claim.goal),
                premises=tuple(p for p in claim.premises if p is not premise),
            )
    return claim


def _counted(t: Reduce) -> Term | None:
    """Return the mask whose lanes a sum counts, None if it counts none."""
    ones = (
        t.monoid == "sum"
        and t.where is TRUE
        and isinstance(t.body, Map)
        and t.body.op == "where"
        and t.body.args[1:] == (Const(1.0), Const(0.0))
    )
    return t.body.args[0] if ones else None


def _lane(t: Reduce, at: dict[Term, Term], without: Term, acc: Term | None) -> Term:
    """Return what a reduction becomes with one lane more, which its mask may leave out."""
    mask, value = _swapped(t.where, at), _swapped(t.body, at)
    grown = value if acc is None else Map(COMBINE[t.monoid], (acc, value))
    return grown if mask is TRUE else Map("where", (mask, grown, without))


def _axes(claim: Claim) -> set[Axis]:
    return {f for t in subterms(claim.goal, *claim.premises) for f in t.fields if isinstance(f, Axis)}


def _swapped(root: Term, table: dict[Term, Term]) -> Term:
    """Return the term with every outermost occurrence of a key replaced."""
    if root in table:
        return table[root]
    return rebuilt(root, tuple(_swapped(child, table) for child in root.children))


def _references(claim: Claim, axis: Axis) -> Claim:
    """Hold fixed what must not change as a lane is added: every reduction over the axis, and its size, inside another
    one or in a premise.
    """
    inside = (
        part for t in subterms(claim.goal) if isinstance(t, Reduce) and t.axis == axis for part in (t.body, t.where)
    )
    if Size(axis) in subterms(*claim.premises, *inside):
        claim = _fixed(claim, axis, Size(axis), Var(f"fixed size of {axis}", "int"))
    count = 0
    while (reference := _innermost(claim, axis)) is not None:
        count += 1
        claim = _fixed(claim, axis, reference, Var(f"ref {count} over {axis}"))
    return claim


def _fixed(claim: Claim, axis: Axis, term: Term, number: Var) -> Claim:
    """Return the claim with a term that does not vary along the axis replaced by a number of which little is known."""
    free = {
        (axis.name, number.name),
        *((o.name, number.name) for o in _axes(claim) if o != axis and not claim.varies(term, o)),
    }
    premises = (*(_swapped(p, {term: number}) for p in claim.premises), _bound(term, number))
    legend = (*claim.legend, f"{number.name} stands for {term}; all that is used of it is given below")
    return Claim(claim.what, _swapped(claim.goal, {term: number}), premises, claim.free | free, legend)


def _bound(term: Term, number: Var) -> Term:
    """Return what holds of a size, or at every lane of a reduction: a maximum bounds, a sum or product absorbs what is
    absent.
    """
    if isinstance(term, Size):
        return le(Const(1), number)
    fact = le(term.body, number) if term.monoid == "max" else ~eq(term.body, ABSENT) | eq(number, ABSENT)
    return fact if term.where is TRUE else ~term.where | fact


def _innermost(claim: Claim, axis: Axis) -> Reduce | None:
    def over(*roots: Term) -> list[Reduce]:
        return [t for t in subterms(*roots) if isinstance(t, Reduce) and t.axis == axis]

    inside = [r for t in over(claim.goal, *claim.premises) for r in over(t.body, t.where)]
    return next((r for r in [*inside, *over(*claim.premises)] if not over(r.body, r.where)), None)


# -- lemmas ------------------------------------------------------------------------------------------------------------


@cache
def linear(name: str) -> tuple[Step, ...] | None:
    """Prove a lemma of the normal form by linearity, without that form; None if it is not proved."""
    return _lemma(LEMMAS[name], AXIS)


@cache
def hereditary(judgment: str, monoid: str, masked: bool) -> tuple[Step, ...] | None:
    """Prove, for every size, that a reduction has a property because everything that it reduces has it; None if it is
    not proved.
    """
    a = Var("a")
    total = Reduce(monoid, AXIS, a, Var("c", "bool") if masked else None)
    what = f"{judgment}-{'masked-' if masked else ''}{monoid}"
    return _lemma(Claim(what, JUDGMENT[judgment](total), (JUDGMENT[judgment](a),), frozenset()), AXIS)


@cache
def bounding(monoid: str, masked: bool) -> tuple[Step, ...] | None:
    """Prove, for every size, that a maximum, or a sum of what is never negative, is no less than what it reduces; None
    if it is not proved.
    """
    a, c = Var("a"), Var("c", "bool")
    goal = le(a, Reduce(monoid, AXIS, a, c if masked else None))
    claim = Claim(
        f"bound-{'masked-' if masked else ''}{monoid}",
        ~c | goal if masked else goal,
        (JUDGMENT["nonneg"](a),),
        frozenset(),
    )
    return _lemma(replace(claim, premises=()) if monoid == "max" else claim, AXIS)


@cache
def rising(monoid: str) -> tuple[Step, ...] | None:
    """Prove, for every size, that a sum or maximum rises with what it folds; None if it is not proved."""
    a, b = Var("a"), Var("b")
    return _lemma(
        Claim(f"rising-{monoid}", le(Reduce(monoid, AXIS, a), Reduce(monoid, AXIS, b)), (le(a, b),), frozenset()), AXIS
    )


@cache
def wider(monoid: str) -> tuple[Step, ...] | None:
    """Prove, for every size, that a sum or maximum rises with what it folds and with its mask; None if it is not
    proved.
    """
    c, d = Var("c", "bool"), Var("d", "bool")
    less, more = Reduce(monoid, AXIS, Var("a"), c), Reduce(monoid, AXIS, Var("b"), d)
    return _lemma(Claim(f"wider-{monoid}", le(less, more), tuple(_wider(less, more)), frozenset()), AXIS)


def _wider(less: Reduce, more: Reduce) -> list[Term]:
    """Return what is asked of every lane that one fold be no less than another: a wider mask, no smaller numbers, of a
    sum none below 0 that is left out.
    """
    c, d = less.where, more.where
    inside = TRUE if c is d or d is TRUE else ~c | d
    rises = TRUE if less.body is more.body else le(less.body, more.body) if c is TRUE else ~c | le(less.body, more.body)
    sign = JUDGMENT["nonneg"](more.body)
    beyond = TRUE if c is d or less.monoid == "max" else c | sign if d is TRUE else c | ~d | sign
    return [part for part in (inside, rises, beyond) if part is not TRUE]


@cache
def counted() -> tuple[Step, ...] | None:
    """Prove, for every size, that a sum under a mask of what is no more than a number is no more than it times the
    lanes, and these no more than the size.
    """
    a, r, c = Var("a"), Var("r"), Var("c", "bool")
    lanes, asks = count(AXIS, c), (~c | le(a, r), JUDGMENT["finite"](r))
    below = Claim("bounded-sum", le(Reduce("sum", AXIS, a, c), r * lanes), asks, frozenset({(AXIS.name, "r")}))
    found = (
        _lemma(below, AXIS),
        _lemma(Claim("lanes-counted", le(lanes, Map("real", (Size(AXIS),))), (), frozenset()), AXIS),
    )
    return None if None in found else tuple(step for steps in found for step in steps or ())


@cache
def function_rises(op: str) -> tuple[Step, ...] | None:
    """Prove that a function of one number rises; None if it is not proved."""
    a, b = Var("a"), Var("b")
    step = Search(LEMMA_TIMEOUT_S).decided(
        Claim(f"rising-{op}", le(Map(op, (a,)), Map(op, (b,))), (le(a, b),), frozenset()), f"rising-{op}"
    )
    return None if step is None else (step,)


@cache
def weighted() -> tuple[Step, ...] | None:
    """Prove, for every size, that where weights >= 0 sum to 0, so does what they weigh; None if it is not proved."""
    a, w = Var("a"), Var("w")
    goal = _vanishing(Reduce("sum", AXIS, w), Reduce("sum", AXIS, a * w))
    return _lemma(Claim("nonneg-weights", goal, (JUDGMENT["nonneg"](w), JUDGMENT["finite"](a)), frozenset()), AXIS)


@cache
def lane(name: str) -> tuple[Step, ...] | None:
    """Prove an inequality of lanes for anything that it may be of; None if it is not proved."""
    made = INEQUALITIES[name]
    held = made(*map(Var, signature(made).parameters))
    parts, facts, own = (
        _tangents("-exp" in name)
        if name.startswith("tangent-log")
        else _of_a_difference()
        if name == "tangent-exp"
        else ((), (), ())
    )
    w, (less, more), goals = held.weight, held.by, (le(*held.by), le(held.less, held.more))
    rises = Claim(
        "weighted",
        le(Var("w") * Var("a"), Var("w") * Var("b")),
        (JUDGMENT["nonneg"](Var("w")), le(Var("a"), Var("b"))),
        frozenset(),
    )
    known = (*held.asks, *facts), (*held.asks, *own, le(w * less, w * more))
    claims = (
        *parts,
        rises,
        *(Claim(name, goal, premises, frozenset()) for goal, premises in zip(goals, known, strict=True)),
    )
    steps = [Search(LEMMA_TIMEOUT_S).decided(claim, claim.what) for claim in claims]
    return tuple(step for step in steps if step) if all(steps) else None


# Lemmas, their instances, and those that are used with weights
Parts = tuple[tuple[Claim, ...], tuple[Term, ...], tuple[Term, ...]]


def _positive(*terms: Term) -> tuple[Term, ...]:
    return tuple(map(JUDGMENT["pos"], terms))


def _tangents(exponential: bool) -> Parts:
    """Return what the tangent of a logarithm at one number says of the quotient of a point by a base and a total."""
    b, p, s = map(Var, "bps")
    parts = (
        Claim("quotient", eq(log(p * inv(b)), log(p) - log(b)), _positive(p, b), frozenset()),
        Claim("positive-quotient", JUDGMENT["pos"](p * inv(b)), _positive(p, b), frozenset()),
        Claim("own-quotient", eq(p * inv(p), Const(1.0)), _positive(p), frozenset()),
        Claim("tangent-at-one", le(log(p), p - 1.0), _positive(p), frozenset()),
    )
    point = exp(Var("a")) if exponential else p
    near, moved = point * inv(b), point * inv(b) * inv(s)
    quotients = eq(log(near), log(point) - log(b)), eq(log(moved), log(near) - log(s)), *_positive(near, moved)
    return parts, (*quotients, le(log(moved), moved - 1.0)), (eq(b * inv(b), Const(1.0)),)


def _of_a_difference() -> Parts:
    """Return what the tangent of an exponential at 0 says of a difference."""
    a, r = map(Var, "ar")
    one, other = le(1.0 + a, exp(a)), eq(exp(a), exp(r) * exp(a - r))
    both = JUDGMENT["finite"](a), JUDGMENT["finite"](r)
    parts = (
        Claim("tangent-at-zero", one, (), frozenset()),
        Claim("exponential-of-a-difference", other, both, frozenset()),
    )
    moved = le(exp(r) * (1.0 + (a - r)), exp(r) * exp(a - r))
    return parts, (le(1.0 + (a - r), exp(a - r)), other, moved), ()


def present(claim: Claim) -> Claim:
    """Return an inequality with the premise that the lanes of sums are present whose absence makes the smaller side
    absent, which is below everything.

    A premise holds in every lane, so only of what varies along no axis that the claim leaves open and speaks of
    elsewhere.
    """
    if not (isinstance(claim.goal, Map) and claim.goal.op == "le"):
        return claim
    spoken = {f for t in subterms(claim.goal, *claim.premises) for f in t.fields if isinstance(f, Axis)}
    found = list(claim.premises)
    for t in _absorbing(claim.goal.args[0]):
        if t.monoid == "sum" and not any(
            claim.varies(t.body, axis) or claim.varies(t.where, axis) for axis in spoken - {t.axis}
        ):
            fact = JUDGMENT["finite"](t.body)
            found.append(fact if t.where is TRUE else ~t.where | fact)
    return replace(claim, premises=tuple(dict.fromkeys(found)))


def _absorbing(term: Term) -> Iterator[Reduce]:
    """Yield the reductions that make a term absent where they are."""
    if isinstance(term, Reduce):
        yield term
    elif isinstance(term, Map) and (
        term.op in ("add", "mul", "min") or (term.op in EDGES and EDGES[term.op].absent == NEUTRAL["max"])
    ):
        for arg in term.args:
            yield from _absorbing(arg)


def _vanishing(weights: Term, total: Term) -> Term:
    return (eq(weights, Const(0.0)) & eq(total, Const(0.0))) | JUDGMENT["pos"](weights)


def _beside(factor: Term, product: Term) -> Term | None:
    """Return what a factor is multiplied with in a product of two, None where it is not one of them."""
    args = product.args if isinstance(product, Map) and product.op == "mul" else ()
    return next((args[1 - place] for place, arg in enumerate(args) if arg is factor), None)


def _lemma(claim: Claim, axis: Axis) -> tuple[Step, ...] | None:
    search = Search(LEMMA_TIMEOUT_S)
    varies = any(isinstance(t, (Reduce, Size)) for t in subterms(claim.goal))
    steps = [search.decided(part, claim.what) for part in (induct(claim, axis) if varies else [claim])]
    return tuple(step for step in steps if step) if all(steps) else None
