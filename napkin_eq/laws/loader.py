"""The door for content: runs the files of `rules/`, `proofs/`, `codegen/` and of a user's own folders, in
name order.
"""

from __future__ import annotations

import contextlib
import os
import runpy
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

from napkin_eq.lang.errors import NapkinError, require_file
from napkin_eq.laws.law import REGISTRY, Statement

PACKAGE = Path(__file__).resolve().parents[1]


def folder(name: str) -> Path:
    """Return a shipped content folder: inside the package when installed, beside it in a checkout."""
    inside = PACKAGE / name
    return inside if inside.is_dir() else PACKAGE.parent / name


def load_rules(*places: str | Path) -> None:
    """Run rule files, or every .py file of a folder; each law is registered under its file's stem as family.

    Raises NapkinError, with file and line, for a file that is missing, does not parse or fails as it runs, and for a
    place that states no law.
    """
    for place in places or (folder("rules"),):
        path = Path(place)
        if not path.exists():
            raise NapkinError(f"rules: {str(path)!r} does not exist; expected a .py file or a folder of them")
        if not path.is_dir() and not path.is_file():  # a device or a pipe, which might never end
            raise NapkinError(
                f"rules: {str(path)!r} is neither a file nor a folder; expected a .py file or a folder of them"
            )
        REGISTRY.given.clear()
        for file in sorted(path.glob("*.py")) if path.is_dir() else [path]:
            _run(file)
        if not REGISTRY.given:
            raise NapkinError(
                f'rules: {str(path)!r} states no law; expected functions under @law("reading") or @infer("reading")'
            )


_SHIPPED: dict[Path, tuple[tuple[int, int], list[Statement]]] = {}


def _run(file: Path) -> None:
    """Run a rule file; one of the shipped ones that has not changed gives the statements that it gave before."""
    shipped = file.parent == folder("rules") and file.is_file()
    stamp = (file.stat().st_mtime_ns, file.stat().st_size) if shipped else (0, 0)
    if shipped and file in _SHIPPED and _SHIPPED[file][0] == stamp:
        for statement in _SHIPPED[file][1]:
            REGISTRY.add(statement)
        return
    family, before = REGISTRY.family, len(REGISTRY.given)
    REGISTRY.family = file.stem
    try:
        run_file(file, "rules")
    finally:
        REGISTRY.family = family
    if shipped:
        _SHIPPED[file] = stamp, REGISTRY.given[before:]


def run_file(file: Path, kind: str) -> dict[str, Any]:
    """Run one content file of a kind (rules, proofs, codegen) and return what it defines; raises NapkinError with file
    and line.

    What it prints goes to standard error: standard output is what a verb answers, JSON for one.
    """
    require_file(file, kind)
    try:
        with contextlib.redirect_stdout(sys.stderr), _kept_running():
            return runpy.run_path(str(file), run_name=f"napkin_eq.{kind}.{file.stem}")
    except NapkinError:
        raise
    except SyntaxError as error:
        raise NapkinError(f"{kind}: {file}:{error.lineno or 1}: {error.msg}") from None
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # SystemExit too: a file that ends the process would end it as if all were well
        line = _line_in(error, file)
        raise NapkinError(f"{kind}: {file}:{line}: {type(error).__name__}: {error}") from None


@contextlib.contextmanager
def _kept_running() -> Iterator[None]:
    """Let a file that ends this process at once be refused like one that raises SystemExit: nothing would be said, and
    its status be taken for ours.
    """
    end, own = os._exit, os.getpid()

    def refused(status: int) -> NoReturn:
        if os.getpid() != own:  # a process forked off ends so
            end(status)
        raise SystemExit(status)

    os._exit = refused
    try:
        yield
    finally:
        os._exit = end


def _line_in(error: BaseException, file: Path) -> int:
    trace, line = error.__traceback__, 0
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == str(file):
            line = trace.tb_lineno
        trace = trace.tb_next
    return line
