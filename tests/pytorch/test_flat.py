"""Programs over joined axes give PyTorch's numbers, and their kernels have the fewer axes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch.nn import functional

from napkin_eq.lang.evaluate import evaluate
from napkin_eq.lang.term import Reduce, subterms
from napkin_eq.pytorch.flat import flat, in_memory, order_of, packed, room_of
from napkin_eq.pytorch.importer import from_torch
from napkin_eq.pytorch.kernels import way

X, PER = (2, 6, 3, 5), (6,)


def normed(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    return functional.group_norm(x, 3, weight, bias)


def batched(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    return functional.batch_norm(x, None, None, weight, bias, training=True)


def shifted(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return x.permute(0, 2, 3, 1) + 1.0, x.sum((2, 3))


# A program, the shapes that it takes, the axes of its first input when flat, over how many axes it folds.
CASES = [
    (functional.gelu, (X,), 1, 0),
    (normed, (X, PER, PER), 4, 2),
    (normed, ((1, 6, 257, 129), PER, PER), 3, 1),  # rows that no block holds: weights are read at quotients
    (batched, (X, PER, PER), 3, 2),
    (shifted, (X,), 3, 1),
    (lambda x: functional.layer_norm(x, x.shape[1:]), (X,), 2, 1),
    (lambda x: functional.softmax(x, -1), (X,), 2, 1),
]


@pytest.mark.parametrize(
    ("fn", "shapes", "axes", "folded"), CASES, ids="gelu group long batch permuted layer softmax".split()
)
def test_a_flat_program_is_the_program(
    fn: Callable[..., object], shapes: tuple[tuple[int, ...], ...], axes: int, folded: int
) -> None:
    torch.manual_seed(0)
    tensors = [torch.randn(shape, dtype=torch.float64) for shape in shapes]
    program = from_torch(fn, *tensors)
    made = flat(program)
    assert len(made.inputs[0].axes) <= axes
    assert len({t.axis for t in subterms(*(t for _, t in made.diagram.outputs)) if isinstance(t, Reduce)}) == folded
    arrays = {
        p.name: t.reshape([a.size or 1 for a in p.axes]).numpy() for p, t in zip(made.inputs, tensors, strict=True)
    }
    wanted = program.run(*tensors)
    for port, whole in zip(made.outputs, wanted if isinstance(wanted, tuple) else (wanted,), strict=True):
        assert port.term is not None
        order = [axis.name for axis in port.term.axes]
        shape, permuted, final, _ = way(port, order, {})
        value = torch.from_numpy(np.array(evaluate(port.term, arrays, order=order)))
        got = value.reshape(shape).permute(permuted).expand(final).reshape(whole.shape)
        torch.testing.assert_close(got, whole)


def test_what_is_folded_over_all_dimensions_is_folded_over_the_last_one_first():
    program = from_torch(
        lambda x, y: torch.nn.functional.kl_div(x.log_softmax(1), y.softmax(1), reduction="sum"),
        torch.randn(6, 5),
        torch.rand(6, 5),
    )
    (port,) = program.outputs
    outer = next(t for t in reversed(list(subterms(port.term))) if isinstance(t, Reduce))
    assert isinstance(outer.body, Reduce) and outer.axis == program.inputs[0].axes[0]


def test_the_outputs_of_a_program_lie_in_pytorchs_order_with_joined_axes_too():
    program = from_torch(lambda x: torch.exp(x).permute(2, 0, 1), torch.zeros(2, 3, 4))
    joined = flat(program)
    for made in (program, joined):
        (port,) = made.outputs
        assert dict(made.diagram.laid) == {port.name: tuple(axis.name for axis in port.axes)}
    assert len(joined.outputs[0].axes) < len(program.outputs[0].axes)


@pytest.mark.parametrize(
    ("fn", "shapes"), [case[:2] for case in CASES], ids="gelu group long batch permuted layer softmax".split()
)
def test_a_flat_program_has_its_arrays_as_they_lie(
    fn: Callable[..., object], shapes: tuple[tuple[int, ...], ...]
) -> None:
    torch.manual_seed(0)
    tensors = [torch.randn(shape, dtype=torch.float64) for shape in shapes]
    tensors[0] = torch.randn([shapes[0][at] for at in (0, 2, 3, 1)], dtype=torch.float64).permute(0, 3, 1, 2)
    program = from_torch(fn, *tensors)
    wanted = program.run(*tensors)
    results = wanted if isinstance(wanted, tuple) else (wanted,)
    lies = [[(tuple(t.shape), t.stride()) for t in some] for some in (tensors, results)]
    lies[1] = [(size, torch.empty(size[::-1]).permute(*reversed(range(len(size)))).stride()) for size, _ in lies[1]]
    made = flat(in_memory(program, *lies))
    assert made.inputs[0].order == (0, 2, 3, 1)
    assert [port.order for port in made.outputs] == [order_of(*lying) for lying in lies[1]] and made.outputs[0].order
    arrays = {
        p.name: (t.permute(p.order) if p.order else t).reshape([a.size or 1 for a in p.axes]).numpy()
        for p, t in zip(made.inputs, tensors, strict=True)
    }
    for port, whole in zip(made.outputs, results, strict=True):
        assert port.term is not None
        order = [axis.name for axis in port.term.axes]
        shape, permuted, final, _ = way(port, order, {})
        value = torch.from_numpy(np.array(evaluate(port.term, arrays, order=order)))
        got = value.reshape(shape).permute(permuted).expand(final)
        own = port.order or tuple(range(whole.dim()))
        got = got.reshape([whole.shape[at] for at in own])
        torch.testing.assert_close(got.permute(sorted(range(whole.dim()), key=own.__getitem__)), whole)


def test_the_order_in_memory_is_of_dimensions_that_have_several_elements():
    assert order_of((4, 5, 6), (30, 6, 1)) == () and order_of((4, 1, 6), (6, 1, 1)) == ()
    assert order_of((4, 5, 6), (30, 1, 5)) == (0, 2, 1) and order_of((4, 1, 6), (1, 77, 4)) == (2, 1, 0)
    assert order_of((4, 5), (0, 1)) == () and order_of((), ()) == ()
    assert packed((4, 5, 6), (30, 1, 5)) and packed((4, 1, 6), (1, 77, 4)) and packed((), ())
    assert not packed((4, 5), (0, 1)) and not packed((4, 5), (6, 1)) and not packed((4, 5), (5, 2))


def test_the_room_of_a_tensor_with_gaps():
    assert room_of((4, 5), (8, 1)) == (4, 8) and room_of((4, 5), (5, 1)) == () and room_of((), ()) == ()
    assert room_of((4, 5, 6), (60, 12, 1)) == (4, 5, 12) and room_of((4, 5, 6), (90, 6, 1)) == (4, 15, 6)
    assert room_of((4, 5), (0, 1)) == (0, 5) and room_of((4, 5), (0, 0)) == (0, 0)
    assert room_of((4, 1, 5), (5, 77, 1)) == ()
    assert room_of((4, 5), (10, 2)) == () and room_of((4, 5), (3, 1)) == ()  # no row of these is an array's


def halves(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
    return (x * y).exp(), x.softmax(-1), x.roll(1, -1).narrow(-1, 1, 2) @ y.mT[:2], y.cumsum(0), y.flip(0) + x


@pytest.mark.parametrize("part", [(slice(0, 6), slice(0, 5)), (slice(3, 9), slice(3, 8)), (slice(0, 6), slice(2, 7))])
def test_what_lies_between_the_elements_of_a_tensor_is_not_read(part: tuple[slice, slice]) -> None:
    torch.manual_seed(0)
    around = torch.full((9, 8), 7e30)
    x, y = (torch.randn(6, 5) for _ in range(2))
    lying = around[part].copy_(x)
    other = y[:1].expand(6, 5)
    program = from_torch(halves, x, y)
    wanted = halves(lying, other)
    lies = [[(tuple(t.shape), t.stride()) for t in some] for some in ((lying, other), wanted)]
    made = flat(in_memory(program, *lies))
    arrays = {}
    for port, tensor in zip(made.inputs, (lying, other), strict=True):
        held = [(size, step) for size, step in zip(tensor.shape, tensor.stride(), strict=True) if step]
        if len(held) < tensor.dim():
            assert port.room == (0, 5)
            arrays[port.name] = tensor[0].numpy()
        else:
            assert port.room == (6, 8)
            whole = torch.full((6, 8), 7e30)
            whole[:, :5] = tensor
            arrays[port.name] = whole.reshape([a.size or 1 for a in port.axes]).numpy()
    for port, whole in zip(made.outputs, wanted, strict=True):
        assert port.term is not None
        order = [axis.name for axis in port.term.axes]
        shape, permuted, final, _ = way(port, order, {})
        value = torch.from_numpy(np.array(evaluate(port.term, arrays, order=order))).float()
        torch.testing.assert_close(value.reshape(shape).permute(permuted).expand(final).reshape(whole.shape), whole)
