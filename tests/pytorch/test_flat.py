"""Programs over joined axes give PyTorch's numbers, and their kernels have the fewer axes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch.nn import functional

from napkin_eq.lang.evaluate import evaluate
from napkin_eq.lang.term import Reduce, subterms
from napkin_eq.pytorch.flat import flat
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
