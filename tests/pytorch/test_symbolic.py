"""Programs of which sizes are symbols: read once, they give what PyTorch gives at other sizes, or refuse these in a
line; in the backend one region serves every size.
"""

from __future__ import annotations

import math
import warnings
from functools import partial

import pytest
import torch
import torch.nn.functional as F
from torch.export import Dim

from napkin_eq.lang.errors import NapkinError
from napkin_eq.pytorch import backend, kernels
from napkin_eq.pytorch.importer import from_torch
from tests.pytorch.test_operators import agrees

SIZES = {"b": (3, 2, 5, 4), "n": (7, 4, 10, 8), "m": (9, 5, 6, 7), "e": (8, 4, 12, 16), "f": (6, 4, 10, 8)}


def drawn(kinds, number, dtype=torch.float64):
    """Return tensors of shapes in which letters stand for one of their sizes."""
    generator = torch.Generator().manual_seed(number)
    found = []
    for kind in kinds:
        below, shape = (kind[1], kind[2]) if kind[0] == "below" else (None, kind)
        sizes = [SIZES[size][number] if isinstance(size, str) else size for size in shape]
        if below is None:
            found.append(torch.randn(sizes, generator=generator, dtype=dtype))
        else:
            found.append(torch.randint(below, sizes, generator=generator))
    return found


def opened(kinds):
    """Return each letter of shapes as a dimension of its own."""
    shapes = [kind[2] if kind[0] == "below" else kind for kind in kinds]
    return tuple({at: Dim.DYNAMIC for at, size in enumerate(shape) if isinstance(size, str)} for shape in shapes)


def read(fn, *kinds):
    """Return a program read with letters of shapes left open."""
    return from_torch(fn, *drawn(kinds, 0), dynamic_shapes=opened(kinds))


def rotated(x):
    angles = torch.outer(torch.arange(x.shape[1]).double(), torch.tensor([1.0, 0.1], dtype=torch.float64))
    angles = torch.cat([angles, angles], -1)
    return x * angles.cos() + torch.cat([-x[..., 2:], x[..., :2]], -1) * angles.sin()


def cached(keys, values, q, k, v):
    k, v = torch.cat([keys, k], 1), torch.cat([values, v], 1)
    return (q @ k.mT).softmax(-1) @ v, k, v


def windowed(x):
    rows, columns = x.shape[1], x.shape[2]
    parts = x.view(x.shape[0], rows // 2, 2, columns // 2, 2, 3).permute(0, 1, 3, 2, 4, 5)
    return parts.reshape(-1, 4, 3).softmax(1)


def chunked(q, k):
    q, k = (t.view(t.shape[0], -1, 2, 4) for t in (q, k))
    return torch.einsum("bcid,bcjd->bcij", q, k)


def positioned(x, table, mask):
    n = x.shape[1]
    return (x + table[:, :n]) * mask[:n, :n].sum(1)[:, None]


def upsampled(x, w):
    small = F.max_pool2d(F.conv2d(x, w, padding=1), 2)
    return torch.cat([F.interpolate(small, scale_factor=2), x], 1)


def mixed_experts(x, gate, experts):
    values, places = (x @ gate).softmax(-1).topk(2, -1)
    return (experts[places] * values[..., None]).sum(1)


def shuffled(x, w):
    parts = x.view(x.shape[0], 3, 4, *x.shape[2:]).transpose(1, 2).reshape(x.shape)
    return F.conv2d(parts, w, groups=3)


def rolled_windows(x):
    rows, columns = x.shape[1], x.shape[2]
    parts = x.roll((-1, -1), (1, 2)).view(x.shape[0], rows // 2, 2, columns // 2, 2, 3).permute(0, 1, 3, 2, 4, 5)
    parts = parts.reshape(-1, 4, 3).softmax(1).view(x.shape[0], rows // 2, columns // 2, 2, 2, 3)
    return parts.permute(0, 1, 3, 2, 4, 5).reshape(x.shape).roll((1, 1), (1, 2)) + x


def drawn_as_another(x):
    wide = x[..., ::2, ::2]
    return wide + F.interpolate(wide[..., ::2, ::2], size=wide.shape[-2:])


def next_token(scores, tokens):
    return F.cross_entropy(scores[:, :-1].reshape(-1, 5), tokens[:, 1:].reshape(-1))


BN4 = ("b", "n", 4)
IMAGE = ("b", 2, "n", "m")
PROGRAMS = {
    "cat": (lambda x, y: torch.cat([x, y, x[:1]]), ("b", 4), ("n", 4)),
    "cat of a cache": (cached, *[BN4] * 2, *[("b", 1, 4)] * 3),
    "stack": (lambda x: torch.stack([x, x * 2], 1), BN4),
    "slice of the last": (lambda x: (x[:, -1], x[:, -3:], x[:, :-1] - x[:, 1:]), BN4),
    "slice by steps": (lambda x: (x[:, ::2], x[:, 1::3], x[:, 1:3]), BN4),
    "slice by a size": (lambda x: (x[:, : x.shape[1] // 2], x[:, x.shape[1] // 2 :], x[:, x.shape[1] - 2]), BN4),
    "slice of a table": (positioned, BN4, (1, 16, 4), (16, 16)),
    "slice written": (lambda x, y: torch.slice_scatter(x, y, 1, -2), BN4, ("b", 2, 4)),
    "flip": (lambda x: x.flip(0, 1) + x, BN4),
    "roll": (lambda x: (x.roll(1, 1), x.roll((-2, 9), (1, 0))), BN4),
    "pad": (lambda x: (F.pad(x, (0, 0, 1, -1)), F.pad(x, (0, 0, 2, 3), value=1.5)), BN4),
    "pad by what is there": (
        lambda x: tuple(F.pad(x, (2, 1), mode=mode) for mode in ("reflect", "replicate", "circular")),
        ("b", 2, "n"),
    ),
    "windows": (lambda x: x.unfold(1, 3, 2), BN4),
    "windows of an image": (lambda x: F.unfold(x, (2, 3), padding=1), IMAGE),
    "view in windows": (windowed, ("b", "e", "f", 3)),
    "view in chunks": (chunked, ("b", "e", 4), ("b", "e", 4)),
    "view of heads": (lambda x: x.transpose(0, 1).reshape(x.shape[1], x.shape[0] * 2, 2).transpose(0, 1), BN4),
    "diagonal": (lambda x: torch.diagonal(x @ x.mT, 1, 1, 2), BN4),
    "convolution": (
        lambda x, w: (F.conv1d(x, w, padding=1), F.conv1d(x, w, stride=2), F.conv1d(x, w, padding=4, dilation=2)),
        ("b", 2, "n"),
        (4, 2, 3),
    ),
    "convolution by channel": (
        lambda x, w: F.conv2d(x, w, padding="same", groups=2)[..., : x.shape[-1] - 1],
        IMAGE,
        (2, 1, 3, 3),
    ),
    "convolution transposed": (
        lambda x, w: (F.conv_transpose2d(x, w, stride=2, padding=1), F.conv_transpose2d(x, w, output_padding=0)),
        IMAGE,
        (2, 3, 3, 2),
    ),
    "pooling": (lambda x: (F.max_pool2d(x, 3, 2, 1), F.max_pool2d(x, 2, return_indices=True)), IMAGE),
    "pooling of means": (
        lambda x: (F.avg_pool2d(x, 3, 2, 1), F.avg_pool2d(x, 3, 2, 1, count_include_pad=False), F.avg_pool2d(x, 2)),
        IMAGE,
    ),
    "pooling rounded up": (lambda x: F.max_pool2d(x, 3, 2, 1, ceil_mode=True), ("b", 2, "e", "f")),
    "pooling to a size": (
        lambda x: tuple(pool(x, s) for pool in (F.adaptive_avg_pool2d, F.adaptive_max_pool2d) for s in (1, (2, 3))),
        IMAGE,
    ),
    "nearest": (lambda x: (F.interpolate(x, scale_factor=3), F.interpolate(x, size=(8, 4))), IMAGE),
    "nearest of other sizes": (
        lambda x: (F.interpolate(x, size=(5, 7)), F.interpolate(x, scale_factor=(1.5, 0.7))),
        IMAGE,
    ),
    "nearest of another's size": (drawn_as_another, IMAGE),
    "bicubic": (lambda x: F.interpolate(x, scale_factor=2, mode="bicubic"), ("b", 1, "e", 2)),
    "bilinear": (lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"), ("b", 1, "n", 3)),
    "a net that joins": (upsampled, ("b", 2, "e", "f"), (3, 2, 3, 3)),
    "order": (lambda x: (*x.sort(-1), *x.topk(3, -1), x.argsort(0), x.kthvalue(2, -1).values), ("b", "n")),
    "median": (lambda x: x.median(-1), ("b", "n")),
    "place of all": (lambda x: (x.argmax(), x.argmin(0)), ("b", "n")),
    "places that data choose": (
        lambda x, i: x[torch.arange(x.shape[0]), i.sum(1)],
        BN4,
        ("below", 2, ("b", 3)),
    ),
    "experts": (mixed_experts, ("n", 4), (4, 5), (5, 4)),
    "rotary": (rotated, BN4),
    "channels shuffled": (shuffled, ("b", 12, "n", "m"), (6, 4, 1, 1)),
    "windows that roll": (rolled_windows, ("b", "e", "f", 3)),
    "numbers evenly apart": (lambda x: x * torch.linspace(-1, 2, x.shape[1], dtype=x.dtype), ("b", "n")),
    "places along another": (lambda x, i: torch.take_along_dim(x, i, 1), ("b", "n"), ("below", 4, ("b", 3))),
    "adding where data say": (
        lambda x, i, s: (x.scatter_add(1, i, s), x.scatter_reduce(1, i, s, "amax"), x.scatter(1, i, 2.5)),
        ("e", "n"),
        ("below", 4, ("b", "m")),
        ("f", 12),
    ),
    "sums of a list": (
        lambda i, s: torch.zeros(6, 4, dtype=s.dtype).scatter_add(0, i[:, None].expand(-1, 4), s),
        ("below", 6, ("n",)),
        ("n", 4),
    ),
    "members of a set": (lambda x: torch.isin(x.round(), torch.tensor([0.0, 1.0], dtype=x.dtype)), ("b",)),
    "attention": (lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True), *[("b", 2, "n", 4)] * 3),
    "loss": (next_token, ("b", "n", 5), ("below", 5, ("b", "n"))),
    "numbers of sizes": (
        lambda x: x * (x.shape[1] // 2) + x.shape[1] % 3 + math.sqrt(2) * x.shape[1] ** -0.5 + x[:, 1:].shape[1],
        ("b", "n"),
    ),
    "gates": (lambda x: F.glu(torch.cat([x, x], 1), 1), BN4),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_of_symbolic_sizes_gives_what_pytorch_gives_at_every_size(name):
    fn, *kinds = PROGRAMS[name]
    program = read(fn, *kinds)
    assert program.symbols
    for number in range(3):
        tensors = drawn(kinds, number)
        agrees(f"{name}, sizes {number}", program.run(*tensors), fn(*tensors))


@pytest.mark.parametrize(
    ("fn", "kinds", "shapes", "words"),
    [
        (lambda x, y: x + y, (BN4, BN4), [(3, 4, 4), (4, 3, 4)], "dimension 0 has size 4, expected 3"),
        (PROGRAMS["attention"][0], PROGRAMS["attention"][1:], [(1, 2, 3, 4), (5, 2, 3, 4), (5, 2, 3, 4)], "size"),
        (lambda x, table: x + table[:, : x.shape[1]], (BN4, (1, 16, 4)), [(3, 17, 4), (1, 16, 4)], "17 <= 16"),
        (windowed, (("b", "e", "e", 3),), [(2, 6, 5, 3)], "dimension 2 has size 5, expected 4"),
        (lambda x: x[:, 2:5], (BN4,), [(3, 4, 4)], "5 <= 4"),
        (lambda x: x[:, :3].squeeze(0), (("b", "n"),), [(1, 7)], "1 != 1"),
        (lambda x: x * 2 if x.shape[1] % 2 else x, (BN4,), [(3, 4, 4)], "0 != 0"),
        (lambda x: x * 2 if x.shape[1] != 5 else x, (BN4,), [(3, 5, 4)], "5 != 5"),
        (lambda x: x * 2 if x.shape[1] > 1 else x, (BN4,), [(3, 1, 4)], "2 <= 1"),
        (lambda x: F.max_pool2d(x, 2, 3, ceil_mode=True), (IMAGE,), [(3, 2, 6, 10)], "6 < 6"),
        (lambda x: x * 2, (BN4,), [(3, 4)], "expected 3 dimensions"),
        (lambda x: F.interpolate(x, size=(5, 5)), (IMAGE,), [(3, 2, 2049, 3)], "2049 <= 2048"),
    ],
)
def test_a_call_of_other_sizes_than_were_traced_is_refused(fn, kinds, shapes, words):
    """Of a table of sixteen rows the seventeenth is none, and a view of halves is none of five."""
    program = read(fn, *kinds)
    with pytest.raises(NapkinError, match=words) as raised:
        program.run(*(torch.randn(shape, dtype=torch.float64) for shape in shapes))
    assert "\n" not in str(raised.value)


def halves_of_any(x):
    return F.interpolate(x, size=(14, 14))


def grouped_of_any(x, w):
    return F.interpolate(x, size=(x.shape[3], x.shape[2]))


@pytest.mark.parametrize("fn", [halves_of_any, grouped_of_any])
def test_what_is_not_known_of_a_symbol_is_refused_with_the_operator_and_the_line(fn):
    kinds = (IMAGE, (2, 2))[: fn.__code__.co_argcount]
    with pytest.raises(NapkinError, match="upsample_nearest2d") as raised:
        read(fn, *kinds)
    said = str(raised.value)
    assert f"test_symbolic.py:{fn.__code__.co_firstlineno + 1}" in said and "\n" not in said


# Of these PyTorch keeps something, with the reason: places that are real numbers may pass 2^24, float64 comes in, sizes
# are equal by a guard alone, nearest places are quotients up to a bound alone; or it fixes a size (`linspace`)
IN_PARTS = {"a net that joins", "bilinear", "median", "pooling to a size", "place of all", "places that data choose"}
IN_PARTS |= {"nearest of other sizes", "nearest of another's size", "bicubic"}
IN_PARTS |= {"numbers evenly apart", "places along another"}
IN_PARTS |= {"nearest", "rotary", "loss", "numbers of sizes", "view in chunks", "slice by a size"}


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in IN_PARTS])
def test_in_the_backend_what_is_made_of_a_second_size_serves_every_size(name):
    fn, *kinds = PROGRAMS[name]
    torch._dynamo.reset()
    backend.reports.clear()
    fast = torch.compile(fn, backend=partial(backend.napkin_eq, options={"executor": "reference"}))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number in (0, 2, 3):
            tensors = drawn(kinds, number, torch.float32)
            for got, wanted in zip(*map(torch.utils._pytree.tree_leaves, (fast(*tensors), fn(*tensors))), strict=True):
                torch.testing.assert_close(got, wanted, rtol=1e-4, atol=1e-5)
    views = "a view of what stands in memory", "views and constants only"
    assert len(backend.reports) == 2, "one graph of the first sizes, and one of all others"
    assert not {region.reason for region in backend.reports[1].regions} - {"", *views}


def test_sizes_that_meet_uncompared_are_compared_when_a_region_is_called():
    """PyTorch's attention asks of keys and values no lengths that are equal before it runs."""

    def attention(q, k, v):
        return F.scaled_dot_product_attention(q, k, v)

    torch._dynamo.reset()
    backend.reports.clear()
    fast = torch.compile(attention, backend=partial(backend.napkin_eq, options={"executor": "reference"}))
    for batch in (2, 3, 5):
        q, k, v = (torch.randn(batch, 2, batch + 4, 8) for _ in range(3))
        torch.testing.assert_close(fast(q, k, v), attention(q, k, v), rtol=1e-4, atol=1e-5)
    assert len(backend.reports) == 2 and all(report.taken for report in backend.reports)
    with pytest.raises(NapkinError, match="meet in one dimension"):
        fast(q, k, torch.randn(5, 2, 7, 8))


@pytest.mark.slow
@pytest.mark.parametrize(
    "fn",
    [lambda x: torch.tanh(torch.cat([x, x[:1]]) * 2), lambda x: x + F.pad(x, (0, 0, 1, -1)) + x.flip(0).roll(1, 0)],
)
def test_kernels_along_symbolic_dimensions_serve_every_size(fn, monkeypatch, tmp_path):
    import triton

    monkeypatch.setattr(triton.knobs.runtime, "interpret", True)
    monkeypatch.setattr(kernels, "folder", lambda: tmp_path)
    torch._dynamo.reset()
    backend.reports.clear()
    fast = torch.compile(fn, backend=partial(backend.napkin_eq, options={"seconds": 100.0}), dynamic=True)
    for size in (6, 9, 17):
        x = torch.randn(size, 8)
        torch.testing.assert_close(fast(x), fn(x), rtol=1e-4, atol=1e-4)
    taken = [region for report in backend.reports for region in report.taken]
    assert len(backend.reports) == 1 and taken and all(region.kernels is not None for region in taken)
