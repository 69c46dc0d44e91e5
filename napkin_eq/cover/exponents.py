"""Exponentials that their own sum divides, and that several kernels compute: the sum goes into their exponents.

What folds such weights over an axis that their sum has reads for each its maximum and its sum. e^(a - m) / s is
e^(a - (m + log s)): one number a lane is stored and read where two were, and an operation a weight is spared. The form
is made here, not found in an e-graph; a chain of law instances leads to it.
"""

from __future__ import annotations

from collections.abc import Sequence

from napkin_eq.egraph.budget import Budget
from napkin_eq.egraph.congruence import Closure
from napkin_eq.lang.term import Map, Reduce, Term, Tuple, rebuilt, subterms
from napkin_eq.search.job import Laws, Rewritten

LAWS = frozenset(("exp-over", "add-associates", "mul-commutes"))


def weights(outputs: Sequence[Term]) -> frozenset[Term]:
    """Return the sums of weights that are made when all that divides them is known: over an axis along which their own
    sum varies; if there are any, also those that read what such weights came to.

    A sum of weights by itself is none: it is carried along with the sum that divides it.
    """
    folds = [
        (fold, total)
        for fold in subterms(*outputs)
        if isinstance(fold, Reduce) and fold.monoid == "sum"
        for _, total in map(_weight, _straight(fold.body))
        if total is not None
    ]
    first = [fold for fold, total in folds if fold.axis in total.axes]
    return frozenset(first + [fold for fold, total in folds if first and _later(fold, total)])


def _later(fold: Reduce, total: Term) -> bool:
    """Tell whether a sum reads another one over its axis that the sum that divides its weights is part of."""
    read = [t for part in _straight(fold.body) for t in part.children if isinstance(t, Reduce)]
    return any(t is not total and t.axis == fold.axis and total in subterms(t) for t in read)


def absorbed(outputs: Sequence[Term], laws: Laws, budget: Budget) -> Rewritten | None:
    """Return outputs that fold weights with their sums in the exponents, and the chain that leads there; None where
    there are none, or where a law that it takes is left out.
    """
    if not (folds := weights(outputs)):
        return None
    closure = laws.closure(budget)
    if not closure.laws.keys() >= LAWS:
        return None
    source = outputs[0] if len(outputs) == 1 else Tuple(tuple(outputs))
    made: dict[Term, Term] = {}
    closure.add(source)
    for term in subterms(source):
        made[term] = rebuilt(term, tuple(made[child] for child in term.children))
        if term in folds:
            fold = made[term]
            assert isinstance(fold, Reduce)
            body = _entered(fold.body, closure)
            made[term] = Reduce(fold.monoid, fold.axis, body, fold.where)
    return None if made[source] is source else Rewritten.of(closure, source, made[source])


def _weight(term: Term) -> tuple[Term | None, Term | None]:
    """Return the exponential and the sum of a quotient of them; nothing of other terms."""
    if isinstance(term, Map) and term.op == "mul":
        for exp, over in (term.args, term.args[::-1]):
            if isinstance(exp, Map) and exp.op == "exp" and isinstance(over, Map) and over.op == "inv":
                total = over.args[0]
                if isinstance(total, Reduce) and total.monoid == "sum" and set(total.axes) < set(exp.axes):
                    return exp, total
    return None, None


def _straight(body: Term) -> list[Term]:
    """Return the operators of a body under no fold of its own."""
    found, waiting = dict[Term, None](), [body]
    while waiting:
        term = waiting.pop()
        if isinstance(term, Map) and term not in found:
            found[term] = None
            waiting += term.args
    return list(found)


def _entered(body: Term, closure: Closure) -> Term:
    """Return a body with the sums of its weights in their exponents, every instance entered."""
    made: dict[Term, Term] = {}
    straight = set(_straight(body))
    for term in subterms(body):
        if term not in straight:
            made[term] = term
            continue
        assert isinstance(term, Map)
        made[term] = rebuilt(term, tuple(made[child] for child in term.args))
        exp, total = _weight(term)
        if exp is None or total is None:
            continue
        assert isinstance(exp, Map)
        if term.args[0] is not exp:
            closure.instance("mul-commutes", True, zip("ab", term.args, strict=True))
        a = exp.args[0]
        if closure.instance("exp-over", True, {"a": a, "b": total}):
            less = Map("neg", (Map("log", (total,)),))
            made[term] = Map("exp", (_gathered(a, less, closure),))
    return made[body]


def _gathered(a: Term, less: Term, closure: Closure) -> Term:
    """Return a sum with what is added to it put to the part of it that varies along no more axes."""
    if isinstance(a, Map) and a.op == "add" and set(a.args[1].axes) <= set(less.axes):
        closure.instance("add-associates", True, {"a": a.args[0], "b": a.args[1], "d": less})
        return Map("add", (a.args[0], Map("add", (a.args[1], less))))
    return Map("add", (a, less))


__all__ = ["absorbed", "weights"]
