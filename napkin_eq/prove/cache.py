"""What is remembered between runs: small JSON files in the user's cache folder. What is damaged is no memory."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Protocol, TypeVar

from napkin_eq.prove.watch import reported

LIMIT = 4096


class Verdict(Protocol):
    """What may be remembered: an answer, unless it is "unknown"."""

    @property
    def status(self) -> str: ...


Asked = TypeVar("Asked")
Answer = TypeVar("Answer", bound=Verdict)


def decided(
    asked: Iterable[Asked],
    key: Callable[[Asked], str],
    decide: Callable[[Asked], Answer],
    known: dict[str, Answer],
    what: str,
) -> tuple[list[Answer], dict[str, Answer]]:
    """Return the answer to each question, in order, known or decided now, and by key what was decided and is worth
    remembering.

    what: is being done, for whoever waits.
    """
    fresh: dict[str, Answer] = {}
    found = []
    listed = list(asked)
    for number, question in enumerate(listed):
        name = key(question)
        if name not in known:
            reported(what, number, len(listed))
            known[name] = decide(question)
            if known[name].status != "unknown":
                fresh[name] = known[name]
        found.append(known[name])
    return found, fresh


def recalled(name: str, schema: int) -> dict[str, Any]:
    """Return the entries of a memory by key, as they were written; the caller checks each."""
    return entries(written(name), schema)


def written(name: str) -> str:
    """Return the text of a memory; "" where there is none that can be read."""
    try:
        return _file(name).read_text(encoding="utf-8")
    except (OSError, ValueError):
        return ""


def entries(text: str, schema: int) -> dict[str, Any]:
    """Return the entries that the text of a memory holds, by key."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    found = data.get("verdicts") if isinstance(data, dict) and data.get("schema") == schema else None
    return found if isinstance(found, dict) else {}


def kept(name: str, schema: int, entries: dict[str, Any]) -> None:
    """Write the newest entries at once. A memory that cannot be written costs time, nothing else."""
    newest = dict(list(entries.items())[-LIMIT:])
    file = _file(name)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, draft = tempfile.mkstemp(dir=file.parent, prefix=f".{name}-")
    except OSError:
        return
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            json.dump({"schema": schema, "verdicts": newest}, stream, separators=(",", ":"))
        os.replace(draft, file)
    except OSError:
        Path(draft).unlink(missing_ok=True)


def _file(name: str) -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(base) / "napkin_eq" / f"{name}.json"
