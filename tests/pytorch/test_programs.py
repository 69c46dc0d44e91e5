"""Programs as people write them: each is read whole and gives what PyTorch gives; some are derived here, all by the
command of docs/pytorch.md.
"""

from __future__ import annotations

import copy

import pytest
import torch

from napkin_eq.lang.errors import NapkinError
from napkin_eq.pytorch.importer import from_torch
from tests.pytorch.programs import PROGRAMS, given
from tests.pytorch.test_operators import agrees


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_is_read_whole_and_gives_what_pytorch_gives(name):
    fn, tensors = given(name)
    wanted = copy.deepcopy(fn)(*tensors)
    agrees(name, from_torch(fn, *tensors).run(*tensors), wanted)


def test_running_statistics_are_further_outputs():
    fn, tensors = given("batch_norm_training")
    program = from_torch(fn, *tensors)
    found = dict(
        zip((port.target for port in program.outputs), program.evaluated(program.bound(*tensors)), strict=True)
    )
    trained = copy.deepcopy(fn)
    trained(*tensors)
    for name, wanted in trained.named_buffers():
        assert torch.allclose(found[name].double(), wanted.double()), name


def test_a_tensor_that_an_example_gives_twice_stands_for_two():
    """torch.export takes one tensor for one input: x @ y + 2 z, shown with x, y and z alike, was z @ z + 2 z of
    whatever it was given later.
    """
    same, (x, y, z) = torch.randn(4, 4), torch.randn(3, 4, 4)
    program = from_torch(lambda x, y, z: x @ y + 2 * z, same, same, same)
    assert torch.allclose(program.run(x, y, z).float(), x @ y + 2 * z, atol=1e-5)
    program = from_torch(lambda pair, z: pair[0] @ pair[1] + 2 * z, [same, same], same)
    assert torch.allclose(program.run([x, y], z).float(), x @ y + 2 * z, atol=1e-5)


def test_sizes_left_open_are_bound_when_it_runs():
    from torch.export import Dim

    def f(x, w):
        return torch.softmax(x @ w, -1).mean(0)

    x, w = torch.randn(4, 5, dtype=torch.float64), torch.randn(5, 6, dtype=torch.float64)
    program = from_torch(f, x, w, dynamic_shapes={"x": {0: Dim("rows", min=2, max=99)}, "w": None})
    assert any(axis.size is None for axis in program.diagram.axes())
    other = torch.randn(9, 5, dtype=torch.float64)
    agrees("open", program.run(other, w), f(other, w))


# What the language does not have is said, with the line; data that lead PyTorch to NaN or an infinity are refused.


def unknown(x):
    return torch.special.i0(x)


def dropping(x):
    return torch.nn.functional.dropout(x, 0.5, True)


def by_mask(x):
    return x[x > 0]


def branching(x):
    return x if x.sum() > 0 else -x


def complex_numbers(x):
    return torch.fft.fft(x)


@pytest.mark.parametrize(
    "fn, words", [(unknown, "i0"), (dropping, "random"), (by_mask, ""), (branching, ""), (complex_numbers, "")]
)
def test_what_is_not_understood_is_refused_with_the_operator_and_the_line(fn, words):
    with pytest.raises(NapkinError) as raised:
        from_torch(fn, torch.ones(4))
    said = str(raised.value)
    assert words in said and "\n" not in said
    if words:
        assert f"test_programs.py:{fn.__code__.co_firstlineno + 1}" in said


INF, NAN = float("inf"), float("nan")


@pytest.mark.parametrize(
    "fn, data",
    [
        (lambda x: 1 / x, [0.0, 1.0]),
        (lambda x: x.log(), [-1.0, 1.0]),
        (lambda x: x.sqrt(), [-1.0, 1.0]),
        (lambda x: x.softmax(0), [-INF, -INF]),
        (lambda x: x.relu(), [NAN, 1.0]),
        (lambda x: x.amax(0), [INF, 1.0]),
        (lambda x: -x, [-INF, 1.0]),
        (lambda x: (x - x).sum(), [-INF, 1.0]),
        (lambda x: x * 0, [-INF, 1.0]),
        (lambda x: x**x, [-0.5, 1.0]),
        (lambda x: x * 0.0**x, [-1.0, 1.0]),
    ],
)
def test_data_that_lead_pytorch_out_of_the_numbers_are_refused(fn, data):
    tensor = torch.tensor(data, dtype=torch.float64)
    program = from_torch(fn, tensor)
    with pytest.raises(NapkinError):
        program.run(tensor)


@pytest.mark.parametrize(
    "fn, data",
    [(lambda x: x.softmax(0), [-INF, 1.0]), (lambda x: x.exp(), [-INF, 0.0]), (lambda x: x.amax(0), [-INF, 2.0])],
)
def test_minus_infinity_in_data_is_what_is_absent(fn, data):
    tensor = torch.tensor(data, dtype=torch.float64)
    agrees("absent", from_torch(fn, tensor).run(tensor), fn(tensor))


def test_callables_of_flex_attention_are_read_with_what_they_capture():
    torch.manual_seed(0)  # near a cancellation six digits are not asked of every draw
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    slopes, documents = torch.rand(4), torch.tensor([0, 0, 1, 1, 1, 2, 2, 2])
    block = create_block_mask(
        lambda b, h, q, k: (documents[q] == documents[k]) & (q >= k), None, None, 8, 8, device="cpu", BLOCK_SIZE=8
    )

    def capped(s, b, h, q, k):
        return torch.tanh(s / 5.0) * 5.0 - slopes[h] * (q - k)

    def some(s, b, h, q, k):  # nothing of the first rows
        return torch.where(q > 2, s, -INF)

    q = torch.randn(1, 2, 8, 4)
    def masked(q):
        return flex_attention(q, q, q, score_mod=some)

    agrees("empty rows", from_torch(masked, q).run(q).float(), masked(q))
    for heads in (4, 2):

        def f(q, k, v, heads=heads):
            return flex_attention(q, k, v, score_mod=capped, block_mask=block, enable_gqa=heads < 4)

        q, k, v = torch.randn(2, 4, 8, 3), torch.randn(2, heads, 8, 3), torch.randn(2, heads, 8, 5)
        torch.testing.assert_close(from_torch(f, q, k, v).run(q, k, v).float(), f(q, k, v), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["cumsum", "cumprod", "logcumsumexp"])
def test_gradients_by_torch_func_are_traced_before_they_are_exported(name):
    """torch.export leaves transforms of which it has lost the inputs, and its decompositions crashed on these."""
    weights = torch.cos(torch.arange(15.0, dtype=torch.float64)).reshape(3, 5)

    def f(x):
        return torch.func.grad(lambda z: (getattr(z, name)(0) * weights).sum())(x)

    x = torch.randn(3, 5, dtype=torch.float64)
    agrees(name, from_torch(f, torch.randn(3, 5, dtype=torch.float64)).run(x), f(x))


def test_other_transforms_of_torch_func_are_read_and_refused_where_they_cannot_be_traced():
    from torch.func import grad, hessian, jacfwd, jacrev, jvp, vmap

    def summed(z):
        return (z.cumsum(0) * z.sin()).sum()

    x, y = torch.randn(3, 5, dtype=torch.float64), torch.randn(3, 5, dtype=torch.float64)
    transforms = (
        vmap(torch.sin),
        vmap(grad(summed)),
        jacrev(lambda z: z.sin().cumsum(0)),
        jacfwd(torch.sin),
        hessian(lambda z: (z.sin() * z).sum()),
        lambda x: jvp(torch.sin, (x,), (x,)),
    )
    for number, f in enumerate(transforms):
        agrees(str(number), from_torch(f, x).run(y), f(y))
    with pytest.raises(NapkinError, match="does not trace through this transform of torch.func"):
        from_torch(lambda x: grad(summed)(x), x, dynamic_shapes={"x": {0: torch.export.Dim.DYNAMIC}})


def test_data_of_another_kind_than_the_program_has_are_refused():
    program = from_torch(lambda a: a.float() / 255, torch.tensor([3, 4], dtype=torch.uint8))
    assert program.run(torch.tensor([255, 0])).tolist() == [1.0, 0.0]  # each is one that uint8 has
    for data in (torch.tensor([300, 1]), torch.tensor([-1, 1]), torch.tensor([1.0, 2.0])):
        with pytest.raises(NapkinError, match="not all of them of uint8"):
            program.run(data)
    with pytest.raises(NapkinError, match="meta"):
        program.run(torch.empty(2, dtype=torch.uint8, device="meta"))
