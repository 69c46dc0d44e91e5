"""Progress of long work on stderr: a line that follows it on a terminal, elsewhere a line every ten seconds.

An interrupt takes what there is.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

from napkin_eq.egraph.budget import Budget, Clock
from napkin_eq.prove.watch import Watch, watched

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

SELDOM, SOON = 10.0, 1.0  # seconds between lines of a log; before a terminal shows anything


def said(search: str, figures: Mapping[str, float]) -> str:
    """Return how far a search is, as one line."""
    counts = [f"{figures[name]:.0f} {name}" for name in ("nodes", "classes", "candidates") if name in figures]
    if "priced" in figures:
        counts.append(f"{figures['priced']:.0f} priced")
    if "best_us" in figures:
        counts.append(f"best so far {figures['best_us']:.4g} µs")
    if figures.get("bound_us", 0) > 0:
        counts.append(f"bound {figures['bound_us']:.4g} µs")
    return ": ".join([search, ", ".join(counts)] if counts else [search])


@contextmanager
def shown(seconds: float, quiet: bool = False) -> Iterator[Budget]:
    """Give a budget whose searches are shown as they go on, and which a first interrupt ends: what was found is taken.

    A second interrupt goes its usual way. quiet: nothing is shown. NO_COLOR leaves out colours.
    """
    with nullcontext(None) if quiet else _teller() as tell:
        budget = Budget(seconds, Clock(tell=tell))
        with _on_interrupt("taking the best plan so far", budget.end):
            yield budget


@contextmanager
def watching(quiet: bool = False, ending: bool = True) -> Iterator[Watch]:
    """Show how far the work in the block says that it is.

    ending: a first interrupt ends that work, which then gives what it has; else the work sees to that itself.
    """
    with nullcontext(None) if quiet else _teller() as tell:
        watch = Watch(None if tell is None else lambda said: tell(said, {}))

        def end() -> None:
            watch.ended = True

        with watched(watch), _on_interrupt("this is what was seen until then", end) if ending else nullcontext():
            yield watch


def _teller() -> AbstractContextManager[Callable[[str, Mapping[str, float]], None]]:
    follows = sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
    return _followed() if follows else nullcontext(_logged())


def _logged() -> Callable[[str, Mapping[str, float]], None]:
    begun = last = time.monotonic()

    def tell(search: str, figures: Mapping[str, float]) -> None:
        nonlocal last
        if time.monotonic() > last + SELDOM and sys.stderr is not None:
            last = time.monotonic()
            print(f"napkin-eq: {last - begun:.0f} s: {said(search, figures)}", file=sys.stderr)

    return tell


@contextmanager
def _followed() -> Iterator[Callable[[str, Mapping[str, float]], None]]:
    from rich.console import Console
    from rich.live import Live
    from rich.spinner import Spinner
    from rich.text import Text

    spinner, begun, last = Spinner("dots", style="cyan"), time.monotonic(), ""
    timer: threading.Timer | None = None

    def line() -> Spinner:
        text = f"{time.monotonic() - begun:.0f} s  {last}"
        spinner.update(text=Text(text, overflow="ellipsis", no_wrap=True))
        return spinner

    # What the program prints on its standard output is its own.
    console = Console(stderr=True)
    live = Live(get_renderable=line, console=console, transient=True, refresh_per_second=8, redirect_stdout=False)

    def tell(search: str, figures: Mapping[str, float]) -> None:
        nonlocal last, timer
        last = said(search, figures)
        if timer is None:
            timer = threading.Timer(max(0.0, begun + SOON - time.monotonic()), live.start)
            timer.daemon = True
            timer.start()

    try:
        yield tell
    finally:
        if timer is not None:
            timer.cancel()
            timer.join()
        live.stop()


@contextmanager
def _on_interrupt(said: str, ended: Callable[[], None]) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may say what an interrupt does
        return

    def end(number: int, frame: object) -> None:
        signal.signal(signal.SIGINT, before)
        print(f"napkin-eq: interrupted: {said}; once more ends it", file=sys.stderr)
        ended()

    before = signal.signal(signal.SIGINT, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
