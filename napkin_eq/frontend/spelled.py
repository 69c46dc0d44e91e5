"""A diagram as the text that parsed.py reads: what is used more than once is named, so that no part is cut off."""

from __future__ import annotations

from collections.abc import Mapping

from napkin_eq.frontend.parsed import without_head
from napkin_eq.frontend.tokens import tokens
from napkin_eq.lang.axis import Axis
from napkin_eq.lang.diagram import Diagram
from napkin_eq.lang.notation import exactly
from napkin_eq.lang.term import Const, Index, Input, Length, Map, Size, Term, rebuilt, subterms

KINDS = {"real": "float32", "int": "int64", "bool": "bool"}
LEAVES = (Const, Index, Input, Length, Size)
LONGEST = 60  # nodes of one line, written as a tree
WIDE = 100  # characters of a line of declarations


def spelled(diagram: Diagram) -> str:
    """Return a diagram as text; `parsed` of it is a diagram of the same values."""
    inputs, axes = diagram.inputs(), diagram.axes()
    lines = [f"diagram {diagram.name}" + (f": {' '.join(diagram.doc.split())}" if diagram.doc else "")]
    lines += _declared("axis", [_axis(axis) for axis in axes])
    lines += _declared("array", [_array(array) for array in inputs])
    named = _named(diagram)
    taken = {axis.name for axis in axes} | {array.name for array in inputs} | {name for name, _ in diagram.outputs}
    known: dict[Term, Term] = {}
    count = 0
    for term in subterms(*(term for _, term in diagram.outputs)):
        known[term] = rebuilt(term, tuple(known[child] for child in term.children))
        if term in named:
            while (name := f"t{(count := count + 1)}") in taken:
                pass
            lines.append(f"let {name} = {exactly(known[term])}")
            known[term] = Input(name, term.axes, KINDS[term.kind])
    return "\n".join([*lines, *(_output(diagram, name, known[term]) for name, term in diagram.outputs), ""])


def resized(text: str, sizes: Mapping[str, int | None]) -> str:
    """Return a text of a diagram with other sizes where it declares its axes, everything else as it stands."""
    lines = text.split("\n")
    declares, edits, found = False, list[tuple[int, int, int, str]](), tokens(without_head(text))
    for number, token in enumerate(found):
        first = number == 0 or found[number - 1].kind == "newline"
        declares = token.text == "axis" and found[number + 1].kind == "word" if first else declares
        if first or not declares or token.kind != "word" or token.text not in sizes:
            continue
        size = sizes[token.text]
        end = found[number + 2] if found[number + 1].text == "=" else token
        said = token.text if size is None else f"{token.text} = {size}"
        edits.append((token.line - 1, token.column - 1, end.column - 1 + end.width, said))
    for line, start, stop, said in reversed(edits):
        lines[line] = lines[line][:start] + said + lines[line][stop:]
    return "\n".join(lines)


def _named(diagram: Diagram) -> set[Term]:
    """Return the parts that get a name of their own: those used twice, and those that a line would be too long with."""
    terms = list(subterms(*(term for _, term in diagram.outputs)))
    uses: dict[Term, int] = {}
    for term in terms:
        for child in term.children:
            uses[child] = uses.get(child, 0) + 1
    sizes: dict[Term, int] = {}
    found = set()
    for term in terms:
        sizes[term] = 1 + sum(sizes[child] for child in term.children)
        leaf = isinstance(term, LEAVES) or (
            isinstance(term, Map) and term.op == "real" and isinstance(term.args[0], LEAVES)
        )
        if not leaf and (uses.get(term, 0) > 1 or sizes[term] > LONGEST):
            found.add(term)
            sizes[term] = 1
    return found


def _output(diagram: Diagram, name: str, term: Term) -> str:
    held = dict(diagram.held).get(name)
    return f"{name}{f' : {held}' if held else ''} = {exactly(term)}"


def _axis(axis: Axis) -> str:
    return (
        axis.name
        + (f" = {axis.size}" if axis.size is not None else "")
        + (f" % {axis.multiple}" if axis.multiple > 1 else "")
    )


def _array(array: Input) -> str:
    said = f"{array.name}[{', '.join(dim.name for dim in array.dims)}]"
    return said if (array.dtype, array.facts) == ("float", ()) else f"{said} : {' '.join([array.dtype, *array.facts])}"


def _declared(word: str, things: list[str]) -> list[str]:
    lines: list[str] = []
    for thing in things:
        if lines and len(lines[-1]) + len(thing) + 2 <= WIDE:
            lines[-1] += f", {thing}"
        else:
            lines.append(f"{word} {thing}")
    return lines
