"""Lays a circuit out as a picture: columns of wires and operations, and what is written at them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from napkin_eq.draw import margins, pictograms
from napkin_eq.draw.circuit import Circuit, Node, Strand
from napkin_eq.draw.order import Item, Ordered, ordered
from napkin_eq.draw.picture import SIZES, Picture, Run, Shape, runs_of, shortened, wide
from napkin_eq.draw.tracks import MARGIN, End, Tracks, tracks
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.term import Index, Input, Term, rewritten, subterms
from napkin_eq.laws.law import Var

LINE, LONG, SHORT = 15.0, 7, 24.0
WIDEST_CAPTION, WIDEST_NAME = 168.0, 84.0
MOST_NODES, MOST_COLUMNS = 600, 150
WIDEST_BAND = 1200.0  # pixels
BETWEEN, ABOVE = 46.0, 18.0  # pixels between bands, and between one and the costs of the next


def picture(circuit: Circuit, title: str = "", notes: Sequence[str] = ()) -> Picture:
    """Return the picture of a circuit; raises NapkinError for one that is too large to be looked at."""
    if len(circuit.nodes) > MOST_NODES:
        raise NapkinError(
            f"{len(circuit.nodes)} operations are too many to draw; at most {MOST_NODES} are: draw one output"
        )
    found = ordered(circuit)
    if len(found.columns) > MOST_COLUMNS:
        raise NapkinError(
            f"{len(found.columns)} columns are too many to draw; at most {MOST_COLUMNS} are: draw one output"
        )
    return _Layout(circuit, found).drawn(title, notes)


def _brief(node: Node) -> Node:
    """Return a node with words short enough to stand in it."""
    caption = shortened(node.caption, "name", WIDEST_NAME * 1.3) if node.kind in ("input", "output") else node.caption
    return replace(
        node,
        sign=shortened(rounded(node.sign), "sign", WIDEST_NAME * 1.3),
        caption=caption,
        title=node.title or node.caption,
    )


def rounded(text: str) -> str:
    """Return a formula with its numbers to three digits, and a minus where a minus is meant."""
    text = re.sub(r"\d+\.\d{3,}(?![\de])", lambda found: f"{float(found[0]):.3g}", text)
    return text.replace(" + -", " − ").replace(" - ", " − ").replace("(-", "(−").replace("-∞", "−∞")


class _Layout:
    def __init__(self, circuit: Circuit, found: Ordered) -> None:
        self.circuit, self.columns = circuit, found.columns
        self.nodes = [_brief(node) for node in circuit.nodes]
        self.captions = [[self.caption(item) for item in items] for items in self.columns]
        heads = [[LINE * len(lines) + (3 if lines else 0) for lines in captions] for captions in self.captions]
        self.tracks: Tracks = tracks(found, [node.kind == "output" for node in self.nodes], heads)
        self.strands: list[dict[str, Strand]] = [{s.name: s for s in node.strands} for node in self.nodes]
        self.picture = Picture()
        self.dashed: list[tuple[float, float, float, float]] = []  # from, to, and the room for its height
        self.labelled: dict[int, int] = {}
        self.spans: dict[int, tuple[float, float]] = {}  # of each node, its column

    def caption(self, item: Item) -> list[str]:
        """Return the lines above an item."""
        node = self.nodes[item.value]
        if item.passes or node.kind in ("input", "output"):
            return []
        text = self.formula(node, item) if node.formula is not None else node.caption
        lines = text.split("\n") if text else []
        return [shortened(rounded(line), "caption", WIDEST_CAPTION) for line in lines[:2]]

    def formula(self, node: Node, item: Item) -> str:
        """Return what a node computes, with names of arrays and letters for its other arguments, top to bottom."""
        assert node.formula is not None
        named = {}
        taken = {part.axis.name for part in subterms(node.formula) if isinstance(part, Index)}
        taken |= {caption for arg in node.args if (caption := self.array(arg))}
        spare = [*"abcdefgh", *(f"a{number}" for number in range(len(item.args)))]
        letters = [letter for letter in spare if letter not in taken]
        for place, arg in enumerate(node.args):
            named[f"arg{place}"] = self.array(arg) or letters[item.args.index(arg)]

        def change(term: Term) -> Term:
            return Var(named[term.name], term.kind) if isinstance(term, Var) and term.name in named else term

        return str(rewritten(node.formula, change))

    def array(self, place: int) -> str:
        """Return the name of the array that a node is, or that it brings on chip; "" of anything else."""
        node = self.nodes[place]
        if node.kind == "load":
            return self.array(node.args[0])
        return (
            node.caption
            if node.kind == "input" and isinstance(node.term, (Input, Var)) and len(node.caption) <= 12
            else ""
        )

    def drawn(self, title: str, notes: Sequence[str]) -> Picture:
        """Draw everything, in bands where it is wide, and move it to where its left upper corner is 0."""
        self.rows = margins.cost_rows(self.circuit, self.columns, self.tracks)
        start = 0.0 if not self.rows else max(wide([Run(name, "cost")]) for name, _ in self.rows) + 16
        ends = self.measured(start)
        whole, y, right = Picture(), 0.0, 0.0
        spread = [
            max((e.y for e in after), default=0.0) - min((e.y for e in after), default=0.0)
            for after in self.tracks.after
        ]
        crossing = [(len(after), room) for after, room in zip(self.tracks.after, spread, strict=False)]
        bands = margins.bands(ends, crossing, WIDEST_BAND)
        self.parts = margins.parts(self.circuit.brackets, self.columns, bands)
        top = -(margins.ROW * len(self.rows) + 14 if self.rows else 4)
        between = max(BETWEEN, ABOVE - top)
        for first, last in bands:
            band, below, x = self.band(first, last, start)
            whole.placed(band, 0.0, y)
            y, right = y + below + between, max(right, x)
        bottom = margins.legend(whole, self.nodes, y - between, start)
        return margins.finished(whole, title, self.circuit.caption, notes, right, top, bottom)

    def measured(self, start: float) -> list[float]:
        """Return where each column ends, its data included, if all are drawn in one band."""
        x, ends = start, list[float]()
        for k in range(len(self.columns)):
            x = self.column(k, self.routed(k, x) if k else x)
            ends.append(x)
        self.picture = Picture()
        self.dashed.clear()
        self.spans.clear()
        self.labelled.clear()
        return ends

    def band(self, first: int, last: int, start: float) -> tuple[Picture, float, float]:
        """Draw the columns from one up to another; return them, how low they reach, and how far to the right.

        The wires that come from the band before are named where they begin again.
        """
        band = self.picture = Picture()
        x = self.continued(first, start) if first else start
        for k in range(first, last):
            x = self.column(k, self.routed(k, x) if k else x)
        for left, right, low, high in self.dashed:
            if right - left >= SHORT:
                y = (low + high) / 2
                band.wires.append(pictograms.line(((left, y), (right, y)), "high", "dash"))
        self.dashed.clear()
        whole = last - first == len(self.columns)
        if not whole:
            band = margins.squeezed(band)
        upper, lower = (0.0, self.tracks.height) if whole else margins.reach(band)
        top = upper - (margins.ROW * len(self.rows) + 14 if self.rows else 4)
        within = {k: middle for k, middle in self.middles().items() if first <= k < last}
        rows = [(name, {k: text for k, text in cells.items() if k in within}) for name, cells in self.rows]
        margins.costs(band, rows, within, top, start, x)
        bottom = margins.brackets(band, self.parts[first], self.spans, lower + 8, (start, x))
        self.spans.clear()
        if whole:
            return band, bottom, x
        moved = Picture()
        wanted = -(margins.ROW * len(self.rows) + 14 if self.rows else 4)
        moved.placed(band, 0.0, wanted - top)
        return moved, bottom + wanted - top, x

    def column(self, k: int, x: float) -> float:
        """Draw a column and what lies behind it; return where that ends."""
        x = self.functions(k, x)
        return self.data(k, x) if k < len(self.columns) - 1 else x

    def continued(self, k: int, x: float) -> float:
        """Draw the beginnings of the wires that come from the band before, with their names; return where they end."""
        ends = self.tracks.after[k - 1]
        labels = {e: self.named(self.strands[e.value][e.name], False) for e in ends if e.name}
        width = max((wide(runs) + 9 for runs in labels.values()), default=8.0) + 8
        for e in ends:
            level = self.nodes[e.value].level
            self.picture.wires.append(pictograms.line(((x, e.y), (x + width, e.y)), level, pictograms.role_of(e.name)))
            self.picture.shapes.append(Shape("dot", f"dot-{level}", (x, e.y, 2.4)))
        for e, runs in labels.items():
            y = e.y - 3.5 - SIZES["axis"] * 1.15
            self.picture.label(runs, x + 6, y, title=f"{e.name}, continued", role="axis", most=2 * WIDEST_NAME)
        return x + width

    def middles(self) -> dict[int, float]:
        """Return the middle of each column in which something is done."""
        found = {}
        for k, items in enumerate(self.columns):
            spans = [self.spans[item.value] for item in items if item.value in self.spans and not item.passes]
            if spans:
                found[k] = (spans[0][0] + spans[0][1]) / 2
        return found

    def routed(self, k: int, x: float) -> float:
        """Draw the wires from one column's end to the next one's beginning; return where that is."""
        left = {(e.value, e.name): e for e in self.tracks.after[k - 1]}
        ends = self.tracks.before[k]
        moves = [(left[e.value, e.name], e) for e in ends if (e.value, e.name) in left]
        far = max((abs(a.y - b.y) for a, b in moves), default=0.0)
        if not far:
            return x
        width = 16 + min(64.0, 0.3 * far) + 5 * len({b.bundle for a, b in moves if a.y != b.y})
        for a, b in moves:
            self.picture.wires.append(
                pictograms.bend(x, a.y, x + width, b.y, self.nodes[a.value].level, pictograms.role_of(a.name))
            )
        copies = [key for key in left if sum((b.value, b.name) == key for _, b in moves) > 1]
        self.picture.shapes += [
            Shape("dot", f"dot-{self.nodes[key[0]].level}", (x, left[key].y, 2.4)) for key in copies
        ]
        return x + width

    def functions(self, k: int, x: float) -> float:
        """Draw the items of a column; return where it ends."""
        items, before, after = self.columns[k], self.tracks.before[k], self.tracks.after[k]
        ins = [[e for e in before if e.item == place] for place in range(len(items))]
        outs = [[e for e in after if e.item == place] for place in range(len(items))]
        width = 12.0
        for place, item in enumerate(items):
            if not item.passes:
                node = self.nodes[item.value]
                texts = max((wide(runs_of(line)) + 10 for line in self.captions[k][place]), default=0.0)
                least = pictograms.width(node, [e.name for e in ins[place]])
                width = max(width, least, texts)
        for _, cells in self.rows:
            width = max(width, wide([Run(cells.get(k, ""), "cost")]) + 8)
        for place, item in enumerate(items):
            if item.passes:
                level = self.nodes[item.value].level
                pairs = zip(ins[place], outs[place], strict=True)
                self.picture.wires += [
                    pictograms.bend(x, a.y, x + width, b.y, level, pictograms.role_of(a.name)) for a, b in pairs
                ]
                continue
            node = self.nodes[item.value]
            self.spans[item.value] = (x, x + width)
            slim = min(width, max(pictograms.width(node, [e.name for e in ins[place]]), 12.0))
            if node.kind in ("input", "output"):
                left = x if node.kind == "output" else x + width - slim
            else:
                left = x + (width - slim) / 2
            box = pictograms.Box(left, left + slim, self.touches(ins[place]), self.touches(outs[place]))
            self.stubs(box, x, x + width)
            pictograms.draw(node, box, self.picture)
            lines = self.captions[k][place]
            top = box.upper - MARGIN - 3 - LINE * len(lines)
            for number, text in enumerate(lines):
                full = node.title if node.title and node.title != text else ""
                self.picture.label(
                    runs_of(text),
                    x + width / 2,
                    top + LINE * number,
                    anchor="middle",
                    title=full,
                    role="caption",
                    most=400,
                )
        self.dashes(x, x + width, self.walls(k))
        return x + width

    def touches(self, ends: Sequence[End]) -> tuple[pictograms.Touch, ...]:
        return tuple(pictograms.Touch(e.name, e.y, self.nodes[e.value].level, e.bundle) for e in ends)

    def stubs(self, box: pictograms.Box, left: float, right: float) -> None:
        """Lead the wires from the sides of the column to a node that is narrower than it."""
        for touch in box.ins:
            if left < box.left:
                self.picture.wires.append(
                    pictograms.line(((left, touch.y), (box.left, touch.y)), touch.level, pictograms.role_of(touch.name))
                )
        for touch in box.outs:
            if box.right < right:
                self.picture.wires.append(
                    pictograms.line(
                        ((box.right, touch.y), (right, touch.y)), touch.level, pictograms.role_of(touch.name)
                    )
                )

    def walls(self, k: int) -> list[tuple[float, float]]:
        """Return the room between the items of a column, in which a dashed line may run."""
        ends = (*self.tracks.before[k], *self.tracks.after[k])
        rows = []
        for place in range(len(self.columns[k]) - 1):
            above, below = [e.y for e in ends if e.item == place], [e.y for e in ends if e.item == place + 1]
            head = LINE * len(self.captions[k][place + 1]) + (MARGIN + 5 if self.captions[k][place + 1] else MARGIN)
            if above and below:
                rows.append((max(above) + MARGIN + 1, min(below) - head))
        return rows

    def dashes(self, left: float, right: float, rows: Sequence[tuple[float, float]]) -> None:
        """Note a dashed line between two sides, somewhere within each of some rooms.

        One that may go on where another ended does so.
        """
        fresh = []
        for low, high in rows:
            same = next((d for d in self.dashed if d[1] == left and max(d[2], low) <= min(d[3], high)), None)
            if same:
                self.dashed.remove(same)
                fresh.append((same[0], right, max(same[2], low), min(same[3], high)))
            elif low <= high:
                fresh.append((left, right, low, high))
        self.dashed += fresh

    def data(self, k: int, x: float) -> float:
        """Draw the wires behind a column, labelled where they are new; return where they end."""
        ends = self.tracks.after[k]
        labels = {e: runs for e in ends if (runs := self.label(k, e))}
        width = max((wide(runs) + 9 for runs in labels.values()), default=8.0)
        for e in ends:
            self.picture.wires.append(
                pictograms.line(((x, e.y), (x + width, e.y)), self.nodes[e.value].level, pictograms.role_of(e.name))
            )
        for e, runs in labels.items():
            axis = self.strands[e.value][e.name].axis
            size = "any size" if axis is None or axis.size is None else str(axis.size)
            self.labelled[e.value] = k
            self.picture.label(
                runs,
                x + 5,
                e.y - 3.5 - SIZES["axis"] * 1.15,
                title=f"{e.name}: {size}",
                role="axis",
                most=2 * WIDEST_NAME,
            )
        room = MARGIN if not labels else SIZES["axis"] * 1.15 + 5
        between = [(a.y + MARGIN - 2, b.y - room) for a, b in zip(ends, ends[1:], strict=False) if a.item != b.item]
        self.dashes(x, x + width, between)
        return x + width

    def label(self, k: int, end: End) -> list[Run]:
        """Return what is written on a wire behind a column: its axis where it is new, its size where none said it."""
        node, strand = self.nodes[end.value], self.strands[end.value][end.name]
        if not strand.name:
            return []
        fresh = self.labelled.get(end.value, k) == k and any(
            i.value == end.value and not i.passes for i in self.columns[k]
        )
        telling = node.kind in ("input", "load", "contract", "read", "scan") or not node.args
        changed = telling or {s.name for s in node.strands} != {
            s.name for arg in node.args for s in self.nodes[arg].strands
        }
        ending = all(self.nodes[i.value].kind == "output" for i in self.columns[k + 1] if end.value in i.args)
        far = end.value in self.labelled and k - self.labelled[end.value] >= LONG
        if not (
            fresh
            and (changed or node.kind == "store" or strand.part and node.kind == "map" and not strand.tile)
            or ending
            and fresh
            or far
        ):
            return []
        return self.named(strand, node.kind == "input" or ending)

    def named(self, strand: Strand, sized: bool) -> list[Run]:
        """Return an axis as runs of text, with what of it is present, or where that is asked for its size."""
        name = Run(shortened(strand.name, "axis", WIDEST_NAME), "axis")
        if strand.part:
            tile = [Run(f"\u2009{strand.tile}", "size")] * bool(strand.tile)
            return [Run(strand.part, "axis"), Run(name.text, "sub"), *tile]
        size = strand.axis.size if strand.axis else None
        return [name, Run(f"\u2009{size}", "size")] if size and sized else [name]
