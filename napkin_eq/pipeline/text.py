"""A derivation told to a person: the diagram, each step with its law, the plan, what it costs and why."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from napkin_eq.lang.term import Input, Proj, Term, rebuilt, subterms

if TYPE_CHECKING:
    from napkin_eq.egraph.congruence import Step
    from napkin_eq.pipeline.derivation import Derivation

WIDTH, LONG = 100, 14


class Shorthand:
    """Gives a letter to each long part that two or more others share, so that a term fits a line:
    `Shorthand(terms).text(term)`.
    """

    def __init__(self, terms: Sequence[Term]) -> None:
        taken = {part.name for term in terms for part in subterms(term) if isinstance(part, Input)}
        taken |= {axis.name for term in terms for part in subterms(term) for axis in part.axes}
        letters = (
            name
            for number in itertools.count()
            for name in (f"{c}{number or ''}" for c in "stuvw")
            if name not in taken
        )
        parents = Counter(child for part in subterms(*terms) for child in set(part.children))
        self.shown: dict[Term, Term] = {}
        self.letters: dict[str, str] = {}
        for part in subterms(*terms):
            if parents[part] > 1 and part.kind == "real" and len(str(part)) >= LONG:
                letter = next(letters)
                self.letters[letter] = self.text(part)
                self.shown[part] = Input(letter, part.axes)

    def text(self, term: Term) -> str:
        """Return the term as text, with letters for its parts."""
        for part in subterms(term):
            if part not in self.shown:
                self.shown[part] = rebuilt(part, tuple(self.shown[child] for child in part.children))
        return str(self.shown[term])


def told(derivation: Derivation) -> str:
    """Return the whole derivation as text."""
    report = derivation.report()
    sizes = " ".join(f"{name}={'any' if size is None else size}" for name, size in report["sizes"].items())
    readings = {s.name: f"{s.reading} [{derivation.verdicts[s.name].grade}]" for s in derivation.statements}
    parts = [f"{report['diagram']}  {report['dtype']}  {derivation.hardware.title}  {sizes}"]
    for output in derivation.outputs:
        short = Shorthand((output.source, output.placed.term))
        parts.append("")
        parts += [f"from  {name} = {short.text(source)}" for name, source, _ in output.each()]
        letters = [f"{letter} = {text}" for letter, text in short.letters.items()]
        steps = steps_told(output.steps, readings, short)
        stored: dict[Term, list[str]] = {}
        for name, _, term in output.each():
            stored.setdefault(term.body if isinstance(term, Proj) else term, []).append(name)
        parts += [f"to    {', '.join(names)} = {short.text(term)}" for term, names in stored.items()]
        parts += [f"{'where' if i == 0 else '':6}{line}" for i, line in enumerate(letters)]
        parts += [
            (
                f"in {len(output.steps)} steps by laws, each with its grade (A exact, B two solvers, C one solver, D"
                " tested only):"
            ),
            *steps,
        ]
    parts += ["", _without_notes(derivation.pseudocode()), "", *costs_told(report)]
    return "\n".join(parts)


def steps_told(steps: Sequence[Step], readings: dict[str, str], short: Shorthand) -> list[str]:
    """Return a line with the law for each step, and one with what it changes; a step done at several places is told
    once.
    """
    places: dict[tuple[str, bool, str, str], int] = {}
    for step in steps:
        before, after = part(step.before, step.path), part(step.after, step.path)
        key = (step.law, step.forward, short.text(before), short.text(after))
        places[key] = places.get(key, 0) + 1
    lines = []
    for (law, forward, old, new), count in places.items():
        notes = ("" if forward else ", from right to left") + (f", at {count} places" if count > 1 else "")
        lines += [f"  {law}{notes}: {readings.get(law, 'Numbers are computed.')}", f"      {_cut(old)}  →  {_cut(new)}"]
    return lines


def part(term: Term, path: Iterable[int]) -> Term:
    """Return the subterm at a path of child numbers from the root."""
    for number in path:
        term = term.children[number]
    return term


def _cut(text: str) -> str:
    return text if len(text) <= WIDTH else f"{text[: WIDTH - 1]}…"


def _without_notes(pseudocode: str) -> str:
    # The notes repeat the head of this text.
    return "\n".join(line for line in pseudocode.rstrip().splitlines() if not line.startswith("#")).strip("\n")


def costs_told(report: dict[str, Any]) -> list[str]:
    """Return the kernels with their costs, and the totals."""
    lines = []
    for kernel in report["kernels"]:
        if kernel["printer"] == "library":
            lines.append(
                f"{kernel['name']}  a library's, trusted and not proved  {kernel['predicted_us']:.1f} us predicted"
            )
            continue
        tiles = " ".join(f"{axis}:{tile}" for axis, tile in {**kernel["groups"], **kernel["streams"]}.items())
        lines.append(
            f"{kernel['name']}  tiles {tiles}  {kernel['blocks']} blocks  {kernel['smem_bytes'] / 1024:.0f} KiB shared "
            f" {kernel['bytes_hbm'] / 1e6:.1f} MB  {kernel['flops_tensor'] / 1e9:.1f} GFLOP "
            f" {kernel['predicted_us']:.1f} us predicted, bound by {kernel['limit']}"
        )
    if (cover := report.get("cover")) is not None:
        gap = (
            "no bound" if cover["gap"] is None else f"bound {cover['bound_us']:.1f} us, gap {100 * cover['gap']:.1f} %"
        )
        other = "no other is known" if cover["next_us"] is None else f"the next best {cover['next_us']:.1f} us"
        lines.append("cover by kernels; what each stores, of which stored values besides inputs, and why:")
        lines += [_covered(kernel) for kernel in cover["kernels"]]
        lines.append(
            f"cover: {cover['predicted_us']:.1f} us, {gap}, {other}; {cover['candidates']} candidates,"
            f" {cover['priced']} priced; {cover['method']}"
        )
        if all(kernel["printer"] != "library" for kernel in report["kernels"]):
            gained = max(0.0, cover["predicted_us"] - cover["library_us"])
            lines.append(
                f"cover: matrix products of a library, trusted and not proved, would gain {gained:.1f} us (--library)"
            )
    passes = ", ".join(f"{count} over {axis}" for axis, count in report["passes"].items()) or "none"
    moved, once, unfused = (report[key] / 1e6 for key in ("bytes_hbm", "bytes_once", "unfused_bytes_hbm"))
    lines.append(
        f"total {report['predicted_us']:.1f} us; {moved:.1f} MB to and from HBM; each array moved once: {once:.1f} MB,"
        f" {unfused:.1f} MB unfused"
    )
    lines.append(
        f"passes: {passes}; laws used: {len(report['laws'])}; certificate: {report['certificate']['status']}"
        f" ({report['certificate']['grade']})"
    )
    lines += [line for found in report["translation"] for line in _translation(found)]
    lines += [
        f"unsafe, as the diagram has it: {exponential:.100} is infinite where its exponent passes 88"
        for exponential in report["unsafe"]
    ]
    if "rounding" in report:
        lines.append(
            "relative rounding: " + ", ".join(f"{figure:.2g} of {name}" for name, figure in report["rounding"].items())
        )
    graph, seconds = report["egraph"], report["seconds"]
    lines.append(
        f"e-graph: {graph['nodes']} nodes, {graph['classes']} classes, {graph['rounds']} rounds;"
        f" {seconds['total']:.2f} s"
    )
    if "unread" in report:
        lines.append(f"not read by any output, and so no part of the plan: {', '.join(report['unread'])}")
    lines += [f"note: {note}" for note in dict.fromkeys(graph["notes"])]
    if graph["limited"]:
        lines.append(
            f"the limit of time ended {', '.join(graph['limited'])}: another run may give another plan; --limit SECONDS"
            " gives it more"
        )
    return lines


def _covered(kernel: dict[str, Any]) -> str:
    """Return a line on a kernel of a cover: what it stores and why, and what the same would take in the cheapest other
    kernels.
    """
    stored = "; ".join(
        f"{name} ({why})" if why else name for name, why in zip(kernel["stores"], kernel["why"], strict=True)
    )
    joined, saved = kernel["joined"], kernel["saved_us"]
    saves = (
        ""
        if not joined
        else f"; {joined} more values in it"
        + (", which no other kernels are known to do" if saved is None else f" save {saved:.1f} us")
    )
    return f"  {stored} of {', '.join(kernel['reads']) or 'inputs'}{saves}"


def _translation(found: dict[str, Any]) -> list[str]:
    """Return what holding a plan against the diagram gave, and the plans that were dropped for it."""
    ran = (
        f" at {', '.join(f'{name}={size}' for name, size in found['sizes'].items())}, on {', '.join(found['inputs'])}"
        " numbers"
        if "sizes" in found
        else ""
    )
    why = f": {found['why']}" if "why" in found else ""
    told = f"plan of {', '.join(found['outputs'])} held against the diagram: {found['status']}{ran}{why}"
    return [told, *(f"dropped: {other}" for other in found["refused"])]


def summary(without: str, derivation: Derivation) -> dict[str, Any]:
    """Return what a plan costs, as a row of `napkin-eq explain`."""
    report = derivation.report()
    row: dict[str, Any] = {"without": without, "kernels": len(report["kernels"])}
    return row | {key: report[key] for key in ("passes", "bytes_hbm", "predicted_us")}


def ablations_told(name: str, rows: Sequence[dict[str, Any]]) -> str:
    """Return the rows of `napkin-eq explain` as a table; the first row is the plan itself."""
    base = rows[0]["predicted_us"]
    lines = [f"{name}: the cheapest plan with all laws, and without each family that it uses"]
    for row in rows:
        label = f"without {row['without']}" if row["without"] else "all laws"
        if "refused" in row:
            lines.append(f"  {label:22} no plan: {row['refused']}")
            continue
        passes = ", ".join(f"{count} over {axis}" for axis, count in row["passes"].items()) or "none"
        lines.append(
            f"  {label:22} {row['kernels']} kernel{'s' if row['kernels'] > 1 else ' '}  {row['predicted_us']:10.1f} us"
            f" ({row['predicted_us'] / base:.2f}x)  {row['bytes_hbm'] / 1e6:9.1f} MB  passes: {passes}"
        )
    return "\n".join(lines)
