"""The page of a report: one HTML file without scripts from elsewhere, by a template."""

from __future__ import annotations

from pathlib import Path
from typing import Any

TEMPLATE = Path(__file__).resolve().with_name("page.html")


def page(found: dict[str, Any]) -> str:
    """Return a report's contents as one HTML file; all text is escaped but the pictures, which escape their own."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    pictures = {"before", "after", "roofline", "seconds"}
    shown = {name: Markup(value) if name in pictures else value for name, value in found.items()}
    shown["inf"] = float("inf")
    shown["moves"] = [(move, Markup(picture), steps) for move, picture, steps in found["moves"]]
    env = Environment(loader=FileSystemLoader(TEMPLATE.parent), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return str(env.get_template(TEMPLATE.name).render(shown))
