"""Draws what was measured, by Matplotlib, as SVG: the same bytes for the same points, the colours of the reader's
screen.
"""

from __future__ import annotations

import io
import math
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure

PAPER, INK, SOFT = ("#ffffff", "#14171c"), ("#1b1f24", "#e9ecf1"), ("#d5dade", "#3b4148")
# Each in the light and in the dark. The colours of Okabe and Ito, which those who are colour-blind tell apart.
COLOURS = (
    ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8a6d00", "#3d8bb5", "#50575f"),
    ("#6db9ea", "#f2a065", "#2cc79b", "#e6a5c8", "#f0e442", "#9ad5f5", "#b4bac1"),
)
MARKS = "os^Dv<>PX"
Series = Sequence[tuple[tuple[str, str], float, float]]


def svg(series: Series) -> str:
    """Return a plot with logarithmic axes of ((source, group), predicted, measured) in microseconds."""
    with _style():
        return _text(predictions(series))


def predictions(series: Series) -> Figure:
    """Return the figure of predicted against measured times; a source has a mark, a group a colour."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.5, 6.2), layout="constrained")
    axes = figure.add_subplot()
    values = [value for _, *pair in series for value in pair]
    ends = [10 ** (math.floor(math.log10(min(values)) * 2) / 2), 10 ** (math.ceil(math.log10(max(values)) * 2) / 2)]
    axes.fill_between(ends, [e / 1.25 for e in ends], [e * 1.25 for e in ends], color=SOFT[0], lw=0)
    axes.plot(ends, ends, color=INK[0], lw=0.8)
    groups: dict[str, list[str]] = {}
    for (source, group), *_ in series:
        if group not in groups.setdefault(source, []):
            groups[source].append(group)
    for mark, (source, names) in zip(MARKS * len(groups), groups.items(), strict=False):
        for colour, name in enumerate(names):
            found = [pair for at, *pair in series if at == (source, name)]
            across, up = [measured for _, measured in found], [predicted for predicted, _ in found]
            chosen = COLOURS[0][colour % len(COLOURS[0])]
            said = f"{source}: {name}".replace("$", r"\$")
            axes.scatter(across, up, s=14, marker=mark, color=chosen, alpha=0.75, lw=0, label=said)
    axes.set(xscale="log", yscale="log", xlim=ends, ylim=ends, xlabel="measured, µs")
    axes.set_ylabel("predicted, µs (band: within a factor of 1.25)")
    axes.set_title(f"Predicted against measured time, {len(series)} kernels and plans", loc="left")
    axes.grid(color=SOFT[0], lw=0.5)
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), fontsize=7.5, frameon=False, borderaxespad=0)
    return figure


def ratios(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return a plot of how much faster than its best peer each measured kernel is."""
    with _style():
        return _text(_ratios(rows))


def _ratios(rows: Sequence[Mapping[str, Any]]) -> Figure:
    from matplotlib.figure import Figure

    found = [row for row in rows if row["ours_ms"] is not None and row["peers"]][::-1]
    figure = Figure(figsize=(9.5, 1.2 + 0.2 * len(found)), layout="constrained")
    axes = figure.add_subplot()
    works = list(dict.fromkeys(row["work"] for row in rows))
    for place, row in enumerate(found):
        colour = COLOURS[0][works.index(row["work"]) % len(COLOURS[0])]
        axes.plot([1, row["ratio_best"]], [place, place], color=colour, lw=1.2)
        axes.plot([row["ratio_best"]], [place], marker="o", ms=4, color=colour)
    axes.axvline(1, color=INK[0], lw=0.8)
    names = [f"{row['work']}: {row['case']}".replace("$", r"\$") for row in found]
    axes.set_yticks(range(len(found)), names, fontsize=7)
    axes.set(xscale="log", ylim=(-0.7, len(found) - 0.3), xlabel="time of the best peer ÷ ours (right: ours is faster)")
    ticks = [tick for tick in (0.25, 0.5, 0.75, 1, 1.5, 2, 3, 5, 10, 20) if _within(tick, found)]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.grid(axis="x", color=SOFT[0], lw=0.5)
    axes.set_title("Measured beside the best peer, NVIDIA H200", loc="left")
    return figure


def _within(tick: float, rows: Sequence[Mapping[str, Any]]) -> bool:
    values: list[float] = [1.0, *(row["ratio_best"] for row in rows)]
    return min(values) * 0.8 <= tick <= max(values) * 1.25


@contextmanager
def _style() -> Iterator[None]:
    """Set what the same bytes need, text that stays text, and the colours of the paper."""
    import matplotlib

    ink = INK[0]
    said = {"svg.hashsalt": "napkin", "svg.fonttype": "none", "font.family": "sans-serif", "font.size": 9}
    colours = dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), ink)
    with matplotlib.rc_context({**said, **colours, "figure.facecolor": PAPER[0], "axes.facecolor": PAPER[0]}):
        yield


def _text(figure: Figure) -> str:
    """Return a figure as SVG whose colours change where the reader's screen prefers dark paper."""
    out = io.StringIO()
    figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    text = "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"
    pairs = [PAPER, INK, SOFT, *zip(*COLOURS, strict=True)]
    both = [(what, *pair) for pair in pairs for what in ("fill", "stroke")]
    rules = [f'[style*="{what}: {day}"]{{{what}:{night}!important}}' for what, day, night in both]
    style = f"<style>@media (prefers-color-scheme: dark){{{''.join(rules)}}}</style>"
    return text.replace("<defs>", f"{style}\n <defs>", 1)
