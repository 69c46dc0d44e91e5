"""The model of a derivation: each of its kernels on the napkin, beside what the cost model predicts and what was
measured.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from napkin_eq.lang.dtypes import STORAGE
from napkin_eq.lang.errors import NapkinError
from napkin_eq.machine.cost import KernelCost, total_us
from napkin_eq.machine.gpu import Hardware
from napkin_eq.napkin.configuration import PIECES, Configuration, configured
from napkin_eq.napkin.levels import CLUSTER_ARCHS, Level, Moved, Threshold, effective, levels_of, moved, threshold
from napkin_eq.napkin.measured import Measurement, measured
from napkin_eq.napkin.optimum import Form, form
from napkin_eq.napkin.traffic import Traffic, traffic
from napkin_eq.napkin.variables import VALUE_BYTES
from napkin_eq.pipeline.derivation import Derivation
from napkin_eq.pipeline.top_k import lowered
from napkin_eq.tile.expected import NOMINAL
from napkin_eq.tile.resources import BYTES


@dataclass(frozen=True)
class KernelModel:
    """A kernel on the napkin: its transfers and memory, H*, what each level moves, where it is bound by compute, and
    its configuration.
    """

    read: Traffic
    form: Form
    moved: tuple[Moved, ...]
    thresholds: tuple[Threshold, ...]
    configuration: Configuration | None
    flops: float
    rate: float
    cost: KernelCost

    @property
    def seconds(self) -> float:
        """The napkin's ideal: the slower of compute at its ideal rate and each level at its peak, all beside each
        other.
        """
        return max(self.flops / self.rate, *(m.seconds(self.bytes_each) for m in self.moved))

    @property
    def bytes_each(self) -> int:
        return round(self.moved[0].level.capacity_bytes / self.moved[0].memory) if self.moved else 2


@dataclass(frozen=True)
class Step:
    """A time in microseconds, with one assumption of the napkin less than in the line above."""

    name: str
    us: float


@dataclass(frozen=True)
class Model:
    """A derivation on the napkin, for all levels or a target; `unknown` are axes without a size, counted as NOMINAL
    elements where numbers are asked for.
    """

    derivation: Derivation
    sizes: Mapping[str, int]
    unknown: tuple[str, ...]
    order: tuple[str, ...]
    bytes_each: int
    target: Level | None
    kernels: tuple[KernelModel, ...]
    measured: Measurement | None

    @property
    def hardware(self) -> Hardware:
        return self.derivation.hardware

    @property
    def clusters(self) -> bool:
        """Whether the GPU has clusters of thread blocks."""
        return self.hardware.arch in CLUSTER_ARCHS

    @property
    def predicted_us(self) -> float:
        return total_us([t.cost for t in self.derivation.tiled], self.hardware)

    def steps(self) -> list[Step]:
        """Return the napkin's ideal and what each assumption costs: one is given up after another, until the cost
        model is reached.
        """
        machine, chosen = self.hardware, self.kernels
        reached = machine.assumptions.tensor_efficiency
        ideal = sum(k.seconds for k in chosen)
        tiles = sum(
            max(k.seconds, k.cost.bytes_hbm / machine.hbm.bandwidth, k.cost.bytes_l2 / machine.l2.bandwidth)
            for k in chosen
        )
        rates = sum(_reached(k, machine, reached) for k in chosen)
        waves = sum(_reached(k, machine, reached / _idle(k.cost, machine)) for k in chosen)
        launches = (
            waves
            + total_us([k.cost for k in chosen], machine) * 1e-6
            - sum(k.cost.predicted_us for k in chosen) * 1e-6
            + len(chosen) * machine.chip.launch_s
        )
        named = (
            ("napkin: least transfers, peaks, all beside all", ideal),
            ("+ the plan's own tiles", tiles),
            ("+ rates that copies and products reach", rates),
            ("+ whole blocks a processor", waves),
            ("+ launches", launches),
            ("predicted: + what is not hidden, as fitted", self.predicted_us * 1e-6),
        )
        return [Step(name, seconds * 1e6) for name, seconds in named]


def _reached(kernel: KernelModel, machine: Hardware, efficiency: float) -> float:
    moving = (kernel.cost.bytes_hbm / machine.hbm.copy_bandwidth, kernel.cost.bytes_l2 / machine.l2.copy_bandwidth)
    return max(kernel.flops / (kernel.rate * efficiency), *moving, kernel.seconds)


def _idle(cost: KernelCost, machine: Hardware) -> float:
    """Return how much longer the busiest processor works than all would on average."""
    each = cost.blocks / machine.chip.sms
    return math.ceil(each) / each


def model(
    derivation: Derivation,
    level: str | None = None,
    types: Mapping[str, str] | None = None,
    tiles: Mapping[str, int] | None = None,
    pieces: Sequence[int] = PIECES,
) -> Model:
    """Return the model of a derivation, for all levels of memory or one of them, "l2" or "smem".

    types: float8, float16, bfloat16 or float32 for arrays by name, and for "work", what is computed; tiles by axis,
    pieces: of a contraction's result that is added up at a time; these three are for the configuration alone. Raises
    NapkinError for names that the plan does not have.
    """
    from napkin_eq.napkin.levels import level as named_level

    hardware = derivation.hardware
    target = named_level(hardware, level) if level is not None else None
    aim = target or levels_of(hardware)[-1]
    kernels = lowered(derivation, apart=True)
    axes = {a.name: a for a in (*derivation.diagram.axes(), *(c.axis for k in kernels for c in k.coords))}
    sizes = {name: a.size or NOMINAL for name, a in axes.items()}
    given = {**(types or {})}
    work = given.pop("work", derivation.dtype)
    _checked(given, work, tiles or {}, pieces, {b.name for k in kernels for b in k.reads}, sizes)
    bytes_each = BYTES[STORAGE[derivation.dtype]]
    chosen = []
    for kernel, tiled in zip(kernels, derivation.tiled, strict=True):
        read = traffic(kernel)
        shape = form(read, sizes, aim.capacity_bytes / bytes_each)
        configuration = configured(kernel, hardware, sizes, given, work, tiles, pieces)
        plain = configured(
            kernel, hardware, sizes, work=derivation.dtype
        )  # what the prediction and the measurement are of
        flops = read.flops.value(sizes, read.tiles)
        rate = plain.ideal if plain else hardware.flops(derivation.dtype)
        ways = levels_of(hardware)
        each = (Level(w.name, int(effective(w, ways[-1])), w.bandwidth, w.cores) for w in ways)
        thresholds = (
            [threshold(shape, read.flops.constant, w, rate, sizes, bytes_each) for w in ways]
            if read.flops.constant != 0
            else []
        )
        chosen.append(
            KernelModel(
                read, shape, tuple(moved(read, at, sizes, bytes_each) for at in each), tuple(thresholds), configuration,
                flops, rate, tiled.cost,
            )
        )  # fmt: skip
    unknown = tuple(name for name, a in axes.items() if a.size is None)
    known = {a.name: a.size for a in derivation.diagram.axes() if a.size is not None}
    found = measured(derivation.diagram, known, derivation.dtype, hardware) if not unknown else None
    return Model(derivation, sizes, unknown, tuple(axes), bytes_each, target, tuple(chosen), found)


def _checked(
    types: Mapping[str, str],
    work: str,
    tiles: Mapping[str, int],
    pieces: Sequence[int],
    arrays: set[str],
    sizes: Mapping[str, int],
) -> None:
    for name, kind in (*types.items(), ("work", work)):
        if kind not in VALUE_BYTES:
            raise NapkinError(f"--type {name}={kind!s:.40}: unknown type; one of {', '.join(VALUE_BYTES)}")
    if unknown := sorted(set(types) - arrays):
        raise NapkinError(
            f"--type {unknown[0]!s:.60}: no kernel reads such an array, only {', '.join(sorted(arrays)) or 'none'}; "
            "work is what is computed"
        )
    if strange := sorted(set(tiles) - set(sizes)):
        raise NapkinError(
            f"--tile {strange[0]!s:.60}: the plan has no such axis; its axes are {', '.join(sorted(sizes))}"
        )
    if any(not 0 < t <= 1 << 20 for t in (*tiles.values(), *pieces)):
        raise NapkinError("a tile or piece has between 1 and 1048576 elements")
