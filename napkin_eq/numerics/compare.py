"""One output of a kernel held against its exact value and its bound; what a spoilt input must reach.

An element passes if it is no farther from the exact value than its bound; both are first held within the range of the
storage type, past which an element is infinite. An element without a bound passes, and is counted. An element that must
be spoilt, because it depends on an input that is NaN, passes only as NaN.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from napkin_eq.lang.dtypes import BY_NAME
from napkin_eq.lang.evaluate import bound_sizes
from napkin_eq.lang.numpy_semantics import Array, Named, Run, aligned, broadcast, fold, read, scan
from napkin_eq.lang.term import Input, Map, Proj, Read, Recur, Reduce, Scan, Term, subterms
from napkin_eq.numerics.roundoff import STORAGE


@dataclass(frozen=True, slots=True)
class Compared:
    """One output: the largest error and the largest part of a bound used, over elements that have one, and how many
    have none.

    looseness: root mean square of the bound over that of the error, over bounded elements, an element's error counting
    for no less than half a roundoff of the storage type; 0 where there is none.
    """

    max_error: float
    bound_used: float
    looseness: float
    elements: int
    unbounded: int


def compare(got: Any, exact: Any, bound: Any, dtype: str, must: Any = None) -> Compared:
    """Compare what a kernel gave with the exact values; dtype: the storage type of the output, "" for integers and
    masks.
    """
    got, exact = np.asarray(got, np.float64), np.asarray(exact, np.float64)
    if dtype:
        held, wanted = (
            np.where(
                np.isneginf(exact) & ~BY_NAME[dtype].finite, a, np.clip(a, -BY_NAME[dtype].top, BY_NAME[dtype].top)
            )
            for a in (got, exact)
        )
    else:
        held, wanted = got, exact
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        off = np.where(held == wanted, 0.0, np.abs(held - wanted))
        off = np.where(np.isnan(off), np.inf, off)
        # What must be NaN is checked without a bound.
        known = np.broadcast_to(np.isfinite(bound), off.shape)
        unbounded = int((~known & ~(False if must is None else must)).sum())
        part = np.where(off == 0, 0.0, np.where(known, off / bound, 0.0))
        if must is not None:
            part = np.where(must & ~np.isnan(got), np.inf, part)
        sure = known & np.isfinite(off)
        # A result that happens to be a number of the type says nothing of the bound, which cannot know that it is one.
        unit, least = STORAGE.get(dtype, (0.0, 0.0))
        seen = np.maximum(off, (unit * np.where(np.isneginf(exact), 0.0, np.abs(exact)) + least) / 2)
        rms = [
            float(np.sqrt(np.mean(np.square(a[sure])))) if sure.any() else 0.0
            for a in (seen, np.broadcast_to(bound, off.shape))
        ]
    used = float(np.nan_to_num(part, nan=np.inf, posinf=np.inf).max(initial=0.0))
    return Compared(
        float(np.where(known, off, 0.0).max(initial=0.0)), used,
        rms[1] / rms[0] if rms[0] else 0.0, off.size, unbounded,
    )  # fmt: skip


def must_spoil(
    term: Term, clean: Mapping[str, Any], sizes: Mapping[str, int], spoilt: Mapping[str, Any], order: Sequence[str]
) -> Array:
    """Return which elements of a diagram's output are NaN whenever the spoilt input elements are.

    Certain only: a maximum may drop NaN, as it does on a GPU, and 0 times NaN may be left out, as where a mask skips a
    tile.
    """
    run = Run(term, clean, bound_sizes(term, clean, sizes), 2**40, "float64")
    taint: dict[Term, Named] = {}
    with np.errstate(all="ignore"):
        for part in subterms(term):
            taint[part] = _taint(part, taint, run, spoilt)
    names, (found,) = aligned(taint[term], also=tuple(order))
    full = np.broadcast_to(found, [run.length(name) for name in names])
    return np.array(full.transpose([names.index(name) for name in order]), order="C")


def _taint(term: Term, taint: Mapping[Term, Named], run: Run, spoilt: Mapping[str, Any]) -> Named:
    clear = Named((), np.zeros((), bool))
    if isinstance(term, Input):
        value = run.inputs[term]
        if term.name not in spoilt:
            return clear
        names = tuple(axis.name for axis in term.dims)
        return Named(value.names, np.asarray(spoilt[term.name]).transpose([names.index(name) for name in value.names]))
    if isinstance(term, Map):
        return _mapped(term, [taint[arg] for arg in term.args], run)
    if isinstance(term, Read):
        body = _spread(taint[term.body], run.top.value(term.body))
        return read(body, term.axis.name, run.top.value(term.index))
    if isinstance(term, Recur):  # the first gain may be left out
        found = scan("sum", term.axis.name, run.length(term.axis.name), _counts(taint[term.body]))
        return Named(found.names, found.data > 0)
    if isinstance(term, (Reduce, Scan)) and term.monoid == "sum":
        length = run.length(term.axis.name)
        if isinstance(term, Scan):
            counts = scan("sum", term.axis.name, length, _counts(taint[term.body]))
        else:
            doubt, kept = taint[term.where], run.top.value(term.where)
            names, (unsure, sure) = aligned(doubt, kept)
            counts = fold("sum", term.axis.name, length, _counts(taint[term.body]), Named(names, sure & ~unsure))
        return Named(counts.names, counts.data > 0)
    return taint[term.item] if isinstance(term, Proj) else clear


def _counts(taint: Named) -> Named:
    return Named(taint.names, taint.data.astype(np.float64))


def _spread(taint: Named, like: Named) -> Named:
    names, (found, value) = aligned(taint, like)
    return Named(names, broadcast(found, value)[0])


def _mapped(term: Term, args: list[Named], run: Run) -> Named:
    """Of a choice: what is chosen; of a product: unless it is by 0; of max and min: if all are; else if any is. A mask
    made of it is in doubt.
    """
    names, arrays = aligned(*args, *(run.top.value(arg) for arg in term.args))
    spoilt, values = arrays[: len(args)], arrays[len(args) :]
    if term.op == "where":
        found = np.where(spoilt[0], spoilt[1] & spoilt[2], np.where(values[0], spoilt[1], spoilt[2]))
    elif term.op == "mul":
        found = (spoilt[0] & (spoilt[1] | (values[1] != 0))) | (spoilt[1] & (spoilt[0] | (values[0] != 0)))
    else:
        joined = np.logical_and if term.op in ("max", "min") else np.logical_or
        found = spoilt[0] if len(args) == 1 else joined(*spoilt[:2])
    return Named(names, np.asarray(found))
