"""What is wrong with the geometry of a picture: labels that overlap, wires through labels, what the edge cuts off."""

from __future__ import annotations

from collections.abc import Iterator

from napkin_eq.draw.picture import Label, Picture, Wire

Segment = tuple[float, float, float, float]


def segments(wire: Wire) -> Iterator[Segment]:
    """Yield the straight pieces that a curve is close to."""
    points = list(wire.points())
    for (x0, y0), (x1, y1) in zip(points, points[1:], strict=False):
        yield x0, y0, x1, y1


def crosses(segment: Segment, box: tuple[float, float, float, float]) -> bool:
    """Tell whether a segment meets a box, by clipping (Liang and Barsky)."""
    x0, y0, x1, y1 = segment
    left, top, right, bottom = box
    low, high = 0.0, 1.0
    for step, near, far in ((x1 - x0, left - x0, right - x0), (y1 - y0, top - y0, bottom - y0)):
        if step == 0:
            if near > 0 or far < 0:
                return False
        else:
            a, b = sorted((near / step, far / step))
            low, high = max(low, a), min(high, b)
    return low <= high


def box(label: Label, spare: float = 0.0) -> tuple[float, float, float, float]:
    return label.x - spare, label.y - spare, label.x + label.width + spare, label.y + label.height + spare


def flaws(picture: Picture, scale: float = 1.0) -> list[str]:
    """Return what is wrong with a picture drawn at a scale, where strokes keep half a pixel."""
    found = []
    spare = 0.25 / scale  # at half the size a hair's breadth counts twice
    labels = picture.labels
    for number, one in enumerate(labels):
        left, top, right, bottom = box(one)
        if left < 0 or top < 0 or right > picture.width or bottom > picture.height:
            found.append(f"label {one.text!r} is cut off at {left:.1f} {top:.1f} {right:.1f} {bottom:.1f}")
        for other in labels[number + 1 :]:
            a, b = box(one, spare / 2), box(other, spare / 2)
            if a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]:
                found.append(f"labels {one.text!r} and {other.text!r} overlap at {left:.1f} {top:.1f}")
    for wire in picture.wires:
        for segment in segments(wire):
            if (
                min(segment[0], segment[2]) < 0
                or max(segment[0], segment[2]) > picture.width
                or max(segment[1], segment[3]) > picture.height
            ):
                found.append(f"a wire is cut off at {segment}")
            found += [
                f"a {wire.role} crosses {one.text!r} at {one.x:.1f} {one.y:.1f}"
                for one in labels
                if crosses(segment, box(one, spare))
            ]
    for shape in (*picture.behind, *picture.shapes):
        left, top, right, bottom = shape.box()
        if left < 0 or top < 0 or right > picture.width or bottom > picture.height:
            found.append(f"a {shape.role} is cut off")
    return found
