"""Errors that a user can act on: what was written, where, what was expected, what to try."""

from __future__ import annotations

import re

DONE, FAILED, USAGE, UNKNOWN, INTERNAL = 0, 1, 2, 3, 4


class NapkinError(ValueError):
    """Bad input, said in one line; the command line turns it into exit status 2."""

    exit_code = USAGE


class LawRefused(NapkinError):
    """A law whose proof failed; carries the counterexample. Exit status 1."""

    exit_code = FAILED


class WrongPlan(NapkinError):
    """A plan does not compute what its diagram says: a fault of ours, found before anyone got the plan. Exit status 1."""

    exit_code = FAILED


class Undecided(NapkinError):
    """A limit was hit or a solver gave no answer; never reported as success. Exit status 3."""

    exit_code = UNKNOWN


_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,62}\Z")
_RESERVED = frozenset(
    "False None True and as assert async await break class continue def del elif else except finally for from "
    "global if import in is lambda nonlocal not or pass raise return try while with yield "
    "tl triton torch int float bool min max range print len".split()
)


def checked_name(name: object, what: str) -> str:
    """Return `name` if it may appear in generated code, else raise NapkinError.

    A name is a letter followed by letters, digits and single underscores, at most 63 characters, no Python keyword:
    names from strangers reach generated source only through this door. Double underscores are kept for generated names.
    """
    if not isinstance(name, str) or not _NAME.match(name) or name in _RESERVED or "__" in name:
        raise NapkinError(f"{what} {name!r:.80} is not a usable name: expected letters (a to z), digits and single underscores, at most 63, not a keyword")
    return name
