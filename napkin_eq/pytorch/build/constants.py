"""What is known of a graph before its inputs are: tensors of no elements, and whole numbers and masks that are the same
everywhere.

A cache of keys and values is `cat([nothing, keys])` in its first call; what is turned of a head, where all of it is,
leaves a slice of no lanes; which tokens belong to one document is asked of positions that are `arange`, whose answer is
that all do.
"""

from __future__ import annotations

from typing import Any

from napkin_eq.pytorch.build.table import name_of

MOST = 2**24  # elements of a constant that is computed to see whether all of them are alike
KEPT = 2**26  # elements of constants that are kept at once
UNSET = ("empty", "new_empty")  # names of operators whose results are whatever memory holds


def empty(node: Any) -> bool:
    """Tell whether a node gives a tensor of no elements."""
    import torch

    held = node.meta.get("val")
    return isinstance(held, torch.Tensor) and any(isinstance(size, int) and size == 0 for size in held.shape)


def with_constants(module: Any) -> None:
    """Put into a graph what is known of it: tensors of no elements are joined to no other, and what is computed of
    constants alone and is one whole number, or one truth, everywhere is that.

    The graph is changed; what it gives, and where that lies, is as before.
    """
    import torch
    from torch._subclasses.fake_tensor import unset_fake_temporarily

    graph, known, changed = module.graph, dict[Any, Any](), set[Any]()
    for node in list(graph.nodes):
        if node.op != "call_function":
            continue
        with unset_fake_temporarily(), torch.no_grad():
            found = _number(node, known)
        if found is not None and not name_of(node.target).startswith("full."):
            held = node.meta["val"]
            told = {"dtype": held.dtype, "device": held.device, "pin_memory": False}
            _put(node, "full", ([*held.shape], found), told, known)
            changed.add(node)
        elif any(map(empty, node.all_input_nodes)) and _joined(node, known):
            changed.add(node)
    for node in reversed(graph.nodes):
        gone = node in changed or node in known or (node.op in ("call_function", "get_attr") and empty(node))
        if gone and not node.users and not node.is_impure():
            graph.erase_node(node)
    if changed:
        module.recompile()


def _number(node: Any, known: dict[Any, Any]) -> Any:
    """Return the number that all elements of a node are, None where there is none or it is not known; `known`: what was
    computed of constants, to which the node's own result is added.

    Numbers with a fraction are left, which one device may round otherwise than another; what is computed of no elements
    alone is an identity, of any type.
    """
    import torch

    held = node.meta.get("val")
    nothing = bool(node.all_input_nodes) and all(map(empty, node.all_input_nodes))
    if not isinstance(held, torch.Tensor) or not isinstance(node.target, torch._ops.OpOverload):
        return None
    if name_of(node.target).startswith(UNSET) or torch.Tag.nondeterministic_seeded in node.target.tags:
        return None
    if not all(isinstance(size, int) for size in held.shape) or held.numel() > MOST or node.is_impure():
        return None
    whole = not (held.is_floating_point() or held.is_complex())
    if not (whole or nothing) or not all(source in known or empty(source) for source in node.all_input_nodes):
        return None
    if (found := _computed(node, known)) is None or found.dtype != held.dtype or found.shape != held.shape:
        return None
    first = found.flatten()[:1]
    alike = bool(found.numel()) and bool((found == first).all())
    if whole and (alike or found.numel() + sum(value.numel() for value in known.values()) <= KEPT):
        known[node] = first.reshape([1] * found.dim()).expand(found.shape) if alike else found
    return first.item() if alike and held.is_contiguous() else None


def _computed(node: Any, known: dict[Any, Any]) -> Any:
    """Return what an operator of PyTorch gives of constants, on a CPU; None where it gives nothing there."""
    import torch
    from torch.fx import map_arg

    def given(of: Any) -> Any:
        value = of.meta["val"]
        return known[of] if of in known else torch.empty(tuple(value.shape), dtype=value.dtype)

    try:
        args, kwargs = map_arg(node.args, given), map_arg(dict(node.kwargs), given)
        found = node.target(*args, **{name: value for name, value in kwargs.items() if name != "device"})
    # What PyTorch refuses is left to refuse it when the program runs: numbers, and what a CPU lacks (RuntimeError),
    # places that there are not (IndexError); sizes that are symbols are no numbers here (TypeError).
    except (RuntimeError, IndexError, TypeError):
        return None
    return found if isinstance(found, torch.Tensor) and found.device.type == "cpu" else None


def _joined(node: Any, known: dict[Any, Any]) -> bool:
    """Join what has elements alone; tell whether that is the same: a result's type is found of all that is joined."""
    import torch

    if not name_of(node.target).startswith("cat.default") or not isinstance(node.args[0], (list, tuple)):
        return False
    parts, held = [part for part in node.args[0] if not empty(part)], node.meta["val"]
    whole = len(parts) == 1 and held.is_contiguous()
    if not whole and len(parts) < 2:
        return False
    dtype = parts[0].meta["val"].dtype
    for part in parts:
        dtype = torch.promote_types(dtype, part.meta["val"].dtype)
    if dtype != held.dtype:
        return False
    if whole:  # a copy, as what is joined is: the one part may be an input, or a result as well
        _put(node, "clone", (parts[0],), {"memory_format": torch.contiguous_format}, known)
    else:
        _put(node, "cat", (parts, *node.args[1:]), dict(node.kwargs), known)
    return True


def _put(node: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], known: dict[Any, Any]) -> None:
    """Put another operator in the place of a node."""
    import torch

    with node.graph.inserting_before(node):
        other = node.graph.call_function(getattr(torch.ops.aten, name).default, args, kwargs)
    other.meta = dict(node.meta)
    node.replace_all_uses_with(other)
    if node in known:
        known[other] = known[node]
