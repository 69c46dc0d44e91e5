"""What is given to the library's functions and is nothing that they take is said in one line, where it stands."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch

import napkin_eq as nq
from napkin_eq.lang.term import Index, as_real

(A,) = nq.axes("a", a=4)
X = nq.array("x", A)
PROGRAM = nq.from_torch(torch.nn.Linear(4, 2), torch.randn(3, 4))
WRONG: Any = object()
WRONG_NAME: Any = "x"
WRONG_NUMBER: Any = 7
TERM: Any = X
ARRAYS: Any = [np.zeros(4)]
DOORS: dict[str, Any] = {
    "derive: expected a": nq.derive,
    "evaluate: expected a term": lambda given: nq.evaluate(given, {}),
    "to_json: expected a term": nq.to_json,
    "output_order: expected a term": nq.output_order,
    "diagram d: output out: expected a term": lambda given: nq.Diagram("d", (("out", given),)),
    "diagram d: its outputs are pairs": lambda given: nq.Diagram("d", given),
    "axes: expected the names": nq.axes,
    "hardware is a": lambda given: nq.derive(X, hardware=given),
    "the limit is a": lambda given: nq.derive(X, limit=WRONG if isinstance(given, int) else given),
    "unknown dtype": lambda given: nq.derive(X, dtype=given),
    "explain_torch: expected a function": nq.explain_torch,
    "optimize: expected a function": lambda given: nq.optimize(() if given is None else given),
}


@pytest.mark.parametrize("given", [5, None, [X], PROGRAM], ids=["number", "nothing", "list", "program"])
@pytest.mark.parametrize("said", DOORS)
def test_what_is_given_wrongly_is_said_in_one_line(said, given):
    with pytest.raises(nq.NapkinError) as told:
        DOORS[said](given)
    assert said in str(told.value) and "\n" not in str(told.value)


@pytest.mark.parametrize(
    ("said", "call"),
    [
        ("the largest relative error is 'x'", lambda: nq.derive(X, max_error=WRONG_NAME)),
        ("refused is a int", lambda: nq.derive(X, refused=WRONG_NUMBER)),
        ("refused is a Input", lambda: nq.derive(X, refused=TERM)),
        ("without is a str", lambda: nq.derive(X, without=WRONG_NAME)),
        ("rules is a int", lambda: nq.derive(X, rules=WRONG_NUMBER)),
        ("evaluate: inputs are a list", lambda: nq.evaluate(X, ARRAYS)),
        ("evaluate: sizes are a int", lambda: nq.evaluate(X, {"x": np.zeros(4)}, sizes=WRONG_NUMBER)),
        ("split: a is cut into axes, found 7", lambda: nq.split(X, A, WRONG_NUMBER)),
        ("split: a is cut into axes, found none", lambda: nq.split(X, A)),
        (f"constant {2**70} is beyond whole numbers of 64 bits", lambda: X * as_real(Index(A) + 2**70)),
        (f"constant {-(2**63) - 1} is beyond whole numbers", lambda: X * as_real(Index(A) + (-(2**63) - 1))),
    ],
)
def test_arguments_of_a_wrong_kind_are_said_in_one_line(said, call):
    with pytest.raises(nq.NapkinError) as told:
        call()
    assert said in str(told.value) and "\n" not in str(told.value)


@pytest.mark.parametrize("held", [{"o": X}.items(), [["o", X]], [("o", X)], iter([("o", X)])])
def test_pairs_of_a_diagram_may_be_held_by_anything(held):
    made = nq.Diagram("d", held)
    assert made == nq.Diagram("d", (("o", X),)) and hash(made) == hash(nq.Diagram("d", (("o", X),)))


@pytest.mark.parametrize("limit", [np.float32(5), np.int64(5), Fraction(5)])
def test_a_limit_is_any_number(limit):
    assert nq.derive(X * 2.0, limit=limit).plan.kernels


def test_of_a_program_it_is_said_what_to_give():
    with pytest.raises(nq.NapkinError, match=r"found Program; give its \.diagram, and its \.dtype as dtype"):
        nq.derive(PROGRAM)
    with pytest.raises(nq.NapkinError, match=r"found Diagram; take its \.term"):
        nq.evaluate(nq.Diagram("d", (("out", X),)), {})
