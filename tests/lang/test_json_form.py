"""JSON: what is written is read back as the same term, and what a stranger writes is refused in one line or read."""

import copy
import json
import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import napkin_eq.frontend.library as nq
from napkin_eq.frontend.gallery import DIAGRAMS
from napkin_eq.lang.axis import Axis
from napkin_eq.lang.diagram import Diagram
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.json_form import (
    MAX_NODES,
    diagram_from_json,
    diagram_to_json,
    dumps_diagram,
    from_json,
    loads_diagram,
    to_json,
)
from napkin_eq.lang.term import (
    Acc,
    Const,
    Fold,
    Group,
    Index,
    Input,
    Length,
    Map,
    Online,
    Prev,
    Proj,
    Read,
    Reduce,
    Scan,
    Size,
    Store,
    Term,
    Tuple,
    Walk,
)
from napkin_eq.laws.law import Var

AXES = [Axis("q", 4), Axis("x"), Axis("y", None, 8)]
x = AXES[1]
LEAVES = [Input("A", tuple(AXES)), Input("B", (x,), "float16", ("nonneg", "abs<=2.5")), Input("C", ()), Acc()]
MONOIDS = ["sum", "max", "prod"]


@st.composite
def grown(draw):
    """Return a term made step by step out of those before it, so that parts are shared."""
    numbers = [
        Const(draw(st.floats(allow_nan=False, allow_infinity=False) | st.just(float("-inf")))),
        Const(draw(st.integers(-(2**62), 2**62))),
    ]
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
        "schema": 2,
        "axes": {"x": {"size": 8, "multiple": 1}},
        "inputs": {"A": {"dims": ["x"], "dtype": "float", "facts": []}},
        "nodes": [["Input", "A"], ["Const", "bool", "1"], ["Reduce", "sum", "x", 0, 1]],
        "root": 2,
    }


def test_a_pattern_of_a_law_has_no_form():
    data = to_json(Var("a") + 1.0)
    assert ["Var", "real", "a"] in data["nodes"]
    with pytest.raises(NapkinError, match="not 'Var'"):
        from_json(data)


def test_two_axes_of_one_name_are_told_apart_or_refused():
    y, other = Axis("y", 4), Axis("y", 5)
    apart = nq.sum(nq.array("A", y), "y") + nq.sum(nq.array("B", other), "y")
    assert set(to_json(apart)["axes"]) == {"y", "y__1"}
    with pytest.raises(NapkinError, match="y__1"):
        from_json(to_json(apart))
    with pytest.raises(NapkinError, match="two inputs are called A"):
        to_json(nq.sum(nq.array("A", y), "y") + nq.sum(nq.array("A", other), "y"))


GOOD = diagram_to_json(Diagram("row", (("out", nq.sum(nq.array("A", Axis("x", 8)) * 2.0, "x")),), "A row."))
DEEP = {"name": "deep", "doc": "", "schema": 2, "axes": {}, "inputs": {}, "outputs": [["out", 3100]]}
DEEP["nodes"] = [["Const", "real", "1.0"], *(["exp", i] for i in range(3100))]


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
    "a node: expected a list": changed(["nodes", 2], {"code": "x"}),
    "lacks the key 'doc'": {k: v for k, v in GOOD.items() if k != "doc"},
    "schema 3 is not known": changed(["schema"], 3),
    "schema True is not known": changed(["schema"], True),
    "schema a list": changed(["schema"], [1]),
    "axis 'x': size is 'big'": changed(["axes", "x", "size"], "big"),
    "size is a int": changed(["axes", "x", "size"], 10**5000),
    "size 4611686018427387904 is out of range": changed(["axes", "x", "size"], 2**62),
    "size 0 is out of range": changed(["axes", "x", "size"], 0),
    "size True is not an integer": changed(["axes", "x", "size"], True),
    "multiple is None": changed(["axes", "x", "multiple"], None),
    "an axis is an object": changed(["axes", "x"], []),
    "axis 'x; import os' is not a usable name": changed(["axes"], {"x; import os": GOOD["axes"]["x"]}),
    "axis '__x__' is not": changed(["axes"], {"__x__": GOOD["axes"]["x"]}),
    "axes: expected an object of at most 64 entries": changed(
        ["axes"], {f"x{n}": GOOD["axes"]["x"] for n in range(65)}
    ),
    "axes: expected an object": changed(["axes"], [GOOD["axes"]["x"]]),
    "input 'lambda' is not": changed(["inputs"], {"lambda": GOOD["inputs"]["A"]}),
    "unknown dtype 'object'": changed(["inputs", "A", "dtype"], "object"),
    "unknown fact 'big'": changed(["inputs", "A", "facts"], ["big"]),
    "facts: expected a short text": changed(["inputs", "A", "facts"], [3]),
    "axis 'z' is not listed": changed(["inputs", "A", "dims"], ["z"]),
    "axis a list is not listed": changed(["inputs", "A", "dims"], [["x"]]),
    "input 'Z' is not listed; listed are A": changed(["nodes", 0, 1], "Z"),
    "node 1: Const: kind 'real' with value 'nan'": changed(["nodes", 1, 2], "nan"),
    "kind 'int' with value '2.0'": changed(["nodes", 1, 1], "int"),
    "kind 'eval'": changed(["nodes", 1, 1], "eval"),
    "kind a list": changed(["nodes", 1, 1], []),
    "number: expected a short text": changed(["nodes", 1, 2], 2.0),
    "begins with one of": changed(["nodes", 2, 0], "__class__"),
    "a node: expected a list of at most 65, not 7": changed(["nodes", 2], 7),
    "not 'system'": changed(["nodes", 2, 0], "system"),
    "not 'is-pos'": changed(["nodes", 2, 0], "is-pos"),
    "expected the place": changed(["nodes", 2], ["mul", 0, 2]),
    "0 to 1, not -1": changed(["nodes", 2], ["mul", 0, -1]),
    "0 to 1, not True": changed(["nodes", 2], ["mul", 0, True]),
    "mul has 2 parts": changed(["nodes", 2], ["mul", 0]),
    "a node: expected a list of at most 65": changed(["nodes", 2], ["Tuple", *[0] * 65]),
    "unknown monoid 'median'": changed(["nodes", 4, 1], "median"),
    "the mask is real": changed(["nodes", 4, 4], 0),
    "nodes: expected a list of at most 20000": changed(["nodes"], [GOOD["nodes"][1]] * (MAX_NODES + 1)),
    "nodes: expected a list of at most 20000, not a list": changed(["nodes"], nested(500) * (MAX_NODES + 1)),
    "output 'out': expected the place": changed(["outputs"], [["out", 99]]),
    "an output is a pair": changed(["outputs"], [["out"]]),
    "outputs: expected a list": changed(["outputs"], {"out": 4}),
    "has no output": changed(["outputs"], []),
    "output 'x__y' is not": changed(["outputs"], [["x__y", 4]]),
    "the name: expected a short text": changed(["name"], None),
    "diagram '../row' is not": changed(["name"], "../row"),
    "levels deep; at most 3000": DEEP,
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
    "with value '1e999'": dumps_diagram(diagram_from_json(GOOD)).replace("2.0", "1e999"),
    "characters; at most": " " * 16_000_001,
    "not 'row'": '"row"',
}


@pytest.mark.parametrize("reason", HOSTILE_TEXT)
def test_hostile_text_is_refused_in_one_line(reason):
    with pytest.raises(NapkinError, match=reason.strip()) as refused:
        loads_diagram(HOSTILE_TEXT[reason])
    assert "\n" not in str(refused.value) and len(str(refused.value)) < 400


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["Tuple", "Const", "real", "x", "add"]),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["size", "multiple", "dims", "x", "A"]), inner)
    ),
    max_leaves=6,
)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.data())
def test_any_change_of_a_diagram_is_read_or_refused(data):
    # Anything but NapkinError is a fault of the reader.
    at = broken = copy.deepcopy(GOOD)
    for _ in range(data.draw(st.integers(0, 3))):
        keys = [
            key
            for key in (at if isinstance(at, dict) else range(len(at)))
            if isinstance(at[key], (dict, list)) and at[key]
        ]
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
    for value in (0.0, -0.0, 1, 1.0, True, -math.inf, Fraction(1, 3), Fraction(-(10**17) - 1), 1e-300, 1e16):
        assert from_json(json.loads(json.dumps(to_json(Const(value))))) is Const(value)
    for text in ("inf", "1/10", "2/6", "1/0", "-0/3", "1/-3", "nan", "0x1", "1_0", "1e999"):
        with pytest.raises(NapkinError, match="Const: kind 'real' with value"):
            from_json({"schema": 2, "axes": {}, "inputs": {}, "nodes": [["Const", "real", text]], "root": 0})
