"""Terms and diagrams as JSON: data only, shared parts listed once, and safe to read from a stranger.

    {"schema": 1, "axes": [{"name": "x", "size": 8, "multiple": 1}],
     "nodes": [{"term": "Input", "name": "A", "dims": [0], "dtype": "float", "facts": []},
               {"term": "Const", "kind": "bool", "value": true},
               {"term": "Reduce", "monoid": "sum", "axis": 0, "body": 0, "where": 1}],
     "root": 2}

An axis and a node are referred to by their place; a node refers to nodes before it. A diagram has "name", "doc" and
"outputs", pairs of a name and a node, in place of "root".
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

from napkin_eq.axis import Axis
from napkin_eq.diagram import Diagram
from napkin_eq.errors import NapkinError
from napkin_eq.term import CLASSES, Const, Proj, Term, subterms

T = TypeVar("T")
SCHEMA = 1
MAX_NODES = 20_000
MAX_AXES = 64
MAX_ITEMS = 64
MAX_TEXT = 16_000_000
_INT = 2**62

# What each field of a node holds; a field that is not listed holds a node, but for the number of an item.
_FIELDS = {"axis": "axis", "dims": "axes", "args": "nodes", "items": "nodes", "facts": "texts", "fused": "bool"}
_FIELDS |= {name: "text" for name in ("name", "dtype", "op", "monoid")}


def to_json(term: Term) -> dict[str, Any]:
    """Return a term as data for `json.dumps`; shared subterms are listed once."""
    data, places = _listed(term)
    return {**data, "root": places[term]}


def from_json(data: object) -> Term:
    """Return the term that `to_json` wrote; raises NapkinError, in one line, for anything else."""
    fields = _object(data, "term", ("schema", "axes", "nodes", "root"))
    return _at(_nodes(fields), fields["root"], "root")


def diagram_to_json(diagram: Diagram) -> dict[str, Any]:
    """Return a diagram as data for `json.dumps`."""
    data, places = _listed(*(term for _, term in diagram.outputs))
    return {"name": diagram.name, "doc": diagram.doc, **data, "outputs": [[name, places[term]] for name, term in diagram.outputs]}


def diagram_from_json(data: object) -> Diagram:
    """Return the diagram that `diagram_to_json` wrote; raises NapkinError, in one line, for anything else."""
    fields = _object(data, "diagram", ("name", "doc", "schema", "axes", "nodes", "outputs"))
    nodes = _nodes(fields)
    outputs = []
    for pair in _list(fields["outputs"], "outputs", MAX_ITEMS):
        if len(_list(pair, "an output", 2)) != 2:
            _refuse(f"an output is a pair of a name and a node, not {_shown(pair)}")
        outputs.append((_text(pair[0], "the name of an output"), _at(nodes, pair[1], f"output {_shown(pair[0])}")))
    return Diagram(_text(fields["name"], "the name"), tuple(outputs), _text(fields["doc"], "doc"))


def dumps_diagram(diagram: Diagram) -> str:
    """Return a diagram as JSON text."""
    return json.dumps(diagram_to_json(diagram), allow_nan=False) + "\n"


def loads_diagram(text: str) -> Diagram:
    """Return a diagram from JSON text; raises NapkinError, in one line, for text that is no diagram."""
    if len(text) > MAX_TEXT:
        _refuse(f"{len(text)} characters; at most {MAX_TEXT} are read")
    try:
        data = json.loads(text, object_pairs_hook=_once, parse_constant=lambda name: _refuse(f"{name} is not a JSON number"))
    except RecursionError:
        _refuse("nested too deeply; terms are a flat list of nodes")
    except NapkinError:
        raise
    except ValueError as error:
        _refuse(str(error)[:120])
    return diagram_from_json(data)


def _refuse(reason: str) -> NoReturn:
    raise NapkinError(f"json: {reason}") from None


def _shown(value: object) -> str:
    # What a stranger wrote may be deep or long: only what is short for sure is repeated.
    if isinstance(value, str):
        return repr(value[:60])
    if value is None or isinstance(value, (bool, float)) or (isinstance(value, int) and abs(value) <= _INT):
        return repr(value)
    return f"a {type(value).__name__}"


# Writing.


def _listed(*roots: Term) -> tuple[dict[str, Any], dict[Term, int]]:
    axes: dict[Axis, int] = {}
    places: dict[Term, int] = {}
    nodes: list[dict[str, Any]] = []
    for term in subterms(*roots):
        if type(term).__name__ not in CLASSES:
            _refuse(f"a {type(term).__name__} is a pattern of a law and has no JSON form")
        node: dict[str, Any] = {"term": type(term).__name__}
        node |= _constant(term.value) if isinstance(term, Const) else {n: _written(f, axes, places) for n, f in zip(term.names, term.fields, strict=True)}
        places[term] = len(nodes)
        nodes.append(node)
    listed = [{"name": axis.name, "size": axis.size, "multiple": axis.multiple} for axis in axes]
    return {"schema": SCHEMA, "axes": listed, "nodes": nodes}, places


def _written(item: Any, axes: dict[Axis, int], places: dict[Term, int]) -> Any:
    if isinstance(item, tuple):
        return [_written(part, axes, places) for part in item]
    if isinstance(item, Axis):
        return axes.setdefault(item, len(axes))
    return places[item] if isinstance(item, Term) else item


def _constant(value: bool | int | float) -> dict[str, Any]:
    # JSON has one kind of number and no infinity: the kind is said, and an infinity is a word.
    kind = "bool" if isinstance(value, bool) else "int" if isinstance(value, int) else "real"
    return {"kind": kind, "value": str(value) if kind == "real" and math.isinf(value) else value}


# Reading. Every value is checked before it is used; the constructors of terms check the rest.


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(found := dict(pairs)) != len(pairs):
        _refuse(f"a key is given twice, among {', '.join(map(_shown, found)):.100}")
    return found


def _object(data: object, what: str, keys: tuple[str, ...]) -> dict[str, Any]:
    if not isinstance(data, dict):
        _refuse(f"a {what} is an object with keys {', '.join(keys)}, not {_shown(data)}")
    if unknown := [key for key in data if key not in keys]:
        _refuse(f"unknown key {_shown(unknown[0])} in a {what}; its keys are {', '.join(keys)}")
    if missing := [key for key in keys if key not in data]:
        _refuse(f"a {what} lacks the key {missing[0]!r}")
    return data


def _list(value: object, what: str, most: int) -> list[Any]:
    if not isinstance(value, list) or len(value) > most:
        _refuse(f"{what}: expected a list of at most {most}, not {_shown(value)}")
    return value


def _text(value: object, what: str) -> str:
    if not isinstance(value, str) or len(value) > 1000:
        _refuse(f"{what}: expected a short text, not {_shown(value)}")
    return value


def _at(known: list[T], place: object, what: str) -> T:
    if isinstance(place, bool) or not isinstance(place, int) or not 0 <= place < len(known):
        _refuse(f"{what}: expected the place of an entry before it, 0 to {len(known) - 1}, not {_shown(place)}")
    return known[place]


def _nodes(fields: dict[str, Any]) -> list[Term]:
    if isinstance(fields["schema"], bool) or fields["schema"] != SCHEMA:
        _refuse(f"schema {_shown(fields['schema'])} is not known; this version reads schema {SCHEMA}")
    axes = [_axis(axis) for axis in _list(fields["axes"], "axes", MAX_AXES)]
    nodes: list[Term] = []
    for number, node in enumerate(_list(fields["nodes"], "nodes", MAX_NODES)):
        if not isinstance(node, dict) or not isinstance(node.get("term"), str) or node["term"] not in CLASSES:
            _refuse(f"node {number}: expected an object whose term is one of {', '.join(CLASSES)}, not {_shown(node)}")
        try:
            nodes.append(_node(node, axes, nodes))
        except NapkinError as error:
            _refuse(f"node {number}: {str(error).removeprefix('json: ')}")
    return nodes


def _axis(data: object) -> Axis:
    fields = _object(data, "axis", ("name", "size", "multiple"))
    for key, least in (("size", "null or "), ("multiple", "")):
        if not (isinstance(fields[key], int) and abs(fields[key]) <= _INT) and (fields[key] is not None or not least):
            _refuse(f"axis {_shown(fields['name'])}: {key} is {_shown(fields[key])}, expected {least}an integer")
    return Axis(fields["name"], fields["size"], fields["multiple"])


def _node(node: dict[str, Any], axes: list[Axis], nodes: list[Term]) -> Term:
    cls = CLASSES[node["term"]]
    if cls is Const:
        return _const(_object(node, "Const", ("term", "kind", "value")))
    fields = _object(node, cls.__name__, ("term", *cls.names))
    readers: dict[str, Callable[[Any, str], Any]] = {
        "axis": lambda value, name: _at(axes, value, name),
        "axes": lambda value, name: tuple(_at(axes, item, name) for item in _list(value, name, MAX_ITEMS)),
        "node": lambda value, name: _at(nodes, value, name),
        "nodes": lambda value, name: tuple(_at(nodes, item, name) for item in _list(value, name, MAX_ITEMS)),
        "texts": lambda value, name: tuple(_text(item, name) for item in _list(value, name, MAX_ITEMS)),
        "text": _text,
        "number": lambda value, name: value,  # it must be a place in the tuple: the constructor sees to it
        "bool": _bool,
    }
    kinds = _FIELDS | ({"index": "number"} if cls is Proj else {})
    return cls(*(readers[kinds.get(name, "node")](fields[name], name) for name in cls.names))


def _bool(value: object, what: str) -> bool:
    if not isinstance(value, bool):
        _refuse(f"{what}: expected true or false, not {_shown(value)}")
    return value


def _const(fields: dict[str, Any]) -> Term:
    kind, value = fields["kind"], fields["value"]
    if kind == "bool":
        return Const(_bool(value, "value"))
    if kind == "int" and isinstance(value, int) and not isinstance(value, bool) and abs(value) <= _INT:
        return Const(value)
    if kind == "real" and value in ("inf", "-inf"):
        return Const(float(value))
    if kind == "real" and isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= 1e308:
        return Const(float(value))
    _refuse(f"Const: kind {_shown(kind)} with value {_shown(value)}; expected a bool, an int up to 2^62 or a real number, 'inf' or '-inf'")
