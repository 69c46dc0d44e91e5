"""The types of numbers that arrays and tiles hold: one record each, from which every table over types is made.

A new type is an entry of `TYPES`: what it is called in plans, in torch and in Triton, its size and what it rounds are
read off it. Which types a GPU knows and multiplies is in the GPU's data file.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Type:
    """A type of numbers: `name` in diagrams and in torch, `short` in plans, `pointer` in a compiled kernel's signature.

    digits, least, top: of a floating type the binary digits of a number, the exponent of the least positive number and
    the largest number; of others 0. storage: whether a derivation may hold its arrays so. multiplied: the type, holding
    each of its numbers, in which the matrix unit is given them, where that is another. device: Triton's name, where it
    is not the diagram's. finite: what is too large, infinities too, becomes the largest number, as a GPU and torch 2.13
    convert it. needs: the contractions that a GPU has (in its data file) if it can convert the type. unsigned: of whole
    numbers, none is below 0.
    """

    name: str
    short: str
    kind: str
    bytes: int
    pointer: str
    digits: int = 0
    least: int = 0
    top: float = 0.0
    storage: bool = False
    multiplied: str = ""
    device: str = ""
    finite: bool = False
    needs: str = ""
    unsigned: bool = False

    @property
    def whole(self) -> tuple[float, float]:
        """The least and the largest whole number."""
        bits = 8 * self.bytes
        return (0.0, 2.0**bits - 1) if self.unsigned else (-(2.0 ** (bits - 1)), 2.0 ** (bits - 1) - 1)

    @property
    def roundoff(self) -> float:
        """What a number is off by at most, relative to it, once rounded to the type."""
        return 2.0**-self.digits

    @property
    def exponent(self) -> float:
        """The largest |x| of which e^x keeps its digits as an operand of the matrix unit, at most MOST_EXPONENT."""
        taken = BY_SHORT[self.multiplied or self.short]
        return min(MOST_EXPONENT, math.floor(-(taken.least + taken.digits - 1) * math.log(2)))

    @property
    def half(self) -> float:
        """Half of the least positive number: what rounding takes from numbers that are too small for the digits."""
        return 2.0 ** (self.least - 1)


MOST_EXPONENT = 60.0
TYPES = (
    Type("bfloat16", "bf16", "real", 2, "bf16", 8, -133, 2.0**128 - 2.0**120, storage=True),
    Type("float16", "f16", "real", 2, "fp16", 11, -24, 65504.0, storage=True),
    Type("float32", "f32", "real", 4, "fp32", 24, -149, 2.0**128 - 2.0**104, storage=True),
    Type(
        "float8_e4m3fn",
        "e4m3",
        "real",
        1,
        "fp8e4nv",
        4,
        -9,
        448.0,
        storage=True,
        multiplied="f16",
        device="float8e4nv",
        finite=True,
        needs="float8",
    ),
    Type("float64", "f64", "real", 8, "fp64", 53, -1074, sys.float_info.max),
    Type("int8", "i8", "int", 1, "i8"),
    Type("uint8", "u8", "int", 1, "u8", unsigned=True),
    Type("int16", "i16", "int", 2, "i16"),
    Type("int32", "i32", "int", 4, "i32"),
    Type("int64", "i64", "int", 8, "i64"),
    Type("bool", "i1", "bool", 1, "i1", device="int1"),
)
BY_NAME = {t.name: t for t in TYPES}
BY_SHORT = {t.short: t for t in TYPES}
KINDS = {"float": "real", **{t.name: t.kind for t in TYPES}}  # "float" stands for the storage type of a derivation
STORAGE = {t.name: t.short for t in TYPES if t.storage}
REAL, WHOLE = (tuple(t.short for t in TYPES if t.kind == kind) for kind in ("real", "int"))
# What arithmetic widens to float32, and rounds to where it is stored.
NARROW = tuple(t.short for t in TYPES if t.storage and t.digits < 24)
DEFAULT = {"real": "f32", "int": "i32", "bool": "i1"}  # in which a value of a kind is computed, unless it is wide


def table(of: Callable[[Type], T]) -> dict[str, T]:
    """Return a fact of every type, by the name that plans have for it."""
    return {t.short: of(t) for t in TYPES}


def device(prefix: str) -> dict[str, str]:
    """Return the names of types in a language on the GPU, `tl` or `gl`."""
    return table(lambda t: f"{prefix}.{t.device or t.name}")


def computed_as(kind: str, wide: bool) -> str:
    """Return the type, as plans name it, in which a value of a kind is computed; wide: of whole numbers that may pass
    32 bits.
    """
    return "i64" if wide else DEFAULT[kind]


def output_type(kind: str, storage: str, wide: bool, asked: str | None = None) -> str:
    """Return the type, as plans name it, of an output: the one asked for by name, else what its kind of values has."""
    return BY_NAME[asked].short if asked else STORAGE[storage] if kind == "real" else computed_as(kind, wide)


def held_as(dtype: str, storage: str) -> str:
    """Return the type, as plans name it, in which an array that a diagram declares is held: "float" is of the storage
    type.
    """
    return storage if dtype == "float" else BY_NAME[dtype].short
