"""Draws predicted against measured times as SVG text, the same bytes for the same points."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM, SIDE = 950, 600, 74, 330, 40, 56, 4.0
KEY, LINE, GAP = 36, 17, 26  # where the key begins beside the axes, from entry to entry, from source to source
COLOURS = ("#1b6ca8", "#d1495b", "#2e933c", "#8e5ea2", "#e08e0b", "#0f8b8d", "#7a4419", "#c2185b", "#556b2f", "#3f51b5", "#607d8b", "#b8860b", "#000000")
Series = Sequence[tuple[tuple[str, str], float, float]]


def svg(series: Series) -> str:
    """Return a plot with logarithmic axes of ((source, group), predicted, measured) in microseconds; a group has a colour, a source a shape."""
    values = [v for _, *pair in series for v in pair]
    low, high = math.floor(math.log10(min(values)) * 2) / 2, math.ceil(math.log10(max(values)) * 2) / 2
    return "".join(f"{part}\n" for part in _parts(series, low, high))


def _parts(series: Series, low: float, high: float) -> Iterator[str]:
    def across(value: float) -> float:
        return LEFT + (math.log10(value) - low) / (high - low) * (WIDTH - LEFT - RIGHT)

    def up(value: float) -> float:
        return HEIGHT - BOTTOM - (math.log10(value) - low) / (high - low) * (HEIGHT - TOP - BOTTOM)

    first, last = 10**low, 10**high
    groups: dict[str, list[str]] = {}
    for (source, group), *_ in series:
        if group not in groups.setdefault(source, []):
            groups[source].append(group)
    tall = max(HEIGHT, TOP + sum(LINE * len(names) + GAP for names in groups.values()))
    yield f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {tall}" width="{WIDTH}" height="{tall}" font-family="sans-serif" font-size="12">'
    yield f'<rect width="{WIDTH}" height="{tall}" fill="#fff"/>'
    yield f'<text x="{LEFT}" y="24" font-size="15">Predicted against measured time, {len(series)} kernels and plans</text>'
    yield f'<clipPath id="inside"><rect x="{LEFT}" y="{TOP}" width="{WIDTH - LEFT - RIGHT}" height="{HEIGHT - TOP - BOTTOM}"/></clipPath>'
    corners = ((first, first * 1.25), (last, last * 1.25), (last, last / 1.25), (first, first / 1.25))
    yield f'<polygon points="{" ".join(f"{across(x):.1f},{up(y):.1f}" for x, y in corners)}" fill="#eee" clip-path="url(#inside)"/>'
    for exponent in range(math.ceil(low), math.floor(high) + 1):
        at, label = 10.0**exponent, f"{10**exponent} µs" if exponent < 3 else f"{10 ** (exponent - 3)} ms"
        yield f'<path d="M{across(at):.1f} {TOP}V{HEIGHT - BOTTOM}M{LEFT} {up(at):.1f}H{WIDTH - RIGHT}" stroke="#ccc" fill="none"/>'
        yield f'<text x="{across(at):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{label}</text>'
        yield f'<text x="{LEFT - 6}" y="{up(at) + 4:.1f}" text-anchor="end">{label}</text>'
    yield f'<path d="M{across(first):.1f} {up(first):.1f}L{across(last):.1f} {up(last):.1f}" stroke="#888" fill="none"/>'
    yield f'<rect x="{LEFT}" y="{TOP}" width="{WIDTH - LEFT - RIGHT}" height="{HEIGHT - TOP - BOTTOM}" fill="none" stroke="#444"/>'
    yield f'<text x="{(LEFT + WIDTH - RIGHT) / 2:.1f}" y="{HEIGHT - 16}" text-anchor="middle">measured</text>'
    middle = (TOP + HEIGHT - BOTTOM) / 2
    yield f'<text x="14" y="{middle:.1f}" text-anchor="middle" transform="rotate(-90 14 {middle:.1f})">predicted (band: within a factor of 1.25)</text>'
    for (source, group), predicted, measured in series:
        yield _mark(list(groups).index(source), groups[source].index(group), across(measured), up(predicted), group)
    y = TOP + 10.0
    for shape, (source, names) in enumerate(groups.items()):
        yield f'<text x="{WIDTH - RIGHT + KEY}" y="{y:.1f}" font-weight="bold" font-size="11">{escape(source)}</text>'
        for colour, name in enumerate(names):
            y += LINE
            yield _mark(shape, colour, WIDTH - RIGHT + KEY + 6, y - 4, "")
            yield f'<text x="{WIDTH - RIGHT + KEY + 16}" y="{y:.1f}">{escape(name)}</text>'
        y += GAP
    yield "</svg>"


def _mark(shape: int, colour: int, x: float, y: float, title: str) -> str:
    style = f'fill="{COLOURS[colour % len(COLOURS)]}" fill-opacity="0.65"'
    said = f"<title>{escape(title)}</title>" if title else ""
    if shape % 3 == 0:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{SIDE}" {style}>{said}</circle>'
    if shape % 3 == 1:
        return f'<rect x="{x - SIDE:.1f}" y="{y - SIDE:.1f}" width="{2 * SIDE}" height="{2 * SIDE}" {style}>{said}</rect>'
    return f'<path d="M{x:.1f} {y - SIDE - 1:.1f}l{SIDE + 1} {2 * SIDE + 1}h-{2 * SIDE + 2}z" {style}>{said}</path>'
