"""What PyTorch is taken to need for a part of a graph: cuBLAS for each contraction, one kernel for what is connected
between them.

The same GPU data as the cost model's; an estimate that only decides whether a region is worth taking.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from operator import getitem
from typing import Any

from napkin_eq.lang.errors import NapkinError
from napkin_eq.machine.gpu import Hardware
from napkin_eq.pytorch.build.table import name_of

PRODUCTS = ("mm.", "_int_mm.", "bmm.", "addmm.", "baddbmm.", "matmul.", "linear.", "einsum.", "dot.", "mv.")
WINDOWS = ("convolution.", "conv1d.", "conv2d.", "conv3d.", "convolution_backward.", "conv_transpose")
ATTENTION = ("scaled_dot_product_attention.", "_scaled_dot_product")
# Of a unit's peak what PyTorch's own attention reaches forward (on an H100 585 TFLOP/s in bfloat16, 32 in float32), and
# what convolutions of float32 do, whose arrays are turned before and after (twelve on an H100).
FUSED, FUSED_FLOAT32, WINDOWED, TURNED = 0.65, 0.53, 0.35, 3.0


def product(node: Any) -> bool:
    """Tell whether a node is a product of matrices, which a library computes in the order in which they lie."""
    return node.op == "call_function" and name_of(node.target).startswith(PRODUCTS)


def contraction(node: Any) -> bool:
    """Tell whether a node is a contraction, which PyTorch gives to a library."""
    return node.op == "call_function" and name_of(node.target).startswith((*PRODUCTS, *WINDOWS, *ATTENTION))


def library_us(nodes: Sequence[Any], hardware: Hardware, dtype: str) -> float:
    """Return the microseconds that PyTorch, compiled, is taken to need for nodes of a graph."""
    inside = set(nodes)
    work = [node for node in nodes if _tensors(node)]
    heavy = [node for node in work if contraction(node)]
    total = sum(_contraction_us(node, hardware, dtype) for node in heavy)
    # One of several results of a contraction is there with it.
    rest = [node for node in work if node not in heavy and not (node.target is getitem and node.args[0] in heavy)]
    for part in _connected(rest):
        own = set(part)
        read = {source for node in part for source in node.all_input_nodes if source not in own}
        written = [node for node in part if any(user not in own or user not in inside for user in node.users)]
        moved = sum(map(bytes_of, read)) + sum(map(bytes_of, written)) + _again(part, hardware)
        total += max(moved / hardware.hbm.copy_bandwidth, hardware.chip.launch_s) * 1e6
    return total


def _again(part: Sequence[Any], hardware: Hardware) -> int:
    """Return the bytes that one kernel reads again: of rows that are folded before their elements are needed once
    more, where those at work are more than level 2 holds.
    """
    total = 0
    behind: dict[Any, int] = {}  # of what is made of a fold, the elements that were folded
    for node in part:
        source = max((s for s in node.all_input_nodes if _tensors(s)), key=_elements, default=None)
        if source is None:
            continue
        whole, rows = _elements(source), _folds(node)
        before = max((behind.get(s, 0) for s in node.all_input_nodes), default=0)
        held = 2 * hardware.chip.sms * bytes_of(source) // max(1, rows) > hardware.l2.capacity_bytes
        normalised = rows and _elements(node) == whole
        if held and (normalised or (before and whole >= before and not rows)):
            total += bytes_of(source)
            before = 0
        behind[node] = whole if rows and not normalised and held else before
    return total


def _folds(node: Any) -> int:
    """Return how many rows an operator folds, 0 where it folds none."""
    sizes = [math.prod(about(size) for size in value.shape) for value in _tensors(node)]
    whole: int = max((_elements(s) for s in node.all_input_nodes if _tensors(s)), default=0)
    name = name_of(node.target)
    if name.startswith(("_softmax.", "_log_softmax.")):
        return whole // max(1, _shape(node)[int(node.args[1])])
    few = min((size for size in sizes if size), default=whole)
    folded = name.startswith(("native_", "_native_", "_fused_rms_norm.")) or len(node.all_input_nodes) == 1
    return few if folded and few < whole and not name.startswith(("slice.", "select.", "view.")) else 0


def _elements(node: Any) -> int:
    return math.prod(_shape(node)) if _tensors(node) else 0


def _connected(nodes: Sequence[Any]) -> list[list[Any]]:
    groups: list[list[Any]] = []
    for node in nodes:
        near = [g for g in groups if any(source in g for source in node.all_input_nodes)]
        groups = [g for g in groups if g not in near] + [[*(n for g in near for n in g), node]]
    return groups


def _contraction_us(node: Any, hardware: Hardware, dtype: str) -> float:
    # As they are given: one tensor may be several operands.
    sources = [_shape(given) for given in node.args if given in node.all_input_nodes and _tensors(given)]
    out = math.prod(_shape(node))
    name = name_of(node.target)
    share, passes = hardware.assumptions.tensor_efficiency, 1.0
    unit = dtype if dtype != "float32" else "tf32" if _rounded(name) else "float32"
    if name.startswith(WINDOWS):
        if dtype == "float32":
            share, passes = WINDOWED, TURNED
        weight = next((s for s in sources[1:] if len(s) >= 3), [1, 1])
        flops = 2.0 * out * math.prod(weight[1:]) * (2 if "backward" in name else 1)
    elif name.startswith(ATTENTION):
        share = FUSED_FLOAT32 if unit == "float32" else FUSED
        flops = 4.0 * out * sources[1][-2] * (0.5 if "is_causal" in _true(node) else 1.0)
    else:
        largest = max((s for s in sources if s), key=math.prod, default=[1])
        flops = 2.0 * out * largest[-1]
    moved = bytes_of(node) + sum(bytes_of(source) for source in node.all_input_nodes)
    seconds = max(
        flops / (hardware.flops(unit) * share),
        passes * moved / hardware.hbm.copy_bandwidth,
        hardware.chip.launch_s,
    )
    return seconds * 1e6


def _true(node: Any) -> set[str]:
    """Return the names of a call's arguments that are True."""
    names = [argument.name for argument in node.target._schema.arguments]
    return {name for name, value in (*zip(names, node.args, strict=False), *node.kwargs.items()) if value is True}


def _rounded(name: str) -> bool:
    """Tell whether PyTorch may round a contraction's operands of float32 to tf32, as it is set here."""
    import torch

    own = torch.backends.cudnn if name.startswith(WINDOWS) else torch.backends.cuda.matmul
    try:
        return bool(own.allow_tf32)
    except RuntimeError:  # it was set by its newer name
        return bool(getattr(own.conv if own is torch.backends.cudnn else own, "fp32_precision", "ieee") == "tf32")


def about(size: Any) -> int:
    """Return a size; of a symbolic one that of the example, without a guard on it."""
    if isinstance(size, int):
        return size
    hint = size.node.hint
    if hint is None:
        raise NapkinError(f"the size {size} is known to the data alone")
    return int(hint)


def _tensors(node: Any) -> list[Any]:
    import torch

    held = node.meta.get("val")
    found: Iterable[Any] = held if isinstance(held, (list, tuple)) else [held]
    return [value for value in found if isinstance(value, torch.Tensor)]


def _shape(node: Any) -> list[int]:
    return [about(size) for size in _tensors(node)[0].shape] if _tensors(node) else []


def bytes_of(node: Any) -> int:
    """Return the bytes of what a node gives."""
    return sum(value.element_size() * math.prod(about(size) for size in value.shape) for value in _tensors(node))
