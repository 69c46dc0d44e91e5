"""Measures a GPU by micro-benchmarks: `python microbench.py [-o FILE]`, a file by itself that needs torch, triton and a
CUDA device.

What it writes is the JSON that `napkin-eq calibrate --from FILE` turns into a hardware file. Values are medians over
launches timed by events, in SI units: bytes per second, operations per second, seconds, hertz. Data is random, since a
matrix unit draws less power on zeros. The kernels are written as the emitted ones are, so that a rate is what such code
reaches and not what the chip could do. Takes under a minute.
"""

from __future__ import annotations

import argparse
import ctypes
import datetime
import json
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import triton
import triton.language as tl

NO_DEVICE, REPEATS = 2, 15
# Numbers of the driver's attributes, from cuda.h: no other interface gives them all on every version of torch.
ATTRIBUTES = {
    "threads_per_block": 1, "warp": 10, "clock_khz": 13, "sms": 16, "memory_clock_khz": 36, "bus_bits": 37,
    "l2_bytes": 38, "threads_per_sm": 39,
    "smem_sm_bytes": 81, "registers_per_sm": 82, "smem_block_bytes": 97, "blocks_per_sm": 106,
}  # fmt: skip
# Rows, columns, depth and warps of the tiles that contractions take, by dtype.
TILES = {
    "bfloat16": (
        (16, 64, 128, 4), (64, 64, 64, 4), (64, 128, 64, 4), (128, 64, 64, 4), (128, 128, 64, 4), (128, 128, 64, 8),
        (64, 256, 64, 4), (128, 256, 64, 8),
    ),
    "float16": ((128, 128, 64, 8), (128, 256, 64, 8)),
    "tf32": ((128, 128, 32, 8), (128, 256, 32, 8)),
    "float8": ((128, 128, 128, 8), (128, 256, 128, 8)),
}  # fmt: skip
# Rows, columns, depth, warps and buffers of two contractions in a row with work on the elements between them.
CHAINS = (
    (128, 128, 128, 8, 2),
    (128, 64, 128, 8, 2),
    (64, 64, 128, 4, 2),
    (128, 128, 64, 8, 2),
    (128, 64, 64, 4, 3),
    (64, 64, 64, 4, 3),
)


# -- kernels -----------------------------------------------------------------------------------------------------------


@triton.jit
def empty(out):
    pass


@triton.jit
def ticks(out, nanoseconds):
    """Write the clocks and the nanoseconds that pass in a wait."""
    clock = tl.inline_asm_elementwise("mov.u64 $0, %clock64;", "=l", [], dtype=tl.int64, is_pure=False, pack=1)
    begin = tl.inline_asm_elementwise("mov.u64 $0, %globaltimer;", "=l", [], dtype=tl.int64, is_pure=False, pack=1)
    now = begin
    while now < begin + nanoseconds:
        now = tl.inline_asm_elementwise("mov.u64 $0, %globaltimer;", "=l", [], dtype=tl.int64, is_pure=False, pack=1)
    end = tl.inline_asm_elementwise("mov.u64 $0, %clock64;", "=l", [], dtype=tl.int64, is_pure=False, pack=1)
    tl.store(out, end - clock)
    tl.store(out + 1, now - begin)


@triton.jit(do_not_specialize=["rounds"])
def chase(source, out, rounds):
    """Follow a chain of places: each load waits for the one before."""
    at = tl.load(source)
    for _ in range(rounds):
        at = tl.load(source + at)
    tl.store(out, at)


@triton.jit
def copied(source, target, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(target + at, tl.load(source + at))


@triton.jit(do_not_specialize=["rounds"])
def copied_again(source, target, blocks, rounds, BLOCK: tl.constexpr):
    """Copy a small array many times, each block by another program in the next round."""
    at = tl.program_id(0)
    for _ in range(rounds):
        lanes = at * BLOCK + tl.arange(0, BLOCK)
        tl.store(target + lanes, tl.load(source + lanes, cache_modifier=".cg"), cache_modifier=".cg")
        at = (at + 7) % blocks


@triton.jit(do_not_specialize=["rounds"])
def read(source, out, blocks, rounds, BLOCK: tl.constexpr):
    """Read a block a round; the programs read different blocks."""
    at = tl.program_id(0).to(tl.int64)
    total = tl.zeros([BLOCK], tl.int32)
    for _ in range(rounds):
        total += tl.load(source + at * BLOCK + tl.arange(0, BLOCK), cache_modifier=".cg")
        at = (at + tl.num_programs(0) + 7) % blocks
    tl.store(out + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), total)


@triton.jit(do_not_specialize=["steps", "rounds"])
def read_shared(rows, columns, out, across, steps, rounds, BLOCK: tl.constexpr):
    """Read a row of tiles and a column of tiles, as the blocks of a product do: each is read by many programs at about
    the same time.
    """
    row, column = tl.program_id(0) // across, tl.program_id(0) % across
    total = tl.zeros([BLOCK], tl.int32)
    for i in range(steps * rounds):
        lanes = (i % steps) * BLOCK + tl.arange(0, BLOCK)
        total += tl.load(rows + row * steps * BLOCK + lanes, cache_modifier=".cg")
        total += tl.load(columns + column * steps * BLOCK + lanes, cache_modifier=".cg")
    tl.store(out + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), total)


@triton.jit(do_not_specialize=["rounds"])
def worked(out, rounds, BLOCK: tl.constexpr, OP: tl.constexpr):
    """Do arithmetic in registers, 16 times a round: a multiply-add, an exponential, both, or both and a maximum and a
    sum.
    """
    x = tl.arange(0, BLOCK).to(tl.float32) * 1e-3
    most, total = x, x
    for _ in range(rounds):
        for _ in tl.static_range(16):
            if OP == "fma":
                x = x * 0.999 + 0.001
            elif OP == "exp2":
                x = tl.exp2(-x)
            else:
                x = tl.exp2(x * 0.05 - 1.0)
                if OP == "mix":
                    most = tl.maximum(most, x)
                    total += x
    tl.store(out + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), x + most + total)


@triton.jit
def contracted(a, b, out, ROUNDS: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """Multiply tiles from a short ring of them, which the level-2 cache holds; with the number of rounds unknown the
    compiler does worse.
    """
    rows, columns, depth = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    sums = tl.zeros([M, N], tl.float32)
    for i in range(ROUNDS):
        at = (i % 8) * K
        x = tl.load(a + rows[:, None] * (8 * K) + (at + depth)[None, :])
        y = tl.load(b + columns[None, :] * (8 * K) + (at + depth)[:, None])
        sums = tl.dot(x, y, sums)
    tl.store(out + tl.program_id(0) * M * N + rows[:, None] * N + columns[None, :], sums)


@triton.jit
def chained(q, k, v, out, ROUNDS: tl.constexpr, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr, SIDE: tl.constexpr):
    """Contract twice in a row, the elements between worked on SIDE times."""
    rows, columns, depth = tl.arange(0, M), tl.arange(0, N), tl.arange(0, D)
    x = tl.load(q + rows[:, None] * D + depth[None, :])
    sums = tl.zeros([M, D], tl.float32)
    for i in range(ROUNDS):
        at = (i % 8) * N
        y = tl.load(k + (at + columns)[None, :] * D + depth[:, None])
        z = tl.load(v + (at + columns)[:, None] * D + depth[None, :])
        s = tl.dot(x, y)
        for _ in tl.static_range(SIDE):
            s = tl.exp2(s * 0.05 - 1.0)
        sums = tl.dot(s.to(z.dtype), z, sums)
    tl.store(out + tl.program_id(0) * M * D + rows[:, None] * D + depth[None, :], sums)


# -- measuring ---------------------------------------------------------------------------------------------------------


class Bench:
    """Collects rows: what was measured, its median, half the distance between its quartiles over the median, and its
    parameters.
    """

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self.device = facts()
        self.sms = self.device["sms"]

    def seconds(self, launch: Callable[[], Any]) -> list[float]:
        """Return the seconds of each launch, queued behind a wait so that the host does not show."""
        launch()
        torch.cuda.synchronize()
        torch.cuda._sleep(4_000_000)
        marks = [(torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)) for _ in range(REPEATS)]
        for first, last in marks:
            first.record()
            launch()
            last.record()
        torch.cuda.synchronize()
        return [first.elapsed_time(last) / 1e3 for first, last in marks]

    def kept(self, name: str, values: list[float], unit: str, **parameters: Any) -> float:
        """Keep a row and return its median."""
        low, middle, high = statistics.quantiles(values, n=4)
        self.rows.append(
            {
                "name": name,
                "value": middle,
                "unit": unit,
                "spread": (high - low) / 2 / abs(middle) if middle else 0.0,
                **parameters,
            }
        )
        print(f"{name:16} {middle:12.5g} {unit:8} {' '.join(f'{k}={v}' for k, v in parameters.items())}", flush=True)
        return middle

    def rate(self, name: str, launch: Callable[[], Any], amount: float, unit: str, **parameters: Any) -> float:
        """Keep how much of something was done a second."""
        return self.kept(name, [amount / s for s in self.seconds(launch)], unit, **parameters)

    def per_round(self, launch: Callable[[int], Any], target: float = 1e-3) -> list[float]:
        """Return the seconds that one round of a kernel takes, of launches with enough rounds to hide what a launch
        costs.
        """
        rounds = 64
        once = statistics.median(self.seconds(lambda: launch(rounds)))
        rounds = max(8, int(rounds * target / once) // 8 * 8)
        return [s / rounds for s in self.seconds(lambda: launch(rounds))]

    def resident(self, kernel: Any, warps: int) -> int:
        """Return how many blocks of a compiled kernel one SM holds; 0 where it spills, which no emitted kernel may."""
        d = self.device
        memory = d["smem_sm_bytes"] // (kernel.metadata.shared + d["smem_sm_bytes"] - d["smem_block_bytes"])
        registers = d["registers_per_sm"] // (max(1, kernel.n_regs) * warps * d["warp"])
        return (
            0
            if kernel.n_spills
            else int(min(memory, registers, d["threads_per_sm"] // (warps * d["warp"]), d["blocks_per_sm"]))
        )


def facts() -> dict[str, int]:
    """Return what the driver says of the device."""
    driver = ctypes.CDLL("libcuda.so.1")
    driver.cuInit(0)
    value, found = ctypes.c_int(), {}
    for name, number in ATTRIBUTES.items():
        status = driver.cuDeviceGetAttribute(ctypes.byref(value), number, torch.cuda.current_device())
        assert status == 0, f"cuDeviceGetAttribute {name}: error {status}"
        found[name] = value.value
    return found | {"memory_bytes": torch.cuda.get_device_properties().total_memory}


def clock(bench: Bench, name: str, load: Callable[[], Any] | None = None) -> None:
    """Keep the SM clock that the device runs at, right after a load if one is given."""
    out = torch.zeros(2, dtype=torch.int64, device="cuda")
    values = []
    for _ in range(5):
        if load is not None:
            load()
        ticks[(1,)](out, 200_000, num_warps=1)
        count, nanoseconds = out.tolist()
        values.append(count / nanoseconds * 1e9)
    bench.kept(name, values, "Hz")


def launches(bench: Bench) -> None:
    out = torch.zeros(1, dtype=torch.int32, device="cuda")
    bench.kept("launch", bench.seconds(lambda: empty[(bench.sms,)](out)), "s")
    bench.kept("launch_nothing", bench.seconds(lambda: None), "s")
    begun = time.perf_counter()
    for _ in range(1000):
        empty[(bench.sms,)](out)
    torch.cuda.synchronize()
    bench.kept("launch_in_a_row", [(time.perf_counter() - begun) / 1000] * 2, "s")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(200):
            empty[(bench.sms,)](out)
    bench.kept("launch_in_a_graph", [s / 200 for s in bench.seconds(graph.replay)], "s")


def memory(bench: Bench) -> None:
    words = 2**28
    source = torch.randint(0, 2**20, (words,), dtype=torch.int32, device="cuda")
    target = torch.empty_like(source)
    bench.rate("hbm_copy", lambda: target.copy_(source), 8.0 * words, "B/s", by="torch", bytes=8 * words)
    for block, warps in ((2048, 4), (4096, 8), (8192, 8)):
        found = bench.seconds(lambda: copied[(words // block,)](source, target, block, num_warps=warps))
        bench.kept("hbm_copy", [8.0 * words / s for s in found], "B/s", by="triton", block=block, bytes=8 * words)
    programs, block = 8 * bench.sms, 4096
    blocks = words // block
    rounds = blocks // programs
    found = bench.seconds(lambda: read[(programs,)](source, target, blocks, rounds, block, num_warps=8))
    bench.kept("hbm_read", [4.0 * block * programs * rounds / s for s in found], "B/s", bytes=4 * words)
    for mib in (4, 8, 16, 24, 32, 48):
        blocks = mib * 2**18 // block
        seconds = bench.per_round(lambda rounds: read[(programs,)](source, target, blocks, rounds, block, num_warps=8))
        bench.kept("l2_read", [4.0 * block * programs / s for s in seconds], "B/s", bytes=mib * 2**20)
    for mib in (4, 8, 16):
        blocks = mib * 2**18 // 1024
        seconds = bench.per_round(
            lambda rounds: copied_again[(blocks,)](source, target, blocks, rounds, 1024, num_warps=4)
        )
        bench.kept("l2_copy", [8.0 * 1024 * blocks / s for s in seconds], "B/s", bytes=2 * mib * 2**20)
    for steps in (4, 16):
        columns = source[32 * steps * block :]
        seconds = bench.per_round(
            lambda rounds: read_shared[(1024,)](source, columns, target, 32, steps, rounds, block, num_warps=8)
        )
        bench.kept(
            "l2_read_shared",
            [2 * 4.0 * block * 1024 * steps / s for s in seconds],
            "B/s",
            bytes=2 * 32 * steps * block * 4,
        )


def latency(bench: Bench) -> None:
    """Follow chains through arrays that the level-2 cache holds and does not hold; the rounds are few enough that no
    line comes twice.
    """
    for name, mib, rounds in (("l2_latency", 4, 1000), ("hbm_latency", 2048, 1000)):
        words = mib * 2**18
        stride = 4099 * 32 % words
        chain = (torch.arange(words, device="cuda") + stride).remainder_(words).to(torch.int32)
        out = torch.zeros(1, dtype=torch.int32, device="cuda")
        scratch = torch.empty(2**26, dtype=torch.int32, device="cuda")

        def launch() -> None:
            if name == "hbm_latency":
                scratch.zero_()
            chase[(1,)](chain, out, rounds, num_warps=1)

        spent = statistics.median(bench.seconds(scratch.zero_)) if name == "hbm_latency" else 0.0
        bench.kept(name, [(s - spent) / rounds for s in bench.seconds(launch)], "s", bytes=mib * 2**20)


def arithmetic(bench: Bench) -> None:
    out = torch.empty(2**22, dtype=torch.float32, device="cuda")
    for op in ("fma", "exp2", "both", "mix"):
        for per_sm in (1, 2, 4):
            programs = bench.sms * per_sm
            seconds = bench.per_round(lambda rounds: worked[(programs,)](out, rounds, 2048, op, num_warps=8))
            bench.kept(op, [16.0 * 2048 * programs / s for s in seconds], "1/s", warps=8, blocks=per_sm)


def random(dtype: str, *shape: int) -> torch.Tensor:
    kinds = {"bfloat16": torch.bfloat16, "float16": torch.float16, "tf32": torch.float32, "float8": torch.float8_e4m3fn}
    return torch.randn(shape, device="cuda").to(kinds[dtype])


def products(bench: Bench) -> None:
    out = torch.empty(2**26, dtype=torch.float32, device="cuda")
    for dtype, tiles in TILES.items():
        if dtype == "float8" and torch.cuda.get_device_capability() < (8, 9):
            continue
        for m, n, k, warps in tiles:
            a, b = random(dtype, m, 8 * k), random(dtype, n, 8 * k)

            rounds = 2**32 // (m * n * k)

            def launch(programs: int) -> Any:
                return contracted[(programs,)](a, b, out, rounds, m, n, k, num_warps=warps, num_stages=3)

            per_sm = bench.resident(launch(bench.sms), warps)
            if not per_sm:
                continue
            programs = bench.sms * per_sm
            seconds = bench.seconds(lambda: launch(programs))
            bench.kept(
                "tile",
                [2.0 * m * n * k * rounds * programs / s for s in seconds],
                "FLOP/s",
                dtype=dtype,
                m=m,
                n=n,
                k=k,
                warps=warps,
                blocks=per_sm,
            )
    for dtype, size in (("bfloat16", 4096), ("bfloat16", 8192), ("float16", 8192), ("tf32", 8192)):
        a, b = random(dtype, size, size), random(dtype, size, size)
        torch.backends.cuda.matmul.allow_tf32 = True
        bench.rate("product", lambda: a @ b, 2.0 * size**3, "FLOP/s", dtype=dtype, m=size, n=size, k=size)
        if size == 8192 and dtype == "bfloat16":
            clock(bench, "clock_product", lambda: [a @ b for _ in range(20)])


def overlaps(bench: Bench) -> None:
    """Keep which part of the work on elements is hidden when it stands between contractions: 1 - (both - contractions
    alone) / work alone.
    """
    out = torch.empty(2**26, dtype=torch.float32, device="cuda")
    for m, n, d, warps, stages in CHAINS:
        q, k, v = random("bfloat16", m, d), random("bfloat16", 8 * n, d), random("bfloat16", 8 * n, d)

        rounds = 2**31 // (m * n * d)

        def launch(programs: int, side: int) -> Any:
            return chained[(programs,)](q, k, v, out, rounds, m, n, d, side, num_warps=warps, num_stages=stages)

        per_sm = min(bench.resident(launch(bench.sms, side), warps) for side in (0, 2))
        if not per_sm:
            continue
        programs = bench.sms * per_sm
        alone = [s / rounds for s in bench.seconds(lambda: launch(programs, 0))]
        both = [s / rounds for s in bench.seconds(lambda: launch(programs, 2))]
        side = bench.per_round(lambda times: worked[(programs,)](out, times, m * n, "both", num_warps=warps))
        work = statistics.median(side) * 2 / 16
        values = [1 - (b - a) / work for a, b in zip(alone, both, strict=True)]
        tile = dict(m=m, n=n, d=d, warps=warps, stages=stages, blocks=per_sm)
        bench.kept("chain", [4.0 * m * n * d * programs / s for s in alone], "FLOP/s", **tile)
        bench.kept(
            "overlap",
            values,
            "part",
            **tile,
            contractions_s=statistics.median(alone),
            work_s=work,
            both_s=statistics.median(both),
        )


def smi() -> dict[str, str]:
    """Return what nvidia-smi says of clocks, power and temperature now."""
    fields = "clocks.sm,clocks.mem,clocks.max.sm,clocks.max.mem,power.draw,power.limit,temperature.gpu,driver_version"
    try:
        command = ["nvidia-smi", f"--query-gpu={fields}", "--format=csv,noheader", "--id=0"]
        line = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True).stdout
    except (OSError, subprocess.SubprocessError) as error:
        return {"error": f"{type(error).__name__}: {error}"}
    return dict(zip(fields.split(","), (part.strip() for part in line.strip().split(",")), strict=False))


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        default=Path("microbench.json"),
        help="where to write the results (default microbench.json)",
    )
    output = parser.parse_args().output
    if not torch.cuda.is_available():
        print("no CUDA device", file=sys.stderr)
        return NO_DEVICE
    begun = time.time()
    torch.manual_seed(0)
    bench = Bench()
    before = smi()
    faults = {}
    clock(bench, "clock_idle")
    for part in (launches, memory, latency, arithmetic, products, overlaps):
        try:
            part(bench)
        # What the others measured is worth keeping; what is missing is refused where it is needed
        except Exception as error:
            faults[part.__name__] = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
            print(f"{part.__name__}: {faults[part.__name__]}", flush=True)
        print(f"# {part.__name__}: {time.time() - begun:.1f} s", flush=True)
    found = {
        "schema": 1, "tool": "microbench", "gpu": torch.cuda.get_device_name(),
        "arch": "sm_{}{}".format(*torch.cuda.get_device_capability()),
        "versions": {"python": platform.python_version(), "torch": torch.__version__, "triton": triton.__version__,
            "cuda": str(torch.version.cuda)},
        "date": datetime.date.today().isoformat(), "clocks": {"before": before, "after": smi()}, "device": bench.device,
        "rows": bench.rows, "faults": faults,
    }  # fmt: skip
    output.write_text(json.dumps(found, indent=1) + "\n")
    print(f"# {len(bench.rows)} rows in {output}, {time.time() - begun:.1f} s", flush=True)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
