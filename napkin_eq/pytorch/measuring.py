"""Regions timed on the GPU at hand: their kernels, and what Inductor makes of the same part of the graph, in turns; and
so a whole graph, since what a region leaves to Inductor may lie in another order in memory than it would without it.

Inputs are drawn as they lie: normal numbers, masks that hold, whole numbers 0, which are places in any array. What was
measured is remembered beside the kernels.
"""

from __future__ import annotations

import copy
import fcntl
import json
import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from napkin_eq.lang.errors import NapkinError
from napkin_eq.pytorch.build.extents import about
from napkin_eq.pytorch.build.identity import called, hashed, layout
from napkin_eq.pytorch.calls import Kernel, digest, registered
from napkin_eq.pytorch.kernels import DAMAGED, Kernels, folder, keep
from napkin_eq.pytorch.operators.price import LIBRARY_US, of_windows, precision
from napkin_eq.pytorch.order import plain
from napkin_eq.pytorch.regions import FASTER, Region, Times

# Calls between two events, so that the host runs ahead as it does in a program; rounds, and seconds for all of them
CALLS, ROUNDS, SECONDS = 5, 24, 0.5
PLAN_SECONDS = 0.1  # for each of several plans of a region
LIBRARY_SECONDS = 0.02  # for each call of a library
AHEAD, CLOCK = 2.0, 1.7e9  # times what the host takes for calls, for which the GPU waits; its clocks in a second, about
HOPELESS = 2.5  # times what Inductor's takes: kernels that are predicted to take more are not timed
ROOM = 3  # times the bytes that are read and returned: what has to be free


@dataclass(frozen=True, slots=True)
class Whole:
    """A graph that is one region: its inputs, its kernels called with nothing between, and what compiles it with
    Inductor; both take a list of inputs.
    """

    values: Sequence[Any]
    ours: Callable[[list[Any]], Any]
    by_inductor: Callable[[], Callable[[list[Any]], Any]]


def times(region: Region, predicted_us: float, whole: Whole | None = None) -> Times | None:
    """Return what a region takes on the GPU at hand, and Inductor's version of it; None where that cannot be measured.

    predicted_us: what its kernels are predicted to take; where Inductor's are far faster, they are not timed. whole:
    the graph, where the region is all of it.
    """
    import torch

    device = region.returns[0].meta["val"].device
    name = torch.cuda.get_device_name(device)
    file = folder() / f"{_key(region, name, whole is not None)}.times.json"
    known = _read(file)
    if known is None and (known := _timed(region, predicted_us, device, whole)) is not None:
        _write(file, name, known)
    return known


def libraries(module: Any) -> None:
    """Note at each contraction of windows in a graph what its library takes on the GPU at hand, if it can be measured.

    No share of the peak tells it: they took 0.8 to 16 times what it told (H200, float32, two and three dimensions).
    """
    for node in filter(of_windows, module.graph.nodes):
        # It is no part of the program: whatever cuDNN or the driver raise, the share of the peak tells
        with suppress(Exception):
            node.meta[LIBRARY_US] = _library_us(node)


def _library_us(node: Any) -> float:
    """Return the microseconds that a call of a graph takes, given values like its own, as remembered or measured;
    raises what the library or the driver raise, and NapkinError where there is no room.
    """
    import torch

    values = [source.meta["val"] for source in node.all_input_nodes]
    device = values[0].device
    gpu = torch.cuda.get_device_name(device)
    said = str(node.target), repr(torch.fx.map_arg((node.args, node.kwargs), lambda source: None))
    how = precision([node], "float32"), torch.backends.cudnn.benchmark, torch.backends.cudnn.deterministic
    key = hashed("library", said, [*map(layout, values)], how, gpu, torch.__version__)
    if (known := _read(file := folder() / f"{key}.times.json")) is not None:
        return known.library_us
    try:
        with _aside(device):
            if not _fits([*values, node.meta["val"]], device):
                raise NapkinError("too little memory is free")
            given = dict(zip(node.all_input_nodes, drawn(values, device), strict=True))
            args, kwargs = torch.fx.map_arg((node.args, node.kwargs), given.__getitem__)
            with _alone(device):
                (took,) = medians([lambda: node.target(*args, **kwargs)], False, LIBRARY_SECONDS)
    finally:
        torch.cuda.empty_cache()
    _write(file, gpu, Times(math.inf, took))
    return took


def choose(region: Region) -> None:
    """Give a region the fastest on the GPU at hand of the kernels that were made for it; where none can be measured, it
    keeps the first.
    """
    import torch

    made = region.kernels
    if made is None or not made.others:
        return
    device = region.returns[0].meta["val"].device
    name, plans = torch.cuda.get_device_name(device), (made, *made.others)
    file = folder() / f"{hashed(_key(region, name, False), [plan.source for plan in plans])}.fastest.json"
    ran = len(plans)
    if (place := _place(file, ran)) is None:
        try:
            place, ran = _fastest(region, plans, device)
        # To measure is no part of the program: whatever the launcher, Triton or the driver raise, the first plan stays
        except Exception:
            return
        finally:
            torch.cuda.empty_cache()
        if ran == len(plans):  # what did not run now may run the next time
            keep(file, {"gpu": name, "fastest": place})
    region.kernels = replace(plans[place], fresh=made.fresh, others=(), among=ran)


def _place(file: Path, count: int) -> int | None:
    """Return which plan was the fastest, None where that is not remembered."""
    try:
        place = json.loads(file.read_text(encoding="utf-8"))["fastest"]
        return place if type(place) is int and 0 <= place < count else None
    except DAMAGED:
        return None


def _fastest(region: Region, plans: Sequence[Kernels], device: Any) -> tuple[int, int]:
    """Return which of some plans of a region is the fastest, and how many of them ran; raises what the driver raises
    for the first of them, and NapkinError where there is no room.
    """
    import torch

    with _aside(device):
        if not _fits(_held(region), device):
            raise NapkinError("too little memory is free")
        given = drawn([node.meta["val"] for node in region.given], device)
        values = sorted(given, key=lambda value: not isinstance(value, torch.Tensor))  # sizes last
        calls: dict[int, Callable[[], Any]] = {}
        for place, plan in enumerate(plans):
            try:
                call = partial(Kernel(replace(region, kernels=plan)), *values)
                call()  # compiled before anyone waits
                torch.cuda.synchronize(device)
                calls[place] = call
            # One that does not run here, whatever its launcher, Triton or the driver raise, gives way to the others
            except Exception:
                if place == 0:  # what they are held against
                    raise
        with _alone(device):
            took = dict(zip(calls, medians(list(calls.values()), False, PLAN_SECONDS), strict=True))
    best = min(took, key=took.__getitem__)
    return (best if took[0] > FASTER * took[best] else 0), len(took)


def _key(region: Region, gpu: str, whole: bool) -> str:
    import torch

    given = [layout(node.meta["val"]) for node in region.given]
    return hashed(digest(region), called(region.graph), given, gpu, torch.__version__, "whole" if whole else "a part")


def _write(file: Path, gpu: str, known: Times) -> None:
    figures = {"gpu": gpu, "ours_us": known.ours_us, "library_us": known.library_us}
    keep(file, {key: None if value == math.inf else value for key, value in figures.items()})


def _read(file: Path) -> Times | None:
    try:
        held = json.loads(file.read_text(encoding="utf-8"))
        ours = math.inf if held["ours_us"] is None else float(held["ours_us"])
        library = float(held["library_us"])
        return Times(ours, library) if ours > 0 and 0 < library < math.inf else None
    except DAMAGED:
        return None


def in_whole(
    module: Any,
    regions: Sequence[Region],
    ours: Callable[[], Callable[..., Any]],
    theirs: Callable[[], Callable[..., Any]],
    values: Sequence[Any],
) -> Times:
    """Return what a graph takes with some regions, and as Inductor's, called with a list of inputs like these; raises
    what Inductor or the driver raise.

    ours, theirs: compile the two, which is not done where the times are remembered.
    """
    import torch

    device = next(value.device for value in values if isinstance(value, torch.Tensor))
    name = torch.cuda.get_device_name(device)
    key = hashed(called(module), [*map(digest, regions)], [*map(layout, values)], name, torch.__version__)
    if (known := _read(file := folder() / f"{key}.times.json")) is not None:
        return known
    own, library = ours(), theirs()
    try:
        with _aside(device):
            given = drawn(values, device)
            with _alone(device):
                known = Times(*medians([lambda: library(list(given)), lambda: own(list(given))])[::-1])
    finally:
        torch.cuda.empty_cache()
    _write(file, name, known)
    return known


@contextmanager
def _aside(device: Any) -> Iterator[None]:
    """Run what is timed as no part of what is being compiled."""
    import torch
    from torch._guards import tracing
    from torch.utils._python_dispatch import _disable_current_modes

    with (
        _disable_current_modes(),
        tracing(None),
        torch._C._DisableAutocast(),
        torch.no_grad(),
        torch.cuda.device(device),
    ):
        yield


def _timed(region: Region, predicted_us: float, device: Any, whole: Whole | None) -> Times | None:
    import torch

    try:
        theirs = None if whole is None else whole.by_inductor()
        with _aside(device):
            if not _fits(_held(region), device):
                return None
            values = [node.meta["val"] for node in region.given] if whole is None else whole.values
            given = drawn(values, device)
            if whole is None or theirs is None:
                library, ours = _parted(region, given)
            else:
                library, ours = partial(_listed, theirs, given), partial(_listed, whole.ours, given)
            host = whole is not None  # of a part the host makes the calls while the GPU does others
            with _alone(device):
                least = medians([library], host)[0]
            if predicted_us > HOPELESS * least:
                return Times(math.inf, least)
            ours()  # compiled before anyone waits
            with _alone(device):
                return Times(*medians([library, ours], host)[::-1])
    except Exception:  # of Inductor, of the driver, of too little memory: the prediction decides
        return None
    finally:
        torch.cuda.empty_cache()


def _listed(call: Callable[[list[Any]], Any], given: Sequence[Any]) -> Any:
    return call(list(given))


def _parted(region: Region, given: Sequence[Any]) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """Return a call of what Inductor makes of a region, and one of its kernels, as a graph around them has it."""
    import torch

    theirs = torch._inductor.compile(plain(copy.deepcopy(region.graph)), list(given))
    kernel = registered(region)
    tensors = [value for value in given if isinstance(value, torch.Tensor)]
    numbers = [value for value in given if not isinstance(value, torch.Tensor)]
    return (lambda: theirs(*given)), (lambda: kernel(tensors, numbers))


@contextmanager
def _alone(device: Any) -> Iterator[None]:
    """Wait until no other process of this user times on a GPU."""
    folder().mkdir(parents=True, exist_ok=True)
    with open(folder() / f"cuda_{device.index or 0}.lock", "w", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _held(region: Region) -> list[Any]:
    """Return what a region is given and returns."""
    return [node.meta["val"] for node in (*region.given, *region.returns)]


def _fits(held: Sequence[Any], device: Any) -> bool:
    import torch

    values = torch.utils._pytree.tree_leaves(list(held))
    total = sum(_storage(value) * value.element_size() for value in values if isinstance(value, torch.Tensor))
    free = torch.cuda.mem_get_info(device)[0]
    cached = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    return bool(ROOM * total <= free + cached)


def _storage(value: Any) -> int:
    size, stride, _ = layout(value)
    return int(1 + sum((n - 1) * step for n, step in zip(size, stride, strict=True)))


def drawn(values: Sequence[Any], device: Any) -> list[Any]:
    """Return tensors that lie as these, and these numbers; the user's random numbers stay as they are."""
    import torch

    generator = torch.Generator(device).manual_seed(0)
    found = []
    for value in values:
        if not isinstance(value, torch.Tensor):
            found.append(about(value))
            continue
        size, stride, dtype = layout(value)
        count = _storage(value)
        if dtype.is_floating_point or dtype.is_complex:
            wide = dtype if dtype.itemsize > 1 else torch.float32
            flat = torch.empty(count, dtype=wide, device=device).normal_(generator=generator).to(dtype)
        else:
            flat = torch.full((count,), dtype == torch.bool, dtype=dtype, device=device)
        found.append(flat.as_strided(size, stride))
    return found


def medians(calls: Sequence[Callable[[], Any]], host: bool = True, seconds: float = SECONDS) -> list[float]:
    """Return the microseconds of calls that are made in turns, of the GPU or of the host, whichever takes longer: the
    median of the one, the least of the other, which other processes disturb. host: it is counted at all. seconds: about
    how long each is called.
    """
    import torch

    on_gpu: list[list[float]] = [[] for _ in calls]
    on_host = [math.inf for _ in calls]
    for call in calls:
        for _ in range(3):
            call()
    torch.cuda.synchronize()
    begun = time.monotonic()
    for done in range(ROUNDS):
        for at, call in enumerate(calls):
            first, last = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            ahead = AHEAD * CALLS * (on_host[at] if done else 1e-4)
            torch.cuda._sleep(int(ahead * CLOCK))  # the GPU waits, so that it finds all calls made
            first.record()
            clock = time.perf_counter()
            for _ in range(CALLS):
                call()
            on_host[at] = min(on_host[at], (time.perf_counter() - clock) / CALLS)
            last.record()
            last.synchronize()
            on_gpu[at].append(first.elapsed_time(last) * 1e3 / CALLS)
        if done >= 2 and time.monotonic() - begun > seconds * len(calls):
            break
    if not all(all(map(math.isfinite, figures)) for figures in on_gpu):
        raise NapkinError("the clock of the GPU gave no time")
    least = [1e6 * seconds if host else 0.0 for seconds in on_host]
    return [max(sorted(times)[len(times) // 2], own) for times, own in zip(on_gpu, least, strict=True)]
