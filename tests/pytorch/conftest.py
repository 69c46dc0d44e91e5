"""What tests of the backend begin with."""

from __future__ import annotations

import warnings

import pytest
import torch

from napkin_eq.pytorch import backend, regions


@pytest.fixture
def fresh():
    """Nothing was compiled before, and PyTorch's warnings are its own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch._dynamo.reset()
        backend.reports.clear()
        yield


@pytest.fixture(autouse=True)
def one_search(monkeypatch):
    """One region is searched at once unless a test asks for more: tests run side by side, on as many cores."""
    monkeypatch.setattr(regions, "MOST_PROCESSES", 1)


@pytest.fixture(autouse=True)
def nothing_chosen(request, monkeypatch):
    """What another test had chosen of an equal graph is not taken, unless a test has a cache of its own."""
    if "cache" not in request.fixturenames:
        monkeypatch.setattr(regions._Memory, "regions", lambda memory: None)
