"""What PyTorch is taken to need for a part of a graph: cuBLAS for each contraction, one kernel for what is connected
between them.

The same GPU data as the cost model's; an estimate that only decides whether a region is worth taking.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from napkin_eq.lang.errors import NapkinError
from napkin_eq.machine.gpu import Hardware
from napkin_eq.pytorch.build.table import name_of

PRODUCTS = ("mm.", "_int_mm.", "bmm.", "addmm.", "baddbmm.", "matmul.", "linear.", "einsum.", "dot.", "mv.")
WINDOWS = ("convolution.", "conv1d.", "conv2d.", "conv3d.", "convolution_backward.", "conv_transpose")
ATTENTION = ("scaled_dot_product_attention.", "_scaled_dot_product")


def contraction(node: Any) -> bool:
    """Tell whether a node is a contraction, which PyTorch gives to a library."""
    return node.op == "call_function" and name_of(node.target).startswith((*PRODUCTS, *WINDOWS, *ATTENTION))


def library_us(nodes: Sequence[Any], hardware: Hardware, dtype: str) -> float:
    """Return the microseconds that PyTorch, compiled, is taken to need for nodes of a graph."""
    inside = set(nodes)
    work = [node for node in nodes if _tensors(node)]
    total = sum(_contraction_us(node, hardware, dtype) for node in work if contraction(node))
    rest = [node for node in work if not contraction(node)]
    for part in _connected(rest):
        own = set(part)
        read = {source for node in part for source in node.all_input_nodes if source not in own}
        written = [node for node in part if any(user not in own or user not in inside for user in node.users)]
        moved = sum(map(_bytes, read)) + sum(map(_bytes, written))
        total += max(moved / hardware.hbm.copy_bandwidth, hardware.chip.launch_s) * 1e6
    return total


def _connected(nodes: Sequence[Any]) -> list[list[Any]]:
    groups: list[list[Any]] = []
    for node in nodes:
        near = [g for g in groups if any(source in g for source in node.all_input_nodes)]
        groups = [g for g in groups if g not in near] + [[*(n for g in near for n in g), node]]
    return groups


def _contraction_us(node: Any, hardware: Hardware, dtype: str) -> float:
    sources = [_shape(source) for source in node.all_input_nodes if _tensors(source)]
    out = math.prod(_shape(node))
    name = name_of(node.target)
    if name.startswith(WINDOWS):
        weight = next((s for s in sources[1:] if len(s) >= 3), [1, 1])
        flops = 2.0 * out * math.prod(weight[1:]) * (2 if "backward" in name else 1)
    elif name.startswith(ATTENTION):
        flops = 4.0 * out * sources[1][-2]
    else:
        largest = max((s for s in sources if s), key=math.prod, default=[1])
        flops = 2.0 * out * largest[-1]
    moved = _bytes(node) + sum(_bytes(source) for source in node.all_input_nodes)
    seconds = max(
        flops / (hardware.flops("tf32" if dtype == "float32" else dtype) * hardware.assumptions.tensor_efficiency),
        moved / hardware.hbm.copy_bandwidth,
        hardware.chip.launch_s,
    )
    return seconds * 1e6


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


def _bytes(node: Any) -> int:
    return sum(value.element_size() * math.prod(about(size) for size in value.shape) for value in _tensors(node))
