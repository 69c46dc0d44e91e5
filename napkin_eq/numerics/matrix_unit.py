"""What the matrix unit makes of a product of float32, given whole or in parts, as Triton 3.6 writes it (F32DotTC.cpp).

A number's first part is the number rounded, the next is what is left of it rounded, and so on; in tf32 the unit drops
the low digits of what it is given. The products of parts i and j with i + j below the number of parts are added up, the
smallest first, and NaN among them is dropped before the product of the first parts is added. So an infinity, whose
other parts are NaN, stays one, and a number that is rounded to infinity becomes one.
"""

from __future__ import annotations

import numpy as np

from napkin_eq.lang.dtypes import BY_NAME
from napkin_eq.lang.numpy_semantics import Array, held
from napkin_eq.tile.ir import PRECISIONS, Precision

DROPPED = np.uint32(2**13 - 1)  # digits of float32 that tf32 has not


def multiplied(rows: Array, columns: Array, precision: str) -> Array:
    """Return the matrix product of float32 arrays in a precision of PRECISIONS in ir.py."""
    how = PRECISIONS[precision]
    if how.unit == "float32":
        return np.asarray(rows @ columns)
    left, right = _parts(rows, how), _parts(columns, how)
    first, *small = sorted((i + j, i, j) for i in range(how.parts) for j in range(how.parts) if i + j < how.parts)
    product = left[0] @ right[0]
    if not small:
        return np.asarray(product)
    total = sum(left[i] @ right[j] for _, i, j in reversed(small))
    return np.asarray(np.where(np.isnan(total), np.float32(0), total) + product)


def _parts(numbers: Array, how: Precision) -> list[Array]:
    found = []
    for left in reversed(range(how.parts)):
        part = _cut(numbers) if how.unit == "tf32" and not left else _rounded(numbers, how.unit)
        found.append(part)
        numbers = numbers - part
    return found


def _cut(numbers: Array) -> Array:
    return (np.ascontiguousarray(numbers).view(np.uint32) & ~DROPPED).view(np.float32)


def _rounded(numbers: Array, unit: str) -> Array:
    """Round to bfloat16 with ties to even, to tf32 with ties away from zero; past the range there is infinity."""
    if unit != "tf32":
        return held(numbers, BY_NAME[unit])
    bits = np.ascontiguousarray(numbers).view(np.uint32)
    return np.where(np.isfinite(numbers), _cut((bits + (DROPPED + 1) // 2).view(np.float32)), numbers)
