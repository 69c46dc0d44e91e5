"""What a graph of PyTorch is, whatever its nodes are called: what is remembered of it is found by that."""

from __future__ import annotations

import hashlib
from typing import Any

from napkin_eq.lang.errors import NapkinError
from napkin_eq.pytorch.build.extents import about


def called(module: Any) -> list[Any]:
    """Return what a graph calls, whatever its nodes' names are: equal ones, as layers are, are one."""
    import torch

    nodes = {node: f"%{at}" for at, node in enumerate(module.graph.nodes)}
    named = torch.fx.map_arg
    return [
        (n.op, str(n.target), named(n.args, nodes.__getitem__), sorted(named(n.kwargs, nodes.__getitem__).items()))
        for n in nodes
    ]


def layout(value: Any) -> Any:
    """Return size, strides and type of a tensor, about; of a number about itself, of anything else its type. What the
    data alone know is its symbol.
    """
    import torch

    if isinstance(value, torch.Tensor):
        return [*map(_known, value.shape)], [*map(_known, value.stride())], value.dtype
    return _known(value) if isinstance(value, (int, torch.SymInt)) else type(value).__name__


def _known(size: Any) -> Any:
    try:
        return about(size)
    except NapkinError:
        return str(size)


def hashed(*parts: Any) -> str:
    """Return a name of a file for what some parts, as texts, say."""
    return hashlib.sha256("\n".join(map(str, parts)).encode()).hexdigest()[:40]
