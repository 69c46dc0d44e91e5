"""Compiles kernels and peers in several processes, so that the caches on disk hold them before anything is timed.

As a program, `compiling.py FOLDER JOBS`, it works off one list of jobs and prints a line of JSON for each. A compiler
that dies takes one job with it: the next process goes on after it.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

HERE = Path(__file__).resolve().parent
Job = tuple[str, str]  # a case and a peer's name, or a case and a plan's file


def loaded(path: Path) -> ModuleType:
    """Return an emitted file as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def compiled(path: Path) -> dict[str, Any]:
    """Compile every kernel of an emitted file as its launcher would launch it, and launch nothing.

    The arguments have shapes and no memory; returns registers and spills, of the kernel that has most of each.
    """
    import torch
    from triton.runtime.jit import JITFunction

    kept: list[Any] = []
    plain = JITFunction.__getitem__
    JITFunction.__getitem__ = lambda self, grid: (
        lambda *args, **options: kept.append(self.warmup(*args, grid=grid, **options))
    )
    try:
        module = loaded(path)
        module.check = lambda *_: None
        module.run(
            *(
                torch.empty([module.SIZES[d] for d in dims], dtype=dtype, device="meta")
                for dtype, dims in module.INPUTS.values()
            )
        )
        for kernel in kept:
            kernel._init_handles()
    finally:
        JITFunction.__getitem__ = plain
    return {
        "registers": max(k.n_regs for k in kept),
        "spills": max(k.n_spills for k in kept),
        "shared": max(k.metadata.shared for k in kept),
    }


def warmed(folder: Path, case: dict[str, Any], name: str) -> dict[str, Any]:
    """Do one job: compile a plan's file, or call a peer once."""
    if name.endswith(".py"):
        return compiled(folder / name)
    import rivals
    import torch
    import works

    kind, sizes = case["kind"], case["sizes"]
    declared = {key: (getattr(torch, dtype), tuple(dims)) for key, (dtype, dims) in case["inputs"].items()}
    peer = next(p for p in rivals.peers(kind, works.inputs(kind, declared, sizes, "cuda", 0), sizes) if p.name == name)
    peer.make()()
    torch.cuda.synchronize()
    torch._dynamo.reset()
    torch.cuda.empty_cache()
    return {}


def together(folder: Path, jobs: list[Job], seconds: float, processes: int | None = None) -> dict[Job, dict[str, Any]]:
    """Work off jobs in several processes within a time; return what each said: {} or resources, or an `error`."""
    count = processes or max(1, min(len(jobs), (os.cpu_count() or 2) - 2))
    queues = [jobs[i::count] for i in range(count)]
    files = [folder / f"warm_{i}.txt" for i in range(count)]
    found: dict[Job, dict[str, Any]] = {}
    end = time.time() + seconds
    running = {i: _start(folder, queues[i], files[i]) for i in range(count) if queues[i]}
    while running:
        time.sleep(0.5)
        for i, process in list(running.items()):
            if process.poll() is None and time.time() < end:
                continue
            late = process.poll() is None
            if late:
                process.kill()
            status = process.wait()
            done = [json.loads(line) for line in files[i].read_text().splitlines() if line.startswith("{")]
            found.update(zip(queues[i], (d["said"] for d in done), strict=False))
            rest = queues[i][len(done) :]
            del running[i]
            if rest and not late:
                found[rest[0]] = {"error": f"the compiler ended with status {status}"}
                queues[i] = rest[1:]
                if queues[i]:
                    running[i] = _start(folder, queues[i], files[i])
    return found


def _start(folder: Path, jobs: list[Job], file: Path) -> subprocess.Popen[str]:
    lines = file.with_suffix(".jobs")
    lines.write_text(json.dumps(jobs))
    command = [sys.executable, str(HERE / "compiling.py"), str(folder), str(lines)]
    alone = os.environ | {"TORCHINDUCTOR_COMPILE_THREADS": "1"}
    with file.open("w") as out:
        return subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL, text=True, env=alone)


def main() -> None:
    folder, jobs = Path(sys.argv[1]), json.loads(Path(sys.argv[2]).read_text())
    cases = {c["case"]: c for c in json.loads((folder / "manifest.json").read_text())["cases"]}
    for case, name in jobs:
        try:
            said = warmed(folder, cases[case], name)
        except Exception as error:  # the run itself reports what fails
            said = {"error": f"{type(error).__name__}: {' '.join(str(error).split())[:240]}"}
        print(json.dumps({"said": said}), flush=True)


if __name__ == "__main__":
    main()
