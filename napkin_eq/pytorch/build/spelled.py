"""Functions of PyTorch that are written in others of its own while a program is traced, where the operators that they
stand for ask questions of data, or have no rule.
"""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

Spelling = Callable[..., Any]
LISTS = "_foreach_"


@contextlib.contextmanager
def spelled(gradients: bool = False) -> Iterator[None]:
    """Write functions in others, as long as it lasts; `gradients`: those, too, whose gradients alone have no rule."""
    from torch.overrides import TorchFunctionMode

    table = {**_spellings(), **(_of_gradients() if gradients else {})}

    # PyTorch is imported where it is needed, and has no types here: nor has a class of its own that is a base
    class Spelled(TorchFunctionMode):  # type: ignore[misc]
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            how, named = table.get(func), getattr(func, "__name__", "")
            if how is None and named.startswith(LISTS):
                how = functools.partial(_of_lists, named.removeprefix(LISTS))
            found = NotImplemented if how is None else how(*args, **(kwargs or {}))
            return func(*args, **(kwargs or {})) if found is NotImplemented else found

    with Spelled():
        yield


def _spellings() -> dict[Any, Spelling]:
    """Return the functions that are written in others, each with how; NotImplemented is what that gives where it is
    the function itself that is to be called.
    """
    import torch

    return {
        torch.cov: covariance,
        torch.Tensor.cov: covariance,
        torch.corrcoef: correlation,
        torch.Tensor.corrcoef: correlation,
        torch.bincount: counted,
        torch.Tensor.bincount: counted,
        torch.pdist: pair_distances,
        torch.combinations: chosen_together,
        torch.linspace: evenly_apart,
        torch.take_along_dim: taken_along,
        torch.Tensor.take_along_dim: taken_along,
        torch.nn.functional.grid_sample: functools.partial(sampled, rank=3),
        torch.nn.functional.interpolate: smoothed,
    }


def _of_gradients() -> dict[Any, Spelling]:
    import torch

    return {torch.nn.functional.grid_sample: sampled}


def _of_lists(name: str, *args: Any, **kwargs: Any) -> Any:
    """Return what a function of lists of tensors gives, tensor by tensor."""
    import torch

    name, several = {"max": "amax"}.get(name, name), len(args[0])
    if not hasattr(torch.Tensor, name):
        return NotImplemented
    third = {"addcmul": "value", "addcdiv": "value"}.get(name.rstrip("_"))
    if third and len(args) > 3:
        args, kwargs = args[:3], {**kwargs, third: args[3]}

    def of(given: Any, at: int) -> Any:
        own = isinstance(given, (list, tuple)) or (isinstance(given, torch.Tensor) and given.dim() == 1 and third)
        return given[at] if own else given

    found = []
    for at in range(several):
        own = [of(given, at) for given in args]
        named = {key: of(value, at) for key, value in kwargs.items()}
        if name == "norm":
            found.append(torch.linalg.vector_norm(*own, **named))
        elif name.rstrip("_") in ("maximum", "minimum") and not isinstance(own[1], torch.Tensor):
            bound = "clamp_min" if name.startswith("max") else "clamp_max"
            found.append(getattr(own[0], bound + "_" * name.endswith("_"))(own[1]))
        elif name in ("maximum_", "minimum_"):
            found.append(own[0].copy_(getattr(torch, name[:-1])(*own)))
        elif "value" in named and isinstance(named["value"], torch.Tensor):
            product = own[1] * own[2] if name.startswith("addcmul") else own[1] / own[2]
            found.append(getattr(own[0], "add" + "_" * name.endswith("_"))(product * named["value"]))
        else:
            found.append(getattr(own[0], name)(*own[1:], **named))
    return None if name.endswith("_") else found


def covariance(input: Any, *, correction: int = 1, fweights: Any = None, aweights: Any = None) -> Any:
    """Return how the rows of a matrix vary together; PyTorch asks whether there is more than one column, and whether
    weights are below 0, which it refuses.
    """
    if input.is_complex():
        return NotImplemented
    rows = input.reshape(1, -1) if input.dim() < 2 else input
    rows = rows if rows.is_floating_point() else rows.float()
    weights = [weight for weight in (fweights, aweights) if weight is not None]
    if not weights:
        off = rows - rows.mean(1, keepdim=True)
        return ((off @ off.T) / max(rows.shape[1] - correction, 0)).squeeze()
    each = functools.reduce(lambda a, b: a * b, weights).to(rows.dtype)
    total = each.sum()
    off = rows - (rows * each).sum(1, keepdim=True) / total
    less = correction if aweights is None else correction * (each * aweights).sum() / total
    return ((off * each) @ off.T / (total - less).clamp(min=0)).squeeze()


def correlation(input: Any) -> Any:
    """Return how the rows of a matrix vary together, each relative to how it varies alone."""
    found = covariance(input)
    if found is NotImplemented or not found.dim():
        return found if found is NotImplemented else found / found
    deviation = found.diagonal().sqrt()
    return (found / deviation[:, None] / deviation[None, :]).clip(-1, 1)


def counted(input: Any, weights: Any = None, minlength: int = 0) -> Any:
    """Return how often each whole number occurs, or what is summed of its weights, below a bound: with numbers beyond
    it PyTorch gives a longer row, which is refused here.
    """
    import torch

    if not minlength:
        return NotImplemented
    each = torch.ones_like(input).long() if weights is None else weights
    each = each if weights is None or each.is_floating_point() else each.double()
    return each.new_zeros(minlength).scatter_add(0, input.long(), each)


def chosen_together(input: Any, r: int = 2, with_replacement: bool = False) -> Any:
    """Return the elements of a row, some at a time, in every way; PyTorch chooses them by a mask."""
    import itertools

    import torch

    if not isinstance(input.shape[0], int):
        return NotImplemented
    ways = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    found = list(ways(range(input.shape[0]), r))
    return input[torch.tensor(found, device=input.device)] if found else NotImplemented


def evenly_apart(start: Any, end: Any, steps: Any, **how: Any) -> Any:
    """Return numbers evenly apart, of which there are as many as a size says that is a symbol; PyTorch fixes such a
    size. Each is counted from the end that is nearer.
    """
    import torch

    dtype = how.get("dtype") or torch.get_default_dtype()
    real = dtype.is_floating_point and not any(isinstance(bound, torch.Tensor) for bound in (start, end))
    if not isinstance(steps, torch.SymInt) or not real or how.keys() - {"dtype", "device"}:
        return NotImplemented
    place = torch.arange(steps, **how)
    gap = (end - start) / torch.sym_max(steps - 1, 1)
    return torch.where(2 * place < steps, start + gap * place, end - gap * (steps - 1 - place))


def taken_along(input: Any, indices: Any, dim: int | None = None) -> Any:
    """Return what stands at places along a dimension, one for all of another where that has one element; of such
    PyTorch fixes sizes that are symbols.
    """
    import torch

    if dim is None or input.dim() != indices.dim():
        return NotImplemented
    if not any(isinstance(size, torch.SymInt) for size in (*input.shape, *indices.shape)):
        return NotImplemented
    at = dim % input.dim()

    def along(sizes: Any, others: Any) -> Any:
        pairs = enumerate(zip(sizes, others, strict=True))
        return [own if place == at or own != 1 else other for place, (own, other) in pairs]

    shown = input.expand(along(input.shape, indices.shape))
    return shown.gather(at, indices.expand(along(indices.shape, input.shape)))


def pair_distances(input: Any, p: float = 2.0) -> Any:
    """Return the distances of all pairs of rows, each pair once."""
    import torch

    first, second = torch.triu_indices(input.shape[0], input.shape[0], 1, device=input.device)
    return torch.linalg.vector_norm(input[first] - input[second], p, -1)


def sampled(
    input: Any,
    grid: Any,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
    rank: int | None = None,
) -> Any:
    """Return an image at places between its elements: the nearest one, or a mean of the corners around by how near they
    are; of images of other dimensions than `rank`, or by cubic curves, nothing.
    """
    import itertools

    import torch

    dims = input.dim() - 2
    if (rank is not None and dims != rank) or mode == "bicubic":
        return NotImplemented
    sizes = input.shape[2:]
    places = [
        _inside(_unscaled(grid[..., dims - 1 - at], size, bool(align_corners)), size, padding_mode, bool(align_corners))
        for at, size in enumerate(sizes)
    ]
    rows = torch.arange(input.shape[0], device=input.device).reshape(-1, *[1] * dims)

    def corner(own: Sequence[Any]) -> tuple[Any, Any]:
        held = [place.long().clamp(0, size - 1) for place, size in zip(own, sizes, strict=True)]
        lies = [(place >= 0) & (place <= size - 1) for place, size in zip(own, sizes, strict=True)]
        return input.movedim(1, -1)[(rows, *held)], functools.reduce(lambda a, b: a & b, lies)

    if mode == "nearest":
        shown, lies = corner([place.round() for place in places])
        if grid.requires_grad:  # it has a gradient, of zeros
            shown = shown + 0.0 * functools.reduce(lambda a, b: a + b, places)[..., None]
        return torch.where(lies[..., None], shown, 0).movedim(-1, 1)
    low = [place.floor() for place in places]
    total: Any = 0
    for above in itertools.product((0, 1), repeat=dims):
        parts = [p - start if up else 1 - (p - start) for p, start, up in zip(places, low, above, strict=True)]
        shown, lies = corner([start + up for start, up in zip(low, above, strict=True)])
        weight = torch.where(lies, functools.reduce(lambda a, b: a * b, parts), 0)
        total = total + shown * weight[..., None]
    return total.movedim(-1, 1)


def _unscaled(place: Any, size: int, align_corners: bool) -> Any:
    """Return a place between -1 and 1 as one among elements."""
    return (place + 1) / 2 * (size - 1) if align_corners else ((place + 1) * size - 1) / 2


def _inside(place: Any, size: int, padding: str, align_corners: bool) -> Any:
    """Return a place where padding has it: where it is, at the edge, or mirrored."""
    import torch

    if padding == "zeros":
        return place
    if padding != "border":
        low, span = (0.0, float(size - 1)) if align_corners else (-0.5, float(size))
        if span:
            off = (place - low).abs()
            turns = (off / span).floor()
            rest = off - turns * span
            place = torch.where(turns % 2 == 0, rest, span - rest) + low
        else:
            place = place * 0
    return place.clamp(0, size - 1)


def smoothed(
    input: Any,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Any:
    """Return an image in another size, each place a weighted mean of those around it, as many as the size shrinks by:
    in each dimension a product with a matrix of weights.
    """
    import torch

    if not antialias or mode not in ("bilinear", "bicubic"):
        return NotImplemented
    sizes, factors = (list(v) if isinstance(v, (list, tuple)) else [v, v] for v in (size, scale_factor))
    reach, weigh = (1.0, _triangle) if mode == "bilinear" else (2.0, _cubic)
    found = input if input.dtype in (torch.float32, torch.float64) else input.float()
    for at, dim in enumerate((2, 3)):
        own, factor = found.shape[dim], factors[at]
        new = sizes[at] if factor is None else math.floor(own * factor)
        factor = None if recompute_scale_factor else factor
        step = (own - 1) / max(new - 1, 1) if align_corners else 1 / factor if factor else own / new
        wide = max(step, 1.0)
        places = functools.partial(torch.arange, dtype=found.dtype, device=found.device)
        centre = (places(new) + 0.5) * step
        away = (places(own) + 0.5 - centre[:, None]) / wide
        weights = torch.where(away.abs() < reach, weigh(away.abs()), 0.0)
        weights = weights / weights.sum(1, keepdim=True)
        found = weights @ found if dim == 2 else found @ weights.T
    return found.to(input.dtype)


def _triangle(away: Any) -> Any:
    return 1.0 - away


def _cubic(away: Any) -> Any:
    import torch

    near = (1.5 * away - 2.5) * away * away + 1.0
    return torch.where(away < 1.0, near, ((-0.5 * away + 2.5) * away - 4.0) * away + 2.0)
