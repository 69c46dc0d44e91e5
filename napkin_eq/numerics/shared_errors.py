"""Errors that several values share: a computed value as its exact one, a polynomial in such errors, and what else it is
off by.

A mean that is off by d is off by the same d in every lane that it is subtracted from. So Σ (a - m - d)(b - n - e) is
off by d e for each lane and not by d Σ |b - n|: the sums that d and e are multiplied by are 0. A bound that takes each
lane by itself cannot see that.

A `Form` says that what is computed of a value v is v + Σ c_μ d^μ + r: the d_s are shared errors, |d_s| at most most[s],
each μ a product of some, and |r| at most `own`. Sums and products of values are sums and products of their forms; other
operators have none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from napkin_eq.lang.numpy_semantics import Array, Named, aligned, contraction, fold
from napkin_eq.lang.term import Const, Map, Term, subterms

Monomial = tuple[int, ...]
Ends = tuple[tuple[str, int], ...]
Signed = tuple[float, int]
# Products of more errors than that, and of a form the longest past so many, are bounded and not kept apart.
DEGREE, TERMS = 4, 40
SLACK = 2.0**-48  # what is left where bounds computed in float64 are subtracted from each other


@dataclass(frozen=True, slots=True)
class Form:
    """A value as computed: the factors of the products of shared errors, each by the numbers of these, and what else it
    is off by.
    """

    parts: Mapping[Monomial, Named]
    own: Named


@dataclass(slots=True)
class Errors:
    """The shared errors that are known, by what they are of, and how large each may be."""

    numbers: dict[object, int] = field(default_factory=dict)
    most: list[Named] = field(default_factory=list)
    ends: list[Ends] = field(default_factory=list)
    written: dict[Term, Signed] = field(default_factory=dict)
    alike: dict[object, int] = field(default_factory=dict)

    def signed(self, root: Term) -> Signed:
        """Return a number that terms share which are computed alike but for their sign, and the sign.

        To change a sign is exact, and so is the order of two factors or summands: what is rounded is the same.
        """
        for term in subterms(root) if root not in self.written else ():
            if term not in self.written:
                self.written[term] = self._signed(term)
        return self.written[root]

    def _signed(self, term: Term) -> Signed:
        if isinstance(term, Const) and term.kind == "real" and -np.inf < term.value < 0:
            return -1.0, self._number(Const(-term.value))
        if not isinstance(term, Map) or term.op not in ("neg", "mul", "inv", "add"):
            return 1.0, self._number(term)
        args = sorted((self.written[arg] for arg in term.args), key=lambda signed: signed[1])
        if term.op == "neg":
            return -args[0][0], args[0][1]
        numbers, first, last = tuple(number for _, number in args), args[0][0], args[-1][0]
        if term.op == "add":
            return first, self._number(("add", first == last, numbers))
        return first if len(args) == 1 else first * last, self._number((term.op, numbers))

    def _number(self, key: object) -> int:
        return self.alike.setdefault(key, len(self.alike))

    def of(self, ends: Ends, key: object, most: Named) -> Form:
        """Return the form of a value that is off by one shared error, which it is to be known by; ends: of the axes in
        whose prefix it is.
        """
        if (ends, key) not in self.numbers:
            self.numbers[ends, key] = len(self.most)
            self.most.append(most)
            self.ends.append(ends)
        return Form({(self.numbers[ends, key],): Named((), np.ones(()))}, Named((), np.zeros(())))

    def size(self, monomial: Monomial, factor: Named) -> Named:
        """Return how large a product of shared errors may be, times its factor."""
        found = Named(factor.names, np.abs(factor.data))
        for number in monomial:
            found = times(found, self.most[number])
        return found

    def total(self, form: Form) -> Named:
        """Return how far off a form may be in all."""
        return plus(form.own, *(self.size(monomial, factor) for monomial, factor in form.parts.items()))

    def shared(self, form: Form) -> Named:
        """Return how far off the polynomial of a form may be."""
        return plus(*(self.size(monomial, factor) for monomial, factor in form.parts.items()))

    def kept(self, form: Form, among: set[int] | None = None) -> Form:
        """Return a form with fewer parts, the rest counted among what else it is off by: of the errors `among` only,
        and not too many.
        """
        order = sorted(form.parts, key=lambda m: (len(m), m))
        near = [m for m in order if len(m) <= DEGREE and (among is None or among.issuperset(m))][:TERMS]
        dropped = [self.size(m, form.parts[m]) for m in order if m not in near]
        return Form({m: form.parts[m] for m in near}, plus(form.own, *dropped)) if dropped else form


def plus(*values: Named) -> Named:
    """Return a sum; what is no number is taken for unbounded."""
    names, arrays = aligned(*values)
    found = np.asarray(sum(arrays[1:], arrays[0])) if arrays else np.zeros(())
    return Named(names, np.where(np.isnan(found), np.inf, found))


def times(a: Named, b: Named) -> Named:
    """Return a product; 0 times what is unbounded is no number."""
    names, (x, y) = aligned(a, b)
    return Named(names, np.asarray(x * y))


def scaled(form: Form, factor: float) -> Form:
    """Return the form of a value times 1 or -1."""
    return Form({m: Named(c.names, factor * c.data) for m, c in form.parts.items()}, form.own)


def added(forms: Sequence[Form], rest: Named) -> Form:
    """Return the form of a sum; rest: what adding is off by."""
    parts: dict[Monomial, Named] = {}
    for form in forms:
        for monomial, factor in form.parts.items():
            parts[monomial] = plus(parts[monomial], factor) if monomial in parts else factor
    return Form(parts, plus(*(form.own for form in forms), rest))


def multiplied_forms(errors: Errors, values: Sequence[Named], forms: Sequence[Form], rest: Named) -> Form:
    """Return the form of a product of two; rest: what multiplying is off by."""
    (a, b), (f, g) = values, forms
    parts: dict[Monomial, Named] = {}
    for monomial, x, y in _pairs(a, b, f, g):
        found = times(x, y)
        parts[monomial] = plus(parts[monomial], found) if monomial in parts else found
    own = plus(*(times(x, y) for x, y in _owns(errors, a, b, f, g)), rest)
    return errors.kept(Form(parts, own))


def summed(errors: Errors, axis: str, length: int, form: Form, kept: Named | None, rest: Named) -> Form:
    """Return the form of a sum over an axis; an error that is not the same along it is not shared any more."""
    parts, own = {}, [fold("sum", axis, length, form.own, kept), rest]
    for monomial, factor in form.parts.items():
        if any(axis in errors.most[number].names for number in monomial):
            own.append(fold("sum", axis, length, errors.size(monomial, factor), kept))
        else:
            parts[monomial] = fold("sum", axis, length, factor, kept)
    return Form(parts, plus(*own))


def contracted(
    errors: Errors,
    axis: str,
    length: int,
    values: Sequence[Named],
    forms: Sequence[Form],
    kept: Named | None,
    rest: Named,
) -> Form:
    """Return the form of a sum of products over an axis, products formed only where no matrix product will do."""
    (a, b), (f, g) = values, forms
    parts: dict[Monomial, Named] = {}
    own = [over(axis, length, x, y, kept) for x, y in _owns(errors, a, b, f, g)]
    for monomial, x, y in _pairs(a, b, f, g):
        if any(axis in errors.most[number].names for number in monomial):
            own.append(fold("sum", axis, length, errors.size(monomial, times(x, y)), kept))
            continue
        found = over(axis, length, x, y, kept)
        parts[monomial] = plus(parts[monomial], found) if monomial in parts else found
    return errors.kept(Form(parts, plus(*own, rest)))


def over(axis: str, length: int, a: Named, b: Named, kept: Named | None) -> Named:
    """Sum products over an axis, by a matrix product where that can be formed."""
    whole = all(axis in v.names and v.data.shape[v.names.index(axis)] == length for v in (a, b))
    found = contraction(axis, a, b, kept) if whole else None
    return fold("sum", axis, length, times(a, b), kept) if found is None else found


def _pairs(a: Named, b: Named, f: Form, g: Form) -> list[tuple[Monomial, Named, Named]]:
    """Return the products of shared errors in a product of two values, each with its two factors."""
    left, right = {(): a, **f.parts}, {(): b, **g.parts}
    return [(tuple(sorted(m + n)), x, y) for m, x in left.items() for n, y in right.items() if m or n]


def _owns(errors: Errors, a: Named, b: Named, f: Form, g: Form) -> list[tuple[Named, Named]]:
    """Return what adds up to the rest of a product: the rest of each value times the size of the other."""
    sizes = [plus(Named(v.names, size(v.data)), errors.shared(form)) for v, form in ((a, f), (b, g))]
    return [(sizes[0], g.own), (f.own, sizes[1]), (f.own, g.own)]


def size(data: Array) -> Array:
    """Return the magnitudes of numbers, 0 of what is absent."""
    return np.where(np.isneginf(data), 0.0, np.abs(data))


@dataclass(frozen=True, slots=True)
class Checked:
    """A value with its bound, each with names for its axes; the bound of a mask is 1 where it is uncertain.

    low, high: between which numbers what is computed lies, where more is known of that (ranges.py). form: what of the
    error is shared with other values, where some is (Form); `error` bounds all of it.
    """

    value: Named
    error: Named
    low: Named | None = None
    high: Named | None = None
    form: Form | None = None

    @property
    def apart(self) -> Named:
        """What the value is off by, but for what it shares with others."""
        return self.error if self.form is None else self.form.own
