"""What a page asks for: a diagram as text, sizes, a type, a GPU, the laws left out. Data from strangers, checked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from napkin_eq.frontend.tokens import MAX_TEXT
from napkin_eq.lang.axis import LARGEST
from napkin_eq.lang.dtypes import STORAGE
from napkin_eq.lang.errors import NapkinError

MAX_NAMES, MAX_NAME = 400, 80


@dataclass(frozen=True, slots=True)
class State:
    """What a page shows.

    sizes: pairs of an axis and its size, None leaves it open. without: names of laws or families.
    """

    text: str
    sizes: tuple[tuple[str, int | None], ...] = ()
    dtype: str = "bfloat16"
    hardware: str = "h200"
    without: tuple[str, ...] = ()

    def key(self) -> str:
        """Return this as one line of JSON: equal states have equal keys."""
        return json.dumps(asdict(self), sort_keys=True, ensure_ascii=False)


def checked(data: object, machines: Mapping[str, str] | list[str]) -> State:
    """Return the state that data from a page says; raises NapkinError, in one line, for anything else."""
    if not isinstance(data, dict):
        raise NapkinError("expected an object with text, sizes, dtype, hardware and without")
    if unknown := sorted(map(str, set(data) - {"text", "sizes", "dtype", "hardware", "without"})):
        raise NapkinError(f"unknown key {unknown[0]!r:.60}")
    text, sizes = data.get("text"), data.get("sizes", {})
    if not isinstance(text, str) or len(text) > MAX_TEXT:
        raise NapkinError(f"text: expected a text of at most {MAX_TEXT} characters")
    if not isinstance(sizes, dict) or len(sizes) > MAX_NAMES or not all(map(_name, sizes)):
        raise NapkinError("sizes: expected an object of names of axes and sizes")
    for name, size in sizes.items():
        if size is not None and (type(size) is not int or not 1 <= size <= LARGEST):
            raise NapkinError(f"size of {name}: expected a whole number from 1 to 2^40, or nothing to leave it open")
    without = data.get("without", [])
    if not isinstance(without, list) or len(without) > MAX_NAMES or not all(map(_name, without)):
        raise NapkinError("without: expected a list of names of laws or families")
    return State(
        text.replace("\r\n", "\n"), tuple(sorted(sizes.items())), _one(data, "dtype", "bfloat16", STORAGE),
        _one(data, "hardware", "h200", machines), tuple(sorted(set(without))),
    )  # fmt: skip


def _name(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= MAX_NAME


def _one(data: Mapping[str, Any], key: str, usual: str, known: Any) -> str:
    value = data.get(key, usual)
    if not isinstance(value, str) or value not in known:
        raise NapkinError(f"{key}: {value!r:.60} is not one of {', '.join(known)}")
    return value
