"""Neural circuit diagrams: pictures of diagrams, plans and laws, read off their terms and nothing else.

    circuit     operations as boxes between bundles of wires, with nothing about where they are drawn
    regions     parts of a diagram that make one array of one array, found by their form
    read        terms into circuits
    planned     derived plans into circuits: levels, groups, streams, costs
    repeats     equal stretches in a row and equal regions side by side, drawn once
    order       which operation stands in which column, and which wire above which
    tracks      how high each wire lies
    picture     labels, wires and shapes as data, and how wide a text is
    pictograms  the drawing of each kind of operation
    layout      a circuit as a picture
    margins     what stands around the columns: costs, brackets, the colours of levels, the title
    laws        the picture of a law, what changes marked
    moves       a derivation's steps grouped into the few moves that a person would name
    strip       the film strip of a derivation, as a picture, as HTML that opens, as text
    markup      a picture as SVG, and through CairoSVG as PNG or PDF

Use: `svg(thing)` of a Diagram, a Derivation or a Law; the first two show themselves so in notebooks.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from napkin_eq.lang.errors import NapkinError

if TYPE_CHECKING:
    from napkin_eq.draw.picture import Picture
    from napkin_eq.lang.diagram import Diagram
    from napkin_eq.laws.law import Law
    from napkin_eq.pipeline.derivation import Derivation


def drawn(thing: Diagram | Derivation | Law) -> Picture:
    """Return the picture of a diagram, of the plan that was derived of one, or of a law.

    Raises NapkinError for what is too large to draw.
    """
    try:
        return _drawn(thing)
    except RecursionError:
        raise NapkinError("its term nests too deeply to be drawn; draw one output, or parts of it") from None


def _drawn(thing: Diagram | Derivation | Law) -> Picture:
    from napkin_eq.draw.layout import picture
    from napkin_eq.draw.repeats import folded
    from napkin_eq.lang.diagram import Diagram
    from napkin_eq.laws.law import Law

    if isinstance(thing, Law):
        from napkin_eq.draw.laws import law_picture

        return law_picture(thing)
    if isinstance(thing, Diagram):
        from napkin_eq.draw.read import circuit

        return picture(folded(circuit(thing)), thing.name, [thing.doc] if thing.doc else [])
    from napkin_eq.draw import planned

    about = f"The derived plan for {thing.hardware.title}, {thing.dtype}."
    return picture(folded(planned.circuit(thing)), thing.diagram.name, [about])


def shown(thing: Diagram | Derivation) -> str:
    """Return a diagram or a plan as SVG for a page, or as HTML that says why it is not drawn."""
    try:
        return svg(thing)
    except NapkinError as reason:
        return f"<p>Not drawn: {escape(str(reason))}.</p>"


def svg(thing: Diagram | Derivation | Law, theme: str = "auto") -> str:
    """Return a diagram, a derived plan or a law as SVG.

    Theme "auto" follows the reader's screen, "light" and "dark" are fixed.
    """
    from napkin_eq.draw.markup import svg as printed

    return printed(drawn(thing), theme)
