"""A graph of forward and backward in two: what stands between them is as few bytes as PyTorch's minimum cut finds.

That cut knows which of PyTorch's core operators are cheap to compute once more. Operators that are read whole here, and
views, are told it, and some operators are written in their parts, of which little is kept.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any
from unittest.mock import patch

from napkin_eq.lang.errors import NapkinError
from napkin_eq.pytorch.build.extents import about
from napkin_eq.pytorch.build.recomputed import SEVERAL, VIEWS
from napkin_eq.pytorch.build.table import name_of

Put = Callable[..., Any]
WAYS: dict[str, Callable[..., Any]] = {}
FILLS = ("full.default", "full_like.default")  # whose second argument is the number
ZEROS = ("zeros.default", "zeros_like.default", "new_zeros.default")


def least_kept(joint: Any, inputs: Any, twice: bool = False, **told: Any) -> Any:
    """Return the forward and the backward of a graph of both with as few bytes between them as PyTorch's minimum cut
    finds, which Inductor takes, too: what is cheap is computed once more. A graph that it cannot part keeps all.

    twice: what stands in it twice stays so.
    """
    from torch._functorch import config as functorch
    from torch._functorch import partitioners

    known = partitioners.get_default_op_list()
    heavy = known.compute_intensive_ops | known.random_ops
    spelled = {n.target.overloadpacket for n in joint.graph.nodes if _spelled(n)} - heavy
    light = {node.target.overloadpacket for node in joint.graph.nodes if _light(node)}
    views = {node.target.overloadpacket for node in joint.graph.nodes if shows(node)}
    more = replace(
        known,
        fusible_ops=known.fusible_ops | light | spelled,
        recomputable_ops=known.recomputable_ops | light,
        view_ops=known.view_ops | views,
    )
    _kept_as_compared(joint)
    try:
        # A view keeps the memory of what it shows: that is kept itself, as it lies, and once for all of its views
        with (
            patch.object(partitioners, "get_default_op_list", lambda: more),
            functorch.patch(recompute_views=True, cse=functorch.cse and not twice),
        ):
            return partitioners.min_cut_rematerialization_partition(joint, inputs, compiler="inductor", **told)
    except Exception:  # of torch.fx, of its solver
        return partitioners.default_partition(joint, inputs, **told)


def _kept_as_compared(joint: Any) -> None:
    """Have a backward that finds which elements are an extreme read them as the forward had them.

    Computed once more they may be rounded otherwise, where one of the two is a kernel's and the other PyTorch's: then
    no element is the extreme, and the gradient is divided by their number, zero.
    """
    from torch.utils.checkpoint import CheckpointPolicy

    for node in joint.graph.nodes:
        if name_of(node.target) not in ("eq.Tensor", "ne.Tensor"):
            continue
        few, many = sorted(map(_shown, node.args), key=_elements)
        if _elements(few) < _elements(many) and many in computed_of([few]):
            many.meta["recompute"] = CheckpointPolicy.MUST_SAVE


def _elements(node: Any) -> int:
    """Return about how many elements a node's tensor has; none where the data alone know."""
    try:
        return math.prod(map(about, node.meta["val"].shape))
    except NapkinError:
        return 0


def _shown(node: Any) -> Any:
    """Return what a node shows the memory of, itself where it is no view."""
    while shows(node):
        node = node.args[0]
    return node


def computed_of(nodes: Sequence[Any]) -> set[Any]:
    """Return some nodes of a graph and all that they are computed of."""
    found, waiting = set[Any](), list(nodes)
    while waiting:
        if (node := waiting.pop()) not in found:
            found.add(node)
            waiting += node.all_input_nodes
    return found


def _light(node: Any) -> bool:
    """Tell whether a node is as cheap as what Inductor spells it with: a view, or an operator of each element."""
    import torch

    if node.op != "call_function" or not isinstance(node.target, torch._ops.OpOverload):
        return False
    tags = node.target.tags
    return shows(node) or (torch.Tag.pointwise in tags and torch.Tag.nondeterministic_seeded not in tags)


def _spelled(node: Any) -> bool:
    """Tell whether Inductor writes a node in its parts, which it joins with what stands beside them."""
    from torch._inductor.decomposition import decompositions

    return node.op == "call_function" and node.target in decompositions


def shows(node: Any) -> bool:
    """Tell whether a node is a view of the memory of one tensor."""
    import torch

    called = node.op == "call_function" and isinstance(node.target, torch._ops.OpOverload)
    return called and name_of(node.target).startswith(VIEWS)


def written(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Enter how an operator is written in its parts: a function of what puts one into a graph, and of the arguments,
    that returns the last one, None where the operator stays.
    """

    def entered(how: Callable[..., Any]) -> Callable[..., Any]:
        WAYS[name] = how
        return how

    return entered


def in_parts(joint: Any) -> None:
    """Write in its parts what a graph of forward and backward would keep whole, and each part of a tensor as a view of
    its own, of which nothing is kept.

    The graph is changed; what it gives is as before. Sizes that are symbols leave an operator as it is.
    """
    import torch

    changed = _apart(joint)
    for node in list(joint.graph.nodes):
        how = WAYS.get(name_of(node.target)) if node.op == "call_function" else None
        if how is None:
            continue
        with joint.graph.inserting_before(node):
            found, held = how(put := putting(node), *node.args), node.meta["val"]
            if found is not None and found.meta["val"].stride() != held.stride():  # it lies as the operator's result
                copied = {"memory_format": torch.contiguous_format}
                found = put(torch.ops.aten.clone.default, found, **copied) if held.is_contiguous() else None
        if found is not None:
            sources = node.all_input_nodes
            node.replace_all_uses_with(found)
            joint.graph.erase_node(node)
            for source in sources:  # a constant that nothing else reads
                if not source.users and name_of(source.target) in (*FILLS, *ZEROS):
                    joint.graph.erase_node(source)
            changed = True
    if changed:
        joint.recompile()


def in_operators(joint: Any, nodes: Sequence[Any], table: dict[Any, Callable[..., Any]]) -> None:
    """Write nodes of a graph, each of which gives one tensor, in the operators that a table of decompositions has."""
    import torch
    from torch.fx.experimental.proxy_tensor import make_fx

    mode = torch._guards.detect_fake_mode([node.meta.get("val") for node in joint.graph.nodes])
    for node in nodes:
        sources = list(node.all_input_nodes)

        def called(*given: Any, node: Any = node, sources: Sequence[Any] = sources) -> Any:
            told = torch.fx.map_arg((node.args, node.kwargs), dict(zip(sources, given, strict=True)).__getitem__)
            return node.target(*told[0], **told[1])

        with mode, torch._dispatch.python.enable_python_dispatcher(), torch.no_grad():
            found = make_fx(called, decomposition_table=table)(*(source.meta["val"] for source in sources))
        found.graph.eliminate_dead_code()
        given = [one for one in found.graph.nodes if one.op == "placeholder"]
        copies = dict(zip(given, sources, strict=True))
        with joint.graph.inserting_before(node):
            result = joint.graph.graph_copy(found.graph, copies)
        for old, new in copies.items():
            if old not in given:
                new.meta = {**{k: v for k, v in node.meta.items() if k not in ("val", "tensor_meta")}, **old.meta}
        node.replace_all_uses_with(result)
        joint.graph.erase_node(node)
    joint.recompile()


def _apart(joint: Any) -> bool:
    """Write the results of what gives several views of a tensor as one view each; tell whether there were any."""
    import torch

    aten, changed = torch.ops.aten, False
    for node in list(joint.graph.nodes):
        if node.op != "call_function" or not name_of(node.target).startswith(SEVERAL) or not node.args:
            continue
        held, parts = node.args[0].meta["val"], node.meta["val"]
        behind = node.args[1:] if name_of(node.target).startswith("unbind.") else node.args[2:]
        dim = (*behind, node.kwargs.get("dim", 0))[0] % held.dim()
        lengths = [part.shape[dim] if part.dim() == held.dim() else 1 for part in parts]
        if not all(isinstance(length, int) for length in lengths):
            continue
        begins = [0, *accumulate(lengths)]
        with joint.graph.inserting_before(node):
            put = putting(node)
            for user in list(node.users):
                if user.target is not operator.getitem or not isinstance(user.args[1], int):
                    continue
                at = user.args[1] % len(parts)
                if parts[at].dim() == held.dim():
                    found = put(aten.slice.Tensor, node.args[0], dim, begins[at], begins[at + 1])
                else:
                    found = put(aten.select.int, node.args[0], dim, at)
                user.replace_all_uses_with(found)
                joint.graph.erase_node(user)
                changed = True
        if not node.users:
            joint.graph.erase_node(node)
    return changed


def putting(node: Any) -> Put:
    """Return what puts operators into a graph for a node, with what is told of it and the value that each gives."""
    import torch

    held = node.meta["val"]
    mode = (held[0] if isinstance(held, (tuple, list)) else held).fake_mode

    def put(target: Any, *args: Any, **kwargs: Any) -> Any:
        made = node.graph.call_function(target, args, kwargs)
        values = torch.fx.map_arg((args, kwargs), lambda of: of.meta["val"])
        with mode:
            value = target(*values[0], **values[1])
        made.meta = {key: own for key, own in node.meta.items() if key != "tensor_meta"} | {"val": value}
        return made

    return put


@written("scatter.value")
def _chosen(put: Put, into: Any, dim: int, places: Any, number: Any) -> Any:
    """Write a number put into a constant at places as a choice at each element."""
    import torch

    aten, held, chosen = torch.ops.aten, into.meta["val"], places.meta["val"]
    kind = name_of(into.target)
    before = 0 if kind in ZEROS else into.args[1] if kind in FILLS else None
    if not held.dim() or not all(isinstance(value, (int, float)) for value in (number, before)):
        return None
    if not all(isinstance(n, int) for n in (*held.shape, *chosen.shape)):
        return None
    dim %= held.dim()
    if any(n != (1 if at == dim else m) for at, (n, m) in enumerate(zip(chosen.shape, held.shape, strict=True))):
        return None
    line = put(aten.arange.default, held.shape[dim], dtype=chosen.dtype, device=held.device)
    line = put(aten.view.default, line, [-1 if at == dim else 1 for at in range(held.dim())])
    told = {"dtype": held.dtype, "device": held.device}
    one, other = (put(aten.full.default, [], value, **told) for value in (number, before))
    return put(aten.where.self, put(aten.eq.Tensor, places, line), one, other)
