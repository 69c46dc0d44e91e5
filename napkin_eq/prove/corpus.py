"""The corpus: wrong laws and valid ones in `proofs/corpus/`, one family a file, on which the verifier itself is tested.

    @wrong          false in the reals, or with premises that nothing meets: refused, with an instance that refutes it
    @valid          true: accepted; `@valid("exact")` also claims a floating-point class that must be granted
    @inexact(claimed, found)    true in the reals, but its floating-point class is not the one it claims

A function is written as in `rules/`, but nothing of it enters the registry.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from napkin_eq.laws.law import Statement, statements_of
from napkin_eq.laws.loader import folder, run_file

Function = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Entry:
    """One function of the corpus; `expected` is "wrong", "valid" or "inexact", `found` the floating-point class to be
    found, if one is.
    """

    name: str
    family: str
    expected: str
    statements: tuple[Statement, ...]
    found: str = ""


_ENTRIES: dict[str, Entry] = {}


def _entered(function: Function, expected: str, claimed: str, found: str) -> Function:
    family = Path(function.__code__.co_filename).stem
    entry = Entry(
        function.__name__, family, expected, tuple(statements_of(function, claimed or "reassociating")), found
    )
    _ENTRIES[f"{family}.{entry.name}"] = entry
    return function


def wrong(function: Function) -> Function:
    """Enter a law that must be refused."""
    return _entered(function, "wrong", "", "")


def valid(claimed: str) -> Callable[[Function], Function]:
    """Enter a law that must be accepted; `claimed`: its floating-point class, or nothing if none is claimed."""
    return lambda function: _entered(function, "valid", claimed, claimed)


def inexact(claimed: str, found: str) -> Callable[[Function], Function]:
    """Enter a law that is true in the reals, and whose claim to a floating-point class must be refused for
    another one.
    """
    return lambda function: _entered(function, "inexact", claimed, found)


def entries() -> list[Entry]:
    """Return the whole corpus, by file and in the order of each."""
    _ENTRIES.clear()
    for file in sorted((folder("proofs") / "corpus").glob("*.py")):
        run_file(file, "proofs")
    return list(_ENTRIES.values())
