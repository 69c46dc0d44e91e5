"""Ways in: a diagram by its name in the gallery, from JSON or text (data only), or from a user's own Python file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from napkin_eq.lang.diagram import Diagram
from napkin_eq.lang.errors import NapkinError, read_text, require_file
from napkin_eq.lang.term import Term, Tuple
from napkin_eq.laws.loader import run_file


def find_diagram(place: str, sets: Sequence[str] = ()) -> Diagram:
    """Return the diagram that a name or a .json, .napkin or .py file stands for, sizes of `sets` ("q=4096", "q=any")
    put in.
    """
    left = [name for text in sets for name, _, value in [text.partition("=")] if value == "any"]
    sizes: dict[str, int | None] = {**parsed_sizes([text for text in sets if text.partition("=")[2] != "any"])}
    if twice := next((name for name in left if sizes.get(name) is not None), None):
        raise NapkinError(f"--set: axis {twice} is given the size {sizes[twice]} and left open; do one")
    sizes |= dict.fromkeys(left)
    if place.endswith(".json"):
        found = _from_json(Path(place))
    elif place.endswith(".napkin"):
        found = _from_text(Path(place))
    elif place.endswith(".py"):
        found = _from_python(Path(place))
    else:
        from napkin_eq.frontend.gallery import diagram

        return diagram(place, **sizes)
    return found.with_sizes(sizes) if sizes else found


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


def _from_python(file: Path) -> Diagram:
    require_file(file, "diagram")
    found = run_file(file, "diagrams")
    value = found.get("diagram", found.get("out"))
    if isinstance(value, Diagram):
        return value
    if isinstance(value, Term):
        outputs = value.items if isinstance(value, Tuple) else (value,)
        names = [f"out{number}" for number in range(1, len(outputs) + 1)] if len(outputs) > 1 else ["out"]
        return Diagram("".join(c if c.isalnum() else "_" for c in file.stem), tuple(zip(names, outputs, strict=True)))
    raise NapkinError(f"diagram {file}: defines neither `diagram` (a Diagram) nor `out` (a term)")
