"""Ways in: a diagram by its name in the gallery, from JSON or text (data only), or from a user's own Python file, which
may hold functions of PyTorch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from napkin_eq.lang.diagram import Diagram
from napkin_eq.lang.errors import NapkinError, read_text, require_file
from napkin_eq.lang.term import Term, Tuple
from napkin_eq.laws.loader import run_file


@dataclass(frozen=True, slots=True)
class Source:
    """What was named: the diagram, and of a program of PyTorch the type of its numbers; of others it is not said."""

    diagram: Diagram
    dtype: str | None = None


def find_diagram(place: str, sets: Sequence[str] = ()) -> Diagram:
    """Return the diagram that a name or a .json, .napkin or .py file stands for, sizes of `sets` ("q=4096", "q=any")
    put in.
    """
    return find(place, sets).diagram


def find(place: str, sets: Sequence[str] = ()) -> Source:
    """Return what a name, a .json, .napkin or .py file, or FILE.py:NAME stands for, sizes of `sets` put in."""
    left = [name for text in sets for name, _, value in [text.partition("=")] if value == "any"]
    sizes: dict[str, int | None] = {**parsed_sizes([text for text in sets if text.partition("=")[2] != "any"])}
    if twice := next((name for name in left if sizes.get(name) is not None), None):
        raise NapkinError(f"--set: axis {twice} is given the size {sizes[twice]} and left open; do one")
    sizes |= dict.fromkeys(left)
    file, _, name = place.rpartition(":") if ".py:" in place else (place, "", "")
    if file.endswith(".json"):
        found = _from_json(Path(file))
    elif file.endswith(".napkin"):
        found = _from_text(Path(file))
    elif file.endswith(".py"):
        return _from_python(Path(file), name, sizes)
    else:
        from napkin_eq.frontend.gallery import diagram

        return Source(diagram(place, **sizes))
    return Source(found.with_sizes(sizes) if sizes else found)


def parsed_sizes(sets: Sequence[str], option: str = "--set") -> dict[str, int]:
    """Read AXIS=SIZE arguments of an option; raise NapkinError for what is no such thing, or an axis given
    two sizes.
    """
    sizes: dict[str, int] = {}
    for text in sets:
        name, sign, value = text.partition("=")
        # str.isdigit also holds for digits of other scripts and for superscripts, which int() may refuse.
        if not sign or not value.isascii() or not value.isdigit() or len(value) > 15:
            raise NapkinError(f"{option} {text!r:.60}: expected AXIS=SIZE with a positive integer, such as q=4096")
        if sizes.setdefault(name, int(value)) != int(value):
            raise NapkinError(f"{option}: axis {name} is given the sizes {sizes[name]} and {int(value)}; give it one")
    return sizes


def _from_text(file: Path) -> Diagram:
    from napkin_eq.frontend.parsed import parsed

    text = read_text(file, "diagram")
    try:
        return parsed(text, "".join(c if c.isalnum() else "_" for c in file.stem))
    except NapkinError as error:
        raise NapkinError(f"diagram {file}: {error}") from None


def _from_json(file: Path) -> Diagram:
    from napkin_eq.lang.json_form import loads_diagram

    text = read_text(file, "diagram")
    try:
        found: Diagram = loads_diagram(text)
        return found
    except NapkinError as error:
        raise NapkinError(f"diagram {file}: {error}") from None


def _from_python(file: Path, name: str, sizes: Mapping[str, int | None]) -> Source:
    """Return what a file defines under a name, or as `diagram` or `out`: a diagram, a term, a program that was read, or
    a function of PyTorch whose annotations say what its tensors are.
    """
    require_file(file, "diagram")
    found = run_file(file, "diagrams")
    if name and name not in found:
        raise NapkinError(f"diagram {file}: defines no {name!r:.60}{_functions(file, found)}")
    value: Any = found[name] if name else found.get("diagram", found.get("out"))
    if isinstance(value, Term):
        outputs = value.items if isinstance(value, Tuple) else (value,)
        names = [f"out{number}" for number in range(1, len(outputs) + 1)] if len(outputs) > 1 else ["out"]
        stem = name or "".join(c if c.isalnum() else "_" for c in file.stem)
        value = Diagram(stem, tuple(zip(names, outputs, strict=True)))
    if isinstance(value, Diagram):
        return Source(value.with_sizes(sizes) if sizes else value)
    if _is_torch(value):
        from napkin_eq.pytorch.flat import flat
        from napkin_eq.pytorch.kernels import diagram_of
        from napkin_eq.pytorch.program import Program
        from napkin_eq.pytorch.signature import program_of

        if isinstance(value, Program) and sizes:
            raise NapkinError(
                f"diagram {file}: the sizes of a program that was read stay; --set needs a function whose annotations"
                ' name them, such as x: "bf16[rows=4096, 512]"'
            )
        program = value if isinstance(value, Program) else program_of(value, sizes)
        return Source(diagram_of(flat(program)), program.dtype)
    if name:
        raise NapkinError(
            f"diagram {file}: {name} is {type(value).__name__}, expected a Diagram, a term, or a function of PyTorch"
            ' with annotations such as x: "bf16[rows=4096, 512]"'
        )
    raise NapkinError(
        f"diagram {file}: defines neither `diagram` (a Diagram) nor `out` (a term){_functions(file, found)}"
    )


def _is_torch(value: Any) -> bool:
    """Tell whether a value is a program of PyTorch, read or annotated."""
    from napkin_eq.pytorch.program import Program
    from napkin_eq.pytorch.signature import annotated

    return isinstance(value, Program) or annotated(value)


def _functions(file: Path, found: Mapping[str, Any]) -> str:
    """Return what of a file could be named, as the end of a sentence."""
    names = [name for name, value in found.items() if isinstance(value, Diagram) or _is_torch(value)]
    return f"; name one of what it has: {', '.join(f'{file}:{name}' for name in names[:8])}" if names else ""
