"""What PyTorch is taken to need for a part of a graph: cuBLAS for each contraction, one kernel for what is connected
between them.

The same GPU data as the cost model's; an estimate that only decides whether a region is worth taking.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Sequence
from typing import Any

from napkin_eq.machine.gpu import Hardware
from napkin_eq.pytorch.build.extents import about
from napkin_eq.pytorch.build.recomputed import lying
from napkin_eq.pytorch.build.table import kind_of, name_of

PRODUCTS = ("mm.", "_int_mm.", "bmm.", "addmm.", "baddbmm.", "matmul.", "linear.", "dot.", "mv.")
WINDOWS = ("convolution.", "conv1d.", "conv2d.", "conv3d.", "convolution_backward.", "conv_transpose")
# What draws numbers: Inductor mixes the bits of a counter for each element, of which it takes a fourth, so many
# operations (counted, not measured)
DRAWING, DRAWN = ("napkin_eq.words.", "native_dropout.", "bernoulli.", "rand."), 120.0
# What adds into places that the data choose: PyTorch by atomics, a kernel by a sum over all that may be meant
ADDING = (
    "embedding_dense_backward.", "index_put.", "_unsafe_index_put.", "index_add.", "scatter_add.", "scatter_reduce.",
)  # fmt: skip
ATTENTION = ("scaled_dot_product_attention.", "_scaled_dot_product")
OPERANDS = 3  # of a product with a summand, which is the first
DIMENSIONS = 5  # of an array of which windows of three are read
# Of a unit's peak what PyTorch's own attention reaches forward (on an H100 585 TFLOP/s in bfloat16, 32 in float32), and
# what convolutions of float32 do, whose arrays are turned before and after (twelve on an H100), of three dimensions
# (seven on an H200: 6 to 80 TFLOP/s).
FUSED, FUSED_FLOAT32, WINDOWED, DEEP, TURNED = 0.65, 0.53, 0.35, 0.08, 3.0
# Its gradients are five products instead of two, at half of that share (FlashAttention-2's do 306 TFLOP/s on an H200).
BACK, FUSED_BACK = 2.5, 0.5
# What kernels may gain of what attention takes, and lose of what a product of half numbers does: of cuDNN's in BERT's
# layers a fourth was gained, to cuBLAS's products 10 to 23 % were lost (H200)
SLACK, LOSS = 0.25, 0.15
HALVES = ("float16", "bfloat16")
LIBRARY_US = "napkin_eq.library_us"  # a call's microseconds as measured, in a node's meta
# Times as many bytes, and what a product sums along, or has columns, at the most, where it takes about as long as to
# write and to read as many numbers of two bytes (an H200 at 600 TFLOP/s and 4 TB/s)
SPREAD, THIN = 3, 256


def product(node: Any) -> bool:
    """Tell whether a node is a product of matrices, which a library computes in the order in which they lie."""
    return node.op == "call_function" and name_of(node.target).startswith(PRODUCTS)


def spread(node: Any) -> Any:
    """Return of a product of matrices what of its result and of what it multiplies has many more bytes than the other
    two together, where the product takes about no longer than to write that and to read it: it is better computed once
    more than stored. None where nothing is so.
    """
    if not product(node):
        return None
    first = name_of(node.target).startswith(("addmm.", "baddbmm."))
    *others, most = sorted([*node.args[first : first + 2], node], key=_elements)
    if bytes_of(most) < SPREAD * sum(map(bytes_of, others)) or _multiplied(node) > 2.0 * THIN * _elements(most):
        return None
    return most


def adding(node: Any) -> bool:
    """Tell whether a node adds into places that the data choose."""
    return node.op == "call_function" and name_of(node.target).startswith(ADDING)


def composite(node: Any) -> bool:
    """Tell whether a node is attention, forward or backward: several products, which PyTorch gives to a library as one.
    """
    return node.op == "call_function" and name_of(node.target).startswith(ATTENTION)


def biased(node: Any) -> bool:
    """Tell whether a node is attention, forward, of more tensors than queries, keys and values: with a bias."""
    given = [arg for arg in (*node.args, *node.kwargs.values()) if hasattr(arg, "meta")]
    return composite(node) and "_backward." not in name_of(node.target) and len(given) > 3


def contraction(node: Any) -> bool:
    """Tell whether a node is a contraction, which PyTorch gives to a library."""
    return node.op == "call_function" and name_of(node.target).startswith((*PRODUCTS, *WINDOWS, *ATTENTION))


def of_windows(node: Any) -> bool:
    """Tell whether a node is a convolution, of one channel each too."""
    return node.op == "call_function" and name_of(node.target).startswith(WINDOWS)


def dense(node: Any) -> bool:
    """Tell whether a node is a convolution that sums along channels: to multiply what it gives would be to compute it
    several times, so no kernel has another contraction after it.
    """
    return of_windows(node) and bool(_said(node).get("groups", 1) < _shape(_convolved(node)[1])[1])


def windowed(node: Any) -> bool:
    """Tell whether a node is a convolution that reads each number several times: what folds to give these numbers is no
    part of its kernel.
    """
    return of_windows(node) and any(size != 1 for size in _shape(_convolved(node)[2])[2:])


def single(node: Any) -> bool:
    """Tell whether a node gives tensors of one number each, whatever sizes are."""
    held = _tensors(node)
    return bool(held) and all(type(size) is int and size == 1 for value in held for size in value.shape)


def pointwise(node: Any) -> bool:
    """Tell whether a node computes each element by itself."""
    import torch

    if node.op != "call_function":
        return False
    # PyTorch tags some operators of one element each not, as `hardswish`
    name = name_of(node.target)
    own = kind_of(name) in ("elementwise", "arithmetic") and not name.startswith("glu.")
    return own or torch.Tag.pointwise in getattr(node.target, "tags", ())


def folding(node: Any) -> bool:
    """Tell whether a node computes a number of several, none of which only moves there."""
    return not pointwise(node) and kind_of(name_of(node.target)) not in ("views", "gathers")


def reducing(node: Any) -> bool:
    """Tell whether a node folds along whole dimensions: a kernel that computes what it is given may hold these."""
    return kind_of(name_of(node.target)) == "reductions"


def pooling(node: Any) -> bool:
    """Tell whether a node folds whole windows of which no two meet, and nobody asks at which place one's largest number
    is: a kernel that computes what it is given computes each number once.
    """
    if node.op != "call_function" or kind_of(name_of(node.target)) != "pooling":
        return False
    said = _said(node)
    if "kernel_size" not in said or "grad_output" in said or said.get("ceil_mode"):
        return False
    sizes, steps, beyond, spaced = (
        [number] if isinstance(number, int) else list(number)
        for number in (said["kernel_size"], said.get("stride", []), said.get("padding", 0), said.get("dilation", 1))
    )
    if any(number != 0 for number in beyond) or any(number != 1 for number in spaced):
        return False
    places = [user for user in node.users if user.target is operator.getitem and user.args[1] == 1]
    met = any(step < size for size, step in zip(sizes, steps or sizes, strict=False))
    return not met and not any(place.users for place in places)


def converting(node: Any) -> bool:
    """Tell whether a node gives real numbers in another type of them."""
    if node.op != "call_function" or not name_of(node.target).startswith("_to_copy."):
        return False
    both = [*_tensors(node), *_tensors(node.args[0])]
    return len(both) == 2 and all(v.is_floating_point() for v in both) and both[0].dtype != both[1].dtype


def narrowing(node: Any) -> bool:
    """Tell whether a node rounds real numbers to a type of fewer bytes."""
    return converting(node) and _tensors(node)[0].element_size() < _tensors(node.args[0])[0].element_size()


def multiplied_in(node: Any) -> str:
    """Return the type of the numbers that a contraction multiplies, "" where these are not real numbers of one type."""
    held = [source.meta.get("val") for source in node.args[:OPERANDS] if hasattr(source, "meta")]
    found = {value.dtype for value in held if hasattr(value, "dtype") and value.dtype.is_floating_point}
    return str(found.pop()).removeprefix("torch.") if len(found) == 1 else ""


def library_us(nodes: Sequence[Any], hardware: Hardware, dtype: str) -> float:
    """Return the microseconds that PyTorch, compiled, is taken to need for nodes of a graph, whose contractions
    multiply numbers of a type where they say of none.
    """
    work = _Work(nodes)
    heavy = dict.fromkeys(node for node in work.nodes if contraction(node))
    total = sum(_contraction_us(node, hardware, multiplied_in(node) or dtype) for node in heavy)
    for part in work.connected([node for node in work.nodes if node not in heavy]):
        moved = _moved(part, work) + _again(part, work, hardware)
        drawn = sum(_elements(node) for node in part if name_of(node.target).startswith(DRAWING))
        rate = hardware.chip.sms * hardware.units.fma * hardware.chip.clock_hz * hardware.assumptions.unit_efficiency
        total += max(moved / hardware.hbm.copy_bandwidth, DRAWN * drawn / rate, hardware.chip.launch_s) * 1e6
    return total


def worth_us(nodes: Sequence[Any], hardware: Hardware, dtype: str) -> float:
    """Return the microseconds that may be gained of nodes of a graph at the most, about: what PyTorch is taken to need
    less what moving what they read and return takes, or their contractions, or one launch.
    """
    work, least = _Work(nodes), 0.0
    for node in filter(contraction, work.nodes):
        held = multiplied_in(node) or dtype
        more = -SLACK if composite(node) else LOSS if held in HALVES else 0.0
        taken = _contraction_us(node, hardware, held)
        least += (min(taken, _windows_us(node, hardware, held)) if LIBRARY_US in node.meta else taken) * (1 + more)
    moved = _moved(work.nodes, work) / hardware.hbm.copy_bandwidth * 1e6
    return library_us(nodes, hardware, dtype) - max(moved, least, hardware.chip.launch_s * 1e6)


def around_us(nodes: Sequence[Any], hardware: Hardware, dtype: str) -> float:
    """Return the microseconds that may be gained at the most, about, of what stands around products of matrices among
    nodes of a graph, each part for itself, where a library has the products.
    """
    work = _Work([node for node in nodes if not product(node)])
    parts = ([*part, *work.shown] for part in work.connected(work.nodes))
    return sum(max(0.0, worth_us(part, hardware, dtype)) for part in parts)


def parted_us(nodes: Sequence[Any], around: Sequence[Any], hardware: Hardware, dtype: str) -> float:
    """Return the microseconds that PyTorch, compiled, is taken to need more for nodes of a graph and what is around
    them where the two are no part of one kernel: what goes from one to the other is written and read.
    """
    own = set(nodes)
    places = {node: at for at, node in enumerate(next(iter(own)).graph.nodes)} if own else {}
    whole = sorted({*own, *around}, key=places.__getitem__)
    work = _Work(whole)
    near = {n for part in work.connected([n for n in work.nodes if not contraction(n)]) if own & {*part} for n in part}
    rest = [node for node in whole if node not in own and work.of(node) in near - own]
    if not rest:
        return 0.0
    both = [node for node in whole if node in own or work.of(node) in near]
    alone = library_us(nodes, hardware, dtype) + library_us(rest, hardware, dtype)
    return max(0.0, alone - library_us(both, hardware, dtype))


class _Work:
    """Nodes of a graph that compute something; what only shows a tensor of theirs, or an input, stands for it."""

    def __init__(self, nodes: Sequence[Any]) -> None:
        self.shown: dict[Any, Any] = {}
        self.nodes = []
        for node in nodes:
            source = node.args[0] if node.args else None
            if memory(node) and source in node.all_input_nodes and memory(node) <= memory(source):
                self.shown[node] = self.of(source)
            elif _tensors(node):
                self.nodes.append(node)

    def of(self, node: Any) -> Any:
        """Return the node that computes what a node shows."""
        return self.shown.get(node, node)

    def users(self, node: Any) -> Iterable[Any]:
        """Yield what reads a node, through views or not; nodes elsewhere, which read it in memory, too."""
        for user in node.users:
            if user in self.shown:
                yield from self.users(user)
            else:
                yield user

    def connected(self, nodes: Sequence[Any]) -> list[list[Any]]:
        """Return nodes in groups: what reads another one is in its group."""
        group: dict[Any, list[Any]] = {}
        for node in nodes:
            own = group[node] = [node]
            for source in map(self.of, node.all_input_nodes):
                if (other := group.get(source, own)) is not own:
                    less, own = sorted((own, other), key=len)
                    own += less
                    group.update(dict.fromkeys(less, own))
        place = {node: at for at, node in enumerate(nodes)}
        found = {id(part): part for part in group.values()}
        return [sorted(part, key=place.__getitem__) for part in found.values()]


def _moved(part: Sequence[Any], work: _Work) -> int:
    """Return the bytes that one kernel of a part reads and writes: of what is read through a view what that shows."""
    own = set(part)
    read: dict[Any, int] = {}
    for node in part:
        for source in node.all_input_nodes:
            if (made := work.of(source)) not in own:
                read[made] = max(read.get(made, 0), min(bytes_of(source), bytes_of(made)))
    written = [node for node in part if any(user not in own for user in work.users(node))]
    return sum(read.values()) + sum(map(bytes_of, written))


def _again(part: Sequence[Any], work: _Work, hardware: Hardware) -> int:
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
        before = max((behind.get(work.of(s), 0) for s in node.all_input_nodes), default=0)
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


def _contraction_us(node: Any, hardware: Hardware, dtype: str) -> float:
    if LIBRARY_US in node.meta:
        return float(node.meta[LIBRARY_US])
    name = name_of(node.target)
    share, passes = hardware.assumptions.tensor_efficiency, 1.0
    unit = _unit(name, dtype)
    if name.startswith(WINDOWS):
        if dtype == "float32":
            share, passes = DEEP if len(_shape(_convolved(node)[1])) == DIMENSIONS else WINDOWED, TURNED
        flops = _windows(node)
    elif name.startswith(ATTENTION):
        share = FUSED_FLOAT32 if unit == "float32" else FUSED
        back = "_backward." in name  # whose first argument is the gradient of the result, before the queries
        keys = _shape(node.args[1 + back])[-2]
        flops = 4.0 * math.prod(_shape(node)) * keys * (0.5 if _said(node).get("is_causal") is True else 1.0)
        flops, share = (BACK * flops, share * FUSED_BACK) if back else (flops, share)
    else:
        flops = _multiplied(node)
    return _at_rate(node, hardware, flops, hardware.flops(unit) * share, passes)


def _windows_us(node: Any, hardware: Hardware, dtype: str) -> float:
    """Return the microseconds of a convolution at the rate of products, what it reads and gives moved once."""
    rate = hardware.flops(_unit(name_of(node.target), dtype)) * hardware.assumptions.tensor_efficiency
    return _at_rate(node, hardware, _windows(node), rate)


def _at_rate(node: Any, hardware: Hardware, flops: float, rate: float, passes: float = 1.0) -> float:
    moved = bytes_of(node) + sum(bytes_of(source) for source in node.all_input_nodes)
    return max(flops / rate, passes * moved / hardware.hbm.copy_bandwidth, hardware.chip.launch_s) * 1e6


def _unit(name: str, dtype: str) -> str:
    """Return the type whose rate an operator's products have on the matrix unit."""
    return dtype if dtype != "float32" else "tf32" if _rounded(name) else "float32"


def _multiplied(node: Any) -> float:
    """Return the operations of a product of matrices: two for each element of its result and each place of the
    dimension along which it sums.
    """
    first = node.args[name_of(node.target).startswith(("addmm.", "baddbmm."))]
    return 2.0 * math.prod(_shape(node)) * _shape(first)[-1]


def _convolved(node: Any) -> tuple[Any, Any, Any]:
    """Return what a convolution gives, or backward the gradient of that, what it reads windows of, and its weights."""
    backward = name_of(node.target).startswith("convolution_backward.")
    over, data, weight = node.args[:3] if backward else (node, *node.args[:2])
    return over, data, weight


def _windows(node: Any) -> float:
    """Return the operations of a convolution; backward those of each gradient that is asked for."""
    said, (over, data, weight) = _said(node), _convolved(node)
    if said.get("transposed") is True or name_of(node.target).startswith("conv_transpose"):
        over = data
    asked = sum(said["output_mask"][:2]) if "output_mask" in said else 1
    return 2.0 * asked * math.prod(_shape(over)) * math.prod(_shape(weight)[1:])


def _said(node: Any) -> dict[str, Any]:
    """Return a call's arguments by their names."""
    names = [argument.name for argument in node.target._schema.arguments]
    return {**dict(zip(names, node.args, strict=False)), **node.kwargs}


def _rounded(name: str) -> bool:
    """Tell whether PyTorch may round a contraction's operands of float32 to tf32, as it is set here."""
    import torch

    own = torch.backends.cudnn if name.startswith(WINDOWS) else torch.backends.cuda.matmul
    try:
        return bool(own.allow_tf32)
    except RuntimeError:  # it was set by its newer name
        return bool(getattr(own.conv if own is torch.backends.cudnn else own, "fp32_precision", "ieee") == "tf32")


def precision(nodes: Sequence[Any], dtype: str) -> str:
    """Return the precision in which products may be multiplied, as PyTorch is set here: "tf32" where all contractions
    of nodes may be rounded so, nothing where not.
    """
    names = [name_of(node.target) for node in nodes if contraction(node)]
    return "tf32" if dtype == "float32" and names and all(map(_rounded, names)) else ""


def _tensors(node: Any) -> list[Any]:
    import torch

    held = node.meta.get("val")
    found: Iterable[Any] = held if isinstance(held, (list, tuple)) else [held]
    return [value for value in found if isinstance(value, torch.Tensor)]


def memory(node: Any) -> set[int]:
    """Return what tells the memory of a node's tensors, the same for their views; nothing where it gives none."""
    return {where for value in _tensors(node) if (where := lying(value)) is not None}


def _shape(node: Any) -> list[int]:
    return [about(size) for size in _tensors(node)[0].shape] if _tensors(node) else []


def bytes_of(node: Any) -> int:
    """Return the bytes of what a node gives."""
    return sum(value.element_size() * math.prod(about(size) for size in value.shape) for value in _tensors(node))
