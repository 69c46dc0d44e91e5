"""Prefix folds and recurrences along a long axis, in runs: what the runs before come to, and what is in the lane's own.

Few rows that are long leave few blocks, each of which walks its row. Cut into runs, a kernel folds each run by itself,
and has the prefixes within it; another one folds over the runs; a lane's value is what the runs before come to and its
own. The form is made here, not found in an e-graph; a chain of law instances leads to it, from a diagram that says the
same as the one given and reads each prefix by the quotient and the remainder of its lane (certify/asked.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

from napkin_eq.egraph.budget import Budget
from napkin_eq.egraph.congruence import Closure
from napkin_eq.lang.axis import Axis, named_anew
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.operators import NEUTRAL
from napkin_eq.lang.substitute import substituted
from napkin_eq.lang.term import (
    Const,
    Index,
    Map,
    Read,
    Recur,
    Reduce,
    Scan,
    Size,
    Term,
    axis_names,
    factors,
    rebuilt,
    rewritten,
    subterms,
)
from napkin_eq.machine.cost import elements, extent
from napkin_eq.search.job import Laws, Rewritten, said_and_led
from napkin_eq.search.prefixes import Products, masked_to_zero, states, times

LEAST = 4096  # lanes along an axis: of fewer, one block has all at once
LENGTHS = (1024, 2048, 4096, 8192)  # lanes of a run
SHORT = 64  # lanes of a run within which each has a product with each
ZERO = Const(0.0)
APART = 4  # times fewer rows than keep all processors at work: of more, each may as well walk its own
# No maximum: what stands beyond the last lane is absent, and no array holds that
FOLDS = {"sum": "scan-in-runs-sum", "prod": "scan-in-runs-prod"}


def scans(outputs: Sequence[Term], blocks: int) -> list[Scan]:
    """Return the prefix folds and recurrences along axes that are long, of a few times fewer rows than keep so many
    blocks at work; none that is made of another one of these.
    """
    found = list[Scan]()
    for term in subterms(*outputs):
        if not isinstance(term, Scan) or not (isinstance(term, Recur) or term.monoid in FOLDS):
            continue
        long = term.axis.size is not None and term.axis.size >= LEAST
        few = APART * elements(term.axes) <= blocks * extent(term.axis)
        if long and few and not {*found} & {*subterms(*term.children)}:
            found.append(term)
    return found


def in_runs(
    outputs: Sequence[Term], laws: Laws, budget: Budget, blocks: int
) -> tuple[tuple[Term, ...], Rewritten] | None:
    """Return outputs whose long prefix folds and recurrences are taken in runs, and the chain that leads there from
    outputs that say the same as those given, which come first; None where there are none, or where a law that it takes
    is left out.

    blocks: how many a kernel has that keeps all processors at work.
    """
    closure, names = laws.closure(budget), axis_names(*outputs)
    given, made, runs = dict[Term, Term](), dict[Term, Term](), dict[Axis, tuple[Axis, Axis]]()
    for scan in scans(outputs, blocks):
        x = scan.axis
        rows = elements(scan.axes) // extent(x)
        if x not in runs:
            length = next((n for n in reversed(LENGTHS) if rows * (extent(x) // n) >= blocks), LENGTHS[0])
            part = Axis(named_anew(f"{x.name}_run", names), -(-extent(x) // length))
            runs[x] = part, Axis(named_anew(f"{x.name}_own", names), length)
        try:
            taken = _Runs(closure, x, *runs[x])
            given[scan], made[scan] = taken.read(scan)
        except NapkinError:
            continue
    return said_and_led(closure, outputs, given, made)


def contracted(outputs: Sequence[Term], laws: Laws, budget: Budget) -> tuple[tuple[Term, ...], Rewritten] | None:
    """Return outputs in which contractions of recurrences of outer products are taken in short runs, and the chain that
    leads there from outputs that say the same as those given, which come first; None where there are none, or where a
    law that it takes is left out.

    Of what the runs before leave, each lane takes its gains since; within a run each lane has its products with the
    lanes up to it, times the gains between: what a recurrence makes of a 1 at one lane alone.
    """
    closure, names = laws.closure(budget), axis_names(*outputs)
    given, made = dict[Term, Term](), dict[Term, Term]()
    for fold, scan in states(outputs, recurring=True).items():
        x = scan.axis
        p = Axis(named_anew(f"{x.name}_run", names), -(-extent(x) // SHORT))
        r, s = (Axis(named_anew(f"{x.name}_{word}", names), SHORT) for word in ("own", "seen"))
        try:
            assert isinstance(scan, Recur)
            given[fold], made[fold] = _Runs(closure, x, p, r).contracted(fold, scan, s)
        except NapkinError:
            continue
    return said_and_led(closure, outputs, given, made)


class _Runs(Products):
    """The lanes of an axis x in runs along p, of lanes along r, and the instances of laws over them."""

    def __init__(self, closure: Closure, x: Axis, p: Axis, r: Axis) -> None:
        super().__init__(closure)
        self.x, self.p, self.r = x, p, r

    def read(self, scan: Scan) -> tuple[Term, Term]:
        """Return a prefix fold as read by quotient and remainder of its lane, and in runs."""
        axes: Mapping[str, Axis | Term] = {"x": self.x, "p": self.p, "r": self.r}
        lane = Index(self.p) * Size(self.r) + Index(self.r)
        # Its parts as arrays of runs, and back along the axis
        parts = [self.varied(substituted(part, {self.x.name: lane}), lane) for part in scan.children]
        whole = rebuilt(scan, tuple(map(self.back, parts)))
        assert isinstance(whole, Scan)
        recur = isinstance(scan, Recur)
        named = dict(zip("ab", whole.children, strict=False))
        value = self.law("recur-in-runs" if recur else FOLDS[scan.monoid], **named, **axes)
        units = (Const(1.0), Const(0.0)) if recur else (Const(NEUTRAL[scan.monoid]),)
        own: dict[Term, Term] = {}
        for part, there, unit in zip(parts, whole.children, units, strict=True):
            masked = self.law("read-back", a=part, b=unit, **axes)
            assert isinstance(masked, Map)
            own[Map("where", (masked.args[0], Read(there, self.x, lane), unit))] = masked
        value = rewritten(value, lambda t: own.get(t, t))
        return self.back(Read(whole, self.x, lane)), self.at(value)

    def varied(self, part: Term, lane: Term) -> Term:
        """Return a part that is the same in all lanes as one that is, in name, that of each."""
        return part if {self.p, self.r} <= {*part.axes} else Map("where", (Const(0) <= lane, part, Const(1.0)))

    def back(self, value: Term) -> Term:
        """Return what is along runs as along their axis."""
        lane, number = Index(self.x), Size(self.r)
        return Read(Read(value, self.p, lane // number), self.r, lane % number)

    def at(self, value: Term) -> Term:
        """Return what a value along runs, an operator of several, is back along the axis: each of these read there."""
        lane, number = Index(self.x), Size(self.r)
        return self.within(self.run(value, lane // number), lane % number)

    def run(self, value: Term, at: Term) -> Term:
        """Return a value at a run."""
        if isinstance(value, Map) and value.op == "where":
            return self.law("read-before", a=value.args[1].body, b=value.args[2], i=at, x=self.p)
        if isinstance(value, Map):
            one, other = value.args
            self.law(f"read-both-{value.op}", a=one, b=other, i=at, x=self.p)
            return Map(value.op, (self.run(one, at), self.run(other, at)))
        return Read(value, self.p, at)

    def within(self, value: Term, at: Term) -> Term:
        """Return a value at a lane of its run."""
        if not isinstance(value, Map):
            return Read(value, self.r, at)
        one, other = value.args
        if self.r in one.axes:
            self.law(f"read-both-{value.op}", a=one, b=other, i=at, x=self.r)
            return Map(value.op, (self.within(one, at), self.within(other, at)))
        self.law(f"read-second-{value.op}", a=one, b=other, i=at, x=self.r)
        return Map(value.op, (one, self.within(other, at)))

    def contracted(self, fold: Reduce, scan: Recur, s: Axis) -> tuple[Term, Term]:
        """Return a contraction of a recurrence of products, read by quotient and remainder of its lane, and in runs;
        s: another axis along the lanes of a run.
        """
        axes: Mapping[str, Axis | Term] = {"x": self.x, "p": self.p, "r": self.r}
        d = fold.axis
        lane, seen = Index(self.p) * Size(self.r) + Index(self.r), Index(self.p) * Size(self.r) + Index(s)
        gain = self.varied(substituted(scan.gain, {self.x.name: lane}), lane)
        part = substituted(scan.body, {self.x.name: seen})
        here = Map("eq", (Index(s), Index(self.r)))
        body = Reduce("sum", s, masked_to_zero(here, part))
        whole = Recur(self.x, self.back(gain), self.back(body))
        leaves = dict[Term, Term]()
        for factor in factors(fold.body):
            leaves[factor] = substituted(factor, {self.x.name: lane}) if factor is not scan else factor
        ahead = [leaves[t] for t in factors(fold.body) if t is not scan]

        def within(runs: Term) -> Term:
            return _put(fold.body, {**leaves, scan: runs})

        given = self.back(Reduce("sum", d, within(Read(whole, self.x, lane))))
        value = self.law("recur-in-runs", a=whole.gain, b=whole.body, **axes)
        own: dict[Term, Term] = {}
        for inside, there, unit in ((gain, whole.gain, Const(1.0)), (body, whole.body, ZERO)):
            masked = self.law("read-back", a=inside, b=unit, **axes)
            assert isinstance(masked, Map)
            own[Map("where", (masked.args[0], Read(there, self.x, lane), unit))] = masked
        value = rewritten(value, lambda t: own.get(t, t))
        assert isinstance(value, Map) and isinstance(value.args[0], Map) and isinstance(value.args[1], Recur)
        (before, since), run = value.args[0].args, value.args[1]
        # What is in a run: of each lane, what the recurrence makes of a 1 there
        weight, summed = self.weighed(run, here, part, s)
        last = Size(self.r) - 1
        self.law("read-sum", a=times(part, weight), i=last, x=self.r, y=s)
        self.law("read-second-mul", a=part, b=weight, i=last, x=self.r)
        left = Reduce("sum", s, times(part, Read(weight, self.r, last)))
        before = rewritten(before, lambda t: left if t is Read(run, self.r, last) else t)
        # Σ_d Q (E A + Σ_s K V M) = A Σ_d Q E + Σ_s V (M Σ_d Q K)
        q, carried = reduce(times, ahead), times(before, since)
        self.ordered(within(Map("add", (carried, summed))), [ahead, [Map("add", (carried, summed))]])
        self.law("factor", a=q, b=carried, d=summed)
        self.law("sum-add", a=times(q, carried), b=times(q, summed), x=d)
        self.ordered(times(q, carried), [[since], [*ahead, before]])
        first = self.law("distribute", a=since, b=reduce(times, [*ahead, before]), x=d)
        self.law("distribute", False, a=q, b=times(part, weight), x=s)
        self.law("fubini-sum", a=times(q, times(part, weight)), x=d, y=s)
        keys, values = ([t for t in factors(part) if (d in t.axes) is along] for along in (True, False))
        self.ordered(times(q, times(part, weight)), [[*values, weight], [*ahead, *keys]])
        scores = reduce(times, [*ahead, *keys])
        self.law("distribute", a=reduce(times, [*values, weight]), b=scores, x=d)
        apart = self.law("mul-associates", a=reduce(times, values), b=weight, d=Reduce("sum", d, scores))
        return given, self.back(Map("add", (first, Reduce("sum", s, apart))))

    def weighed(self, run: Recur, here: Term, part: Term, s: Axis) -> tuple[Term, Term]:
        """Return what a recurrence of Σ_s [s = r] B makes of a 1 at a lane s, and it as the sum of B times that."""
        assert isinstance(run.body, Map)
        inside, one = run.body.args[0], Const(1.0)
        self.law("sum-where", False, a=masked_to_zero(here, part), c=inside, x=s)
        self.law("mul-one", False, a=part)
        self.law("mul-commutes", a=part, b=one)
        self.law("where-mul", a=one, b=part, c=here)
        self.law("where-mul", a=masked_to_zero(here, one), b=part, c=inside)
        impulse = masked_to_zero(inside, masked_to_zero(here, one))
        self.law("mul-commutes", a=impulse, b=part)
        self.law("sum-recur", False, a=run.gain, b=times(part, impulse), x=self.r, y=s)
        self.law("recur-factor", a=run.gain, b=impulse, f=part, x=self.r)
        weight = Recur(self.r, run.gain, impulse)
        return weight, Reduce("sum", s, times(part, weight))


def _put(term: Term, leaves: Mapping[Term, Term]) -> Term:
    """Return a product with others in the places of its factors."""
    return leaves[term] if term in leaves else rebuilt(term, tuple(_put(child, leaves) for child in term.children))
