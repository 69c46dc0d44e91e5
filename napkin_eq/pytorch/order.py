"""What a graph draws and writes: in the order of the program, whatever is moved around it; random numbers of PyTorch's
own stream, taken apart where kernels compute them; and how a graph of forward and backward is cut in two for kernels.

What draws becomes a counter that is taken from the generator and a function of it, of no memory, which kernels compute
where its numbers are needed, and again in the backward. A draw is taken apart only where all that reads it becomes
kernels, else PyTorch's own operator stays.
"""

from __future__ import annotations

import heapq
import operator
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import count
from typing import Any

from napkin_eq.lang.errors import NapkinError
from napkin_eq.pytorch.build.draws import advanced, drawn, limit, threads, vector
from napkin_eq.pytorch.build.partition import in_operators, least_kept, shows
from napkin_eq.pytorch.build.recomputed import at_readers
from napkin_eq.pytorch.build.rematerialized import (
    BACKWARD,
    SURELY_BACKWARD,
    again,
    by_something_small,
    copied,
    forward_of,
    known,
    near,
    row_operators,
    row_share,
    row_top,
    sums_by_results,
)
from napkin_eq.pytorch.build.table import name_of
from napkin_eq.pytorch.operators.price import biased, bytes_of, composite, contraction, memory, spread

KNOWN = ("aten", "prims", "napkin_eq")  # the namespaces whose operators draw only where they are tagged so
DEVICES = ("cuda",)  # whose generators count
SHOWS = ("view.", "reshape.", "_unsafe_view.", "expand.", "permute.", "transpose.", "t.", "unsqueeze.", "squeeze.",
         "clone.", "_to_copy.", "alias.", "slice.")  # fmt: skip
DRAWS = ("native_dropout.default", "bernoulli.p")
_KEPT: list[Any] = []  # libraries, as long as whose operators live
WIDEST = (8, 4)  # neighbours that a thread of PyTorch's may take at once
TRIED = 4096  # elements by which it is found out how many it takes


def seeded(target: Any) -> bool:
    """Tell whether an operator draws random numbers."""
    import torch

    return isinstance(target, torch._ops.OpOverload) and torch.Tag.nondeterministic_seeded in target.tags


def draws(node: Any) -> bool:
    """Tell whether a node draws random numbers, or may do: one that runs a graph of its own, or an operator that is
    neither PyTorch's nor ours, of which nobody knows.
    """
    import torch

    target = node.target
    if isinstance(target, torch._ops.HigherOrderOperator) or seeded(target):
        return True
    return isinstance(target, torch._ops.OpOverload) and target.namespace not in KNOWN


def writes(node: Any) -> bool:
    """Tell whether a node writes a tensor that it is given."""
    import torch

    return isinstance(node.target, torch._ops.OpOverload) and bool(node.target._schema.is_mutable)


def followers(nodes: Sequence[Any]) -> dict[Any, list[Any]]:
    """Return for each node of a row what must run after it, itself or by way of others: what reads it, and what draws
    or writes later.
    """
    found: dict[Any, list[Any]] = {node: list(node.users) for node in nodes}
    drawn = written = None
    since: list[Any] = []  # the last write
    for node in nodes:
        if written is not None:
            found[written].append(node)
        since.append(node)
        if writes(node):
            for before in since[:-1]:
                found[before].append(node)
            written, since = node, []
        if draws(node):
            if drawn is not None:
                found[drawn].append(node)
            drawn = node
    return found


def in_order(followed: Mapping[Any, Sequence[Any]], place: Mapping[Any, int]) -> list[Any]:
    """Return nodes so that none stands before what it follows, else by their places; those on a circle, and what
    follows these, are left out.
    """
    waits = dict.fromkeys(followed, 0)
    for after in followed.values():
        for node in after:
            if node in waits:
                waits[node] += 1
    number = count()
    ready = [(place[node], next(number), node) for node, before in waits.items() if not before]
    heapq.heapify(ready)
    found: list[Any] = []
    while ready:
        node = heapq.heappop(ready)[2]
        found.append(node)
        for other in followed[node]:
            if other in waits:
                waits[other] -= 1
                if not waits[other]:
                    heapq.heappush(ready, (place[other], next(number), other))
    return found


def apart(stretch: Sequence[Any], parts: Sequence[list[Any]]) -> list[list[Any]]:
    """Return parts of a stretch of a graph, those cut that could not run as one: something drawn or written in between
    would have to run before them and after them.
    """
    steps = [node for node in stretch if draws(node) or writes(node)]
    if not steps:
        return list(parts)
    of: dict[Any, Hashable] = {node: number for number, part in enumerate(parts) for node in part}
    joined: dict[Hashable, list[Any]] = {of.get(node, node): [] for node in stretch}
    for node, after in followers(stretch).items():
        own = of.get(node, node)
        joined[own] += {of.get(other, other) for other in after} - {own}
    place = {node: at for at, node in enumerate(stretch)}
    first = {own: at for at, own in reversed([*enumerate(of.get(node, node) for node in stretch)])}
    free = set(in_order(joined, first))
    found: list[list[Any]] = []
    for number, part in enumerate(parts):
        groups: dict[int, list[Any]] = {}
        for node in part:
            before = 0 if number in free else sum(1 for step in steps if place[step] < place.get(node, len(stretch)))
            groups.setdefault(before, []).append(node)
        found += groups.values()
    return found


@cache
def own_operators() -> tuple[Any, Any]:
    """Return what takes counters from a generator, and the words that these are mixed to, as operators of PyTorch.

    `draw(Tensor? after, int counters, Device device)` gives the seed and the counter, int64, and advances the
    generator; `after` is another draw that comes before. `words(Tensor state, int[] size, int before, int threads, int
    vector)` is `build.draws.drawn`.
    """
    import torch

    library = torch.library.Library("napkin_eq", "FRAGMENT")
    seeded = (torch.Tag.pt2_compliant_tag, torch.Tag.nondeterministic_seeded)
    library.define("draw(Tensor? after, int counters, Device device) -> Tensor", tags=seeded)
    library.impl("draw", lambda after, counters, device: state(counters, device), "CompositeExplicitAutograd")
    torch.library.register_fake(
        "napkin_eq::draw",
        lambda after, counters, device: torch.empty(2, dtype=torch.int64, device=device),
        lib=library,
    )
    library.define(
        "words(Tensor state, SymInt[] size, int before, int threads, int vector) -> Tensor",
        tags=(torch.Tag.pt2_compliant_tag,),
    )
    library.impl("words", drawn, "CompositeExplicitAutograd")
    torch.library.register_fake(
        "napkin_eq::words",
        lambda state, size, *rest: torch.empty(size, dtype=torch.int32, device=state.device),
        lib=library,
    )
    _KEPT.append(library)
    return torch.ops.napkin_eq.draw.default, torch.ops.napkin_eq.words.default


def spelled() -> dict[Any, Any]:
    """Return how operators of this package that stand in graphs are computed by PyTorch's own, for Inductor."""
    top, share = row_operators()
    return {own_operators()[1]: drawn, top: row_top, share: row_share}


def state(counters: int, device: Any) -> Any:
    """Return the seed and the counter of a device's default generator as a tensor of int64 on it, and advance it by so
    many counters of four words, as PyTorch's own operators do.

    While a CUDA graph is captured the generator is the graph's, which tells nobody where it stands: then a seed is
    drawn from it, so that each replay has numbers of its own, but not those that PyTorch's operators would have.
    """
    import torch

    if torch.cuda.is_current_stream_capturing():
        return torch.randint(-(2**63), 2**63 - 1, (2,), dtype=torch.int64, device=device) // 2 ** torch.tensor(
            [0, 2], device=device
        )
    index = torch.device(device).index
    generator = torch.cuda.default_generators[torch.cuda.current_device() if index is None else index]
    found = _standing(generator)
    generator.set_offset(generator.get_offset() + 4 * counters)
    return found.to(device, non_blocking=True)


def _standing(generator: Any) -> Any:
    """Return the seed of a generator and its counter, of four words, as a tensor of int64."""
    import torch

    seed = generator.initial_seed()
    return torch.tensor([seed - 2**64 if seed >= 2**63 else seed, generator.get_offset() // 4], dtype=torch.int64)


def processors(device: Any) -> tuple[int, int]:
    """Return how many processors a GPU has, and how many threads each."""
    import torch

    known = torch.cuda.get_device_properties(device)
    return known.multi_processor_count, known.max_threads_per_multi_processor


@cache
def widest(device: Any, dtype: Any) -> int:
    """Return how many neighbours a thread of PyTorch's takes at once to drop numbers of a type, as PyTorch does it
    here; 0 where its numbers are not those that are expected, so that nothing may be taken apart.

    A draw of its own is compared, and one of more elements than all threads take at once; the generator stays as it is.
    """
    import torch
    from torch.utils._python_dispatch import _disable_current_modes

    generator = torch.cuda.default_generators[device.index or 0]
    with _disable_current_modes(), torch.no_grad(), torch.cuda.device(device):
        before = generator.get_state()
        try:
            count = threads(2**40, *processors(device))
            agreeing = [
                wide
                for wide in WIDEST
                if all(_agrees(n, wide, device, dtype) for n in (TRIED, 3 * count * wide, TRIED + 1, TRIED + 2))
            ]
        except (RuntimeError, NapkinError):
            agreeing = []
        finally:
            generator.set_state(before)
    return agreeing[0] if agreeing else 0


def _agrees(elements: int, wide: int, device: Any, dtype: Any) -> bool:
    """Tell whether PyTorch drops, of so many numbers, those that the words say."""
    import torch

    count, generator = threads(elements, *processors(device)), torch.cuda.default_generators[device.index or 0]
    before, begun = generator.get_offset(), _standing(generator).to(device)
    kept = torch.ops.aten.native_dropout(torch.ones(elements, dtype=dtype, device=device), 0.5, True)[1]
    if generator.get_offset() != before + 4 * advanced(elements, count):
        return False
    return bool(((drawn(begun, (elements,), 0, count, vector(elements, wide)) <= limit(0.5)) == kept).all())


@dataclass(frozen=True, slots=True)
class Draw:
    """What an operator draws: the masks of how many elements, how they are drawn, and which words say yes."""

    size: tuple[int, ...]
    count: int
    together: int
    counters: int
    most: int
    scale: float | None  # what is kept is multiplied by; None where the mask is what is asked for


def draw_of(node: Any, given: set[int]) -> Draw | None:
    """Return what a node draws, None where it stays PyTorch's; given: the memory of what the graph is given, of which
    it is not known where it begins.
    """
    import torch

    if node.op != "call_function" or name_of(node.target) not in DRAWS:
        return None
    said = {a.name: v for a, v in zip(node.target._schema.arguments, node.args, strict=False)} | dict(node.kwargs)
    source: Any = said.get("input", said.get("self"))
    held, share = source.meta.get("val"), said["p"]
    if not isinstance(held, torch.Tensor) or held.device.type not in DEVICES or said.get("generator") is not None:
        return None
    known = all(isinstance(n, int) for n in held.shape) and held.numel() and held.is_contiguous()
    if not known or not 0 < share < 1 or said.get("train") is False or held.numel() >= 2**31:
        return None
    if held.dtype not in (torch.float32, torch.float16, torch.bfloat16):
        return None
    dropped, wide = name_of(node.target) == "native_dropout.default", 1
    if dropped:
        wide = widest(held.device, held.dtype)
        # Where what is given begins in memory PyTorch looks up at each call
        if not wide or held.storage_offset() or (held.numel() % 2 == 0 and memory(source) & given):
            return None
    elif not widest(held.device, torch.float32):
        return None
    elements = held.numel()
    count = threads(elements, *processors(held.device))
    kept = 1.0 - share if dropped else share
    try:
        most = limit(kept)
    except NapkinError:
        return None
    scale = float(torch.tensor(1.0 / float(torch.tensor(kept, dtype=torch.float32)), dtype=torch.float32))
    told = count, vector(elements, wide), advanced(elements, count)
    return Draw(tuple(held.shape), *told, most, scale if dropped else None)


def found(module: Any) -> dict[str, Draw]:
    """Return the draws of a graph that may be taken apart, by the names of their nodes: of weights of a contraction,
    which are read by it and by nothing else that is not kept; others are taken apart to no gain.
    """
    given = {number for node in module.graph.nodes if node.op == "placeholder" for number in memory(node)}
    return {
        node.name: draw
        for node in module.graph.nodes
        if (draw := draw_of(node, given)) is not None and any(map(_contracted, _results(node)))
    }


def _results(node: Any) -> list[Any]:
    if name_of(node.target) == "bernoulli.p":
        return [user for user in node.users if name_of(user.target).startswith(("mul.", "div."))] or [node]
    return [user for user in node.users if user.target is operator.getitem and user.args[1] == 0]


def _contracted(node: Any) -> bool:
    """Tell whether a contraction reads a tensor, as it is or as views and casts show it."""
    return any(
        user.op == "call_function"
        and (contraction(user) or (name_of(user.target).startswith(SHOWS) and _contracted(user)))
        for user in node.users
    )


def without_draws(module: Any, wanted: dict[str, Draw]) -> Any:
    """Return a graph in which draws are taken apart: a counter is taken from the generator where they were, several at
    once where nothing else draws between them, and what they gave is computed of words.
    """
    import torch

    take, mixed = own_operators()
    copies: dict[Any, Any] = {}
    graph = copied(module, copies).graph
    last = run = None
    taken = 0
    aten = torch.ops.aten
    for old in module.graph.nodes:
        draw = wanted.get(old.name)
        if draw is None:
            run = None if old.op == "call_function" and draws(old) else run
            continue
        node = copies[old]
        source = node.args[0]
        held = source.meta["val"]

        def made(target: Any, *args: Any, of: Any = node, **kwargs: Any) -> Any:
            new = graph.call_function(target, args, kwargs)
            new.meta = {key: value for key, value in of.meta.items() if key not in ("val", "tensor_meta")}
            return new

        def shown(new: Any, size: Sequence[int], dtype: Any, like: Any = held) -> Any:
            with like.fake_mode if hasattr(like, "fake_mode") else torch.device("meta"):
                new.meta["val"] = torch.empty(size, dtype=dtype, device=like.device)
            return new

        with graph.inserting_before(node):
            if run is None:
                run, taken = shown(made(take, last, 0, held.device), (2,), torch.int64), 0
                last = run
            place = list(draw.size), taken, draw.count, draw.together
            words = shown(made(mixed, run, *place), draw.size, torch.int32)
            taken += draw.counters
            run.args = (run.args[0], taken, run.args[2])
            kept = shown(made(aten.le.Scalar, words, draw.most), draw.size, torch.bool)
            if draw.scale is None:
                kept = shown(made(aten._to_copy.default, kept, dtype=held.dtype), draw.size, held.dtype)
                node.replace_all_uses_with(kept)
            else:
                bare = shown(made(aten.mul.Tensor, source, kept), draw.size, held.dtype)
                scaled = shown(made(aten.mul.Tensor, bare, draw.scale), draw.size, held.dtype)
                for user in list(node.users):
                    user.replace_all_uses_with((scaled, kept)[user.args[1]])
                    graph.erase_node(user)
            graph.erase_node(node)
    graph.lint()
    return torch.fx.GraphModule(module, graph)


def words_of(nodes: Sequence[Any]) -> Iterator[Any]:
    """Yield the nodes that are words."""
    for node in nodes:
        if node.op == "call_function" and name_of(node.target) == "napkin_eq.words.default":
            yield node


def covered(module: Any, regions: Sequence[Any]) -> bool:
    """Tell whether all words of a graph are in regions that become kernels."""
    own = {node for region in regions if region.taken for node in region.nodes}
    return all(node in own for node in words_of(module.graph.nodes))


def plain(module: Any) -> Any:
    """Return a graph in PyTorch's operators, in which words are numbers that Inductor draws as it likes: what it makes
    of the same program is measured so.
    """
    import copy

    import torch

    if not any(node.target in row_operators() for node in module.graph.nodes) and not any(words_of(module.graph.nodes)):
        return module
    module = copy.deepcopy(module)
    in_operators(module, [node for node in module.graph.nodes if node.target in row_operators()], spelled())
    for node in list(words_of(module.graph.nodes)):
        with module.graph.inserting_before(node):
            device = node.meta["val"].device if "val" in node.meta else "cuda"
            new = module.graph.call_function(
                torch.ops.aten.randint.low,
                (-(2**31), 2**31 - 1, list(node.args[1])),
                {"dtype": torch.int32, "device": device},
            )
            new.meta = dict(node.meta)
        node.replace_all_uses_with(new)
        module.graph.erase_node(node)
    module.recompile()
    return module


Chosen = Callable[[Any], list[Any]]
Faster = Callable[[Sequence[Any], Sequence[Any], Any], bool]


def taken_apart(module: Any, chosen: Chosen) -> tuple[Any, list[Any]]:
    """Return a graph without gradients with its draws taken apart, if all of their words become kernels, else as it
    was; and its regions.

    chosen: the regions of a graph.
    """
    if wanted := found(module):
        with suppress(NapkinError, RuntimeError, AssertionError):
            changed = without_draws(module, wanted)
            if covered(changed, regions := chosen(changed)):
                return changed, regions
    return module, chosen(module)


def parted(joint: Any, inputs: Any, *, chosen: Chosen, faster: Faster, **told: Any) -> Any:
    """Return the forward and the backward of a graph of both, as PyTorch parts it; or as kernels gain by, where they
    are taken to be faster so: the backward computes once more what products make much larger than what they multiply,
    and its draws are taken apart if all of their words become kernels on both sides; then it computes once more what is
    as large as what they drop.

    chosen: the regions of a graph. faster: whether graphs, with regions of theirs, are taken to be faster than others.
    """
    from torch._functorch.partitioners import default_partition

    outputs = told["num_fwd_outputs"]
    failures = NapkinError, RuntimeError, AssertionError, KeyError
    if wanted := found(joint):
        with suppress(*failures):
            without = without_draws(joint, wanted)
            before = forward_of(without, outputs)
            words = [node for node in words_of(without.graph.nodes) if node in before]
            again(without, before, near(before, words, draws), BACKWARD)
            parts = default_partition(without, inputs, **told)
            regions = [region for part in parts for region in chosen(part)]
            if all(covered(part, regions) for part in parts) and faster(parts, regions, joint):
                return parts
    with suppress(*failures):
        if (less := with_products_again(joint, outputs)) is not None:
            parts = least_kept(less, inputs, twice=True, **told)
            if faster(parts, [region for part in parts for region in chosen(part)], joint):
                return parts
    return least_kept(joint, inputs, **told)


def with_composites(joint: Any, outputs: int) -> Any:
    """Return a graph of forward and backward in which Inductor finds several products that a library has as one, if it
    finds any; else the graph as it is.

    Only what is as large as products that are larger than what they multiply is written as Inductor writes it.
    """
    import torch
    from torch._inductor import config
    from torch._inductor.decomposition import select_decomp_table
    from torch._inductor.fx_passes.joint_graph import joint_graph_passes
    from torch._inductor.virtualized import V

    if not (begins := _spread(forward_of(joint, outputs))):
        return joint
    changed, least = copied(joint), min(map(bytes_of, begins))
    aten, table = torch.ops.aten, select_decomp_table()
    large = [n for n in changed.graph.nodes if n.op == "call_function" and (bytes_of(n) >= least or shows(n))]
    written = [n for n in large if n.target in table and not contraction(n) and not seeded(n.target) and not writes(n)]
    in_operators(changed, written, table)
    mode = torch._guards.detect_fake_mode([node.meta.get("val") for node in joint.graph.nodes])
    with V.set_fake_mode(mode), config.patch(shape_padding=False):
        joint_graph_passes(changed)
    # Beside a bias, as -1e9 in a row of padding, the libraries' sums of rows lose digits that the parts have
    (more, beside), (had, had_beside) = (
        (sum(map(composite, graph.nodes)), sum(map(biased, graph.nodes))) for graph in (changed.graph, joint.graph)
    )
    if more <= had or beside > had_beside:
        return joint
    for node in changed.graph.nodes:
        if node.target is torch.ops.prims.convert_element_type.default:  # as the table of operators has it
            node.target, (of, dtype) = aten._to_copy.default, node.args
            node.args, node.kwargs = (of,), {"dtype": dtype}
    changed.recompile()
    return changed


def _spread(nodes: set[Any]) -> list[Any]:
    """Return the products that are much larger than what they multiply, of known sizes and numbers of float32."""
    return [node for node in nodes if known(node) and spread(node) is node]


def with_products_again(joint: Any, outputs: int) -> Any:
    """Return a graph of forward and backward whose backward computes once more the products that are much larger than
    what they multiply, and what is made of them and as large: what is small of these alone is kept. None where the
    backward needs none of it.
    """
    if not _spread(forward_of(joint, outputs)):
        return None
    joint = copied(joint)
    begins = _spread(before := forward_of(joint, outputs))

    def stays(node: Any) -> bool:
        return draws(node) or writes(node) or (contraction(node) and node not in begins)

    sums_by_results(joint, before)
    large = near(before, begins, stays)
    instead, more = by_something_small(joint, [node for node in joint.graph.nodes if node in large])
    if not {*begins} & {*again(joint, before | more, large, SURELY_BACKWARD, instead)}:
        return None
    at_readers(joint)  # of what is computed again, too
    return joint
