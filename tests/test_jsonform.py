"""JSON: what is written is read back as the same term, and what a stranger writes is refused in one line or read."""

import copy
import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import napkin_eq.library as nq
from napkin_eq.axis import Axis
from napkin_eq.diagram import Diagram
from napkin_eq.errors import NapkinError
from napkin_eq.gallery import DIAGRAMS
from napkin_eq.jsonform import MAX_NODES, diagram_from_json, diagram_to_json, dumps_diagram, from_json, loads_diagram, to_json
from napkin_eq.law import Var
from napkin_eq.term import Acc, Const, Fold, Group, Index, Input, Length, Map, Online, Prev, Proj, Read, Reduce, Scan, Size, Store, Term, Tuple, Walk

AXES = [Axis("q", 4), Axis("x"), Axis("y", None, 8)]
x = AXES[1]
LEAVES = [Input("A", tuple(AXES)), Input("B", (x,), "float16", ("nonneg", "abs<=2.5")), Input("C", ()), Acc()]
MONOIDS = ["sum", "max", "prod"]


@st.composite
def grown(draw):
    """Return a term made step by step out of those before it, so that parts are shared."""
    numbers = [Const(draw(st.floats(allow_nan=False))), Const(draw(st.integers(-(2**62), 2**62)))]
    terms = [*LEAVES, *(cls(axis) for cls in (Index, Size, Length) for axis in AXES), *numbers]
    masks = [Const(True), Const(False), Index(x) < 3]
    for _ in range(draw(st.integers(0, 8))):
        a, b, mask = draw(st.sampled_from(terms)), draw(st.sampled_from(terms)), draw(st.sampled_from(masks))
        axis, monoid, fused = draw(st.sampled_from(AXES)), draw(st.sampled_from(MONOIDS)), draw(st.booleans())
        carried = [cls(own, a) for cls in (Group, Walk) for own in a.axes]
        masks.append(a < b)
        made = [
            *(Map(op, (a,)) for op in ("neg", "exp", "inv")),
            *(Map(op, (a, b)) for op in ("add", "mul", "max")),
            Map("where", (mask, a, b)),
            Reduce(monoid, axis, a, mask),
            Fold(monoid, axis, a, mask, fused),
            Online(axis, a, mask, Acc() * Prev(nq.size(axis)), fused),
            Scan(monoid, axis, a),
            Read(LEAVES[1], x, Index(axis)),
            Store(a),
            Proj(1, Store(Tuple((a, b)))),
            *carried,
        ]
        terms.append(draw(st.sampled_from(made)))
    return Tuple(tuple(terms[-3:])) if draw(st.booleans()) else terms[-1]


@settings(max_examples=100, deadline=None, derandomize=True)
@given(grown())
def test_a_term_is_read_back_as_itself(term):
    text = json.dumps(to_json(term), allow_nan=False)
    assert from_json(json.loads(text)) is term


def test_every_diagram_of_the_gallery_is_read_back():
    for make in DIAGRAMS.values():
        assert loads_diagram(dumps_diagram(make())) == make()


def test_shared_parts_are_listed_once():
    term: Term = nq.array("A", x)
    for _ in range(100):
        term = term + term
    assert len(to_json(term)["nodes"]) == 101
    assert from_json(to_json(term)) is term


def test_the_form_is_the_one_that_the_docs_show():
    assert to_json(nq.sum(nq.array("A", Axis("x", 8)), "x")) == {
        "schema": 1,
        "axes": [{"name": "x", "size": 8, "multiple": 1}],
        "nodes": [
            {"term": "Input", "name": "A", "dims": [0], "dtype": "float", "facts": []},
            {"term": "Const", "kind": "bool", "value": True},
            {"term": "Reduce", "monoid": "sum", "axis": 0, "body": 0, "where": 1},
        ],
        "root": 2,
    }


def test_a_pattern_of_a_law_has_no_form():
    with pytest.raises(NapkinError, match="pattern of a law"):
        to_json(Var("a") + 1.0)


GOOD = diagram_to_json(Diagram("row", (("out", nq.sum(nq.array("A", Axis("x", 8)) * 2.0, "x")),), "A row."))
DEEP = {"name": "deep", "doc": "", "schema": 1, "axes": [], "outputs": [["out", 600]]}
DEEP["nodes"] = [{"term": "Const", "kind": "real", "value": 1}, *({"term": "Map", "op": "exp", "args": [i]} for i in range(600))]


def changed(path, value):
    data = copy.deepcopy(GOOD)
    at = data
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value
    return data


def nested(depth):
    return [nested(depth - 1)] if depth else []


HOSTILE = {
    "a diagram is an object": [],
    "unknown key 'extra'": changed(["extra"], 1),
    "unknown key 'code' in a Map": changed(["nodes", 2, "code"], "x"),
    "lacks the key 'doc'": {k: v for k, v in GOOD.items() if k != "doc"},
    "schema 2 is not known": changed(["schema"], 2),
    "schema True is not known": changed(["schema"], True),
    "schema a list": changed(["schema"], [1]),
    "axis 'x': size is 'big'": changed(["axes", 0, "size"], "big"),
    "size is a int": changed(["axes", 0, "size"], 10**5000),
    "size 4611686018427387904 is out of range": changed(["axes", 0, "size"], 2**62),
    "size 0 is out of range": changed(["axes", 0, "size"], 0),
    "size True is not an integer": changed(["axes", 0, "size"], True),
    "multiple is None": changed(["axes", 0, "multiple"], None),
    "axis 'x; import os' is not a usable name": changed(["axes", 0, "name"], "x; import os"),
    "axis '__x__' is not": changed(["axes", 0, "name"], "__x__"),
    "axis .* is not a usable name": changed(["axes", 0, "name"], 3),
    "axes: expected a list of at most 64, not a list": changed(["axes"], [GOOD["axes"][0]] * 65),
    "input 'lambda' is not": changed(["nodes", 0, "name"], "lambda"),
    "unknown dtype 'object'": changed(["nodes", 0, "dtype"], "object"),
    "unknown fact 'big'": changed(["nodes", 0, "facts"], ["big"]),
    "facts: expected a short text": changed(["nodes", 0, "facts"], [3]),
    "dims: expected the place": changed(["nodes", 0, "dims"], [1]),
    "node 1: Const: kind 'real' with value 'nan'": changed(["nodes", 1, "value"], "nan"),
    "kind 'int' with value 2.0": changed(["nodes", 1, "kind"], "int"),
    "kind 'eval'": changed(["nodes", 1, "kind"], "eval"),
    "kind a list": changed(["nodes", 1, "kind"], []),
    "whose term is one of": changed(["nodes", 2, "term"], "__class__"),
    "expected an object whose term": changed(["nodes", 2], 7),
    "unknown operator 'system'": changed(["nodes", 2, "op"], "system"),
    "args: expected the place": changed(["nodes", 2, "args"], [0, 2]),
    "0 to 1, not -1": changed(["nodes", 2, "args"], [0, -1]),
    "0 to 1, not True": changed(["nodes", 2, "args"], [0, True]),
    "mul takes 2 arguments": changed(["nodes", 2, "args"], [0]),
    "args: expected a list of at most 64": changed(["nodes", 2, "args"], [0] * 65),
    "unknown monoid 'argmax'": changed(["nodes", 4, "monoid"], "argmax"),
    "the mask is real": changed(["nodes", 4, "where"], 0),
    "nodes: expected a list of at most 20000": changed(["nodes"], [GOOD["nodes"][1]] * (MAX_NODES + 1)),
    "nodes: expected a list of at most 20000, not a list": changed(["nodes"], nested(500) * (MAX_NODES + 1)),
    "output 'out': expected the place": changed(["outputs"], [["out", 99]]),
    "an output is a pair": changed(["outputs"], [["out"]]),
    "outputs: expected a list": changed(["outputs"], {"out": 4}),
    "has no output": changed(["outputs"], []),
    "output 'x__y' is not": changed(["outputs"], [["x__y", 4]]),
    "the name: expected a short text": changed(["name"], None),
    "diagram '../row' is not": changed(["name"], "../row"),
    "levels deep; at most 500": DEEP,
}


@pytest.mark.parametrize("reason", HOSTILE)
def test_hostile_data_is_refused_in_one_line(reason):
    with pytest.raises(NapkinError, match=reason) as refused:
        diagram_from_json(HOSTILE[reason])
    assert "\n" not in str(refused.value) and len(str(refused.value)) < 400


HOSTILE_TEXT = {
    "nested too deeply|a diagram is an object": "[" * 100_000,
    "nested too deeply|a diagram is an object ": '{"name":' * 100_000,
    "Expecting": "{",
    "Expecting value": "",
    "NaN is not a JSON number": "NaN",
    "Infinity is not": '{"schema": -Infinity}',
    "a key is given twice": '{"name": "a", "name": "b"}',
    "digits": "1" * 5000,
    "with value inf": dumps_diagram(diagram_from_json(GOOD)).replace("2.0", "1e999"),
    "characters; at most": " " * 16_000_001,
    "not 'row'": '"row"',
}


@pytest.mark.parametrize("reason", HOSTILE_TEXT)
def test_hostile_text_is_refused_in_one_line(reason):
    with pytest.raises(NapkinError, match=reason.strip()) as refused:
        loads_diagram(HOSTILE_TEXT[reason])
    assert "\n" not in str(refused.value) and len(str(refused.value)) < 400


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from(["Map", "Const", "real", "x", "add"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["term", "op", "args", "axis", "value"]), inner),
    max_leaves=6,
)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.data())
def test_any_change_of_a_diagram_is_read_or_refused(data):
    # Anything but NapkinError is a fault of the reader.
    at = broken = copy.deepcopy(GOOD)
    for _ in range(data.draw(st.integers(0, 3))):
        keys = [key for key in (at if isinstance(at, dict) else range(len(at))) if isinstance(at[key], (dict, list)) and at[key]]
        if not keys:
            break
        at = at[data.draw(st.sampled_from(keys))]
    key = data.draw(st.sampled_from(list(at) if isinstance(at, dict) else list(range(len(at)))))
    at[key] = data.draw(JSON)
    try:
        assert isinstance(diagram_from_json(broken), Diagram)
    except NapkinError as refused:
        assert "\n" not in str(refused)


def test_signs_and_kinds_of_constants_are_kept():
    for value in (0.0, -0.0, 1, 1.0, True, math.inf, -math.inf):
        assert from_json(json.loads(json.dumps(to_json(Const(value))))) is Const(value)
