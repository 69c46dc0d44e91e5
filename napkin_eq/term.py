"""The terms that a diagram is made of, for those who write them out: `from napkin_eq.term import Const, Reduce, ...`;
what they mean is said in lang/term.py.
"""

from napkin_eq.lang.term import (
    Const,
    Index,
    Input,
    Length,
    Map,
    Proj,
    Read,
    Recur,
    Reduce,
    Scan,
    Size,
    Term,
    Tuple,
    lift,
    rebuilt,
    subterms,
)

__all__ = [
    "Const", "Index", "Input", "Length", "Map", "Proj", "Read", "Recur", "Reduce", "Scan", "Size", "Term", "Tuple",
    "lift", "rebuilt", "subterms",
]  # fmt: skip
