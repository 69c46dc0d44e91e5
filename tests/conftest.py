"""What every test shares: golden files, the slow marker, and a registry that a test may fill without harming others."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

# Triton reads this as it is imported, so it must be set before any test imports it. Compiling ahead of time needs it
# unset: such tests run a process of their own.
if shutil.which("nvidia-smi") is None:
    os.environ.setdefault("TRITON_INTERPRET", "1")
GOLDEN = Path(__file__).parent / "golden"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite the golden files from what the code gives now")
    parser.addoption("--fast", action="store_true", help="leave out the tests marked slow")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--fast"):
        chosen = [item for item in items if "slow" not in item.keywords]
        config.hook.pytest_deselected(items=[item for item in items if "slow" in item.keywords])
        items[:] = chosen


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
