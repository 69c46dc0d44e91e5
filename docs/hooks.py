"""Links of the documents to files outside docs/ show the name of the file on the site, which has no such page."""

from __future__ import annotations

import re
from typing import Any

OUTSIDE = re.compile(r"!?\[([^\]]*)\]\(\.\./([^)]*)\)")


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Return a page whose links out of docs/ are the names of the files."""
    return OUTSIDE.sub(lambda match: f"{match[1]} (`{match[2]}`)", markdown)
