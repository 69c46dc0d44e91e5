"""Terms in the form that inferences read: an e-graph infers of classes, a certificate of terms as they are written.

    Shapes(firings, number).of(term)    an equal term, its parts written as the inferences that fired have them

A firing is an inference with what its variables stood for. `number` gives a term's class: equal terms have equal numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from napkin_eq.axis import Axis
from napkin_eq.errors import NapkinError
from napkin_eq.judge import substitute
from napkin_eq.law import Inference, Judgment
from napkin_eq.term import Term, rebuilt, subterms

MADE = {("scales", 2), ("moves", 3)}  # judgment arguments that inferences make, where the others are what they are asked of
READ = ("null", "scales", "moves")  # judgments of terms of some form, each of which may rest on those before it
Firing = tuple[Inference, Mapping[str, Axis | Term]]


class Shapes:
    """Of each class one term, the first that an inference reads."""

    def __init__(self, firings: Iterable[Firing], number: Callable[[Term], int]) -> None:
        self.number = number
        self.read: list[Term] = []
        for rule, bindings in sorted(firings, key=_order):
            known = self._known()
            given = {name: self._of(v, known) if isinstance(v, Term) else v for name, v in bindings.items()}
            for judgment in (*rule.premises, rule.conclusion):
                self._enter(judgment, given)

    def of(self, term: Term) -> Term:
        """Return an equal term in the forms that were read."""
        return self._of(term, self._known())

    def _enter(self, judgment: Judgment, given: Mapping[str, Axis | Term]) -> None:
        asked = [a for place, a in enumerate(judgment.args) if (judgment.name, place) not in MADE]
        for pattern in (a for a in asked if isinstance(a, Term)):
            try:
                self.read += subterms(substitute(pattern, given))
            except NapkinError:
                continue  # what stands for it does not fit there any more

    def _known(self) -> dict[int, Term]:
        known: dict[int, Term] = {}
        numbers = [(self.number(term), term) for term in dict.fromkeys(self.read)]
        for _, term in numbers:  # entering terms may have made classes one
            known.setdefault(self.number(term), term)
        return known

    def _of(self, term: Term, known: Mapping[int, Term]) -> Term:
        if (number := self.number(term)) in known:
            return known[number]
        return rebuilt(term, tuple(self._of(child, known) for child in term.children))


def _order(firing: Firing) -> tuple[int, int, str]:
    rule, bindings = firing
    depth = max((v.depth for v in bindings.values() if isinstance(v, Term)), default=0)
    return READ.index(rule.conclusion.name), depth, rule.name
