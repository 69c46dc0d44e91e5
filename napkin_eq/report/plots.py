"""The roofline of a plan and bars of its times, as SVG whose colours are the page's."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 640.0, 320.0, 64.0, 44.0, 16.0, 28.0


@dataclass(frozen=True, slots=True)
class Point:
    """A kernel on the roofline: FLOP per byte of HBM, FLOP per second; `kind` is napkin, predicted or measured."""

    name: str
    kind: str
    intensity: float
    rate: float


def roofline(points: Sequence[Point], bandwidth: float, peak: float) -> str:
    """Return the roofline: the bandwidth of HBM in bytes per second, the peak rate in FLOP per second, and points below
    them.
    """
    ridge = peak / bandwidth
    intensities = [p.intensity for p in points if p.intensity > 0] or [ridge]
    low = 10 ** math.floor(math.log10(min(*intensities, ridge) / 2))
    high = 10 ** math.ceil(math.log10(max(*intensities, ridge) * 2))
    top = 10 ** math.ceil(math.log10(peak))
    bottom = 10 ** math.floor(math.log10(min([p.rate for p in points if p.rate > 0] + [low * bandwidth])))

    def x(value: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (math.log10(value) - math.log10(low)) / (
            math.log10(high) - math.log10(low)
        )

    def y(value: float) -> float:
        share = (math.log10(value) - math.log10(bottom)) / (math.log10(top) - math.log10(bottom))
        return HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * share

    lines = [_line("axis", x(low), y(bottom), x(high), y(bottom)), _line("axis", x(low), y(bottom), x(low), y(top))]
    for power in range(round(math.log10(low)), round(math.log10(high)) + 1):
        lines.append(_text(x(10.0**power), HEIGHT - BOTTOM + 18, _figure(10.0**power), "middle"))
    for power in range(round(math.log10(bottom)), round(math.log10(top)) + 1):
        lines.append(_line("grid", x(low), y(10.0**power), x(high), y(10.0**power)))
        lines.append(_text(LEFT - 6, y(10.0**power) + 4, _figure(10.0**power / 1e12), "end"))
    start = max(low, bottom / bandwidth)
    lines.append(_line("roof", x(start), y(start * bandwidth), x(ridge), y(peak)))
    lines.append(_line("roof", x(ridge), y(peak), x(high), y(peak)))
    lines.append(_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6, "FLOP per byte of HBM", "middle"))
    lines.append(_text(LEFT + 6, TOP + 4, "TFLOP/s", "start"))
    for point in points:
        if point.intensity > 0 and point.rate > 0:
            said = escape(
                f"{point.name}, {point.kind}: {point.rate / 1e12:.3g} TFLOP/s at {point.intensity:.3g} FLOP per byte"
            )
            lines.append(
                f'<circle class="{escape(point.kind)}" cx="{x(point.intensity):.1f}" cy="{y(point.rate):.1f}"'
                f' r="5"><title>{said}</title></circle>'
            )
    said = "; ".join(
        f"{p.name} {p.kind} {p.rate / 1e12:.3g} TFLOP/s at {p.intensity:.3g} FLOP per byte" for p in points
    )
    return _svg(HEIGHT, "Roofline", said, lines)


def bars(rows: Sequence[tuple[str, float]], unit: str) -> str:
    """Return horizontal bars, one a row, each with its figure."""
    most = max((value for _, value in rows), default=0.0) or 1.0
    lines = []
    for place, (name, value) in enumerate(rows):
        at = 10 + 26 * place
        width = (WIDTH - 260) * value / most
        lines.append(_text(140, at + 14, name, "end"))
        lines.append(f'<rect class="bar" x="150" y="{at}" width="{max(width, 0.5):.1f}" height="18"/>')
        lines.append(_text(156 + width, at + 14, f"{value:.3g} {unit}", "start"))
    return _svg(26.0 * len(rows) + 16, "Bars", "; ".join(f"{name} {value:.3g} {unit}" for name, value in rows), lines)


def _svg(height: float, title: str, about: str, lines: Sequence[str]) -> str:
    head = f'<svg class="plot" viewBox="0 0 {WIDTH:g} {height:g}" role="img" aria-label="{escape(about or title)}">'
    return f"{head}<title>{escape(title)}</title>{''.join(lines)}</svg>"


def _line(kind: str, x0: float, y0: float, x1: float, y1: float) -> str:
    return f'<line class="{kind}" x1="{x0:.1f}" y1="{y0:.1f}" x2="{x1:.1f}" y2="{y1:.1f}"/>'


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _figure(value: float) -> str:
    return f"{value:g}" if 1e-3 <= value < 1e5 else f"{value:.0e}".replace("e+0", "e").replace("e-0", "e-")
