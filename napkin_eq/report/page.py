"""The page of a report: one HTML file without scripts from elsewhere, by templates, and its parts, to show live."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment

FOLDER = Path(__file__).resolve().parent
PICTURES = {"before", "after", "roofline", "seconds"}


def page(found: dict[str, Any]) -> str:
    """Return a report's contents as one HTML file; all text is escaped but the pictures, which escape their own."""
    return part("page.html", found)


def part(template: str, found: dict[str, Any]) -> str:
    """Return a part of the page by its template: sections.html is all below the head, tried.html two sections."""
    from markupsafe import Markup

    shown = {name: Markup(value) if name in PICTURES else value for name, value in found.items()}
    shown["inf"] = float("inf")
    if "moves" in found:
        shown["moves"] = [(move, Markup(picture), steps) for move, picture, steps in found["moves"]]
    return str(_templates().get_template(template).render(shown))


@cache
def _templates() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    loader = FileSystemLoader(FOLDER)
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
