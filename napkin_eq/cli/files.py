"""Writing results: every file of a folder or none of them."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from napkin_eq.lang.errors import NapkinError


@contextmanager
def whole_folder(target: Path) -> Iterator[Path]:
    """Give a fresh folder to write into; its files move to `target` when the block ends well, and vanish when it does
    not.

    The fresh folder is made at once, beside the target, so that a place that cannot be written is refused before any
    work.
    """
    target = target.absolute()
    try:
        if target.exists() and not target.is_dir():
            raise NapkinError(f"output {target}: is a file, expected a folder; name another with -o")
        target.parent.mkdir(parents=True, exist_ok=True)
        # Inside an existing target, because that is the folder that must be writable.
        fresh = Path(tempfile.mkdtemp(prefix=".napkin-", dir=target if target.is_dir() else target.parent))
    except OSError as error:
        raise NapkinError(
            f"output {target!s:.120}: cannot be written: {error.strerror or error}; name another folder with -o"
        ) from None
    try:
        yield fresh
        _move(fresh, target)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _move(fresh: Path, target: Path) -> None:
    try:
        if target.is_dir():
            for file in sorted(fresh.iterdir()):
                os.replace(file, target / file.name)
        else:
            fresh.chmod(0o755)
            os.replace(fresh, target)
    except OSError as error:
        raise NapkinError(f"output {target}: cannot be written: {error.strerror or error}") from None
