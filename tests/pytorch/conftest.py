"""What tests of the backend begin with."""

from __future__ import annotations

import warnings

import pytest
import torch

from napkin_eq.pytorch import backend


@pytest.fixture
def fresh():
    """Nothing was compiled before, and PyTorch's warnings are its own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch._dynamo.reset()
        backend.reports.clear()
        yield
