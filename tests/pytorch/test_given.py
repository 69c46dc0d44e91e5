"""What `run` is called with: the program's own arguments are taken, others refused in one line; so are places outside
of a dimension.
"""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

import napkin_eq as nq
from napkin_eq.lang.errors import NapkinError

X = torch.randn(5, 4, dtype=torch.float64)


def scaled(x, n, offset=0.0, *, named=None):
    return x * n + offset


def test_numbers_are_those_of_the_example_or_refused():
    program = nq.from_torch(scaled, X, 2)
    for found in (program.run(X, 2), program.run(x=X, n=2), program.run(X, n=2)):
        assert torch.equal(found, X * 2)
    for args, kwargs, said in (
        ((X, 3), {}, "input n is 3, expected 2"),
        ((X,), {"n": 3}, "input n is 3, expected 2"),
        ((X, 2.0), {}, "input n is 2.0, expected 2"),
        ((X, X), {}, "input n is a Tensor, expected 2"),
        ((2, 2), {}, "input x is 2, expected a tensor"),
        ((X,), {}, "1 inputs given, 2 expected: x, n"),
        ((X, 2, 1.0), {}, "3 inputs given, 2 expected: x, n"),
        ((X, 2), {"named": X}, "3 inputs given, 2 expected: x, n"),
        ((X, 2), {"other": X}, "unexpected keyword argument 'other'"),
    ):
        with pytest.raises(NapkinError) as raised:
            program.run(*args, **kwargs)
        assert said in str(raised.value) and "\n" not in str(raised.value)


def test_more_tensors_than_the_program_has_are_refused():
    with pytest.raises(NapkinError, match="3 inputs given, 1 expected: input"):
        nq.from_torch(torch.nn.Linear(4, 2).double(), X).run(X, X, X)


def test_dictionaries_are_taken_in_any_order_and_none_as_none():
    program = nq.from_torch(lambda d, last: d["a"][0] - d["b"] * d["a"][1], {"a": (X, 2), "b": X + 1}, None)
    assert torch.equal(program.run({"b": X + 1, "a": (X, 2)}, None), X - (X + 1) * 2)
    with pytest.raises(NapkinError, match="input last is 1, expected None"):
        program.run({"b": X + 1, "a": (X, 2)}, 1)
    with pytest.raises(NapkinError, match="not nested as the example's were"):
        program.run({"c": X + 1, "a": (X, 2)}, None)


CHOSEN = {
    "index": (lambda x, i: x[i], [0, -5], [0, 7], "index 7 .* expected -5 to 4"),
    "index below": (lambda x, i: x[i], [4], [-6], "index -6 .* expected -5 to 4"),
    "of two": (lambda x, i: x[i, i], [3], [4], "index 4 .* expected -4 to 3"),
    "of a real number": (lambda x, i: x[i.double().long()], [4], [5], "index 5 "),
    "embedding": (lambda x, i: F.embedding(i, x), [4], [5], "index 5 .* expected 0 to 4"),
    "index_select": (lambda x, i: x.index_select(0, i), [4], [-1], "index -1 .* expected 0 to 4"),
    "gather": (lambda x, i: x.gather(0, i.expand(1, 4)), [4], [5], "index 5 "),
    "scatter": (lambda x, i: x.scatter(0, i.expand(1, 4), 1.0), [4], [5], "index 5 "),
    "index_put": (lambda x, i: x.index_put((i,), x[0]), [-1], [9], "index 9 "),
    "index_add": (lambda x, i: x.index_add(0, i, x[:1]), [4], [5], "index 5 "),
    "labels": (lambda x, i: F.cross_entropy(x[:2], i), [3, -100], [4, 0], "index 4 .* expected 0 to 3"),
}


@pytest.mark.parametrize("name", CHOSEN)
def test_places_outside_of_a_dimension_are_refused_as_pytorch_does(name):
    function, inside, outside, said = CHOSEN[name]
    inside, outside = torch.tensor(inside), torch.tensor(outside)
    program = nq.from_torch(function, X, inside)
    torch.testing.assert_close(program.run(X, inside), function(X, inside))
    with pytest.raises((IndexError, RuntimeError)):
        function(X, outside)
    with pytest.raises(NapkinError, match=said):
        program.run(X, outside)


def test_places_that_are_shown_to_lie_inside_are_not_looked_at():
    program = nq.from_torch(lambda x, i: (x[i % 5], x[i.clamp(0, 4)], x[torch.arange(5)]), X, torch.tensor([9]))
    assert not program.places
