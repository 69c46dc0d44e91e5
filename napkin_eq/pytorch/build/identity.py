"""What a graph of PyTorch is, whatever its nodes are called: what is remembered of it is found by that."""

from __future__ import annotations

import hashlib
import operator
from typing import Any

from napkin_eq.lang.errors import NapkinError
from napkin_eq.pytorch.build.extents import about


def called(module: Any) -> list[Any]:
    """Return what a graph calls, whatever its nodes' names are, and how its values lie: equal ones, as layers are, are
    one.
    """
    import torch

    nodes = {node: f"%{at}" for at, node in enumerate(module.graph.nodes)}
    named = torch.fx.map_arg
    found: list[Any] = []
    for n in nodes:
        args, kwargs = named(n.args, nodes.__getitem__), sorted(named(n.kwargs, nodes.__getitem__).items())
        found.append((n.op, str(n.target), args, kwargs, layout(n.meta.get("val"))))
        if n.op == "get_attr":  # a graph that another one calls
            try:
                held = operator.attrgetter(str(n.target))(module)
            except AttributeError:
                continue
            found += called(held) if isinstance(held, torch.fx.GraphModule) else [layout(held)]
    return found


def layout(value: Any) -> Any:
    """Return size, strides and type of a tensor, about; of a number about itself, of several values all of these, of
    anything else its type. What the data alone know is its symbol.
    """
    import torch

    if isinstance(value, (list, tuple)):
        return [*map(layout, value)]
    if isinstance(value, torch.Tensor) and value.layout is not torch.strided:
        return [*map(_known, value.shape)], value.layout, value.dtype
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
