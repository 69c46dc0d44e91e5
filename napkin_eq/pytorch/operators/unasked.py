"""What PyTorch asks of the data of a program, and is no part of what it computes of them."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def unasked() -> Iterator[None]:
    """Leave out, as long as it lasts, what PyTorch asks of data that is no part of what it computes of them: whether
    parameters of a distribution and variances fit, and whether a mask is the causal one, for which a kernel of its own
    computes the same.
    """
    import torch
    from torch.nn.modules import transformer

    checks = torch.distributions.Distribution._validate_args
    causal, loss = transformer._detect_is_causal_mask, torch.nn.functional.gaussian_nll_loss

    def hinted(mask: Any, is_causal: bool | None = None, size: int | None = None) -> bool:
        return bool(is_causal) if is_causal is not None or mask is None else False

    @functools.wraps(loss)
    def unchecked(*args: Any, **kwargs: Any) -> Any:
        asked = torch.any
        torch.any = lambda *_: False  # of variances below 0: the one question it asks
        try:
            return loss(*args, **kwargs)
        finally:
            torch.any = asked

    torch.distributions.Distribution.set_default_validate_args(False)
    transformer._detect_is_causal_mask, torch.nn.functional.gaussian_nll_loss = hinted, unchecked
    try:
        yield
    finally:
        torch.distributions.Distribution.set_default_validate_args(checks)
        transformer._detect_is_causal_mask, torch.nn.functional.gaussian_nll_loss = causal, loss
