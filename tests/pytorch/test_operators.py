"""Each operator of the table against PyTorch's own, in float64: several shapes, odd sizes, dimensions counted from
the end, scalars.
"""

from __future__ import annotations

import pytest
import torch
from torch.utils import _pytree as pytree

from napkin_eq.lang.term import Reduce, subterms
from napkin_eq.pytorch.importer import from_torch
from tests.pytorch.operators import CASES, inputs

GROUPS = sorted({name.partition(" ")[0] for name, _, _ in CASES})


def agrees(name, got, wanted):
    """Hold what a diagram gives against PyTorch's, leaf by leaf."""
    got, wanted = pytree.tree_leaves(got), pytree.tree_leaves(wanted)
    assert len(got) == len(wanted), name
    for at, (g, w) in enumerate(zip(got, wanted, strict=True)):
        assert g.shape == w.shape, f"{name}, result {at}: shape {tuple(g.shape)}, expected {tuple(w.shape)}"
        if w.is_floating_point():
            own = 1e-9 if w.dtype == torch.float64 else 1e-6
            torch.testing.assert_close(
                g.double(), w.double(), rtol=own, atol=own / 100, msg=f"{name}, result {at}: {g} is not {w}"
            )
        else:
            assert g.dtype == w.dtype and torch.equal(g, w), f"{name}, result {at}"


@pytest.mark.parametrize("group", GROUPS)
def test_operators_are_what_pytorch_says(group):
    cases = [case for case in CASES if case[0].partition(" ")[0] == group]
    given = [inputs(*kinds) for _, _, kinds in cases]

    def all_of(*tensors):
        places = iter(tensors)
        return [fn(*(next(places) for _ in own)) for (_, fn, _), own in zip(cases, given, strict=True)]

    flat = [t for own in given for t in own]
    program = from_torch(all_of, *flat)
    for (name, fn, _), own, got in zip(cases, given, program.run(*flat), strict=True):
        agrees(name, got, fn(*own))


@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("how", [{"size": 9}, {"size": 3}, {"scale_factor": 2}, {"scale_factor": 2.7}])
def test_the_nearest_places_of_an_image_are_quotients(dims, how):
    """Each was the greatest of as many comparisons as the image has rows: 164 us on an H100, Inductor 114."""
    how = {name: [value] * dims if name == "size" else value for name, value in how.items()}
    for own in (1, 5, 8):
        image = torch.randn(2, 3, *[own] * dims)
        program = from_torch(lambda x: torch.nn.functional.interpolate(x, **how) * 2, image)
        wanted = torch.nn.functional.interpolate(image, **how) * 2
        torch.testing.assert_close(program.run(image), wanted, rtol=0, atol=0, check_dtype=False)
        assert not any(isinstance(t, Reduce) for _, term in program.diagram.outputs for t in subterms(term))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_a_root_mean_square_without_an_epsilon_has_that_of_the_type_it_is_computed_in(dtype):
    """Float16 had its own, 2^-10, which is much beside the squares of small numbers; PyTorch has float32's."""
    x = (torch.arange(1, 13).view(2, 6) * 1e-3).to(dtype)
    program = from_torch(lambda x: torch.nn.functional.rms_norm(x, (6,)), x)
    torch.testing.assert_close(
        program.run(x).to(dtype), torch.nn.functional.rms_norm(x, (6,)), rtol=4 * torch.finfo(dtype).eps, atol=0
    )
