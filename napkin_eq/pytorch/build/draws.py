"""Random numbers of PyTorch's own stream on a GPU: which bits an operator draws for each element, as whole numbers.

A kernel of PyTorch's that draws gives each of its threads a stream of its own, and mixes a counter of the generator's
into four words, one for an element, until all elements have one (aten/src/ATen/native/cuda/DistributionTemplates.h and
Dropout.cu of PyTorch 2.11). So the words are a function of the generator's seed, of its counter and of an element's
place, and need not be stored: the operator `napkin_eq::words` is that function.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from napkin_eq.lang.errors import NapkinError
from napkin_eq.pipeline.reference import mixed

THREADS, WORDS = 256, 4  # of a block of PyTorch's kernels that draw, and of a counter
MIDDLE = 2**31  # what words, which have no sign, are less by here
LEAST = 2.0**-20  # a share of places, or of those left out, that is smaller is no mask's


class Placed(NamedTuple):
    """Where an element's word is: in the stream of a thread, so many counters on, which of four."""

    stream: Any
    counter: Any
    word: Any


def threads(elements: int, processors: int, each: int) -> int:
    """Return how many threads PyTorch draws so many elements by, on a GPU of so many processors with so many threads
    each.
    """
    return THREADS * min(processors * (each // THREADS), -(-elements // THREADS))


def advanced(elements: int, count: int) -> int:
    """Return by how many counters a call advances the generator that draws so many elements by so many threads."""
    return (elements - 1) // (count * WORDS) + 1


def vector(elements: int, widest: int) -> int:
    """Return how many neighbours a thread takes at once, at the most `widest`: so many that none are left over."""
    while widest > 1 and elements % widest:
        widest //= 2
    return widest


def placed(flat: Any, elements: int, count: int, together: int, whole: Any = None, part: Any = None) -> Placed:
    """Return where the word of an element is, by its place among all of them in memory: terms, tensors or numbers.

    count: of threads. together: neighbours that a thread takes at once; of one the four words of a counter are for
    elements as far apart as there are threads. whole, part: quotient and remainder of the place by `together`, where
    they are known in another form.
    """
    if together == 1:
        if elements <= count:
            return Placed(flat, 0, 0)
        turn = flat // count
        return Placed(flat - turn * count, flat // (count * WORDS), turn % WORDS)
    whole = flat // together if whole is None else whole
    part = flat % together if part is None else part
    turn = 0 if elements <= count * together else whole // count
    stream = whole - turn * count if elements > count * together else whole  # with one division
    if together > WORDS:
        return Placed(stream, turn * (together // WORDS) + part // WORDS, part % WORDS)
    return Placed(stream, turn, part)


def limit(share: float) -> int:
    """Return the largest of the words whose number is less than a share: PyTorch takes a word's number x, rounded to
    float32, for x / 2^32 + 1 / 2^33, and compares it with the share, rounded to float32 too.

    Raises NapkinError for a share so near to 0 or 1 that it is hardly a mask.
    """
    if not LEAST <= share <= 1 - LEAST:
        raise NapkinError(f"numbers drawn to be less than {share:g}, as hardly any or nearly all are")
    import numpy as np

    least, most = 0, 2**32 - 1  # the first is less, the last is not
    while most - least > 1:
        middle = (least + most) // 2
        number = np.float32(middle) * np.float32(2.0**-32) + np.float32(2.0**-33)
        least, most = (middle, most) if number < np.float32(share) else (least, middle)
    return least - MIDDLE


def drawn(state: Any, size: Sequence[int], before: int, count: int, together: int) -> Any:
    """Return the words of all elements of a tensor of this size as PyTorch's operators compute them, in int64: a tensor
    of int32, each word less 2^31.

    state: a tensor of int64, the seed and the generator's counter, `before` which other draws take some of it; count
    and together as for `placed`.
    """
    import torch

    elements = math.prod(size)
    found = placed(torch.arange(elements, device=state.device).reshape(size), elements, count, together)
    bits = mixed(state[0], found.stream, state[1] + before + found.counter, found.word)
    return bits.expand(size).to(torch.int32)
