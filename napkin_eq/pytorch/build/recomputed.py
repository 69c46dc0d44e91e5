"""What is small where it begins and large where it is read, such as masks, and what only shows memory in another way:
computed where it is read, not stored.

A model makes one mask of all pairs of places, of positions or of which tokens are padding, for all of its layers: each
would read as many numbers as it has scores, and could not know which of them are masked. And where both a kernel and
what comes after it read a third of a product, as heads, the kernel would have to store it.
"""

from __future__ import annotations

import math
from typing import Any

from napkin_eq.lang.errors import NapkinError
from napkin_eq.pytorch.build.extents import about
from napkin_eq.pytorch.build.table import name_of

TIMES, MOST = 8, 64  # as many bytes as what it is computed of, at the least; nodes on the way, at the most
# What shows memory of what it is given, if it lies there; of the last ones several results do.
SEVERAL = ("split.", "split_with_sizes.", "unbind.")
VIEWS = (
    "view.", "permute.", "transpose.", "t.", "unsqueeze.", "squeeze.", "expand.", "slice.", "select.", "alias.",
    "detach.", "_unsafe_view.", *SEVERAL,
)  # fmt: skip
# And what is computed place by place, or read: what takes no longer than reading a result would.
CHEAP = (
    *VIEWS, "arange.", "full.", "full_like.", "scalar_tensor.", "zeros.", "ones.", "zeros_like.", "ones_like.",
    "new_ones.", "new_zeros.", "new_full.", "reshape.", "_to_copy.", "clone.", "eq.", "ne.", "lt.", "le.", "gt.", "ge.",
    "logical_and.", "logical_or.", "logical_not.", "logical_xor.", "bitwise_and.", "bitwise_or.", "bitwise_not.",
    "bitwise_xor.", "add.", "sub.", "rsub.", "mul.", "neg.", "abs.", "minimum.", "maximum.", "clamp.", "where.",
    "masked_fill.", "index.", "tril.", "triu.",
)  # fmt: skip
MARK, TAG = "napkin_eq.recomputed", "partitioner_tag"  # the latter is how PyTorch parts a graph of both


def recomputed(node: Any) -> bool:
    """Tell whether a node stands where it is read, so that it need not be counted, nor stored."""
    return MARK in node.meta


def at_readers(module: Any) -> None:
    """Have each reader of something that is cheap and much larger than what it is computed of compute that itself, and
    each reader of a view have a view of its own.

    The graph is changed; what it gives is as before.
    """
    graph = module.graph
    found = _read_anew(graph)
    inside = set[Any]().union(*found.values())
    place = {node: at for at, node in enumerate(graph.nodes)}
    readers = [
        node
        for node in graph.nodes
        if node.op == "call_function" and node not in inside and any(source in found for source in node.all_input_nodes)
    ]
    for reader in readers:
        copies = dict[Any, Any]()
        with graph.inserting_before(reader):
            for source in reader.all_input_nodes:
                if source in found:
                    way = sorted(found[source], key=place.__getitem__)
                    reader.replace_input_with(source, _copied(reader, source, way, copies))
    for node in reversed(graph.nodes):
        if node in inside and not node.users:
            graph.erase_node(node)
    if readers:
        module.recompile()


def once(module: Any) -> None:
    """Have a graph compute once what no region has taken in: operators of PyTorch called twice alike, whose results
    are no outputs, nor show one.
    """
    import torch

    graph = module.graph
    end = next(iter(reversed(graph.nodes)))
    kept = {_memory(node) for node in end.all_input_nodes}
    written = _written(graph)
    first, gone = dict[Any, Any](), list[Any]()
    for node in graph.nodes:
        if node.op != "call_function" or not isinstance(node.target, torch._ops.OpOverload) or node.is_impure():
            continue
        drawn = torch.Tag.nondeterministic_seeded in node.target.tags
        if drawn or not str(node.target).startswith(("aten.", "prims.")) or _memory(node) in {None, *kept}:
            continue
        if any(_memory(source) in written for source in node.all_input_nodes):  # it may be another one by then
            continue
        called = node.target, repr(node.args), repr(sorted(node.kwargs.items()))
        if (other := first.setdefault(called, node)) is not node:
            node.replace_all_uses_with(other)
            gone.append(node)
    for node in reversed(gone):
        graph.erase_node(node)
    if gone:
        module.recompile()


def _written(graph: Any) -> set[int | None]:
    """Return the memory that operators of a graph write: read again later, it may hold something else."""
    import torch

    writing = [
        node
        for node in graph.nodes
        if isinstance(node.target, torch._ops.OpOverload) and node.target._schema.is_mutable
    ]
    return {_memory(source) for node in writing for source in node.all_input_nodes} - {None}


def _memory(node: Any) -> int | None:
    return lying(node.meta.get("val"))


def lying(held: Any) -> int | None:
    """Return what tells a tensor's memory, the same for its views; None of what is no tensor with strides."""
    import torch

    return held.untyped_storage()._cdata if isinstance(held, torch.Tensor) and held.layout == torch.strided else None


def _read_anew(graph: Any) -> dict[Any, set[Any]]:
    """Return the nodes that are computed again, each with all nodes on the way to it: of a view those up to what lies
    in memory, of what is much larger than what it is computed of those up to that.
    """
    views, ways, leaves = dict[Any, set[Any]](), dict[Any, set[Any]](), dict[Any, set[Any]]()
    found, written = dict[Any, set[Any]](), _written(graph)
    for node in graph.nodes:
        sources = node.all_input_nodes
        views[node] = {node, *views[node.args[0]]} if _shown(node) else set[Any]()
        way = {node}.union(*(ways[source] for source in sources)) if views[node] or _cheap(node) else set[Any]()
        if not way or len(way) > MOST:
            ways[node], leaves[node] = set(), {node}
        else:
            ways[node], leaves[node] = way, set[Any]().union(*(leaves[source] for source in sources))
        if name_of(node.target).startswith(SEVERAL) or any(_memory(leaf) in written for leaf in leaves[node]):
            continue
        if ways[node] and _much_larger(node, leaves[node]):
            found[node] = way
        elif views[node]:
            found[node] = views[node]
    return found


def _cheap(node: Any) -> bool:
    import torch

    held = node.meta.get("val")
    return (
        node.op == "call_function"
        and isinstance(node.target, torch._ops.OpOverload)
        and isinstance(held, torch.Tensor)
        and name_of(node.target).startswith(CHEAP)
        and not node.is_impure()
    )


def _shown(node: Any) -> bool:
    """Tell whether a node shows memory of what it is given, or is one of several that do."""
    import operator

    if node.op != "call_function":
        return False
    if node.target is operator.getitem:
        return name_of(node.args[0].target).startswith(SEVERAL) and _shown(node.args[0])
    if not name_of(node.target).startswith(VIEWS) or _memory(node.args[0]) is None:
        return False
    held = node.meta.get("val")
    results = held if isinstance(held, (list, tuple)) else [held]
    return bool(results) and {lying(value) for value in results} == {_memory(node.args[0])}


def _much_larger(node: Any, leaves: set[Any]) -> bool:
    """Tell whether a node has many times the bytes of others; what the data alone know is not known to be larger."""
    try:
        return TIMES * sum(map(_bytes, leaves)) <= _bytes(node)
    except NapkinError:
        return False


def _bytes(node: Any) -> int:
    """Return the bytes of a node's elements, one of a view too; what is no tensor has none."""
    import torch

    held = node.meta.get("val")
    if not isinstance(held, torch.Tensor):
        return 0
    elements: int = math.prod(about(size) for size in held.shape)
    return int(held.element_size()) * elements


def _copied(reader: Any, node: Any, way: list[Any], copies: dict[Any, Any]) -> Any:
    """Return a copy of a node, and of what is on the way to it, before what reads it: with it forward or backward."""
    tag = reader.meta.get(TAG)
    for part in way:
        if part not in copies:
            copies[part] = reader.graph.node_copy(part, lambda source: copies.get(source, source))
            copies[part].meta = {**part.meta, MARK: True, TAG: tag}
    return copies[node]
