"""Errors that a user can act on: what was written, where, what was expected, what to try; and the doors that raise
them, for names and for files.
"""

from __future__ import annotations

import re
import stat
from pathlib import Path

DONE, FAILED, USAGE, UNKNOWN, INTERNAL = 0, 1, 2, 3, 4
MOST_BYTES = 1 << 26  # of a file that others wrote


class NapkinError(ValueError):
    """Bad input, said in one line; the command line turns it into exit status 2."""

    exit_code = USAGE


class LawRefused(NapkinError):
    """A law whose proof failed; carries the counterexample. Exit status 1."""

    exit_code = FAILED


class WrongPlan(NapkinError):
    """A plan does not compute what its diagram says: a fault of ours, found before anyone got the plan.
    Exit status 1.
    """

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
        raise NapkinError(
            f"{what} {name!r:.80} is not a usable name: expected letters (a to z), digits and single underscores, at"
            " most 63, not a keyword"
        )
    return name


def require_file(file: Path, what: str, most: int = MOST_BYTES) -> None:
    """Raise NapkinError for what is no file: a folder, a device or a pipe, which might never end, or a file of too many
    bytes.
    """
    try:
        about = file.stat()
    except OSError as error:
        raise NapkinError(f"{what} {file!s:.300}: cannot be read: {error.strerror or error}") from None
    if not stat.S_ISREG(about.st_mode):
        kind = "a folder" if stat.S_ISDIR(about.st_mode) else "a device or a pipe, which might never end"
        raise NapkinError(f"{what} {file}: cannot be read: it is {kind}; expected a file")
    if about.st_size > most:
        raise NapkinError(f"{what} {file}: has {about.st_size} bytes; at most {most} are read")


def read_text(file: Path, what: str, most: int = MOST_BYTES) -> str:
    """Return the text of a file; raises NapkinError for what is no file, is too large or is no text."""
    require_file(file, what, most)
    try:
        with file.open("rb") as opened:
            return opened.read(most + 1).decode("utf-8")
    except OSError as error:
        raise NapkinError(f"{what} {file}: cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise NapkinError(f"{what} {file}: is not a text in UTF-8") from None
