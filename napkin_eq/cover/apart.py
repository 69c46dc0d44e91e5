"""Bound axes named apart: a stream over an axis must not hold a value that was folded over an axis of the same name
before.

Within a stream a fold over its axis stands for a running value. A value that is stored has been folded to its end;
where what reads it streams over an axis of that name, the outer axis takes another name. Terms that differ so say the
same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from napkin_eq.lang.axis import Axis, named_anew
from napkin_eq.lang.substitute import substituted
from napkin_eq.lang.term import Index, Online, Read, Reduce, Term, axis_names, rebuilt, subterms


def clashes(placed: Term, reads: Sequence[Term]) -> dict[str, set[Term]]:
    """Return, by the names of axes that a kernel streams over, the values among those it reads that were folded over
    such an axis.
    """
    streams = {t.axis.name for t in subterms(placed) if isinstance(t, Online)}
    found: dict[str, set[Term]] = {}
    for read in reads:
        for name in streams & {t.axis.name for t in subterms(read) if isinstance(t, Reduce)}:
            found.setdefault(name, set()).add(read)
    return found


def apart(outputs: Sequence[Term], stored: Mapping[str, Set[Term]], kept: Set[Term]) -> tuple[Term, ...]:
    """Return terms in which folds over an axis, above values that are stored and were folded over it, are over an axis
    of another name.

    kept: values that are read at other coordinates.
    """
    terms = subterms(*outputs)
    taken = axis_names(*outputs)
    names: dict[tuple[Axis, int], Axis] = {}
    done: dict[Term, Term] = {}
    above: dict[Term, dict[str, int]] = {}  # by axis, how many folds, one over what another stores, are under a term
    held: set[Term] = set()
    for term in terms:
        level: dict[str, int] = {}
        for child in term.children:
            for name, count in above[child].items():
                level[name] = max(level.get(name, 0), count)
        made = rebuilt(term, tuple(done[c] for c in term.children))
        if isinstance(term, Reduce) and (count := level.get(term.axis.name, 0)):
            if (term.axis, count) not in names:
                names[term.axis, count] = Axis(named_anew(term.axis.name, taken), term.axis.size, term.axis.multiple)
            axis = names[term.axis, count]
            index = {term.axis.name: Index(axis)}
            body, where = (substituted(part, index, lambda value, _: value in held) for part in (made.body, made.where))
            made = Reduce(term.monoid, axis, body, where)
        done[term] = made
        if term in kept or any(term in values for values in stored.values()):
            held.add(made)
            for name, values in stored.items():
                if term in values:
                    level[name] = level.get(name, 0) + 1
        above[term] = level
    return tuple(done[output] for output in outputs)


def counterparts(before: Sequence[Term], after: Sequence[Term]) -> dict[Term, dict[Term, None]]:
    """Return what each value of some terms has become where axes were named apart: one, or several along axes of
    other names.
    """
    found: dict[Term, dict[Term, None]] = {}
    stack = list(zip(before, after, strict=True))
    while stack:
        old, new = stack.pop()
        if new in found.get(old, ()):
            continue
        found.setdefault(old, {})[new] = None
        if type(old) is type(new) and len(old.children) == len(new.children):
            stack += zip(old.children, new.children, strict=True)
        elif isinstance(new, Read):
            stack.append((old, new.body))
    return found
