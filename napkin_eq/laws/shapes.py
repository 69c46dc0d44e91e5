"""Terms in the form that inferences read: an e-graph infers of classes, a certificate of terms as they are written.

    Shapes(firings, number, merges, first).of(term)    an equal term, its parts written as the inferences that fired
                                                       have them

A firing is an inference with what its variables stood for. `number` gives a term's class: equal terms have equal
numbers, which change only as classes become one; `merges` counts how often they did. Terms of `first` are taken before
those that were read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from napkin_eq.lang.axis import Axis
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.term import Term, rebuilt, subterms
from napkin_eq.laws.inference import substitute
from napkin_eq.laws.law import Inference, Judgment

# Judgment arguments that inferences make, where the others are what they are asked of
MADE = {("scales", 2), ("moves", 3)}
READ = ("null", "le", "scales", "moves")  # judgments of terms of some form, each of which may rest on those before it
Firing = tuple[Inference, Mapping[str, Axis | Term]]


class Shapes:
    """Of each class one term, the first that an inference reads."""

    def __init__(
        self,
        firings: Iterable[Firing],
        number: Callable[[Term], int],
        merges: Callable[[], int],
        first: Iterable[Term] = (),
    ) -> None:
        self.number, self.merges = number, merges
        self.read: dict[Term, None] = dict.fromkeys(first)
        self.known: dict[int, Term] = {}
        self._waiting: list[Term] = list(self.read)  # read, and not yet known
        self._merged = merges()
        for rule, bindings in sorted(firings, key=_order):
            self._learn()
            given = {name: self._of(v) if isinstance(v, Term) else v for name, v in bindings.items()}
            for judgment in (*rule.premises, rule.conclusion):
                self._enter(judgment, given)

    def of(self, term: Term) -> Term:
        """Return an equal term in the forms that were read."""
        self._learn()
        return self._of(term)

    def inside(self, term: Term) -> Term:
        """Return an equal term made by the same operator, of parts in the forms that were read."""
        self._learn()
        return rebuilt(term, tuple(self._of(child) for child in term.children))

    def _enter(self, judgment: Judgment, given: Mapping[str, Axis | Term]) -> None:
        asked = [a for place, a in enumerate(judgment.args) if (judgment.name, place) not in MADE]
        for pattern in (a for a in asked if isinstance(a, Term)):
            try:
                parts = subterms(substitute(pattern, given))
            except NapkinError:
                continue  # what stands for it does not fit there any more
            new = [part for part in parts if part not in self.read]
            self.read |= dict.fromkeys(new)
            self._waiting += new

    def _learn(self) -> None:
        """Know the terms read since; where classes became one, also by entering these, all of them anew."""
        while self._waiting or self.merges() != self._merged:
            if self.merges() != self._merged:
                self._merged, self.known, self._waiting = self.merges(), {}, list(self.read)
            waiting, self._waiting = self._waiting, []
            for term in waiting:
                self.known.setdefault(self.number(term), term)

    def _of(self, term: Term) -> Term:
        if (number := self.number(term)) in self.known:
            return self.known[number]
        return rebuilt(term, tuple(self._of(child) for child in term.children))


def _order(firing: Firing) -> tuple[int, int, str]:
    rule, bindings = firing
    depth = max((v.depth for v in bindings.values() if isinstance(v, Term)), default=0)
    return READ.index(rule.conclusion.name), depth, rule.name
