"""Compiles an emitted file ahead of time, with no GPU, and reports what people ask: registers, spills, shared memory.

The compiler runs in a process of its own: Triton aborts on some of its errors, and cannot compile where it interprets.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import types
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from napkin_eq.lang.errors import NapkinError

LAUNCH = ("num_warps", "num_stages", "maxnreg", "enable_fp_fusion", "launch_pdl")
ARCHS = ("sm_80", "sm_90", "sm_100")
MATRIX = {"wgmma": r"\bwgmma\.mma_async", "tcgen05": r"\btcgen05\.mma", "mma": r"\bmma\.sync"}
ASKS = r"\bprefetch\.global\.L2"
LOADS, STORES = (
    r"\bld\.global|\bcp\.async\.c[ag]|\bcp\.async\.bulk\S*\.shared\S*\.global",
    r"\bst\.global|\bcp\.async\.bulk\S*\.global\.shared",
)
LIMIT_SECONDS, LATE = 600, "the compiler had not ended"
# What an emitted file asks of the GPU that it runs on, before it launches kernels ahead of the end of the last
CHAINED_SINCE = 90


def compile_report(source: str | Path, *archs: str, aligned: bool = False) -> list[dict[str, Any]]:
    """Compile every kernel of an emitted file, given as a path or a text, for each architecture (all of ARCHS if none
    is given).

    `aligned` takes every symbolic size to be a multiple of 16, for which Triton compiles a version of its own at
    launch. One entry per architecture and kernel: arch, kernel, registers, spills_bytes, spills_in_loops
    (bytes that a turn of its innermost loops moves of these; all where it has no loop), smem_bytes, warps, stages,
    tensor_core ("wgmma", "tcgen05", "mma" or ""), tensor_core_instructions, bulk_copies, waits (for the kernels before
    it), and of a kernel that waits the loads, stores and prefetches ahead of that (early_loads, early_stores,
    early_asks), warnings (ptxas's, one line each). Raises NapkinError for an unknown architecture or a file that does
    not compile.
    """
    wanted = archs or ARCHS
    if unknown := [arch for arch in wanted if arch not in ARCHS]:
        raise NapkinError(f"unknown architecture {unknown[0]!r:.60}; one of {', '.join(ARCHS)}")
    if isinstance(source, Path):
        return _whole(source, wanted, aligned)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "emitted.py"
        file.write_text(source, encoding="utf-8")
        return _whole(file, wanted, aligned)


def attempted(source: str, arch: str, kernels: Sequence[str], seconds: float = LIMIT_SECONDS) -> list[dict[str, Any]]:
    """Compile kernels of an emitted file, given as a text, for an architecture: a row of `compile_report` for each, in
    order.

    One that does not compile has a row of arch, kernel and error instead, in one line, and the others stand; one that
    the compiler had not ended with after so many seconds is also `late`. Raises NapkinError where the file cannot be
    run, or Triton is missing, which says nothing of its kernels.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "emitted.py"
        file.write_text(source, encoding="utf-8")
        found, said = _in_child(file, (arch,), aligned=False, kernels=kernels, seconds=seconds)
        # The compiler died of one of them, or was slow with it: which is it?
        if found is None and len(kernels) > 1 and not _absent(said):
            return [row for name in kernels for row in attempted(source, arch, [name], seconds)]
    if found is None and _absent(said):
        raise NapkinError(said)
    return (
        found
        if found is not None
        else [{"arch": arch, "kernel": kernels[0], "error": said, **({"late": True} if LATE in said else {})}]
    )


def _absent(said: str) -> bool:
    return "ModuleNotFoundError" in said or "ImportError" in said


def _whole(file: Path, archs: tuple[str, ...], aligned: bool) -> list[dict[str, Any]]:
    if not file.is_file():
        raise NapkinError(f"{str(file)!r} is no file; expected one that napkin-eq emitted")
    found, said = _in_child(file, archs, aligned)
    if found is None:
        raise NapkinError(f"{file.name} does not compile: {said}")
    if wrong := next((row for row in found if "error" in row), None):
        raise NapkinError(f"{file.name} does not compile: {wrong['error']}")
    return found


def _in_child(
    file: Path, archs: tuple[str, ...], aligned: bool, kernels: Sequence[str] = (), seconds: float = LIMIT_SECONDS
) -> tuple[list[dict[str, Any]] | None, str]:
    """Return the rows of the kernels named, of all for no name; or None, and what the compiler said last."""
    env = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    paths = (str(Path(__file__).resolve().parents[2]), env.get("PYTHONPATH", ""))
    env |= {
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "TRITON_DUMP_PTXAS_LOG": "1",
        "TRITON_ALWAYS_COMPILE": "1",
    }
    command = [
        sys.executable,
        "-m",
        "napkin_eq.tile.compile_ahead",
        str(file),
        "aligned" if aligned else "any",
        ",".join(archs),
        *kernels,
    ]
    try:
        child = subprocess.run(command, env=env, capture_output=True, text=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return None, f"{LATE} after {seconds:g} s"
    if child.returncode:
        said = [line for line in child.stderr.splitlines() if line.strip()] or [
            f"the compiler ended with status {child.returncode}"
        ]
        return None, said[-1].strip()
    report: list[dict[str, Any]] = json.loads(child.stdout)
    return report, ""


def _row(module: Any, name: str, arch: str, aligned: bool) -> dict[str, Any]:
    try:
        return _compiled(module, name, arch, aligned)
    except Exception as error:  # whatever the compiler raises, it did not compile
        # Triton's own error shows the line, what it comes from says what is wrong with it
        told = error.__cause__ or error
        lines = [line.strip() for line in f"{error}\n{told}".splitlines() if line.strip(" ^")] or [""]
        return {"arch": arch, "kernel": name, "error": f"{type(told).__name__}: {lines[-1]}"[:300]}


def _compiled(module: Any, name: str, arch: str, aligned: bool) -> dict[str, Any]:
    """Compile one kernel from its row in the file's KERNELS; `:16` in a signature is a fact about divisibility."""
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
    from triton.experimental.gluon._runtime import GluonASTSource

    row = module.KERNELS[name]
    kinds = {argument: kind.split(":") for argument, kind in row["signature"].items()}
    divisible = {
        (at,): [["tt.divisibility", 16]]
        for at, kind in enumerate(kinds.values())
        if (aligned and kind[0] == "i32") or kind[1:] == ["16"]
    }
    made = GluonASTSource if getattr(module, name).is_gluon() else ASTSource
    number = int(arch.removeprefix("sm_"))
    chained = {name: number >= CHAINED_SINCE for name, kind in kinds.items() if kind[0] == "constexpr"}
    # The very options of the launch, so that it finds what was compiled here
    options = {option: row[option] for option in LAUNCH if option in row}
    if number < CHAINED_SINCE:
        options.pop("launch_pdl", None)
    source = made(
        fn=getattr(module, name),
        signature={a: kind[0] for a, kind in kinds.items()},
        constexprs=chained,
        attrs=divisible,
    )
    log = io.StringIO()
    with contextlib.redirect_stdout(log):
        target = GPUTarget("cuda", number, 32)
        kernel = triton.compile(source, target=target, options=options)
    said, ptx = log.getvalue(), kernel.asm["ptx"]
    spilled = sum(map(int, re.findall(r"(\d+) bytes spill stores", said)))
    counts = {kind: len(re.findall(pattern, ptx)) for kind, pattern in MATRIX.items()}
    return {
        "arch": arch,
        "kernel": name,
        "registers": max(map(int, re.findall(r"Used (\d+) registers", said))),
        "spills_bytes": spilled,
        "spills_in_loops": _in_loops(kernel.asm["sass"] or "", spilled) if spilled else 0,
        "smem_bytes": kernel.metadata.shared,
        "warps": kernel.metadata.num_warps,
        "stages": row["num_stages"],
        "tensor_core": next((kind for kind, n in counts.items() if n), ""),
        "tensor_core_instructions": sum(counts.values()),
        "bulk_copies": len(re.findall(r"cp\.async\.bulk\.tensor", ptx)),
        **_before_waiting(ptx),
        "warnings": [
            line.strip() for line in said.splitlines() if "warning" in line.lower() or re.search(r"\(C7\d+\)", line)
        ],
    }


def _in_loops(sass: str, spilled: int) -> int:
    """Return the bytes of spilled registers that instructions of innermost loops move, but for those in which warps
    share out registers or only copy ahead; all that are spilled where there is no loop.
    """
    labels: dict[str, int] = {}
    jumps: list[tuple[str, int]] = []
    moved: list[tuple[int, int]] = []
    lines = sass.splitlines()
    for at, line in enumerate(lines):
        if label := re.match(r"(\w+):$", line):
            labels[label[1]] = at
        elif jump := re.search(r"\bBRA\b.*?(\w+);$", line):
            jumps.append((jump[1], at))
        elif spill := re.search(r"\b(?:LDL|STL)(?:\.\w+)*", line):
            moved.append((at, next((int(n) // 8 for n in re.findall(r"\.(64|128)\b", spill[0])), 4)))
    loops = [(labels[name], at) for name, at in jumps if labels.get(name, at) < at]
    inner = [
        (begin, end)
        for begin, end in loops
        if not any(begin <= b and e <= end and (b, e) != (begin, end) for b, e in loops)
    ]
    busy = [(b, e) for b, e in inner if not _beside(lines[b:e])]
    return sum(n for at, n in moved if any(b < at < e for b, e in busy)) if loops else spilled


def _beside(lines: Sequence[str]) -> bool:
    text = "\n".join(lines)
    return "USETMAXREG" in text or ("UTMALDG" in text and "HGMMA" not in text)


def _before_waiting(ptx: str) -> dict[str, int]:
    ahead, *rest = ptx.split("griddepcontrol.wait")
    loads, stores, asks = (len(re.findall(pattern, ahead)) if rest else 0 for pattern in (LOADS, STORES, ASKS))
    return {"waits": len(rest), "early_loads": loads, "early_stores": stores, "early_asks": asks}


class _Named(types.ModuleType):
    """What stands for PyTorch while a file is read for its kernels: names. To load it takes longer than most kernels
    take to compile, and they use nothing of it.
    """

    def __getattr__(self, name: str) -> str:
        if name.startswith("__"):
            raise AttributeError(name)
        return f"{self.__name__}.{name}"


def _loaded(file: str) -> Any:
    """Return an emitted file as a module; where more of PyTorch is asked for than names, it is loaded."""
    spec = importlib.util.spec_from_file_location("emitted", file)
    if spec is None or spec.loader is None:
        raise NapkinError(f"{file} is no Python file")
    if "torch" not in sys.modules and importlib.util.find_spec("torch") is not None:
        module = importlib.util.module_from_spec(spec)
        sys.modules["torch"] = _Named("torch")
        try:
            spec.loader.exec_module(module)
        except Exception:  # whatever a file makes of a name that is no function or type: then it is read with PyTorch
            pass
        else:
            return module
        finally:
            del sys.modules["torch"]
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _main(file: str, sizes: str, archs: str, *kernels: str) -> None:
    module = _loaded(file)
    json.dump(
        [
            _row(module, name, arch, sizes == "aligned")
            for arch in archs.split(",")
            for name in kernels or module.KERNELS
        ],
        sys.stdout,
    )


if __name__ == "__main__":
    _main(*sys.argv[1:])
