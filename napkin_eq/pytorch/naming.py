"""How things of PyTorch are called: names that may stand in kernels, types, sizes, and the lines of source that errors
speak of.
"""

from __future__ import annotations

import re
import traceback
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import napkin_eq
from napkin_eq.lang.errors import NapkinError, checked_name
from napkin_eq.pytorch.build.extents import canonical, multiples

# Of PyTorch's own files those in which programs are written: what they ask of sizes is the program's
LIBRARY = ("nn/", "distributions/", "functional.py", "linalg/", "fft/", "signal/", "optim/", "ao/")


class Refused(NapkinError):
    """An operator that is not read, with its node's name."""

    def __init__(self, node: Any, reason: str) -> None:
        super().__init__(said(node, reason))
        self.node: str = node.name


def type_name(dtype: Any) -> str:
    """Return the name of a type of PyTorch: "float32"."""
    return str(dtype).removeprefix("torch.")


def expression(value: Any) -> Any:
    """Return a symbolic number as its expression, an integer where it is one; anything else as it is.

    A symbol that guards show to be a multiple of a number is written as one.
    """
    import torch

    if isinstance(value, torch.SymInt):
        found = value.node.expr
        return canonical(found.xreplace(multiples_in(value.node.shape_env)) if found.free_symbols else found)
    return value.node.expr if isinstance(value, torch.SymFloat) else value


_known = WeakKeyDictionary[Any, tuple[int, dict[Any, Any]]]()


def guards_of(env: Any) -> list[tuple[Any, bool]]:
    """Return the guards that PyTorch put on sizes, by the symbols that stand for others, and whether each was asked by
    the program, or by what it calls, and not by what finds out how tensors lie in memory.
    """
    import torch

    home = Path(torch.__file__).parent

    def own(guard: Any) -> bool:
        asked = getattr(guard.sloc.framework_loc, "filename", "")
        within = asked.startswith(str(home)) and Path(asked).relative_to(home).as_posix()
        return not within or (within.startswith(LIBRARY) and not within.endswith("modules/module.py"))

    return [(env.replace(guard.expr), own(guard)) for guard in env.guards]


def multiples_in(env: Any) -> dict[Any, Any]:
    """Return what the guards of an environment show symbols to be multiples of, looked for again where there are
    more.
    """
    count, found = _known.get(env, (-1, {}))
    if count != len(env.guards):
        found = multiples([guard for guard, _ in guards_of(env)])
        _known[env] = len(env.guards), found
    return found


def said(node: Any, reason: str) -> str:
    """Return a reason with the operator and the line of the program that it is about."""
    return f"{node.target}{line_of(node)}: {reason}"


def line_of(node: Any) -> str:
    """Return where in the user's source a node comes from: " at FILE:LINE (`text`)", nothing where that is not
    known.
    """
    trace = node.meta.get("stack_trace") or ""
    found = re.findall(r'File "([^"]+)", line (\d+), in [^\n]*(?:\n\s+([^\n]+))?', trace)
    if not found:
        return ""
    return _at(*found[-1])


def frame_of(frame: Any) -> str:
    """Return where in the user's source a frame stands, as `line_of` says it."""
    return _at(frame.filename, frame.lineno, frame.line or "")


def raised_at(reason: BaseException) -> str:
    """Return the last line of the user's source that an error went through, as `line_of` says it."""
    import torch

    own = tuple(str(Path(file).parent) for file in (torch.__file__, napkin_eq.__file__))
    frames = traceback.extract_tb(reason.__traceback__)
    found = [f for f in frames if not f.filename.startswith((*own, "<"))]
    return frame_of(found[-1]) if found else ""


def _at(file: str, line: object, text: str) -> str:
    return f" at {file.rpartition('/')[2]}:{line}" + (f" (`{text.strip()[:80]}`)" if text.strip() else "")


def clean_name(name: str) -> str:
    clean = re.sub(r"_+", "_", re.sub(r"[^A-Za-z0-9]", "_", name)).strip("_")[:50] or "program"
    clean = clean if clean[0].isalpha() else f"t{clean}"
    try:
        return checked_name(clean, "input")
    except NapkinError:
        return checked_name(f"{clean}_", "input")


def first_line(reason: BaseException) -> str:
    return (str(reason).strip().splitlines() or [""])[0][:200]
