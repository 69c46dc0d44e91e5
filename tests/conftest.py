"""What every test shares: golden files, the slow marker, and a registry that a test may fill without harming others."""

from __future__ import annotations

import gc
import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest

# Triton reads this as it is imported, so it must be set before any test imports it. Compiling ahead of time needs it
# unset: such tests run a process of their own.
if shutil.which("nvidia-smi") is None:
    os.environ.setdefault("TRITON_INTERPRET", "1")
GOLDEN = Path(__file__).parent / "golden"
PACE = 0.0125  # processor seconds of `paced` on the machine that the limits of time were measured on

T = TypeVar("T")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="rewrite the golden files from what the code gives now"
    )
    parser.addoption("--fast", action="store_true", help="leave out the tests marked slow")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--fast"):
        chosen = [item for item in items if "slow" not in item.keywords]
        config.hook.pytest_deselected(items=[item for item in items if "slow" in item.keywords])
        items[:] = chosen


@pytest.fixture(scope="module", autouse=True)
def _left() -> Iterator[None]:
    """Take what a file of tests leaves, as modules and terms, out of what Python looks for cycles in from then on: to
    look through millions of objects takes seconds, every time.
    """
    yield
    gc.collect()
    gc.freeze()


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compare a text with `tests/golden/NAME`; with --update-golden write it instead."""

    def compare(name: str, text: str) -> None:
        file = GOLDEN / name
        if request.config.getoption("--update-golden"):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        assert file.exists(), f"no golden file {name}: run pytest --update-golden and read what it wrote"
        assert text == file.read_text(encoding="utf-8")

    return compare


def paced() -> float:
    """Give the processor seconds of a fixed piece of Python: how fast this machine, as busy as it is, runs such code
    now.
    """
    begun, total, seen = time.process_time(), 0, {}
    for i in range(60_000):
        seen[i & 1023] = (i, total)
        total = (total * 31 + len(seen)) & 0xFFFF
    return time.process_time() - begun


def slower() -> float:
    """Give how many times as long this machine takes now as the one that the limits of time were measured on, at least
    1.
    """
    return max(1.0, paced() / PACE)


@pytest.fixture(scope="session")
def pace() -> Callable[[], float]:
    """Give `slower`, for limits of work that runs in processes of its own."""
    return slower


@pytest.fixture(scope="session")
def within() -> Callable[..., object]:
    """Give what holds work to a limit of processor seconds, those of the machine that the limits were measured on.

    A machine that runs plain Python slower, or that others keep busy, gets as much more; work that may be done again is
    tried up to three times, and the quickest counts: what else went on in the process is no fault of the work.
    """

    def held(seconds: float, work: Callable[[], T], tries: int = 3) -> T:
        said = []
        for _ in range(tries):
            gc.collect()
            before = slower()
            begun = time.process_time()
            result = work()
            taken = time.process_time() - begun
            allowed = seconds * max(before, slower())
            if taken < allowed:
                return result
            said.append(f"{taken:.2f} s where {allowed:.2f} are allowed")
        raise AssertionError("; ".join(said))

    return held


@pytest.fixture
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Give a cache of its own, empty but for what is known of laws: proving them all again takes a minute."""
    from napkin_eq.prove.cache import _file

    known, own = [_file(name) for name in ("verdicts", "floating", "rocq")], tmp_path / "cache"
    (own / "napkin_eq").mkdir(parents=True)
    for file in known:
        if file.exists():
            shutil.copy(file, own / "napkin_eq")
    monkeypatch.setenv("XDG_CACHE_HOME", str(own))
    return own


@pytest.fixture
def registry() -> Iterator[object]:
    """Give the registry of laws, and restore it afterwards."""
    from napkin_eq.laws.law import REGISTRY

    before, family = dict(REGISTRY.statements), REGISTRY.family
    yield REGISTRY
    REGISTRY.statements.clear()
    REGISTRY.statements.update(before)
    REGISTRY.family = family


@pytest.fixture(scope="session")
def browser() -> Iterator[object]:
    """Give a Chromium, one for the whole session; without one the test is skipped."""
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        pytest.skip("no Chromium here")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=found, args=["--no-sandbox", "--disable-gpu"])
        yield opened
        opened.close()
