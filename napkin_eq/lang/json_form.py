"""Terms and diagrams as JSON: data only, shared parts listed once, and safe to read from a stranger.

    {"schema": 2, "axes": {"x": {"size": 8, "multiple": 1}}, "inputs": {"A": {"dims": ["x"], "dtype": "float", "facts":
     []}}, "nodes": [["Input", "A"], ["Const", "bool", "1"], ["Reduce", "sum", "x", 0, 1]], "root": 2}

A row of nodes is a constructor and its parts, as language.json lists them; it refers to rows before it by their place.
A diagram has "name", "doc" and "outputs", pairs of a name and a place, instead of "root". Certificates hold the same
rows.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from napkin_eq.lang.axis import Axis
from napkin_eq.lang.diagram import Diagram
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.operators import OPS
from napkin_eq.lang.term import CLASSES, Const, Input, Map, Pattern, Read, Term, Tuple, required, subterms

T = TypeVar("T")
SCHEMA = 2
MAX_NODES = 20_000
MAX_AXES = 64
MAX_ITEMS = 64
MAX_TEXT = 16_000_000
_INT = 2**62

# What a term is made of, for all who read or write rows; the checker knows this table by its hash.
LANGUAGE: dict[str, Any] = json.loads(Path(__file__).with_name("language.json").read_text(encoding="utf-8"))
CONSTRUCTORS: dict[str, tuple[list[str], str]] = LANGUAGE["constructors"]
FLAGS = {"alone": False, "fused": True}


def to_json(term: Term) -> dict[str, Any]:
    """Return a term as data for `json.dumps`; shared subterms are listed once."""
    rows = Rows()
    root = rows.add(required(term, "to_json"))
    return {"schema": SCHEMA, **rows.data(), "root": root}


def from_json(data: object) -> Term:
    """Return the term that `to_json` wrote; raises NapkinError, in one line, for anything else."""
    fields = _object(data, "a term", ("schema", "axes", "inputs", "nodes", "root"))
    return _at(_read(fields), fields["root"], "root")


def diagram_to_json(diagram: Diagram) -> dict[str, Any]:
    """Return a diagram as data for `json.dumps`."""
    rows = Rows()
    outputs = [[name, rows.add(term)] for name, term in diagram.outputs]
    more: dict[str, Any] = {"held": dict(diagram.held)} if diagram.held else {}
    more |= {"laid": {name: list(order) for name, order in diagram.laid}} if diagram.laid else {}
    return {"schema": SCHEMA, "name": diagram.name, "doc": diagram.doc, **rows.data(), "outputs": outputs, **more}


def diagram_from_json(data: object) -> Diagram:
    """Return the diagram that `diagram_to_json` wrote; raises NapkinError, in one line, for anything else."""
    more = tuple(key for key in ("held", "laid") if isinstance(data, dict) and key in data)
    fields = _object(data, "a diagram", ("name", "doc", "schema", "axes", "inputs", "nodes", "outputs", *more))
    nodes = _read(fields)
    outputs = []
    for pair in _list(fields["outputs"], "outputs", MAX_ITEMS):
        if len(_list(pair, "an output", 2)) != 2:
            _refuse(f"an output is a pair of a name and a node, not {_shown(pair)}")
        outputs.append((_text(pair[0], "the name of an output"), _at(nodes, pair[1], f"output {_shown(pair[0])}")))
    read = {t.name for t in subterms(*(term for _, term in outputs)) if isinstance(t, Input)}
    unread = tuple(name for name in fields["inputs"] if name not in read)
    found = Diagram(_text(fields["name"], "the name"), tuple(outputs), _text(fields["doc"], "doc"), unread=unread)
    types = _table(fields["held"], "held", MAX_ITEMS) if "held" in more else {}
    orders = _table(fields["laid"], "laid", MAX_ITEMS) if "laid" in more else {}
    found = found.storing(**{name: _text(held, f"the type of {_shown(name)}") for name, held in types.items()})
    return found.laying(**{name: _names(order, f"the order of {_shown(name)}") for name, order in orders.items()})


def dumps_diagram(diagram: Diagram) -> str:
    """Return a diagram as JSON text."""
    return json.dumps(diagram_to_json(diagram), allow_nan=False) + "\n"


def loads_diagram(text: str) -> Diagram:
    """Return a diagram from JSON text; raises NapkinError, in one line, for text that is no diagram."""
    if len(text) > MAX_TEXT:
        _refuse(f"{len(text)} characters; at most {MAX_TEXT} are read")
    try:
        data = json.loads(
            text, object_pairs_hook=_once, parse_constant=lambda name: _refuse(f"{name} is not a JSON number")
        )
    except RecursionError:
        _refuse("nested too deeply; terms are a flat list of nodes")
    except NapkinError:
        raise
    except ValueError as error:
        _refuse(str(error)[:120])
    return diagram_from_json(data)


# Writing.


class Rows:
    """Terms as rows: `Rows().add(term)` is the place of its row; `data()` is the tables that the rows speak of.

    Two axes of one name and of different sizes, each bound where the other is not, get two names.
    """

    def __init__(self) -> None:
        self.nodes: list[list[Any]] = []
        self.axes: dict[str, dict[str, Any]] = {}
        self.inputs: dict[str, dict[str, Any]] = {}
        self._places: dict[str, int] = {}
        self._known: dict[Term, int] = {}
        self._labels: dict[tuple[str, int | None], str] = {}

    def data(self) -> dict[str, Any]:
        """Return the tables of axes, inputs and nodes."""
        return {"axes": self.axes, "inputs": self.inputs, "nodes": self.nodes}

    def add(self, term: Term) -> int:
        """Enter a term, and return the place of its row."""
        for part in subterms(term, known=self._known):
            self._known[part] = self.row(self._spelled(part))
        return self._known[term]

    def row(self, row: list[Any]) -> int:
        """Enter a row, once, and return its place."""
        key = repr(row)
        if key not in self._places:
            self._places[key] = len(self.nodes)
            self.nodes.append(row)
        return self._places[key]

    def axis(self, axis: Axis) -> str:
        """Enter an axis, and return what it is called."""
        key = (axis.name, axis.size)
        if key not in self._labels:
            same = sum(name == axis.name for name, _ in self._labels)
            self._labels[key] = f"{axis.name}__{same}" if same else axis.name
        entry = self.axes.setdefault(self._labels[key], {"size": axis.size, "multiple": axis.multiple})
        entry["multiple"] = math.lcm(entry["multiple"], axis.multiple)
        return self._labels[key]

    def _spelled(self, term: Term) -> list[Any]:
        if isinstance(term, Input):
            entry = {"dims": [self.axis(axis) for axis in term.dims], "dtype": term.dtype, "facts": list(term.facts)}
            if self.inputs.setdefault(term.name, entry) != entry:
                _refuse(f"two inputs are called {term.name}; rename one")
            return ["Input", term.name]
        if isinstance(term, Const):
            return ["Const", term.kind, _written(term.value)]
        if isinstance(term, (Map, Tuple)):
            return [term.op if isinstance(term, Map) else "Tuple", *(self._known[child] for child in term.children)]
        if isinstance(term, Read):
            return ["Read", self.axis(term.axis), self._known[term.body], self._known[term.index]]
        if isinstance(term, Pattern):
            return [type(term).__name__, term.sort, term.name]
        return [type(term).__name__, *map(self._part, term.fields)]

    def _part(self, part: Any) -> Any:
        if isinstance(part, Axis):
            return self.axis(part)
        if isinstance(part, bool):
            return "fused" if part else "alone"
        return self._known[part] if isinstance(part, Term) else part


# Reading. Every value is checked before it is used; the constructors of terms check the rest.


def _terms(rows: Sequence[object], axes: dict[str, Axis], inputs: dict[str, Input]) -> list[Term]:
    found: list[Term] = []
    for number, row in enumerate(rows):
        try:
            found.append(read_row(row, found, axes, inputs))
        except NapkinError as error:
            _refuse(f"node {number}: {str(error).removeprefix('json: ')}")
    return found


def read_row(row: object, found: list[Term], axes: dict[str, Axis], inputs: dict[str, Input]) -> Term:
    """Return the term of a row that refers to terms found before it; raises NapkinError for anything else."""
    tag, *parts = _list(row, "a node", MAX_ITEMS + 1) or [None]
    if not isinstance(tag, str) or tag not in CONSTRUCTORS or tag not in (*OPS, *CLASSES):
        _refuse(f"expected a list that begins with one of {', '.join((*CLASSES, *OPS))}, not {_shown(tag)}")
    words = CONSTRUCTORS[tag][0] * (len(parts) if tag == "Tuple" else 1)
    if len(words) != len(parts):
        _refuse(f"{tag} has {len(words)} parts ({', '.join(words)}), {len(parts)} are given")
    if tag == "Const":
        return _const(*parts)
    made = [_part(word, part, found, axes, inputs) for word, part in zip(words, parts, strict=True)]
    if tag == "Input":
        return made[0]  # type: ignore[no-any-return]
    if tag in OPS or tag == "Tuple":
        return Map(tag, tuple(made)) if tag in OPS else Tuple(tuple(made))
    if tag == "Read":
        return Read(made[1], made[0], made[2])
    return CLASSES[tag](*made)


def _part(word: str, part: object, found: list[Term], axes: dict[str, Axis], inputs: dict[str, Input]) -> Any:
    if word in LANGUAGE["kinds"]:
        return _at(found, part, word)
    if word in LANGUAGE["roles"] or word == "input":
        return _named(inputs, part, word) if word == "input" else _named(axes, part, "axis")
    if word == "flag":
        return _named(FLAGS, part, "flag")
    return part if word == "count" else _text(part, word)


def _written(value: bool | int | float | Fraction) -> str:
    """Write a constant: a bool as 0 or 1, a float as Python does, what no float says as a fraction."""
    return (
        f"{value.numerator}/{value.denominator}"
        if isinstance(value, Fraction)
        else repr(value)
        if isinstance(value, float)
        else str(+value)
    )


def _const(kind: object, text: object) -> Term:
    value = _text(text, "number")
    try:
        if kind == "bool" and value in ("0", "1"):
            return Const(value == "1")
        if kind == "int" and abs(int(value)) <= _INT and str(int(value)) == value:
            return Const(int(value))
        if kind == "real" and "/" in value and _written((found := Const(Fraction(value))).value) == value:
            return found
        if kind == "real" and "/" not in value and repr(float(value)) == value not in ("nan", "inf"):
            return Const(float(value))
    except (ValueError, ZeroDivisionError):
        pass
    said = (
        "expected bool with 0 or 1, int up to 2^62, or real as Python writes it, or as a fraction where no decimal of a"
        " float says it"
    )
    _refuse(f"Const: kind {_shown(kind)} with value {_shown(value)}; {said}")


def _read(fields: dict[str, Any]) -> list[Term]:
    if isinstance(fields["schema"], bool) or fields["schema"] != SCHEMA:
        _refuse(f"schema {_shown(fields['schema'])} is not known; this version reads schema {SCHEMA}")
    axes = {name: _axis(name, axis) for name, axis in _table(fields["axes"], "axes", MAX_AXES).items()}
    inputs = {name: _input(name, entry, axes) for name, entry in _table(fields["inputs"], "inputs", MAX_AXES).items()}
    return _terms(_list(fields["nodes"], "nodes", MAX_NODES), axes, inputs)


def _axis(name: str, data: object) -> Axis:
    fields = _object(data, "an axis", ("size", "multiple"))
    for key, least in (("size", "null or "), ("multiple", "")):
        if not (isinstance(fields[key], int) and abs(fields[key]) <= _INT) and (fields[key] is not None or not least):
            _refuse(f"axis {_shown(name)}: {key} is {_shown(fields[key])}, expected {least}an integer")
    return Axis(name, fields["size"], fields["multiple"])


def _input(name: str, data: object, axes: dict[str, Axis]) -> Input:
    fields = _object(data, "an input", ("dims", "dtype", "facts"))
    dims = tuple(_named(axes, dim, "axis") for dim in _list(fields["dims"], "dims", MAX_ITEMS))
    return Input(
        name,
        dims,
        _text(fields["dtype"], "dtype"),
        tuple(_text(fact, "facts") for fact in _list(fields["facts"], "facts", MAX_ITEMS)),
    )


def _refuse(reason: str) -> NoReturn:
    raise NapkinError(f"json: {reason}") from None


def _shown(value: object) -> str:
    # What a stranger wrote may be deep or long: only what is short for sure is repeated.
    if isinstance(value, str):
        return repr(value[:60])
    if value is None or isinstance(value, (bool, float)) or (isinstance(value, int) and abs(value) <= _INT):
        return repr(value)
    return f"a {type(value).__name__}"


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(found := dict(pairs)) != len(pairs):
        _refuse(f"a key is given twice, among {', '.join(map(_shown, found)):.100}")
    return found


def _table(value: object, what: str, most: int) -> dict[str, Any]:
    if not isinstance(value, dict) or len(value) > most:
        _refuse(f"{what}: expected an object of at most {most} entries, not {_shown(value)}")
    return value


def _object(data: object, what: str, keys: tuple[str, ...]) -> dict[str, Any]:
    if not isinstance(data, dict):
        _refuse(f"{what} is an object with keys {', '.join(keys)}, not {_shown(data)}")
    if unknown := [key for key in data if key not in keys]:
        _refuse(f"unknown key {_shown(unknown[0])} in {what}; its keys are {', '.join(keys)}")
    if missing := [key for key in keys if key not in data]:
        _refuse(f"{what} lacks the key {missing[0]!r}")
    return data


def _list(value: object, what: str, most: int) -> list[Any]:
    if not isinstance(value, list) or len(value) > most:
        _refuse(f"{what}: expected a list of at most {most}, not {_shown(value)}")
    return value


def _text(value: object, what: str) -> str:
    if not isinstance(value, str) or len(value) > 1000:
        _refuse(f"{what}: expected a short text, not {_shown(value)}")
    return value


def _names(value: object, what: str) -> list[str]:
    return [_text(name, what) for name in _list(value, what, MAX_ITEMS)]


def _named(known: dict[str, T], name: object, what: str) -> T:
    if not isinstance(name, str) or name not in known:
        _refuse(f"{what} {_shown(name)} is not listed; listed are {', '.join(known) or 'none'}")
    return known[name]


def _at(known: list[T], place: object, what: str) -> T:
    if isinstance(place, bool) or not isinstance(place, int) or not 0 <= place < len(known):
        _refuse(f"{what}: expected the place of an entry before it, 0 to {len(known) - 1}, not {_shown(place)}")
    return known[place]
