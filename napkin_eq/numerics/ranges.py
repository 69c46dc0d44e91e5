"""Where a computed value lies for certain, beside its distance from the exact one: exponentials, what is summed and
divided of them.

An exponential's argument may be off by so much that v (1 + error) says nothing: e^a computed of a - e to a + e lies
between e^(a - e) and e^(a + e), which is never below 0, and where the argument is a value minus the maximum of such
values, hardly above 1. So lie sums of such exponentials, of which one lane is the maximum's own; their inverses,
logarithms, products and choices follow, and the error is never more than the farther end of the range. Of a mean by
such weights the range is that of the values.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from napkin_eq.lang.interval import interval
from napkin_eq.lang.numpy_semantics import ABSENT, Array, Named, aligned, fold
from napkin_eq.lang.scope import opened
from napkin_eq.lang.term import (
    Const,
    Fold,
    Group,
    Input,
    Map,
    Online,
    Proj,
    Read,
    Reduce,
    Store,
    Term,
    Walk,
    subterms,
)
from napkin_eq.numerics.roundoff import K, flushed, largest, w
from napkin_eq.numerics.shared_errors import Checked
from napkin_eq.tile.stream_facts import spreads

Range = tuple[Named, Named]
# What a product that is rounded once is off by in roundoffs, its last digits included.
PRODUCT = 1.01


def ranged(
    term: Term, memo: Mapping[Term, Checked], found: Checked, length: int, added: float, moves: Named | None
) -> Range | None:
    """Return where a computed value lies, if its arguments tell more than its error does; of a sum: its axis' length,
    what adding is off by.

    Absent arguments of exponentials give 0. An argument without a bound has no range: it may be no number at all.
    """
    if isinstance(term, Map):
        if term.op == "exp":
            return _exponential(term, memo, found)
        args = [memo[a] for a in term.args]
        if term.op == "inv" and args[0].low is not None:
            return _falling(args[0])
        if term.op == "log" and args[0].low is not None:
            return _logarithm(args[0], found)
        if term.op == "mul" and all(a.low is not None for a in args):
            return _product(args)
        if term.op == "where" and any(a.low is not None for a in args[1:]) and not args[0].error.data.any():
            return _choice(args)
        return None
    if isinstance(term, (Reduce, Fold, Online)) and getattr(term, "monoid", "sum") == "sum" and term.body in memo:
        body = memo[term.body]
        if body.low is not None and not memo[term.where].error.data.any():
            return _total(term, memo, length, added, moves)
    return None


def within(found: Checked, limits: Range) -> Named:
    """Return an error cut down to what a range allows; one without a bound stays so."""
    names, (value, error, low, high) = aligned(found.value, found.error, *limits)
    away = np.maximum(high - value, value - low)
    return Named(names, np.where(np.isfinite(away) & (away < error), np.maximum(away, 0.0), error))


def _exponential(term: Term, memo: Mapping[Term, Checked], found: Checked, once: bool = False) -> Range:
    """Return where an exponential lies; once: what its argument is relative to the maximum of is computed once for
    both, as what is in memory is.
    """
    arg = memo[term.args[0]]
    names, (a, e, v, rough) = aligned(arg.value, arg.error, found.value, slack(term.args[0], memo))
    with np.errstate(all="ignore"):
        off = e + K * w() * np.abs(np.where(np.isfinite(a), a, 0.0)) + rough
        low, high = np.exp(a - off) * (1 - 2 * K * w()) - flushed(), np.exp(a + off) * (1 + 2 * K * w()) + flushed()
    least, most = np.where(np.isneginf(a), 0.0, np.maximum(low, 0.0)), np.where(np.isneginf(a), 0.0, high)
    if (found_over := dominated(term.args[0])) is not None:
        factor, top = found_over
        factor = 0.0 if once or _in_memory(top.body) else factor
        above = slack(term.args[0], memo, True)
        joined, (most, own, rough, kept) = aligned(
            Named(names, most), memo[top.body].error, above, memo[top.where].value
        )
        apart = 2 * factor * own if factor else 0.0
        capped = np.minimum(most, np.exp(apart + rough) * (1 + 2 * K * w()) + flushed())
        _, (least, e) = aligned(Named(names, least), Named(names, e), also=joined)
        names, most = joined, np.where(kept, capped, most)
    unknown = ~np.isfinite(e)
    return Named(names, np.where(unknown, -np.inf, least)), Named(names, np.where(unknown, np.inf, most))


def _alone(arg: Term) -> tuple[float, Term] | None:
    """Return a factor c > 0 and the maximum of b, if an argument is c b less c times that maximum and b is added up of
    no parts; else None.

    A kernel then multiplies both by one number, and rounds one product or both: as c b <= c max, what it gets is at
    most the roundoff of one product above 0, and at the maximum no farther than that from 0; elsewhere it is off by
    that of two.
    """
    parts = summands(arg)
    if len(parts) != 2 or constants(arg):
        return None
    (c, b), (d, top) = parts if parts[0][0] > 0 else parts[::-1]
    over = isinstance(top, (Reduce, Fold)) and top.monoid == "max" and top.body is b
    whole = not isinstance(b, Map) or b.op not in ("add", "neg", "mul", "where")
    return (c, top) if over and whole and c == -d > 0 else None


def slack(arg: Term, memo: Mapping[Term, Checked], above: bool = False) -> Named:
    """Return what the roundings of an exponential's argument come to, at the size of its parts; above: only how far it
    may be above 0.
    """
    if (found := _alone(arg)) is not None:
        factor, top = found
        known, reach = memo[top], np.where(np.isneginf(memo[top].value.data), 0.0, np.abs(memo[top].value.data))
        own, (most, off) = aligned(Named(known.value.names, reach), known.error)
        return Named(own, factor * (1 if above else 2) * PRODUCT * w() * (most + off))
    names: tuple[str, ...] = ()
    parts = summands(arg)
    rounded = roundings(len(parts)) * w()
    total: Array = np.asarray(rounded * constants(arg))
    for factor, part in parts:
        if part in memo:
            size = np.abs(np.where(np.isneginf(memo[part].value.data), 0.0, memo[part].value.data))
            names, (total, more) = aligned(Named(names, total), Named(memo[part].value.names, size))
            total = total + rounded * abs(factor) * more
    return Named(names, total)


def roundings(parts: int) -> float:
    """Return how often a part of an argument is rounded where it is added up, and where the maximum that it is relative
    to was.

    Each time its factor, its product with that, and once for every part that is added; the last digits included.
    """
    return 1.01 * (2 * (2 + parts - 1))


def dominated(arg: Term) -> tuple[float, Term] | None:
    """Return a factor c > 0 and a maximum of b over an axis, if an argument is c b less c times that maximum; else
    None.

    What is computed of it is then 0 at most, but for roundings and for what two computations of b may differ by.
    """
    parts = atoms(arg)
    tops = [t for t in parts if isinstance(t, (Reduce, Fold)) and t.monoid == "max" and parts[t] < 0]
    if len(tops) != 1:
        return None
    top = tops[0]
    factor = -parts.pop(top)
    inner = atoms(top.body)
    same = inner.keys() == parts.keys() and all(
        abs(parts[t] - factor * k) <= 1e-12 * abs(parts[t]) for t, k in inner.items()
    )
    return (factor, top) if same else None


def _in_memory(term: Term) -> bool:
    """Tell whether a value is read, so that whoever reads it has the same number."""
    while isinstance(term, (Read, Proj, Group, Walk)):
        term = term.body
    return isinstance(term, (Input, Store))


def overflowing(term: Term, limit: float) -> list[Term]:
    """Return the exponentials of a term whose exponents may pass a limit, as nothing that is known of them says
    otherwise.
    """
    exponentials = [t for t in subterms(term) if isinstance(t, Map) and t.op == "exp" and not opened(t)]
    return [t for t in exponentials if interval(t.args[0])[1] > limit and not dominated(t.args[0])]


def atoms(term: Term, factor: float = 1.0, found: dict[Term, float] | None = None) -> dict[Term, float]:
    """Return a term as a sum of others, each with its constant factor."""
    found = {} if found is None else found
    if isinstance(term, Map) and term.op == "add":
        for arg in term.args:
            atoms(arg, factor, found)
    elif isinstance(term, Map) and term.op == "neg":
        atoms(term.args[0], -factor, found)
    elif isinstance(term, Map) and term.op == "mul" and any(isinstance(a, Const) for a in term.args):
        number, other = term.args if isinstance(term.args[0], Const) else term.args[::-1]
        atoms(other, factor * number.value, found)
    else:
        found[term] = found.get(term, 0.0) + factor
    return found


def summands(term: Term, factor: float = 1.0) -> list[tuple[float, Term]]:
    """Return the parts that a kernel adds up where a term stands, each with its factor: as the lowering takes sums
    apart.
    """
    if isinstance(term, Map) and term.op == "add":
        each = (summands(arg, factor) if spreads(factor, arg) else [(factor, arg)] for arg in term.args)
        return [part for parts in each for part in parts]
    if isinstance(term, Map) and term.op == "neg":
        return summands(term.args[0], -factor)
    if isinstance(term, Map) and term.op == "where" and term.kind == "real":
        inner = [part for arg in term.args[1:] for part in summands(arg, factor)]
        return inner if len(inner) > 2 else [(factor, term)]
    if isinstance(term, Map) and term.op == "mul" and any(isinstance(a, Const) for a in term.args):
        number, other = term.args if isinstance(term.args[0], Const) else term.args[::-1]
        inner = summands(other, factor * number.value) if spreads(factor * number.value, other) else []
        return inner if len(inner) > 1 else [(factor, term)]
    return [] if isinstance(term, Const) else [(factor, term)]


def constants(term: Term, factor: float = 1.0) -> float:
    """Return the magnitudes of the numbers that a kernel adds up where a term stands, all together."""
    if isinstance(term, Map) and term.op in ("add", "neg"):
        return sum(constants(arg, factor) for arg in term.args if spreads(factor, arg))
    if isinstance(term, Map) and term.op == "mul" and any(isinstance(a, Const) for a in term.args):
        number, other = term.args if isinstance(term.args[0], Const) else term.args[::-1]
        return constants(other, factor * number.value) if spreads(factor * number.value, other) else 0.0
    return abs(factor * float(term.value)) if isinstance(term, Const) and term.value != ABSENT else 0.0


def _falling(arg: Checked) -> Range:
    assert arg.low is not None and arg.high is not None
    names, (low, high) = aligned(arg.low, arg.high)
    with np.errstate(all="ignore"):
        most = np.where(low > 0, (1 + K * w()) / low + flushed(), np.inf)
        least = np.where(high > 0, (1 - K * w()) / high - flushed(), -np.inf)
    return Named(names, np.where(low > 0, least, -np.inf)), Named(names, most)


def _logarithm(arg: Checked, found: Checked) -> Range:
    assert arg.low is not None and arg.high is not None
    names, (low, high, value) = aligned(arg.low, arg.high, found.value)
    with np.errstate(all="ignore"):
        ends = np.log(np.maximum(low, 0.0)), np.log(np.maximum(high, 0.0))
        off = [K * w() * (np.abs(end) + 1) for end in ends]
    return Named(names, np.where(low > 0, ends[0] - off[0], -np.inf)), Named(
        names, np.where(low > 0, ends[1] + off[1], np.inf)
    )


def _product(args: list[Checked]) -> Range:
    limits = [limit for arg in args for limit in (arg.low, arg.high) if limit is not None]
    names, (a, most_a, b, most_b) = aligned(*limits)
    sure = (a >= 0) & (b >= 0)
    with np.errstate(all="ignore"):
        least, most = a * b * (1 - K * w()) - flushed(), most_a * most_b * (1 + K * w()) + flushed()
    return Named(names, np.where(sure, np.maximum(least, 0.0), -np.inf)), Named(
        names, np.where(sure, np.nan_to_num(most, nan=np.inf), np.inf)
    )


def _choice(args: list[Checked]) -> Range:
    ends = []
    for side in (0, 1):
        limits = []
        for arg in args[1:]:
            limit = (arg.low, arg.high)[side]
            if limit is None:
                names, (value, error) = aligned(arg.value, arg.error)
                limit = Named(names, value + (2 * side - 1) * error)
            limits.append(limit)
        names, (mask, one, other) = aligned(args[0].value, *limits)
        ends.append(Named(names, np.where(mask, one, other)))
    return ends[0], ends[1]


def _total(term: Term, memo: Mapping[Term, Checked], length: int, added: float, moves: Named | None) -> Range:
    axis, body, mask = term.axis.name, memo[term.body], memo[term.where].value
    assert body.low is not None and body.high is not None
    over = dominated(term.body.args[0]) if isinstance(term.body, Map) and term.body.op == "exp" else None
    # A stream computes what it is the maximum of once.
    once = (
        over is not None
        and isinstance(term, Online)
        and term.fused
        and over[1].axis == term.axis
        and over[1].where is term.where
    )
    limits = _exponential(term.body, memo, body, True) if once else (body.low, body.high)
    names, (low, high) = aligned(*limits)
    known = np.isfinite(low) & np.isfinite(high)
    low, high = np.where(known, low, 0.0), np.where(known, high, 0.0)
    counted = low, high, np.maximum(np.abs(low), np.abs(high)), low < 0, ~known
    sums = [fold("sum", axis, length, Named(names, part.astype(np.float64)), mask) for part in counted]
    joined, (least, most, sizes, below, unknown, moved) = aligned(*sums, moves or Named((), np.zeros(())))
    off = added + moved
    # Adding is off relative to what the summands are, which is more than what they come to where some are below zero.
    least, most = np.where(below > 0, least - off * sizes, least * np.maximum(1 - off, 0.0)), most + off * sizes
    if over is not None and over[1].axis == term.axis and over[1].where is term.where:
        # The lane that is the maximum counts 1, but for roundings; unless there is none.
        factor, top = over
        factor = 0.0 if once or _in_memory(top.body) else factor
        both, (rough, own) = aligned(slack(term.body.args[0], memo, True), memo[top.body].error)
        apart = 2 * factor * own if factor else 0.0
        worst = fold("max", axis, length, Named(both, rough + apart), mask)
        some = fold("max", axis, length, memo[top.body].value, mask)
        # Relative to the maximum of the lanes so far, which may be any of them, exponentials are no larger than this
        # before they are rescaled.
        bodies, (size, e) = aligned(memo[top.body].value, memo[top.body].error)
        size = np.where(np.isneginf(size), 0.0, np.abs(size)) + e
        running = fold("max", axis, length, Named(bodies, over[0] * PRODUCT * w() * size if once else 0.0 * size), mask)
        ends = (Named(joined, end) for end in (least, most, unknown, off + 0.0 * least))
        joined, (least, most, unknown, off, far, seen, rough) = aligned(*ends, worst, some, running)
        unknown = unknown + (np.exp(rough) * length >= largest())
        least = np.maximum(
            least, np.where(np.isfinite(seen), np.exp(-far) * np.maximum(1 - off, 0.0) * (1 - 4 * K * w()), 0.0)
        )
    return Named(joined, np.where(unknown > 0, -np.inf, least)), Named(joined, np.where(unknown > 0, np.inf, most))
