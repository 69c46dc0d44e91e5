"""What the backward of a graph computes once more instead of reading what the forward kept: values larger than what
they are computed of, which kernels then need not store on either side.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

from napkin_eq.pytorch.build.partition import computed_of, putting
from napkin_eq.pytorch.build.recomputed import VIEWS, lying
from napkin_eq.pytorch.build.table import name_of

BACKWARD = "is_backward"  # how PyTorch's partitioner knows a node of the backward
SURELY_BACKWARD = "must_be_in_backward"  # and one that its minimum cut may not move to the forward
# How operators are computed once more by something small, and by sums along rows
AGAIN: dict[str, Callable[..., Any]] = {}
ROWS: dict[str, Callable[..., Any]] = {}
ALIKE = ("view.", "_unsafe_view.", "reshape.", "expand.", "_to_copy.", "detach.", "alias.", "clone.")
_KEPT: list[Any] = []  # libraries, as long as whose operators live


def copied(module: Any, copies: dict[Any, Any] | None = None) -> Any:
    """Return a graph like another, of nodes of its own with all that is known of them; copies: is given each by its
    node.
    """
    import torch

    graph, copies = torch.fx.Graph(), {} if copies is None else copies
    graph.output(graph.graph_copy(module.graph, copies))
    graph._codegen = module.graph._codegen
    for old, new in copies.items():
        new.meta = dict(old.meta)
    ends = next(iter(reversed(graph.nodes))), next(iter(reversed(module.graph.nodes)))
    ends[0].meta = dict(ends[1].meta)
    return torch.fx.GraphModule(module, graph)


def forward_of(joint: Any, outputs: int) -> set[Any]:
    """Return the nodes that the first results of a graph, which are the forward's, are computed of."""
    results = next(iter(reversed(joint.graph.nodes))).args[0][:outputs]
    return computed_of([node for node in results if hasattr(node, "all_input_nodes")])


def near(before: set[Any], begins: Iterable[Any], stays: Callable[[Any], bool]) -> set[Any]:
    """Return the calls of a forward on the way to and from some of them that are no smaller than the smallest of these;
    stays: one that is not computed again, nor what is beyond it.
    """
    waiting, found = list(begins), set[Any]()
    least = min(map(_elements, waiting), default=0)
    while waiting:
        if (node := waiting.pop()) not in found:
            found.add(node)
            around = [n for n in (*node.users, *node.all_input_nodes) if n in before and n.op == "call_function"]
            waiting += [n for n in around if _elements(n) >= least and not stays(n)]
    return found


def again(
    joint: Any, before: set[Any], large: set[Any], tag: str, instead: Mapping[Any, Any] | None = None
) -> dict[Any, Any]:
    """Have the backward of a graph compute itself what it needs of some nodes of the forward, and of views that this
    has; return what it computes instead of each.

    instead: what it computes in the place of some of them, already.
    """
    graph = joint.graph
    large = large | {node for node in before if node.op == "call_function" and _view(node)}
    users = {user: [n for n in user.all_input_nodes if n in large] for user in graph.nodes if user not in before}
    users = {user: read for user, read in users.items() if read and user.op != "output"}
    twins = dict(instead or {})
    if not users:
        return twins
    end, needed = next(iter(reversed(graph.nodes))), {node for read in users.values() for node in read}
    with graph.inserting_before(end):
        for node in list(graph.nodes):  # in their order
            if node in needed:
                _twin(graph, node, large, twins, tag)
    for user, read in users.items():
        for node in read:
            user.replace_input_with(node, twins[node])
    # What is no part of the forward comes after all of it, each after what it reads, else in the order that it had
    moved = set(before)

    def move(node: Any) -> None:
        if node not in moved and node.op == "call_function":
            moved.add(node)
            for source in node.all_input_nodes:
                move(source)
            end.prepend(node)
            if node.meta.get("partitioner_tag") != tag:
                node.meta["partitioner_tag"] = BACKWARD

    for node in list(graph.nodes):
        move(node)
    graph.eliminate_dead_code()
    joint.recompile()
    return twins


def computed_again(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Enter how the backward computes the result of an operator once more, of what that is given and of something small
    that the forward computes and keeps: a function of what puts operators into the forward, of what puts them into the
    backward, and of the arguments, that returns the result, None where the operator is computed once more as it is.
    """

    def entered(how: Callable[..., Any]) -> Callable[..., Any]:
        AGAIN[name] = how
        return how

    return entered


def by_something_small(joint: Any, nodes: Iterable[Any]) -> tuple[dict[Any, Any], set[Any]]:
    """Have the backward of a graph compute the results of some nodes of the forward once more where something small
    that the forward keeps makes that cheap; return what it computes instead of each, and what the forward has more.
    """
    instead, more = dict[Any, Any](), set[Any]()
    for node in nodes:
        if (how := AGAIN.get(name_of(node.target))) is None:
            continue

        def first(target: Any, *args: Any, node: Any = node, **kwargs: Any) -> Any:
            more.add(made := putting(node)(target, *args, **kwargs))
            return made

        with joint.graph.inserting_before(node.next):
            found = how(first, putting(node), *node.args, **node.kwargs)
        if found is not None:
            instead[node] = found
    return instead, more


def by_rows(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Enter how an operator of the backward is written by the sum of the products of two tensors along their rows: a
    function of what puts operators into the graph, of that sum, and of the arguments, the first two of which these are.
    """

    def entered(how: Callable[..., Any]) -> Callable[..., Any]:
        ROWS[name] = how
        return how

    return entered


def sums_by_results(joint: Any, before: set[Any]) -> None:
    """Have a backward take sums along rows of (A Bᵀ) W, element by element, by what the forward has of W B: they are
    those of A (W B), which are shorter.
    """
    import torch

    aten = torch.ops.aten
    for node in list(joint.graph.nodes):
        how = ROWS.get(name_of(node.target)) if node not in before else None
        found = None if how is None else _shorter(node, before)
        if how is None or found is None:
            continue
        put, (left, right), shape = putting(node), found, node.args[1].meta["val"].shape
        with joint.graph.inserting_before(node):
            wide = [put(aten._to_copy.default, part, dtype=torch.float32) for part in (left, right)]
            total = put(aten.sum.dim_IntList, put(aten.mul.Tensor, *wide), [-1], True)
            made = how(put, put(aten.view.default, total, [*shape[:-1], 1]), *node.args, **node.kwargs)
        if made is not None:
            node.replace_all_uses_with(made)
            joint.graph.erase_node(node)
    joint.recompile()


def _shorter(node: Any, before: set[Any]) -> tuple[Any, Any] | None:
    """Return of an operator that sums products of its first two arguments along rows, (A Bᵀ) and W, what A and W B are
    in the graph, None where they are not found.
    """
    import operator

    multiplied, weights = (_as_rows(part) for part in node.args[:2])
    if not _batched(multiplied) or not all(map(known, (*node.args[:2], multiplied, *multiplied.args))):
        return None
    left, turned = multiplied.args
    if name_of(turned.target) not in ("transpose.int", "permute.default"):
        return None
    right = _told(turned.args[0])
    if turned.meta["val"].shape != turned.args[0].meta["val"].mT.shape:
        return None
    if name_of(turned.target) == "transpose.int" and {n % 3 for n in turned.args[1:]} != {1, 2}:
        return None
    if name_of(turned.target) == "permute.default" and [n % 3 for n in turned.args[1]] != [0, 2, 1]:
        return None
    seen, waiting = set[Any](), [weights]
    while waiting:
        for user in waiting.pop().users:
            if user in before and user not in seen and user.target is not operator.getitem:
                seen.add(user)
                if _batched(user) and _as_rows(user.args[0]) is weights and _told(user.args[1]) == right:
                    return left, user
                if name_of(getattr(user, "target", "")).startswith(ALIKE):
                    waiting.append(user)
    return None


def _batched(node: Any) -> bool:
    return node is not None and node.op == "call_function" and name_of(node.target) == "bmm.default"


def known(node: Any) -> bool:
    """Tell whether a tensor has sizes that are known, and numbers that float32 holds."""
    import torch

    held = node.meta.get("val")
    kinds = torch.float16, torch.bfloat16, torch.float32
    return isinstance(held, torch.Tensor) and held.dtype in kinds and all(isinstance(n, int) for n in held.shape)


def _as_rows(node: Any) -> Any:
    """Return what a node shows with the same rows, or rounds."""
    while node.op == "call_function" and name_of(node.target).startswith(ALIKE):
        source = node.args[0]
        if not known(node) or not known(source):  # of whole numbers, or truths, it is another one
            return node
        shapes = [getattr(n.meta.get("val"), "shape", ()) for n in (node, source)]
        if len(shapes[0]) < 2 or shapes[0][-2:] != shapes[1][-2:] or math.prod(shapes[0]) != math.prod(shapes[1]):
            return node
        node = source
    return node


def _told(node: Any) -> Any:
    """Return what tells a view, or a copy, from others of the same tensor."""
    if node.op == "call_function" and name_of(node.target).startswith((*ALIKE, *VIEWS)):
        rest = tuple(tuple(arg) if isinstance(arg, list) else arg for arg in node.args[1:])
        return name_of(node.target), _told(node.args[0]), rest, tuple(sorted(node.kwargs.items()))
    return node


def _view(node: Any) -> bool:
    """Tell whether a node only shows what it is given: that is kept for the backward, and shown there."""
    source = node.args[0] if node.args else None
    held, shown = (getattr(n, "meta", {}).get("val") for n in (node, source))
    return source in node.all_input_nodes and lying(held) is not None and lying(held) == lying(shown)


def _twin(graph: Any, node: Any, large: set[Any], twins: dict[Any, Any], tag: str) -> None:
    for source in node.all_input_nodes:
        if source in large and source not in twins:
            _twin(graph, source, large, twins, tag)
    if node not in twins:
        twins[node] = graph.node_copy(node, lambda source: twins.get(source, source))
        twins[node].meta = {**node.meta, "partitioner_tag": tag}


def _elements(node: Any) -> int:
    import torch

    held = getattr(node, "meta", {}).get("val")
    if not isinstance(held, torch.Tensor) or not all(isinstance(n, int) for n in held.shape):
        return 0
    return math.prod(held.shape)


def row_top(of: Any, dim: int) -> Any:
    """Return the largest number along a dimension, which stays, in float32; -inf where the row's weights are NaN: less
    it each number is infinite or NaN.
    """
    import torch

    top, total = _row(of, dim)
    return torch.where(total > 0, top, -math.inf)


def row_share(of: Any, dim: int) -> Any:
    """Return one over the sum of the exponentials along a dimension, which stays, of numbers less the largest one, in
    float32; 0 where the row's weights are NaN: an infinity times it is NaN.
    """
    import torch

    _, total = _row(of, dim)
    return torch.where(total > 0, 1 / total, 0.0)


def _row(of: Any, dim: int) -> tuple[Any, Any]:
    wide = of.float()
    top = wide.amax(dim, True)
    return top, (wide - top).exp().sum(dim, True)


@cache
def row_operators() -> tuple[Any, Any]:
    """Return `row_top` and `row_share` as operators of PyTorch, whole in a graph.

    They are two numbers, and the second a factor: a logarithm beside the largest number of a row that a mask fills with
    -1e9 has no digits in float32, in whatever order the three are added.
    """
    import torch

    library = torch.library.Library("napkin_eq", "FRAGMENT")
    for how in (row_top, row_share):
        library.define(f"{how.__name__}(Tensor of, int dim) -> Tensor", tags=(torch.Tag.pt2_compliant_tag,))
        library.impl(how.__name__, how, "CompositeExplicitAutograd")
    _KEPT.append(library)
    return torch.ops.napkin_eq.row_top.default, torch.ops.napkin_eq.row_share.default
