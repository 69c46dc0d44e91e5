"""Long work that someone waits for: it says how far it is, and asks whether to go on.

    with watched(Watch(tell)):    whoever waits
    reported("laws", 3, 120)          what works, now and then; False where it is to end and give what it has
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(slots=True)
class Watch:
    """Someone who waits: `tell` is given what is done, as a line; `ended` is set where work is to end with
    what it has.
    """

    tell: Callable[[str], None] | None = None
    ended: bool = False


_WATCH: ContextVar[Watch | None] = ContextVar("watch", default=None)


@contextmanager
def watched(watch: Watch) -> Iterator[Watch]:
    """Let the work in the block tell a watch how far it is."""
    before = _WATCH.set(watch)
    try:
        yield watch
    finally:
        _WATCH.reset(before)


def reported(what: str, done: int | None = None, of: int | None = None) -> bool:
    """Tell whoever waits how far work is, and return whether it goes on."""
    watch = _WATCH.get()
    if watch is None:
        return True
    if watch.tell is not None:
        counted = "" if done is None else f": {done}" if of is None else f": {done} of {of}"
        watch.tell(what + counted)
    return not watch.ended


def going() -> bool:
    """Tell whether work goes on: nobody has ended it."""
    watch = _WATCH.get()
    return watch is None or not watch.ended
