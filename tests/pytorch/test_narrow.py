"""Casts to types narrower than kernels compute in, held against PyTorch's own bit for bit."""

import pytest
import torch

import napkin_eq as nq
from napkin_eq.lang.errors import NapkinError


def every_half():
    numbers = torch.arange(-(2**15), 2**15, dtype=torch.int32).to(torch.int16).view(torch.float16).float()
    torch.manual_seed(0)
    more = torch.tensor([464.0, 463.9, 2.0**-9, 2.0**-10, 1.5 * 2.0**-10, 0.99 * 2.0**-10, 2.0**-17, 1.5 * 2.0**-16])
    found = torch.cat([numbers, torch.randn(1000) * 20, more, -more])
    return found[torch.isfinite(found)]


@pytest.mark.parametrize(
    ("dtype", "top", "most"), [(torch.float8_e4m3fn, 448.0, 464.0), (torch.float8_e5m2, 57344.0, 61439.0)]
)
def test_float8_is_rounded_as_pytorch_does(dtype, top, most):
    values = every_half()
    clamped = nq.from_torch(lambda x: torch.clamp(x, -top, top).to(dtype).to(x.dtype), values)
    assert torch.equal(clamped.run(values).float(), values.clamp(-top, top).to(dtype).float())
    assert not clamped.edges  # the clamp shows that no number is past the range
    inside = values[values.abs() <= most]
    bare = nq.from_torch(lambda x: x.to(dtype).to(x.dtype), inside)
    assert torch.equal(bare.run(inside).float(), inside.to(dtype).float()) and [e.kind for e in bare.edges] == [
        "nonneg"
    ]
    inside[3] = 1e6
    with pytest.raises(NapkinError, match="range"):
        bare.run(inside)


def quantised(x, w):
    scale = x.abs().amax(-1, keepdim=True).clamp(min=1e-6) / 448.0
    return (torch.clamp(x / scale, -448, 448).to(torch.float8_e4m3fn).to(x.dtype) @ w) * scale


def whole(x, w):
    scale = x.abs().amax(-1, keepdim=True).clamp(min=1e-6) / 127.0
    return (torch.clamp(torch.round(x / scale), -128, 127).to(torch.int8).to(x.dtype) @ w) * scale


@pytest.mark.parametrize("function", [quantised, whole])
def test_dynamic_quantisation_into_a_product_is_derived(function):
    torch.manual_seed(0)
    x, w = torch.randn(8, 16), torch.randn(16, 4)
    program = nq.from_torch(function, x, w)
    torch.testing.assert_close(program.run(x, w), function(x.double(), w.double()), rtol=1e-9, atol=1e-9)
    derivation = nq.derive(program.diagram, dtype="float32")
    assert derivation.certificate["status"] == "proved"
    # A number at the middle of two steps may fall to either in float32: at most one step of one factor in a row.
    torch.testing.assert_close(derivation.compile()(x, w), function(x, w), rtol=0.1, atol=0.5)


def test_whole_numbers_wrap_around():
    a, b = (
        torch.randint(-128, 128, (60,), dtype=torch.int8, generator=torch.Generator().manual_seed(n)) for n in (0, 1)
    )
    for function in (torch.add, torch.sub, torch.mul, lambda a, b: -a, lambda a, b: (a + b).to(torch.int64) * 2):
        program = nq.from_torch(lambda a, b, f=function: f(a, b).to(torch.int64), a, b)
        assert torch.equal(program.run(a, b).long(), function(a, b).long())
    x = torch.arange(-400, 400)
    for dtype in (torch.int8, torch.uint8, torch.int16):
        program = nq.from_torch(lambda x, d=dtype: (x * 100).to(d).to(torch.int64), x)
        assert torch.equal(program.run(x).long(), (x * 100).to(dtype).long())


def test_the_backend_gives_float8_too():
    x = torch.randn(4, 8) * 3

    def function(x):
        y = torch.clamp(x * 2, -448, 448).to(torch.float8_e4m3fn)
        return y, y.to(torch.float32) + 1

    fast = torch.compile(function, backend="napkin_eq", options={"executor": "reference"})
    for got, want in zip(fast(x), function(x), strict=True):
        assert got.dtype == want.dtype and torch.equal(got.float(), want.float())
