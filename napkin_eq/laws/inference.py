"""Which judgments hold of concrete terms: backward chaining over the registered inferences, and the facts that need
none.

Every answer is a derivation that `check.py` re-validates. Unknown is no: the search has limits, and gives None beyond
them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from napkin_eq.lang.axis import Axis
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.interval import interval
from napkin_eq.lang.scope import opened
from napkin_eq.lang.term import (
    Acc,
    Const,
    Fold,
    Index,
    Input,
    Length,
    Map,
    Online,
    Read,
    Reduce,
    Scan,
    Size,
    Term,
    held,
    rewritten,
    subterms,
)
from napkin_eq.laws.axis_split import is_stretch
from napkin_eq.laws.law import JUDGMENTS, Inference, Judgment, Var

Bindings = Mapping[str, Axis | Term]
Goal = tuple[str, tuple[Axis | Term | None, ...]]  # None: an argument that the search is to find

BASE, PLAIN, INTERVAL = "base", "plain", "interval"
SAFE = 60.0
DEPTH, SOLUTIONS, WORK = 120, 8, 5_000
SIGNS = ("pos", "nonneg", "nonzero", "finite")
_OVER = (Reduce, Fold, Online, Scan, Read, Size)


@dataclass(frozen=True, slots=True)
class Derivation:
    """A proof that a judgment holds: the rule's name, its substitution and the proofs of its premises.

    Rule "base": a fact read off the term; "plain": proved of the term without Store, Group, Walk and items of a Tuple
    and with Reduce for Fold, which are the same value; "interval": by bounds on the value; otherwise the name of an
    inference.
    """

    judgment: Judgment
    rule: str
    bindings: tuple[tuple[str, Axis | Term], ...] = ()
    premises: tuple[Derivation, ...] = ()


def fits(sort: str, term: Term) -> bool:
    """Tell whether a pattern variable of this sort may stand for the term."""
    if sort == "number":
        return isinstance(term, Const) and term.kind == "real" and math.isfinite(term.value)
    return term.kind == sort


def match(pattern: Axis | Term, value: Axis | Term, bindings: Bindings) -> dict[str, Axis | Term] | None:
    """Return the bindings extended so that the pattern becomes the value, or None; an axis in a pattern
    stands for any.
    """
    found = dict(bindings)
    stack: list[tuple[Any, Any]] = [(pattern, value)]
    while stack:
        part, other = stack.pop()
        if isinstance(part, Axis):
            if not isinstance(other, Axis) or found.setdefault(part.name, other) != other:
                return None
        elif isinstance(part, Var):
            if (
                not isinstance(other, Term)
                or not fits(part.sort, other)
                or found.setdefault(part.name, other) is not other
            ):
                return None
        elif not isinstance(part, Term):
            if part != other:
                return None
        elif type(part) is not type(other):
            return None
        elif isinstance(part, Const):
            if part is not other:
                return None
        else:
            for mine, its in zip(part.fields, other.fields, strict=True):
                if isinstance(mine, tuple):
                    if len(mine) != len(its):
                        return None
                    stack.extend(zip(mine, its, strict=True))
                else:
                    stack.append((mine, its))
    return found


def substitute(pattern: Term, bindings: Bindings) -> Term:
    """Return the pattern with every variable and axis replaced; raise NapkinError for one that is not bound or does not
    fit.
    """
    if isinstance(pattern, Var):
        value = _bound(pattern.name, bindings)
        if not isinstance(value, Term) or not fits(pattern.sort, value):
            raise NapkinError(f"{pattern.name} stands for {value}, expected a {pattern.sort} term")
        return value
    return type(pattern)(*(_field(f, bindings) for f in pattern.fields))


def _field(field: Any, bindings: Bindings) -> Any:
    if isinstance(field, Term):
        return substitute(field, bindings)
    if isinstance(field, tuple):
        return tuple(_field(f, bindings) for f in field)
    if isinstance(field, Axis):
        value = _bound(field.name, bindings)
        if not isinstance(value, Axis):
            raise NapkinError(f"{field.name} stands for {value}, expected an axis")
        return value
    return field


def _bound(name: str, bindings: Bindings) -> Axis | Term:
    if name not in bindings:
        raise NapkinError(f"pattern variable {name} is not bound; bound are {', '.join(sorted(bindings)) or 'none'}")
    return bindings[name]


def names_in(part: Axis | Term) -> frozenset[str]:
    """Return the names of the pattern variables in a pattern, axes included."""
    if isinstance(part, Axis):
        return frozenset((part.name,))
    if part not in _NAMES:
        own = {f.name for t in subterms(part) for f in t.fields if isinstance(f, Axis)}
        _NAMES[part] = frozenset(own | {t.name for t in subterms(part) if isinstance(t, Var)})
    return _NAMES[part]


_NAMES: dict[Term, frozenset[str]] = {}
_WALKED: dict[Term, frozenset[str]] = {}
_PLAIN: dict[Term, Term] = {}


def walked(term: Term) -> frozenset[str]:
    """Return the names of the axes that a term reduces, scans, reads along or counts the prefix of."""
    if term not in _WALKED:
        for part in subterms(term):
            if part not in _WALKED:
                own = (part.axis.name,) if isinstance(part, _OVER) else ()
                _WALKED[part] = frozenset(own).union(*(_WALKED[child] for child in part.children))
    return _WALKED[term]


def plain(term: Term) -> Term:
    """Return the term without Store, Group, Walk and items of a Tuple, and with Reduce for Fold: the same value."""
    if term not in _PLAIN:
        _PLAIN[term] = rewritten(term, _plain)
    return _PLAIN[term]


def _plain(term: Term) -> Term:
    return Reduce(term.monoid, term.axis, term.body, term.where) if isinstance(term, Fold) else held(term)


def _facts(term: Term) -> frozenset[str]:
    """Signs and presence as the leaf itself shows them."""
    if isinstance(term, Map) and term.op == "real":
        return _facts(term.args[0])
    if isinstance(term, Const) and term.kind != "bool":
        v = term.value
        return frozenset(
            n
            for n, true in (("pos", v > 0), ("nonneg", v >= 0), ("nonzero", v != 0), ("finite", True))
            if true and math.isfinite(v)
        )
    if isinstance(term, Input):
        implied = {"pos": ("pos", "nonneg", "nonzero"), "nonneg": ("nonneg",), "nonzero": ("nonzero",)}
        return frozenset(("finite", *(n for fact in term.facts for n in implied.get(fact, ()))))
    if isinstance(term, Length):
        return frozenset(SIGNS)
    if isinstance(term, Size):
        # Before a stream's first block it is 0, and all else has laws that hold there
        return frozenset(("pos", "nonzero"))
    if isinstance(term, Index):
        return frozenset(("nonneg", "finite"))
    if isinstance(term, Read):
        return _facts(term.body)
    return frozenset(("finite",) if term.kind in ("int", "bool") else ())


def _base(goal: Goal) -> Iterator[Judgment]:
    """Yield what holds of the terms themselves and matches the goal."""
    name, args = goal
    first, last = args[0], args[-1]
    true = False
    if name == "le" and (first is None) != (last is None):
        known = last if first is None else first
        yield Judgment(name, (known, known))  # type: ignore[arg-type]
    elif name == "along" and first is None and isinstance(last, Term):
        yield from (Judgment(name, (axis, last)) for axis in last.axes)
    elif isinstance(first, Axis) and isinstance(last, Axis):
        true = name == "distinct" and first.name != last.name
    elif isinstance(first, Axis) and isinstance(last, Term):
        if name == "free":  # an accumulator varies along axes that it does not show
            true = Acc not in opened(last) and all(a.name != first.name for a in last.axes)
        elif name == "along":
            true = any((a.name, a.size) == (first.name, first.size) for a in last.axes)
        elif name == "local":
            true = first.name not in walked(last) and not opened(last)
        elif name == "stretch":
            true = isinstance(args[1], Axis) and is_stretch(first, args[1], last)
    elif isinstance(last, Term):
        true = name in SIGNS and name in _facts(last) or name == "le" and first is last
    if true:
        yield Judgment(name, args)  # type: ignore[arg-type]


class Judge:
    """The search for derivations, its results remembered: `Judge(inferences).holds(judgment)`.

    placed: a term under Store, Group, Walk or Fold may be judged as what it holds. A certificate has no such rule: it
    rewrites.
    """

    def __init__(self, inferences: Iterable[Inference], placed: bool = True) -> None:
        self.placed = placed
        self.rules: dict[str, list[Inference]] = {name: [] for name in JUDGMENTS}
        for rule in inferences:
            self.rules[rule.conclusion.name].append(rule)
        self._known: dict[Goal, tuple[Derivation, ...]] = {}
        self._open: set[Goal] = set()
        self._sized: dict[Term, bool] = {}
        self._cuts = self._work = 0

    def prepare(self, root: Term) -> None:
        """Ask for the signs of every part of a deep term, small ones first: no search then goes deep, or is cut short
        and made again.
        """
        if root.depth > DEPTH // 2:
            for part in subterms(root):
                if part.kind == "real":
                    for name in SIGNS:
                        self.holds(Judgment(name, (part,)))

    def holds(self, judgment: Judgment) -> Derivation | None:
        """Return a derivation, or None if none is found.

        An argument that is a pattern variable is to be found: the derivation's judgment holds what was found.
        """
        return next(iter(self.solutions(judgment)), None)

    def solutions(self, judgment: Judgment) -> tuple[Derivation, ...]:
        """Return the derivations of a judgment, one for each way found to fill its open arguments."""
        self._work = WORK
        return self._solve((judgment.name, tuple(None if isinstance(a, Var) else a for a in judgment.args)), 0)

    def conditions(
        self, patterns: Iterable[Judgment], bindings: Bindings
    ) -> list[tuple[dict[str, Axis | Term], tuple[Derivation, ...]]]:
        """Return the ways to meet all conditions: bindings, extended by what the conditions bind, and a derivation of
        each.
        """
        self._work = WORK
        return self._all(patterns, bindings, 0)

    def _solve(self, goal: Goal, depth: int) -> tuple[Derivation, ...]:
        if goal in self._known:
            return self._known[goal]
        self._work -= 1
        if depth > DEPTH or goal in self._open or self._work < 0:
            self._cuts += 1
            return ()
        cuts = self._cuts
        self._open.add(goal)
        found = self._search(goal, depth)
        self._open.discard(goal)
        ground = None not in goal[1]
        if self._cuts == cuts or (found and ground):
            # A search that was cut short says nothing of what it missed: only its successes are kept.
            self._known[goal] = found
        return found

    def _search(self, goal: Goal, depth: int) -> tuple[Derivation, ...]:
        name, args = goal
        enough = SOLUTIONS if None in args else 1
        evident = {j.args: Derivation(j, BASE) for j in _base(goal)}
        # That of a size is evident of an axis that has lanes; that it is present and not negative, rules show of one
        # that has none too.
        counted = name in ("finite", "nonneg") and isinstance(args[0], Term) and self._has_size(args[0])
        found = {} if counted else evident
        if name == "safe" and isinstance(args[0], Term) and interval(args[0])[1] <= SAFE:
            found.setdefault(args, Derivation(Judgment(name, args), INTERVAL))  # type: ignore[arg-type]
        for rule in self.rules[name]:
            if len(found) >= enough:
                break
            for proof in self._apply(rule, goal, depth):
                found.setdefault(proof.judgment.args, proof)
        found = found or evident
        if not found and self.placed and name not in ("free", "along", "distinct", "local"):
            found = {proof.judgment.args: proof for proof in self._plainly(goal, depth)}
        return tuple(found.values())[:enough]

    def _has_size(self, term: Term) -> bool:
        """Tell whether a term speaks of how many lanes there are, remembered of each of its parts."""
        if term not in self._sized:
            known = all(child in self._sized for child in term.children)
            for part in (term,) if known else subterms(term):
                self._sized[part] = isinstance(part, Size) or any(self._sized[child] for child in part.children)
        return self._sized[term]

    def _plainly(self, goal: Goal, depth: int) -> Iterator[Derivation]:
        name, args = goal
        bare = tuple(plain(a) if isinstance(a, Term) else a for a in args)
        if bare != args:
            for proof in self._solve((name, bare), depth + 1):
                shown = tuple(b if a is None else a for a, b in zip(args, proof.judgment.args, strict=True))
                yield Derivation(Judgment(name, shown), PLAIN, (), (proof,))

    def _apply(self, rule: Inference, goal: Goal, depth: int) -> Iterator[Derivation]:
        bindings: dict[str, Axis | Term] | None = {}
        for pattern, arg in zip(rule.conclusion.args, goal[1], strict=True):
            if arg is not None and (bindings := match(pattern, arg, bindings or {})) is None:
                return
        for full, proofs in self._all(rule.premises, bindings or {}, depth + 1):
            if all(names_in(p) <= full.keys() for p in rule.conclusion.args):
                shown = tuple(_instance(p, full) for p in rule.conclusion.args)
                yield Derivation(
                    Judgment(rule.conclusion.name, shown),
                    rule.name,
                    tuple(sorted(full.items(), key=lambda b: b[0])),
                    proofs,
                )

    def _all(
        self, patterns: Iterable[Judgment], bindings: Bindings, depth: int
    ) -> list[tuple[dict[str, Axis | Term], tuple[Derivation, ...]]]:
        states: list[tuple[dict[str, Axis | Term], tuple[Derivation, ...]]] = [(dict(bindings), ())]
        for pattern in patterns:
            following = []
            for known, proofs in states:
                args = tuple(_instance(p, known) if names_in(p) <= known.keys() else None for p in pattern.args)
                for proof in self._solve((pattern.name, args), depth):
                    extended: dict[str, Axis | Term] | None = known
                    for part, arg in zip(pattern.args, proof.judgment.args, strict=True):
                        extended = None if extended is None else match(part, arg, extended)
                    if extended is not None:
                        following.append((extended, (*proofs, proof)))
            states = following[:SOLUTIONS]
        return states


def _instance(pattern: Axis | Term, bindings: Bindings) -> Axis | Term:
    return bindings[pattern.name] if isinstance(pattern, Axis) else substitute(pattern, bindings)


_JUDGES: dict[tuple[Inference, ...], Judge] = {}


def holds(judgment: Judgment, inferences: Iterable[Inference]) -> Derivation | None:
    """Return a derivation of a judgment by these inferences, or None; `Judge` is the same for many questions."""
    rules = tuple(inferences)
    if rules not in _JUDGES:
        _JUDGES[rules] = Judge(rules)
    return _JUDGES[rules].holds(judgment)
