"""What a report shows, gathered as plain data: nothing here is laid out, nothing is escaped."""

from __future__ import annotations

import platform
import re
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from operator import attrgetter
from typing import Any

from napkin_eq.draw import shown
from napkin_eq.draw.margins import amount
from napkin_eq.draw.markup import svg as printed
from napkin_eq.draw.moves import moves
from napkin_eq.draw.strip import law_of, laws_of, steps_of
from napkin_eq.lang.errors import NapkinError
from napkin_eq.napkin.model import Model, model
from napkin_eq.pipeline.compiled import Compiled
from napkin_eq.pipeline.derivation import Derivation
from napkin_eq.pipeline.top_k import choice, ranked
from napkin_eq.report.errors import errors
from napkin_eq.report.plots import Point, bars, roofline

NEXT = 6
VERSIONS = ("egglog", "z3-solver", "cvc5", "numpy", "sympy", "highspy", "torch", "triton")
DEFINES = re.compile(r"^\s+(?:(store) |(\w+)(?:\[[^\]]*\])? *(?:=|<-))")
STORES = re.compile(r"\s+(?:tl\.store|gl\.store|tma\.async_copy_shared_to_global)\(")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a kernel's source, and the line of the plan that it prints: its number from 1, 0 for none."""

    text: str
    plan: int


@dataclass(frozen=True, slots=True)
class Other:
    """Another tiling: what it chose, its time, how much longer that is in percent, what binds each kernel."""

    tiles: str
    predicted_us: float
    longer: float
    limits: str


@dataclass(frozen=True, slots=True)
class Proof:
    """A law that the derivation rests on: its reading, grade, method, the scripts or theorems that show it."""

    law: str
    reading: str
    grade: str
    method: str
    files: tuple[str, ...]


def contents(derivation: Derivation, command: str, made: Compiled[Derivation] | None = None) -> dict[str, Any]:
    """Return what a report shows, by name; `made`, where kernels were compiled ahead of time, has what was seen."""
    return {**derived(derivation, command, made), **tried(derivation)}


def tried(derivation: Derivation) -> dict[str, Any]:
    """Return what a report shows of other tiles and of rounding: each is tried out, which takes as long as
    to derive.
    """
    small, rows = errors(derivation)
    return {
        "others": _others(derivation), "small": small, "errors": rows, "report": derivation.report(),
        "largest": max(rows, key=attrgetter("used"), default=None), "name": derivation.diagram.name, "waiting": False,
    }  # fmt: skip


def derived(derivation: Derivation, command: str, made: Compiled[Derivation] | None = None) -> dict[str, Any]:
    """Return what a report shows of the derivation itself; what is tried out besides is still waited for."""
    d, report = derivation, derivation.report()
    napkin, why = _napkin(d)
    pseudocode = d.pseudocode().rstrip("\n").splitlines()
    laws = laws_of(d)
    return {
        "name": d.diagram.name, "doc": d.diagram.doc, "command": command, "report": report,
        "hardware": d.hardware.title,
        "sentence": sentence(report), "before": shown(d.diagram), "after": shown(d),
        "outputs": [(name, str(term)) for name, term in d.diagram.outputs],
        "moves": [(move, printed(law) if (law := law_of(move, laws)) else "", steps_of(move)) for move in moves(d)],
        "roofline": roofline(_points(d, napkin), d.hardware.hbm.bandwidth, d.hardware.flops(d.dtype)),
        "columns": _columns(napkin, report),
        "assumptions": [] if napkin is None else [(s.name, s.us) for s in napkin.steps()], "no_napkin": why,
        "seconds": bars([(name, value) for name, value in report["seconds"].items() if name != "total"], "s"),
        "others": [], "small": {}, "errors": [], "largest": None, "waiting": True,
        "proofs": _proofs(d, report["laws"]), "compiled": made, "cover": report.get("cover"),
        "plan": pseudocode, "source": mapped(d.code(), pseudocode),
        "versions": _versions(),
    }  # fmt: skip


def sentence(report: dict[str, Any]) -> str:
    """Return the sentence that says what changed and what it saves."""
    kernels, laws = len(report["kernels"]), len(report["laws"])
    moved, unfused = report["bytes_hbm"], report["unfused_bytes_hbm"]
    saved = f", {unfused / moved:.1f} times less than operator by operator" if moved and unfused > 1.05 * moved else ""
    return (
        f"{'One kernel computes' if kernels == 1 else f'{kernels} kernels compute'} {report['diagram']} and"
        f" {'moves' if kernels == 1 else 'move'} {amount(moved, 'B', 4)} to and from HBM{saved};"
        f" {report['predicted_us']:.4g} µs predicted. {laws} laws lead from the diagram to this plan; the certificate"
        f" is {report['certificate']['status']}, grade {report['certificate']['grade']}."
    )


def mapped(source: str, plan: list[str]) -> list[Line]:
    """Return the lines of a kernel's source, each with the line of the plan that defines what it defines, or stores
    what it stores.
    """
    # A name stands in each part of a loop: the source has them in the plan's order.
    at: dict[str, list[int]] = {}
    for number, line in enumerate(plan, 1):
        if match := DEFINES.match(line):
            at.setdefault("store" if match[1] == "store" else match[2], []).append(number)
    lines: list[Line] = []
    for line in source.splitlines():
        stored, match = STORES.match(line), re.match(r"\s+(\w+) *=", line)
        found = at.get("store" if stored else match[1] if match else "", [])
        lines.append(Line(line, found.pop(0) if len(found) > 1 else found[0] if found else 0))
    return lines


def _napkin(derivation: Derivation) -> tuple[Model | None, str]:
    try:
        return model(derivation), ""
    except NapkinError as reason:
        return None, str(reason)


def _points(derivation: Derivation, napkin: Model | None) -> list[Point]:
    found = []
    kernels = napkin.kernels if napkin else ()
    for place, tiled in enumerate(derivation.tiled):
        cost = tiled.cost
        work = cost.flops_tensor or cost.ops_alu
        if not work or not cost.bytes_hbm:
            continue
        intensity = work / cost.bytes_hbm
        found.append(Point(cost.name, "predicted", intensity, work / (cost.predicted_us * 1e-6)))
        if place < len(kernels) and kernels[place].seconds > 0:
            found.append(Point(cost.name, "napkin", intensity, work / kernels[place].seconds))
        if napkin is not None and napkin.measured is not None and len(kernels) == 1:
            found.append(Point(cost.name, "measured", intensity, work / (napkin.measured.us * 1e-6)))
    return found


def _columns(napkin: Model | None, report: dict[str, Any]) -> list[tuple[str, float | None, str]]:
    if napkin is None:
        return [("our cost model", report["predicted_us"], "")]
    seen = napkin.measured
    return [
        (
            "the napkin's ideal",
            sum(k.seconds for k in napkin.kernels) * 1e6,
            "the slower of compute and each level of memory, all beside each other",
        ),
        ("our cost model", napkin.predicted_us, "what chose this plan"),
        (
            "measured",
            None if seen is None else seen.us,
            "not measured at these sizes" if seen is None else f"{seen.gpu}, {seen.date}",
        ),
    ]


def _others(derivation: Derivation) -> list[Other]:
    try:
        found = ranked(derivation, NEXT)
    except NapkinError:
        return []
    least = found[0].predicted_us or 1.0
    rows = []
    for one in found:
        chosen = [(piece.cost.name, choice(piece)) for piece in one.tiled]
        tiles = "; ".join(
            f"{name}: {' '.join(f'{axis} {tile}' for axis, tile in c.tiles.items())}, {c.warps} warps, {c.stages}"
            " buffers"
            for name, c in chosen
        )
        limits = "; ".join(
            f"{piece.cost.limit}, {piece.cost.smem_bytes / 1024:.0f} KiB, {piece.cost.bytes_hbm / 1e6:.3g} MB"
            for piece in one.tiled
        )
        rows.append(Other(tiles, one.predicted_us, 100 * (one.predicted_us / least - 1), limits))
    return rows


def _proofs(derivation: Derivation, names: list[str]) -> list[Proof]:
    statements = {s.name: s for s in derivation.statements}
    found = []
    for name in names:
        verdict, statement = derivation.verdicts.get(name), statements.get(name)
        reading = statement.reading if statement is not None else "Numbers are computed exactly."
        if verdict is None:
            found.append(Proof(name, reading, "A", "by definition", ()))
        else:
            found.append(Proof(name, reading, verdict.grade, verdict.method, tuple(f.name for f in verdict.files)))
    return found


def _versions() -> list[tuple[str, str]]:
    rows = [("Python", platform.python_version())]
    for name in ("napkin-eq", *VERSIONS):
        try:
            rows.append((name, version(name)))
        except PackageNotFoundError:
            rows.append((name, "not installed"))
    return rows
