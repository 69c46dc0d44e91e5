"""Which parts of a graph become kernels: what the table has and is safe, cut where a search would be long, taken where
it is predicted to gain.
"""

from __future__ import annotations

import json
import math
import os
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.term import subterms
from napkin_eq.machine.gpu import Hardware, load
from napkin_eq.pytorch.build.constants import empty
from napkin_eq.pytorch.build.edges import shown
from napkin_eq.pytorch.build.identity import called, hashed
from napkin_eq.pytorch.build.recomputed import SEVERAL, lying, recomputed
from napkin_eq.pytorch.build.table import name_of, rules
from napkin_eq.pytorch.edge_trial import AT_EDGE, TOO_LARGE
from napkin_eq.pytorch.flat import in_memory
from napkin_eq.pytorch.importer import complex_numbers, of_graph
from napkin_eq.pytorch.kernels import (
    DAMAGED,
    ENDED,
    TOOK,
    Asked,
    Kernels,
    answer,
    apart_bytes,
    asking,
    folder,
    keep,
    remembered,
    stored,
    turned_bytes,
    versions,
)
from napkin_eq.pytorch.naming import Refused, expression, line_of
from napkin_eq.pytorch.operators.pairs import known
from napkin_eq.pytorch.operators.price import (
    adding,
    around_us,
    bytes_of,
    composite,
    contraction,
    converting,
    dense,
    folding,
    library_us,
    narrowing,
    of_windows,
    parted_us,
    pointwise,
    pooling,
    precision,
    product,
    reducing,
    single,
    spread,
    windowed,
    worth_us,
)
from napkin_eq.pytorch.order import apart
from napkin_eq.pytorch.program import Program
from napkin_eq.pytorch.sizes import expected, may_be_empty, settled

CONTRACTIONS, INNER, NODES, EACH = 2, 5, 24, 20.0  # of INNER contractions of one large value each
MOST_PROCESSES = 8  # that search at once: each takes a core or two and some hundred megabytes
ALWAYS = ("exact", "infinite")  # edges of the program itself, whatever its data
OVER, NO_GAIN, WITHOUT_GAIN = "the time for searches", "no gain is predicted", "no gain is "  # how reasons begin
TURNED = 8  # times its bytes as if copied: a result that lies in another order (134 MB took 0.36 ms on an H100)
# Times as fast as Inductor's a region must be where both were timed, and microseconds: so much more a call of it takes
# the host (a product of 190 us against 195 lost 12 to the calls around it on an H100)
FASTER, SOONER = 1.02, 5.0
OTHERS = 5  # plans of a region with other tiles, of which the fastest is taken where they can be measured
# Times what PyTorch is taken to need: what takes more is not timed. Inductor's took up to 2.8 times (H100), a library's
# contractions of windows up to seven (H200)
FAR, FAR_WINDOWS = 3.0, 10.0
VIEWS = (
    "view.",
    "reshape.",
    "permute.",
    "transpose.",
    "t.",
    "unsqueeze.",
    "squeeze.",
    "expand.",
    "slice.",
    "select.",
    "alias.",
    "detach.",
    "clone.",
    "_unsafe_view.",
    "_to_copy.",
    "full.",
    "arange.",
    "split",
)


EXECUTORS, RESTS = ("kernels", "none", "reference"), ("", "eager", "inductor")


@dataclass(frozen=True, slots=True)
class Options:
    """What a user may say: `torch.compile(f, backend="napkin_eq", options={"seconds": 30, "finite": True})`.

    seconds: of processor time for all searches of a graph; after that what is left and not remembered stays PyTorch.
    gain: how many times as fast as PyTorch a region must be predicted to be; on a machine without a GPU every region
    that derives is taken.
    measure: on a GPU a region is timed, its kernels and Inductor's in turns, and taken where it is faster; else the
    predictions decide. finite: data and what is computed of them are numbers, so that edges where PyTorch gives NaN or
    an infinity may be passed over. hardware: the GPU to derive for; "" is the one at hand. executor: "kernels",
    "none": regions are chosen and said and stay PyTorch, or "reference": the diagram in PyTorch's own arithmetic, for
    tests. rest: what runs the rest, "eager" or "inductor"; ""
    is inductor on a GPU. processes: how many regions are searched at once; 0 is one for two cores, eight at the most.
    Where several are, the seconds are those for which their answers are waited.
    """

    seconds: float = 60.0
    gain: float = 1.05
    measure: bool = True
    finite: bool = False
    hardware: str = ""
    executor: str = "kernels"
    rest: str = ""
    processes: int = 0

    @staticmethod
    def of(given: dict[str, Any] | None) -> Options:
        """Return options by name; raises NapkinError for one that is not known."""
        known = Options.__slots__
        if unknown := sorted(set(given or {}) - set(known)):
            raise NapkinError(f"option {unknown[0]!r:.60} is not known; the options are {', '.join(known)}")
        made = Options(**(given or {}))
        for name, words in (("executor", EXECUTORS), ("rest", RESTS)):
            if (word := getattr(made, name)) not in words:
                raise NapkinError(f"option {name}={word!r:.60}: expected one of {', '.join(map(repr, words))}")
        if made.hardware:
            load(made.hardware)
        return made


Timed = Callable[["Region", float], "Times | None"]


@dataclass(frozen=True, slots=True)
class Times:
    """Microseconds of a region as they were measured: its kernels (an infinity where they were not timed, since they
    are predicted to take far more), and what Inductor makes of it.
    """

    ours_us: float
    library_us: float


@dataclass(slots=True)
class Region:
    """A part of a graph: its nodes, what was made of them, or why nothing was."""

    nodes: list[Any]
    graph: Any = None  # the part as a graph of its own, with what it reads and returns
    given: list[Any] = field(default_factory=list)  # what its graph is given, in order
    returns: list[Any] = field(default_factory=list)
    program: Program | None = None
    kernels: Kernels | None = None
    library_us: float = 0.0  # that PyTorch is taken to need
    took_us: float = 0.0  # that its kernels are predicted to take, and copies of results
    worth: tuple[Any, float] | None = None  # what tells equal regions, and the microseconds that may be gained of one
    parted_us: float = 0.0  # that PyTorch is taken to need more around it, as it is no part of one kernel with that
    times: Times | None = None  # as measured
    reason: str = ""
    edges: dict[Any, str] = field(default_factory=dict)  # operators with an edge at which kernels have to be tried
    long: bool = False  # no kernels were found for all of it, and none that are wrong at an edge

    @property
    def taken(self) -> bool:
        return not self.reason

    @property
    def hopeless(self) -> bool:
        """Whether its kernels are predicted to take so many times what PyTorch is taken to need that none are timed."""
        return self.took_us > self.most_us

    @property
    def most_us(self) -> float:
        """The microseconds that its kernels may be predicted to take and are timed."""
        return (FAR_WINDOWS if any(map(dense, self.nodes)) else FAR) * self.library_us

    @property
    def computes(self) -> bool:
        """Whether any of it is computed: views, constants and one of several results are not."""
        import operator

        called = (node for node in self.nodes if node.op == "call_function" and node.target is not operator.getitem)
        return bool(_no_views(called))

    @property
    def of_numbers(self) -> bool:
        """Whether it computes single numbers of single numbers alone, as counters are."""
        return all(single(n) and all(map(single, n.all_input_nodes)) for n in _no_views(self.nodes))

    @property
    def reads(self) -> list[Any]:
        """The tensors that it is given."""
        return [node for node in self.given if not is_number(node)]

    @property
    def sizes(self) -> list[Any]:
        """The whole numbers that it is given."""
        return [node for node in self.given if is_size(node)]

    @property
    def shapes(self) -> list[Sequence[Any]]:
        """The shapes of the tensors that it reads, and the numbers."""
        return [*(node.meta["val"].shape for node in self.reads), *((node.meta["val"],) for node in self.sizes)]

    @property
    def said(self) -> str:
        """The operators, in short."""
        names = [
            name_of(n.target).partition(".")[0]
            for n in self.nodes
            if n.op == "call_function" and not str(n.target).startswith("<built")
        ]
        shown_names = names if len(names) <= 8 else [*names[:4], "…", *names[-3:]]
        return " ".join(shown_names)


def _no_views(nodes: Iterable[Any]) -> list[Any]:
    """Return those of some nodes that are no views, nor built for others to read."""
    return [node for node in nodes if not name_of(node.target).startswith((*VIEWS, "<built"))]


def lies(nodes: Sequence[Any]) -> list[tuple[Sequence[Any], Sequence[Any]]]:
    """Return the size and the strides of the tensor of each node, some of them symbols."""
    return [(node.meta["val"].shape, node.meta["val"].stride()) for node in nodes]


def supported(node: Any) -> str:
    """Return why a node cannot be in a region, nothing where it can."""
    import operator

    import torch

    if node.op != "call_function":
        return f"a {node.op}"
    if is_number(node):
        return "a number, which is no tensor"
    if node.target is operator.getitem:
        return supported(node.args[0])
    if name_of(node.target).startswith("_assert_async."):
        return "a check of the data, which gives nothing"
    if name_of(node.target) == "napkin_eq.draw.default":
        return "counters of the generator, which kernels mix to numbers"
    pairs = complex_numbers(node) and known(name_of(node.target))
    known_here = str(node.target).startswith(("aten.", "prims.", "napkin_eq."))
    if not known_here or not (pairs or name_of(node.target) in rules()):
        return f"{node.target}{line_of(node)}: the operator is not in the table"
    held = node.meta.get("val")
    # Of several results those that nothing reads do not matter: those of a norm in evaluation are without elements.
    read = {user.args[1] for user in node.users if user.target is operator.getitem and user.users}
    if any(empty(arg) for arg in node.all_input_nodes):
        return f"{node.target}{line_of(node)}: a dimension of no elements"
    for at, value in enumerate(held if isinstance(held, (list, tuple)) else [held]):
        if isinstance(value, torch.Tensor) and (value is held or at in read):
            if any(map(may_be_empty, value.shape)):
                return f"{node.target}{line_of(node)}: a dimension that has no elements, or may have none"
            if value.dtype == torch.float64 or (value.is_complex() and not pairs):
                return (
                    f"{node.target}{line_of(node)}: {str(value.dtype).removeprefix('torch.')} is not stored by kernels"
                )
    return ""


def elsewhere(module: Any) -> dict[Any, str]:
    """Return the calls of a graph that give or read a tensor which is not on the graph's GPU, as numbers made on a CPU
    are, with what there is to say of them.
    """
    import torch

    devices: dict[Any, set[str]] = {}
    for node in module.graph.nodes:
        held = node.meta.get("val")
        values = held if isinstance(held, (list, tuple)) else [held]
        devices[node] = {str(value.device) for value in values if isinstance(value, torch.Tensor)}
    found = sorted(set().union(*devices.values()))
    own = next((device for device in found if not device.startswith("cpu")), "cpu")
    return {
        node: f"{node.target}{line_of(node)}: a tensor on {others[0]}, others on {own}"
        for node in module.graph.nodes
        if node.op == "call_function"
        and (others := sorted(set().union(*(devices[n] for n in (node, *node.all_input_nodes))) - {own}))
    }


def is_number(node: Any) -> bool:
    """Tell whether a node gives a number, as sizes are."""
    import torch

    return isinstance(node.meta.get("val"), (int, float, torch.SymInt, torch.SymFloat, torch.SymBool))


def is_size(node: Any) -> bool:
    """Tell whether a node gives a whole number, as sizes are."""
    import torch

    return isinstance(held := node.meta.get("val"), (int, torch.SymInt)) and not isinstance(held, bool)


def chosen(
    module: Any, options: Options, hardware: str, interpreted: bool, gpu: bool, timed: Timed | None = None
) -> list[Region]:
    """Return the regions of a graph, in its order: those taken have kernels or a program, the others a reason.

    timed: measures a region, of which a time is predicted, on the GPU at hand.

    What was chosen is remembered: of an equal graph with these options the same is taken, without any search. Where
    there is something that may come out otherwise the next time, as one that could not be measured, it is not.
    """
    weighed = gpu or options.executor == "none"
    memory = _Memory(module, options, hardware, interpreted, weighed, timed)
    if (before := memory.regions()) is not None:
        return before
    measuring, clock, sure = 0.0, _Spent(options), True
    refused: dict[Any, str] = {node: why for node in module.graph.nodes if (why := supported(node))}
    refused |= {node: why for node, why in elsewhere(module).items() if node not in refused}
    left = [
        Region([node], reason=why)
        for node, why in refused.items()
        if node.op == "call_function" and not is_number(node)
    ]
    found: list[Region] = []
    waiting = [region for nodes in _parts(module, refused) for region in _read(module, nodes, options, refused)]
    if weighed:
        machine = load(hardware)
        waiting = [part for whole in waiting for part in _without_products(module, whole, options, refused, machine)]

    def ordered(regions: list[Region]) -> list[Region]:
        return _by_worth(regions, load(hardware)) if weighed else regions

    def decide(region: Region, apart: Sequence[Region]) -> None:
        """Have a region's kernels, or the reason why it stays, beside regions apart from which it would be taken."""
        nonlocal measuring, sure
        try:
            if region.taken:
                ahead.decide(region)
            if region.taken and region.kernels is not None and weighed:
                with clock.stopped():
                    begun = time.monotonic()
                    ours = {node for other in found if other.taken and other not in apart for node in other.nodes}
                    _weigh(
                        region,
                        options,
                        load(hardware),
                        timed if measuring < options.seconds else None,
                        [n for n in module.graph.nodes if n.op == "call_function" and n not in ours],
                    )
                    measuring += time.monotonic() - begun
                    sure &= timed is None or region.hopeless or region.times is not None
        except Exception as fault:  # of ours: the others are decided all the same
            region.reason, region.kernels, sure = _said(fault), None, False
        sure &= ENDED not in region.reason and TOOK not in region.reason

    waiting = ordered(waiting)
    with _Ahead(options, hardware, interpreted, weighed, clock) as ahead:
        while waiting:
            ahead.begin(waiting)
            region = waiting.pop(0)
            decide(region, ())
            try:
                instead = _instead(module, region, options, refused)
            except Exception as fault:
                region.reason, region.kernels, sure, instead = _said(fault), None, False, None
            if instead is None:
                found.append(region)
            else:
                waiting = ordered([*instead[0], *waiting, *instead[1]])
        for node in module.graph.nodes if weighed else ():
            try:
                parts, joined = _joined(module, node, found, options, refused)
            except Exception:  # of ours: the parts are decided
                sure = False
                continue
            if joined is not None:
                ahead.begin([joined])
                decide(joined, parts)
                if joined.taken and FASTER * _now_us(joined, hardware) < sum(_now_us(p, hardware) for p in parts):
                    found = [*(region for region in found if region not in parts), joined]
    order = {node: at for at, node in enumerate(module.graph.nodes)}
    found = sorted([*found, *left], key=lambda region: order[region.nodes[0]])
    if sure and not ahead.faulty:
        memory.write(found)
    return found


def _instead(
    module: Any, region: Region, options: Options, refused: dict[Any, str]
) -> tuple[list[Region], list[Region]] | None:
    """Return what is tried in a region's place where it stays, next and last; None where nothing is."""
    large = region.reason.endswith(TOO_LARGE)  # as tiles of products are
    if large and (parts := _before_edges(module, region, options, refused)):
        return parts, []
    if (large or region.reason.startswith(WITHOUT_GAIN)) and (heavy := _contractions(region)):
        # What a library contracts faster, it contracts, first the plain products; what stands around may be ours.
        return _around(module, region, heavy, options, refused)
    if region.reason.startswith(OVER):
        return None
    if region.long and len(halves := _halves(module, region, options, refused)) > 1:
        return halves, []
    if region.edges and region.reason and region.kernels is None:
        # What is not derived with its edges may be without the operators that have them, as far as there is time.
        said = {node: f"{why} ({region.reason})" for node, why in region.edges.items()}
        return _without(module, region.nodes, said, options, refused), []
    return None


def _joined(
    module: Any, node: Any, found: Sequence[Region], options: Options, refused: dict[Any, str]
) -> tuple[list[Region], Region | None]:
    """Return regions that were decided and the one that they would be together: of windows, of which no two meet, of
    what is computed of a contraction of windows; None where a node folds no such.

    It may store nothing of what is folded, but is far longer to search than its parts: these are decided before.
    """
    if not pooling(node):
        return [], None
    whole, stack = {node}, [source for source in node.all_input_nodes if source.op == "call_function"]
    while stack:
        source = stack.pop()
        shown = name_of(source.target).startswith(VIEWS)
        stays = not refused.get(source, WITHOUT_GAIN).startswith(WITHOUT_GAIN)
        if source in whole or stays or not (shown or pointwise(source) or dense(source)):
            continue
        whole.add(source)
        if not dense(source):
            stack += [other for other in source.all_input_nodes if other.op == "call_function"]
    parts = [region for region in found if not whole.isdisjoint(_no_views(region.nodes))]
    inside = {own for part in parts for own in part.nodes}
    decided = all(part.taken or part.reason.startswith(WITHOUT_GAIN) for part in parts)
    if len(parts) < 2 or not decided or _no_views(whole - inside):
        return [], None
    if not any(map(dense, whole)) or sum(map(contraction, inside)) > 1:
        return [], None
    order = {own: at for at, own in enumerate(module.graph.nodes)}
    together = _parts_of(module, sorted(inside, key=order.__getitem__))
    if len(together) != 1:
        return [], None
    refused = {own: why for own, why in refused.items() if own not in inside}
    regions = [region for region in _read(module, together[0], options, refused) if region.taken]
    return (parts, regions[0]) if len(regions) == 1 else ([], None)


def _now_us(region: Region, hardware: str) -> float:
    """Return the microseconds of a region as it was decided, by its kernels or by PyTorch: measured where it was."""
    if region.times is not None:
        return region.times.ours_us if region.taken else region.times.library_us
    if region.taken:
        return region.took_us
    return region.library_us or library_us(region.nodes, load(hardware), "float32")


def _before_edges(module: Any, region: Region, options: Options, refused: dict[Any, str]) -> list[Region]:
    """Return the part of a region with a contraction that reads nothing of its operators with an edge, and the rest,
    which is tried by itself; nothing where that part has no more than its contractions.
    """
    behind = set[Any]()
    for node in region.nodes:
        if node in region.edges or any(source in behind for source in node.all_input_nodes):
            behind.add(node)
    first, last = ([n for n in region.nodes if (n in behind) is after] for after in (False, True))
    computed = _no_views(first)
    if not last or not any(map(contraction, computed)) or all(map(contraction, computed)):
        return []
    parts = [part for nodes in (first, last) for part in _parts_of(module, nodes)]
    return [found for part in parts for found in _read(module, part, options, refused)]


class _Memory:
    """What was chosen of a graph, on disk: the places of each region's nodes, and the reason of one that stays."""

    def __init__(
        self, module: Any, options: Options, hardware: str, interpreted: bool, weighed: bool, timed: Timed | None
    ) -> None:
        self.module, self.options, self.hardware, self.interpreted = module, options, hardware, interpreted
        self.weighed, self.timed, self.nodes = weighed, timed, list(module.graph.nodes)
        rounded = [precision([node], "float32") for node in self.nodes]  # as PyTorch is set
        about = (called(module), rounded, options, hardware, interpreted, weighed, _gpu_name(timed))
        self.file = folder() / f"{hashed(*versions(), *about)}.regions.json"

    def regions(self) -> list[Region] | None:
        """Return what was chosen before; None where it is not remembered, or kernels of it are no more."""
        try:
            held = json.loads(self.file.read_text(encoding="utf-8"))
            parts = [([self._call(at) for at in places], reason) for places, reason in held["regions"]]
            listed = [node for nodes, _ in parts for node in nodes]
            if len({*listed}) < len(listed) or not all(nodes and isinstance(reason, str) for nodes, reason in parts):
                return None
            found = [Region(nodes, reason=reason) if reason else self._again(nodes) for nodes, reason in parts]
            machine = load(self.hardware)
            for region in found:
                if region.taken and region.kernels is not None and self.weighed:
                    _weigh(region, self.options, machine, self.timed)
            return found if all(r.taken or why for r, (_, why) in zip(found, parts, strict=True)) else None
        # No file, or none that was written here: of no JSON, of other forms, of nodes that torch.fx takes for no part
        except (*DAMAGED, AssertionError, NapkinError):
            return None

    def _call(self, place: Any) -> Any:
        """Return the call at a place; raises ValueError where there is none."""
        if type(place) is not int or place < 0 or self.nodes[place].op != "call_function":
            raise ValueError(f"no call: {place!r:.60}")
        return self.nodes[place]

    def _again(self, nodes: list[Any]) -> Region:
        """Return a region with its kernels; raises NapkinError where they are not remembered."""
        (region,) = _read_computed(self.module, nodes, self.options, {})
        if not region.taken or region.nodes != nodes:
            raise NapkinError("a region that is read otherwise than before")
        query = _query(region, self.options, self.hardware, self.interpreted, self.weighed, math.inf)
        if query is not None:
            if not remembered(query):
                raise NapkinError("kernels that are not there any more")
            region.kernels = answer(query)
        return region

    def write(self, found: Sequence[Region]) -> None:
        """Remember regions, all nodes of which are the graph's."""
        places = {node: at for at, node in enumerate(self.nodes)}
        regions = [([places[node] for node in region.nodes], region.reason) for region in found]
        keep(self.file, {"regions": regions})


def _gpu_name(timed: Timed | None) -> str:
    import torch

    return str(torch.cuda.get_device_name()) if timed is not None and torch.cuda.is_available() else ""


def _by_worth(regions: Sequence[Region], machine: Hardware) -> list[Region]:
    """Return regions in the order in which they are searched, as time may end: those first of which the most may be
    gained, equal ones counted together.
    """
    total: dict[Any, float] = {}
    for region in regions:
        if region.taken and region.program is not None:
            if region.worth is None:
                shape = tuple((name_of(n.target), _known_bytes(n)) for n in region.nodes if n.op == "call_function")
                region.worth = shape, _known_us(worth_us, region, machine)
            shape, us = region.worth
            total[shape] = total.get(shape, 0.0) + us
    return sorted(regions, key=lambda region: -total.get(region.worth and region.worth[0], math.inf))


def _known_us(us: Callable[..., float], region: Region, *how: Any) -> float:
    """Return a time of a region, by what is beside it and the GPU; 0 where a size is known to the data alone."""
    assert region.program is not None
    try:
        return us(region.nodes, *how, region.program.dtype)
    except NapkinError:
        return 0.0


def _parts(module: Any, refused: dict[Any, str]) -> list[list[Any]]:
    """Return convex parts without refused nodes, each small enough for a search."""
    stretches: dict[int, list[Any]] = {}
    for node, number in _segments(module, refused).items():
        stretches.setdefault(number, []).append(node)
    order = {node: at for at, node in enumerate(module.graph.nodes)}
    found = [part for nodes in stretches.values() for part in _parts_of(module, nodes)]
    return sorted(found, key=lambda nodes: order[nodes[0]])


def _begins(module: Any, refused: dict[Any, str]) -> set[Any]:
    """Return the nodes at which segments begin, so that none has too many contractions or other nodes, or beside one
    of windows what no kernel has with it, and the fewest bytes are written in one and read in another. What is written
    for anything but a contraction counts twice: it may have been one kernel with what makes it.
    """
    own = [n for n in module.graph.nodes if n.op == "call_function" and n not in refused and _counts(n)]
    heavy, (reads, readers) = [contraction(node) for node in own], _between(module, own)
    inner, folds = [_inner(node) for node in own], [folding(node) for node in own]
    alone = [fold and not reducing(node) for fold, node in zip(folds, own, strict=True)]
    windows, deep, before = ([tells(node) for node in own] for tells in (of_windows, dense, windowed))

    def no_kernels(at: int, end: int) -> bool:
        """Tell whether no kernel has a node with one of those after it, before an end."""
        after = range(at + 1, end)
        repeated = folds[at] and any(before[i] for i in after)
        return repeated or (windows[at] and any(alone[i] and (deep[at] or not heavy[i]) for i in after))

    def written(at: int, end: int) -> int:
        later = max((size for reader, size in readers[at] if reader >= end), default=0)
        return later if end == len(own) or heavy[end] else 2 * later

    # Of the first few nodes, the bytes between their segments at the least, how many these are, where the last begins
    least: list[tuple[int, int, int]] = [(0, 0, 0)]
    for end in range(1, len(own) + 1):
        found: list[tuple[int, int, int]] = []
        products, inside, stored, read = 0, 0, 0, dict[Any, int]()
        for at in range(end - 1, max(0, end - NODES) - 1, -1):
            products, inside = products + heavy[at], inside + inner[at]
            if products > (INNER if products == inside else CONTRACTIONS):
                break
            if no_kernels(at, end):
                break
            stored += written(at, end)
            for source, size in reads[at].items():
                read[source] = max(size, read.get(source, 0))
            read.pop(own[at], None)
            found.append((least[at][0] + stored + sum(read.values()), least[at][1] + 1, at))
        least.append(min(found, key=lambda told: told[:2]))
    begins, at = set(), len(own)
    while at and (at := least[at][2]):
        begins.add(own[at])
    return begins


def _inner(node: Any) -> bool:
    """Tell whether a product makes, or reads of what was computed, what is better never stored: all products that make
    and read that stand in one part.
    """
    large = spread(node)
    while large is not None and large.op == "call_function" and not _counts(large):
        large = next(iter(large.all_input_nodes), None)  # a view, or a copy
    return large is not None and large.op == "call_function"


def _between(module: Any, own: Sequence[Any]) -> tuple[list[dict[Any, int]], list[list[tuple[int, int]]]]:
    """Return of nodes that are computed what each reads, through what only shows it, in bytes; and the places of those
    that read it, with the bytes that they read, the graph's result behind all.
    """
    place = {node: at for at, node in enumerate(own)}
    through: dict[Any, dict[Any, int]] = {}  # what is read where a node is
    for node in module.graph.nodes:
        size = _known_bytes(node)
        if node in place or node.op != "call_function":
            through[node] = {node: size}
            continue
        shown: dict[Any, int] = {}
        for source in node.all_input_nodes:
            for made, most in through[source].items():
                shown[made] = max(min(size, most), shown.get(made, 0))
        through[node] = shown
    reads, readers = list[dict[Any, int]](), [list[tuple[int, int]]() for _ in own]
    end = next(iter(reversed(module.graph.nodes)))
    for at, node in enumerate([*own, end]):
        read: dict[Any, int] = {}
        for source in node.all_input_nodes:
            for made, size in through[source].items():
                read[made] = max(size, read.get(made, 0))
        reads.append(read)
        for made, size in read.items():
            if made in place:
                readers[place[made]].append((at, size))
    return reads, readers


def _counts(node: Any) -> bool:
    """Tell whether a node makes a search longer: not a view, a constant, or one of several results."""
    import operator

    light = name_of(node.target).startswith(VIEWS) or recomputed(node)
    return node.target is not operator.getitem and not light


def _known_bytes(node: Any) -> int:
    try:
        return bytes_of(node)
    except NapkinError:  # its size is known to the data alone
        return 0


def _segments(module: Any, refused: dict[Any, str]) -> dict[Any, int]:
    """Return the number of the segment of each node. One of several results stands where they do.
    """
    import operator

    segment: dict[Any, int] = {}
    number = 0
    begins = _begins(module, refused)
    for node in module.graph.nodes:
        if node.op != "call_function" or node in refused:
            continue
        if node.target is operator.getitem and node.args[0] in segment:
            segment[node] = segment[node.args[0]]
            continue
        number += node in begins
        segment[node] = number
    for node in reversed(segment):
        # A view or a copy that later segments alone read is read through there, not made for them; what is rounded for
        # them is stored so.
        through = recomputed(node) or (name_of(node.target).startswith(VIEWS) and not narrowing(node))
        if through and node.users and all(user in segment for user in node.users):
            segment[node] = min(segment[user] for user in node.users)
    return segment


def _read(module: Any, nodes: list[Any], options: Options, refused: dict[Any, str]) -> Iterable[Region]:
    """Yield a part as regions: operators with an edge that may be reached are left out, and what is around them is read
    anew.
    """
    nodes, rounded = _multiplied(nodes)
    nodes, views = _computed(nodes)
    left = [Region([node], reason="a view of what stands in memory") for node in views]
    left += [Region([node], reason="what stands in memory, rounded for products") for node in rounded]
    return [*left, *_read_computed(module, nodes, options, refused)] if nodes else left


def _multiplied(nodes: list[Any]) -> tuple[list[Any], list[Any]]:
    """Return a part without what only rounds, for its products, what it is given, and that: products read half as much
    of what is stored so, and what computed it may store it so.
    """
    inside = set(nodes)

    def products_alone(node: Any) -> bool:
        readers = [user for user in node.users if user in inside]
        shown = [user for user in readers if name_of(user.target).startswith(VIEWS)]
        return bool(readers) and all(product(u) or (u in shown and products_alone(u)) for u in readers)

    rounded = [n for n in nodes if narrowing(n) and n.args[0] not in inside and products_alone(n)]
    return [node for node in nodes if node not in rounded], rounded


def _computed(nodes: list[Any]) -> tuple[list[Any], list[Any]]:
    """Return what of a part is computed, and the views that only show others a result of it, or an input: memory has
    these.
    """
    kept, views = dict.fromkeys(nodes), list[Any]()
    while True:
        returned = [node for node in kept if any(user not in kept for user in node.users)]
        held = [_memory(node) for node in returned]

        def shows(node: Any, held: list[int | None] = held, returned: list[Any] = returned) -> bool:
            # What only widens another result is widened where it is read
            if converting(node) and not narrowing(node) and node.args[0] in returned:
                return not any(user in kept for user in node.users)
            memory = _memory(node)
            if memory is None or not node.args or memory != _memory(node.args[0]):
                return False
            last = not any(user in kept for user in node.users)
            alone = held.count(memory) == 1 and not name_of(node.target).startswith(SEVERAL)
            return node.args[0] not in kept or (last and not alone)

        view = next(filter(shows, reversed(returned)), None)
        if view is None:
            return list(kept), views
        del kept[view]
        views.append(view)


def _memory(node: Any) -> int | None:
    """Return what tells the memory of a node's tensor, the same for its views and for several of them together; None
    where it is no tensor.
    """
    if name_of(getattr(node, "target", "")).startswith(SEVERAL):
        return _memory(node.args[0])
    return lying(getattr(node, "meta", {}).get("val"))


def _read_computed(module: Any, nodes: list[Any], options: Options, refused: dict[Any, str]) -> Iterable[Region]:
    """Yield a part without views that are not computed as regions."""
    from torch.fx.passes.utils.fuser_utils import fuse_as_graphmodule

    if not _no_views(n for n in nodes if n.op == "call_function"):
        return [Region(nodes, reason="views and constants only")]
    try:
        graph, reads, returns = fuse_as_graphmodule(module, _as_read(nodes), "region")
        _called_alike(graph)
        region = Region(nodes, graph, list(reads), list(returns))
        program = of_graph(graph.graph, "region", {}, {}, undefined=not options.finite)
        region.program = in_memory(program, lies(region.reads), lies(region.returns))
    except Refused as reason:
        bad = [node for node in nodes if node.name == reason.node] or nodes
        return _without(module, nodes, dict.fromkeys(bad, str(reason)), options, refused)
    except NapkinError as reason:
        return [Region(nodes, reason=str(reason))]
    except AssertionError as reason:
        return [Region(nodes, reason=f"the part cannot be cut out: {str(reason)[:120]}")]
    # PyTorch takes products of sizes that are equal, of which these may be none
    tied = [(a, *tie) for a, tie in region.program.tied.items()]
    unlike = {node: f"sizes {a} and {c} meet in one dimension" for a, c, node, products in tied if products}
    if unlike:
        differ = {n: f"{n.target}{line_of(n)}: {unlike[n.name]}" for n in nodes if n.name in unlike}
        return _without(module, nodes, differ or dict.fromkeys(nodes, next(iter(unlike.values()))), options, refused)
    used = subterms(*(term for _, term in region.program.diagram.outputs))
    edges = [e for e in region.program.edges if not shown(e) and (e.kind != "place" or e.term in used)]
    if options.finite:
        edges = [e for e in edges if e.kind in ALWAYS]
    first = _first(nodes, {edge.node for edge in edges if edge.kind == "exact"})
    edges = [e for e in edges if e.kind != "exact" or e.node in first]
    names = {edge.node: edge for edge in sorted(edges, key=lambda edge: (not edge.plain, edge.kind != "exact"))}
    said = {
        node: f"{node.target}{line_of(node)}: {names[node.name].said}"
        + ("" if names[node.name].kind in ALWAYS else "; options={'finite': True} takes it")
        for node in nodes
        if node.name in names
    }
    if found := {node: why for node, why in said.items() if not names[node.name].plain}:
        return _without(module, nodes, found, options, refused)
    region.edges = said
    return [region]


def _as_read(nodes: Sequence[Any]) -> list[Any]:
    """Return nodes in the order in which results read them, from their first operands on, each behind what it reads:
    equal parts of two graphs, whose nodes stand in another order, come out alike, and are derived once.
    """
    own, found = {*nodes}, dict[Any, None]()
    waiting = [node for node in reversed(nodes) if not own.issuperset(node.users)]
    waiting[:0] = [node for node in reversed(nodes) if not node.users]
    while waiting:
        node = waiting[-1]
        before = [arg for arg in node.all_input_nodes if arg in own and arg not in found]
        if not before:
            found[waiting.pop()] = None
        waiting += reversed(before)
    return [*found]


def _called_alike(module: Any) -> None:
    """Call what a part of a graph is given by its place, so that equal parts, as layers are, are derived once."""
    for at, node in enumerate(node for node in module.graph.nodes if node.op == "placeholder"):
        node.target = f"in{at}"
        node._rename(node.target)
    module.recompile()


def _first(nodes: Sequence[Any], bad: set[str]) -> set[str]:
    """Return the names of those bad nodes that compute of no other: what reads them may be right once they are left
    out.
    """
    behind, first = set[Any](), set[str]()
    for node in nodes:
        after = any(arg in behind for arg in node.all_input_nodes)
        if node.name in bad and not after:
            first.add(node.name)
        if after or node.name in bad:
            behind.add(node)
    return first


def _without(
    module: Any, nodes: list[Any], bad: dict[Any, str], options: Options, refused: dict[Any, str]
) -> list[Region]:
    """Return the regions of a part without some of its nodes, which stay, each for its reason."""
    import operator

    refused.update(bad)
    refused.update(
        {node: refused[node.args[0]] for node in nodes if node.target is operator.getitem and node.args[0] in bad}
    )
    left = [Region([node], reason=why) for node, why in bad.items()]
    again = _parts_of(module, [node for node in nodes if node not in refused])
    return [*left, *(region for part in again for region in _read(module, part, options, refused))]


def _contractions(region: Region) -> dict[Any, str]:
    """Return the contractions of a region beside which something else is computed, and what adds into places, each with
    the region's reason: its products of matrices, and these, if they are not all.
    """
    computed = _no_views(region.nodes)
    found = {node: region.reason for node in computed if contraction(node) or adding(node)}
    plain = {node: why for node, why in found.items() if product(node) or adding(node)}
    if 0 < len(plain) < len(found):
        return plain
    return found if len(found) < len(computed) else {}


def _without_products(
    module: Any, region: Region, options: Options, refused: dict[Any, str], machine: Hardware
) -> list[Region]:
    """Return the regions around the products of matrices of a region, which a library has, where as much may be gained
    of them as of all of it; else the region.
    """
    heavy = {node: why for node, why in _contractions(region).items() if product(node)}
    if region.program is None or not region.taken or not heavy:
        return [region]
    dtype = region.program.dtype
    try:
        least = around_us(region.nodes, machine, dtype)
        if worth_us(region.nodes, machine, dtype) > least:
            return [region]
    except NapkinError:  # of a size that data alone know
        return [region]
    why = f"{NO_GAIN}: a library's product, beside which {least:.1f} us may be gained without it"
    first, last = _around(module, region, dict.fromkeys(heavy, why), options, refused)
    return [*first, *last]


def _around(
    module: Any, region: Region, heavy: Mapping[Any, str], options: Options, refused: dict[Any, str]
) -> tuple[list[Region], list[Region]]:
    """Return the regions around contractions of a region, and of the contractions what is a library's as one of several
    products, and may be a kernel alone.
    """
    own = [part for node in heavy if (part := _alone(region, node))]
    inside = {node for part in own for node in part}
    rest = [node for node in region.nodes if node not in inside]
    bad = {node: why for node, why in heavy.items() if node not in inside}
    alone = [found for part in own for found in _read(module, part, options, refused)]
    return _without(module, rest, bad, options, refused), alone


def _alone(region: Region, contraction: Any) -> list[Any]:
    """Return of several products that a library has as one, and of one of windows with what is computed of each of its
    results by itself, also the views and masks that they alone read, where more than that is computed in their region;
    nothing of another contraction.
    """
    if not dense(contraction) and not composite(contraction):
        return []
    own = _each(region, contraction) if dense(contraction) else _with_views(region, _results(contraction))
    more = any(node not in own for node in _no_views(region.nodes))
    return [node for node in region.nodes if node in own] if more else []


def _results(contraction: Any) -> set[Any]:
    import operator

    return {contraction, *(user for user in contraction.users if user.target is operator.getitem)}


def _with_views(region: Region, own: set[Any]) -> set[Any]:
    """Return nodes of a region with the views and masks that they alone read."""
    found = {*own}
    for node in reversed(region.nodes):
        light = recomputed(node) or (node.op == "call_function" and name_of(node.target).startswith(VIEWS))
        if light and node.users and all(user in found for user in node.users):
            found.add(node)
    return found


def _each(region: Region, contraction: Any) -> set[Any]:
    """Return a contraction with what is computed of each of its results by itself, with the views and masks that these
    alone read, and of nothing that stays in the region: what stays may read it.
    """
    given, shared = _results(contraction), set[Any]()  # views of the region's inputs that others of it read as well
    while True:
        own, inside = {*given}, {*region.nodes}
        for node in region.nodes:
            viewed, several = (name_of(node.target).startswith(names) for names in (VIEWS, SEVERAL))
            seen = [source for source in node.all_input_nodes if source in inside]
            if viewed and not seen and node not in shared:
                inside.remove(node)  # no part of what is computed before
            elif seen and own.issuperset(seen) and (viewed or pointwise(node)) and not several:
                own.add(node)
        found = _with_views(region, own)
        staying = {*region.nodes} - found
        read = {source for node in own - given for source in node.all_input_nodes} & staying
        if not read:
            return found
        shared |= read


def _halves(module: Any, region: Region, options: Options, refused: dict[Any, str]) -> list[Region]:
    """Return a part cut in two where it was too long to be derived, nothing where one operator alone is
    computed in it.
    """
    computed = _no_views(region.nodes)
    if len(computed) < 2:
        return []
    at = region.nodes.index(computed[len(computed) // 2])
    parts = [part for half in (region.nodes[:at], region.nodes[at:]) for part in _parts_of(module, half)]
    return [found for part in parts for found in _read(module, part, options, refused)]


class _Stretch:
    """Nodes that follow each other in a graph, as PyTorch's partitioner takes a graph: a path that leaves some of them
    and comes back passes no others.
    """

    def __init__(self, nodes: list[Any]) -> None:
        self.graph, self.nodes = self, nodes

    def named_modules(self) -> tuple[Any, ...]:
        return ()


def _parts_of(module: Any, nodes: Sequence[Any]) -> list[list[Any]]:
    """Return the convex parts of a set of nodes; what is drawn or written between its nodes may stay where it is."""
    from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
    from torch.fx.passes.operator_support import OperatorSupportBase

    inside, order = set(nodes), {node: at for at, node in enumerate(module.graph.nodes)}
    if not inside:
        return []

    class Inside(OperatorSupportBase):  # type: ignore[misc]
        def is_node_supported(self, submodules: Any, node: Any) -> bool:
            return node in inside

    places = [order[node] for node in inside]
    stretch = list(order)[min(places) : max(places) + 1]
    partitioner = CapabilityBasedPartitioner(_Stretch(stretch), Inside(), allows_single_node_partition=True)
    parts = [sorted(part.nodes, key=order.__getitem__) for part in partitioner.propose_partitions()]
    return [own for part in apart(stretch, parts) for own in _connected(part)]


def _connected(nodes: Sequence[Any]) -> list[list[Any]]:
    """Return some nodes without those, and those, that give single numbers, as counters, and neither read the others
    nor, both, another one: a kernel more for each would be launched with the others'.
    """
    groups: list[tuple[set[Any], list[Any]]] = []  # with all that they read
    for node in nodes:
        seen = {node, *node.all_input_nodes}
        joined = [group for group in groups if group[0] & seen]
        groups = [group for group in groups if not group[0] & seen]
        inside = [one for _, group in joined for one in group]
        groups.append((seen.union(*(read for read, _ in joined)), [*inside, node]))
    alone = [own for _, own in groups if all(single(node) for node in own)]
    apart = {node for own in alone for node in own}
    return [own for own in ([node for node in nodes if node not in apart], *alone) if own]


def _said(reason: Exception) -> str:
    """Return a reason as it is; of a fault where it was met."""
    if isinstance(reason, NapkinError):
        return str(reason)
    at = traceback.extract_tb(reason.__traceback__)[-1]
    return f"{type(reason).__name__} at {Path(at.filename).name}:{at.lineno}: {str(reason)[:120]}"


class _Spent:
    """The seconds that searches took: of processor time, without what compilers, proofs of laws and measuring take of
    it; where several search at once, by the clock, as long as an answer is waited for.
    """

    def __init__(self, options: Options) -> None:
        self.processes = options.processes or max(1, min(MOST_PROCESSES, (os.cpu_count() or 1) // 2))
        self.begun, self.waited = _processor(), 0.0

    def seconds(self) -> float:
        """Return the seconds until now."""
        return _processor() - self.begun if self.processes == 1 else self.waited

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Count nothing of what is done within."""
        before = _processor()
        yield
        self.begun += _processor() - before

    def answered(self, made: Kernels | None, before: float) -> None:
        """Note an answer that was waited for since a time of the clock."""
        none = made.compiled_s + made.proved_s if made is not None and made.fresh else 0.0
        self.begun += none
        self.waited += max(0.0, time.monotonic() - before - none)


class _Ahead:
    """Searches of regions that are decided one after another: several at once where there are cores for them."""

    def __init__(self, options: Options, hardware: str, interpreted: bool, gpu: bool, clock: _Spent) -> None:
        self.options, self.hardware, self.interpreted, self.gpu, self.clock = options, hardware, interpreted, gpu, clock
        self.pool = ThreadPoolExecutor(clock.processes) if clock.processes > 1 else None
        self.lock, self.faulty = Lock(), False  # something of ours failed
        self.pending: dict[Path, tuple[Asked, Future[Kernels]]] = {}  # searches not begun, the next one first
        # Where what is asked of a region will be remembered: by its identity, which is another's once it is gone: so it
        # stays
        self.begun: dict[int, tuple[Region, Path | None]] = {}
        self.equal: dict[Path, Future[Kernels]] = {}

    def __enter__(self) -> _Ahead:
        return self

    def __exit__(self, *said: object) -> None:
        if self.pool is not None:
            self.pool.shutdown(wait=False, cancel_futures=True)

    def begin(self, regions: Sequence[Region]) -> None:
        """Have regions searched that are to be decided, in their order, before those that are no longer."""
        if self.pool is None:
            return
        fresh: dict[Path, tuple[Asked, Future[Kernels]]] = {}
        waiting = [region for region in regions if region.taken]
        for region in waiting:
            if id(region) in self.begun:
                continue
            query = self.asked(region)
            self.begun[id(region)] = region, None if query is None else query.file
            if query is not None and query.file not in self.equal:
                # What is remembered waits for no search
                known = remembered(query)
                self.equal[query.file] = _read_now(query) if known else Future()
                if not known:
                    fresh[query.file] = query, self.equal[query.file]
        with self.lock:
            self.pending |= fresh
            order = dict.fromkeys([*(self.begun[id(region)][1] for region in waiting), *self.pending])
            self.pending = {file: self.pending[file] for file in order if file in self.pending}
        for _ in fresh:
            self.pool.submit(self._search)

    def _search(self) -> None:
        """Answer what is to be searched next."""
        with self.lock:
            query, found = self.pending.pop(next(iter(self.pending)))
        if found.set_running_or_notify_cancel():
            try:
                found.set_result(answer(query))
            except BaseException as reason:  # to be raised where it is waited for
                found.set_exception(reason)

    def decide(self, region: Region) -> None:
        """Derive a region, or say why it stays."""
        before, made = time.monotonic(), None
        held = self.begun.get(id(region))
        try:
            if held is None:  # nothing is searched ahead
                made = None if (query := self.asked(region)) is None else answer(query)
            elif held[1] is not None:
                search = self.equal[held[1]]
                # An equal region's may have been given up before
                if search.cancelled() or (not search.done() and self.clock.seconds() >= self.options.seconds):
                    search.cancel()
                    raise NapkinError(f"{OVER} ({self.options.seconds:g} s) is over")
                made = search.result()
            if made is not None:
                region.kernels, region.long = made, False
        except NapkinError as reason:
            region.reason = str(reason)
            # What is too large to be tried at its edges may be small enough in two parts.
            region.long = region.long and (not region.reason.startswith(AT_EDGE) or region.reason.endswith(TOO_LARGE))
        self.clock.answered(made, before)

    def asked(self, region: Region) -> Asked | None:
        """Return what is asked for a region's kernels, None where nothing is; of one that stays the reason is said."""
        try:
            spent = self.clock.seconds()
            query = _query(region, self.options, self.hardware, self.interpreted, self.gpu, spent)
            if query is None or spent < self.options.seconds or query.file in self.equal:
                return query
            if not remembered(query):
                raise NapkinError(f"{OVER} ({self.options.seconds:g} s) is over")
            return query
        except Exception as reason:  # one of ours, too
            region.reason = _said(reason)
            self.faulty |= not isinstance(reason, NapkinError)
            return None


def _read_now(query: Asked) -> Future[Kernels]:
    found: Future[Kernels] = Future()
    try:
        found.set_result(answer(query))
    except NapkinError as reason:
        found.set_exception(reason)
    return found


def _query(
    region: Region, options: Options, hardware: str, interpreted: bool, gpu: bool, spent: float
) -> Asked | None:
    """Return what is asked for a region's kernels, None where nothing is; raises NapkinError with the reason why it
    stays.
    """
    assert region.program is not None
    machine = load(hardware)
    sizes = expected(region.shapes, region.program.symbols)
    of_results = [expression(size) for node in region.returns for size in node.meta["val"].shape]
    settled(tuple(of_results), region.shapes)
    region.library_us = library_us(region.nodes, machine, region.program.dtype)
    if options.executor == "reference":
        return None
    if gpu and region.of_numbers:
        raise NapkinError(f"{NO_GAIN}: single numbers, which take a launch wherever they are computed")
    # Where nothing is left, what is remembered of any search. A limit of its own for every second that is left would
    # seldom find again what is remembered of a search that one ended.
    room = options.seconds - spent
    limit = EACH if room > 0 else 0.0
    while limit > max(room, 0.0):
        limit /= 2
    stored(region.program)
    region.long = True
    # PyTorch's own kernels round to tf32 on a GPU alone
    how = precision(region.nodes, region.program.dtype) if gpu and "tf32" in machine.tensor else ""
    edged = bool(region.edges)
    others = OTHERS if gpu and options.measure and not interpreted else 0
    return asking(region.program, hardware, limit, interpreted, edged, sizes, how, others, region.most_us)


def _weigh(
    region: Region, options: Options, machine: Hardware, timed: Timed | None, around: Sequence[Any] = ()
) -> None:
    """Say why a region stays where its kernels are not faster than PyTorch, as measured or, where they cannot be, as
    predicted; `around`: what PyTorch computes beside it, which it may compute in one kernel with some of it.
    """
    assert region.program is not None and region.kernels is not None
    turned = TURNED * turned_bytes(region.program, region.kernels)
    apart = apart_bytes(region.program, region.kernels, lies(region.reads), lies(region.returns))
    moved = turned + 2 * apart  # these are read, and written
    copied = moved / machine.hbm.copy_bandwidth * 1e6
    region.took_us = region.kernels.predicted_us + copied
    beside = [] if options.rest == "eager" else around
    region.parted_us = _known_us(parted_us, region, beside, machine) if beside else 0.0
    if timed is not None and not region.hopeless:
        region.times = timed(region, region.took_us)
        region.took_us = region.kernels.predicted_us + copied  # of the fastest of them
    copies = f", {copied:.1f} of it for copies of what lies otherwise" if copied else ""
    parted = f", {region.parted_us:.1f} more for what is around it" if region.parted_us else ""
    said = f"{region.took_us:.1f} us{copies}{parted} against {region.library_us:.1f} us of PyTorch"
    if region.times is None:
        if region.library_us < options.gain * (region.took_us + region.parted_us):
            region.reason = f"{NO_GAIN}: {said}"
    elif region.times.ours_us == math.inf:
        region.reason = f"{NO_GAIN}: {said}, which takes {region.times.library_us:.1f} us here"
    elif region.times.library_us - region.parted_us < max(FASTER * region.times.ours_us, region.times.ours_us + SOONER):
        here = f"{region.times.ours_us:.1f} us here{parted} against {region.times.library_us:.1f} us of PyTorch"
        region.reason = f"{WITHOUT_GAIN}measured: {here} (predicted: {said})"


def _processor() -> float:
    """Return the seconds of processor time of this process and of those that it has waited for: derivations have their
    own.
    """
    return sum(os.times()[:4])


def gain(regions: Sequence[Region]) -> float:
    """Return how many times as fast as PyTorch the taken regions are together, as measured or predicted; NaN without
    any.
    """
    ours = theirs = 0.0
    for region in regions:
        if region.taken and region.kernels is not None:
            ours += region.times.ours_us if region.times else region.took_us or region.kernels.predicted_us
            theirs += region.times.library_us if region.times else region.library_us
    return theirs / ours if ours else math.nan
