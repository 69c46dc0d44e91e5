"""Time emitted kernels and every peer that is installed, side by side: `python run.py --json results.json --table
table.md`.

Needs torch and triton and a GPU; a folder that `emit_suite.py tiny OUT` made runs on a CPU too, with
TRITON_INTERPRET=1, to try the harness. Every configuration is held against float64 before it is timed, on exact small
integers where the work is multilinear, and over repeats; one that fails is not timed. Results are written after every
row, and a case that hangs or takes the process with it costs no other: this program compiles beforehand, watches the
one that measures, and starts it again after such a case.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from compiling import Job, together

HERE = Path(__file__).resolve().parent
MOST_SECONDS = 120  # for one case, its peers' compiling included


def main() -> None:
    arguments = parsed()
    begun = time.time()
    manifest = json.loads((HERE / "manifest.json").read_text())
    chosen = [
        c for c in manifest["cases"] if any(word in f"{c['work']} {c['case']}" for word in arguments.only or [""])
    ]
    if arguments.resume and arguments.json.is_file():
        done = {row["case"] for row in json.loads(arguments.json.read_text())["rows"] if row["ours_ms"] is not None}
        chosen = [c for c in chosen if c["case"] not in done]
    resources: dict[str, dict[str, Any]] = {}
    if arguments.warm > 0 and find_spec("triton") and (wanted := jobs(chosen, arguments.skip)):
        found = together(HERE, wanted, arguments.warm)
        failed = {" ".join(job): said["error"] for job, said in found.items() if "error" in said}
        print(
            f"# compiled {len(found)} of {len(wanted)} in {time.time() - begun:.0f} s, {len(failed)} failed {failed}",
            flush=True,
        )
        resources = {name: said for (_, name), said in found.items() if name.endswith(".py")}
    watched([c["case"] for c in chosen], arguments, resources, begun + arguments.seconds)
    print(f"# {time.time() - begun:.0f} s", flush=True)


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", type=Path, default=Path("results.json"), help="where to write the results")
    parser.add_argument("--table", type=Path, help="where to write the Markdown table")
    parser.add_argument(
        "--only", action="append", metavar="TEXT", help="only cases whose work or name has this text; repeatable"
    )
    parser.add_argument("--skip", action="append", default=[], metavar="PEER", help="leave a peer out; repeatable")
    parser.add_argument(
        "--seconds", type=float, default=440, help="begin no case after this many seconds (default 440)"
    )
    parser.add_argument(
        "--warm", type=float, default=150, help="most seconds for compiling beforehand, 0 for none (default 150)"
    )
    parser.add_argument("--resume", action="store_true", help="leave out cases that the results have already")
    return parser.parse_args()


def jobs(cases: list[dict[str, Any]], skip: list[str]) -> list[Job]:
    """Return what to compile beforehand: every plan, and every peer that compiles and does not measure as
    it does so.
    """
    plans = [(c["case"], plan["file"]) for c in cases for plan in c["plans"]]
    compiled = {"attention": "flex", "matmul": ""}
    named = [(c["case"], compiled.get(c["kind"].partition(".")[0], "torch.compile")) for c in cases if c["rivals"]]
    return [(case, name) for case, name in named if name and name not in skip] + plans


def watched(cases: list[str], arguments: argparse.Namespace, resources: dict[str, dict[str, Any]], end: float) -> None:
    """Have the cases measured in a process of their own, and in another after one on which it ends."""
    failed: dict[str, str] = {}
    now, file = HERE / "now.txt", HERE / "job.json"
    places = {"json": str(arguments.json), "table": str(arguments.table or ""), "now": str(now)}
    while cases:
        now.write_text("")
        file.write_text(
            json.dumps(
                places | {"cases": cases, "failed": failed, "skip": arguments.skip, "resources": resources, "end": end}
            )
        )
        process = subprocess.Popen([sys.executable, str(HERE / "measure.py"), str(file)])
        fault = ""
        while process.poll() is None:
            time.sleep(0.2)
            if time.time() - now.stat().st_mtime > MOST_SECONDS:
                process.kill()
                fault = f"stopped after {MOST_SECONDS} s"
        name, status = now.read_text(), process.wait()
        if status == 0 or not name:
            if status:
                print(f"# nothing was measured: the process ended with status {status}", flush=True)
            return
        measured = (
            {row["case"] for row in json.loads(arguments.json.read_text())["rows"]}
            if arguments.json.is_file()
            else set()
        )
        if fault or name not in measured:
            failed[name] = fault or f"the process ended with status {status}"
        print(f"# {name}: the process ended, status {status} {fault}; going on after it", flush=True)
        cases = cases[cases.index(name) + 1 :]


if __name__ == "__main__":
    main()
