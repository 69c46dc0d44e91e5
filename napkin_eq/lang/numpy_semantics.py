"""The NumPy meaning of every term: a table by operator, a table by class, and frames for prefixes of a stream.

The absent value is -inf. It absorbs under + - * and under abs, sqrt, sin, cos, log, inv; exp and sigmoid take it to 0,
tanh and erf to -1. A frame is the universe in which a term is evaluated: the inputs cut to a prefix of some axes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from napkin_eq.lang.dtypes import Type
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.operators import COMBINE, NEUTRAL, PLACES, VALUES
from napkin_eq.lang.scope import opened
from napkin_eq.lang.term import (
    Acc,
    Const,
    Fold,
    Group,
    Index,
    Input,
    Length,
    Map,
    Online,
    Prev,
    Proj,
    Read,
    Recur,
    Reduce,
    Scan,
    Size,
    Store,
    Term,
    Walk,
    subterms,
)

Array = np.ndarray[Any, np.dtype[Any]]
ABSENT = -math.inf
TRUE = Const(True)
# Marks, among the axes that a term mentions: it speaks of an accumulator or of previous values outside of it. No axis
# has this name.
_UPDATE = "()"


@dataclass(frozen=True, slots=True)
class Named:
    """An array with a name for each of its axes; the names are sorted."""

    names: tuple[str, ...]
    data: Array


def aligned(*values: Named, also: tuple[str, ...] = ()) -> tuple[tuple[str, ...], list[Array]]:
    """Return the union of the names, and the arrays with an axis of length 1 wherever they lack one."""
    names = values[0].names if values else ()
    if also or any(value.names != names for value in values):
        names = tuple(sorted({name for value in values for name in value.names}.union(also)))
    else:
        return names, [value.data for value in values]
    return names, [
        v.data if v.names == names else v.data[tuple(slice(None) if name in v.names else None for name in names)]
        for v in values
    ]


def common_shape(*shapes: Sequence[int]) -> tuple[int, ...]:
    """Return the shape that shapes broadcast to, of any number of dimensions; NumPy's own function ends at 32."""
    rank = max(map(len, shapes), default=0)
    columns = zip(*((1,) * (rank - len(shape)) + tuple(shape) for shape in shapes), strict=True)
    return tuple(next((n for n in column if n != 1), 1) for column in columns)


def broadcast(*arrays: Array) -> list[Array]:
    """Return arrays as views of the shape that they broadcast to."""
    shape = common_shape(*(array.shape for array in arrays))
    return [np.broadcast_to(array, shape) for array in arrays]


def _absorbing(compute: Callable[..., Array]) -> Callable[..., Array]:
    def total(*args: Array) -> Array:
        result = compute(*args)
        for arg in args:
            if arg.dtype.kind == "f" and (absent := np.isneginf(arg)).any():
                result = np.where(absent, ABSENT, result)
        return result

    return total


def _inverse(a: Array) -> Array:
    return np.where(a == 0, 0.0, 1 / a)


def _logarithm(a: Array) -> Array:
    return np.where(a > 0, np.log(a), ABSENT)


def _logistic(a: Array) -> Array:
    return np.where(a >= 0, 1 / (1 + np.exp(-a)), np.exp(a) / (1 + np.exp(a)))


_erf = np.vectorize(math.erf, otypes=[np.float64])

# Of Philox 4x32-10 (Salmon, Moraes, Dror and Shaw, Parallel Random Numbers: As Easy as 1, 2, 3, SC 2011): what counters
# are multiplied by, and what is added to the key after each round.
ROUNDS, FACTORS, STEPS = 10, (0xD2511F53, 0xCD9E8D57), (0x9E3779B9, 0xBB67AE85)
LOW = 0xFFFFFFFF


def mixed(key: Any, counter: Sequence[Any]) -> list[Any]:
    """Return the four words of 32 bits that a counter of four and a key of two, all of them arrays of 64 bits without a
    sign that are broadcast together, are mixed to.
    """
    first, second = key
    a, b, c, d = counter
    for _ in range(ROUNDS):
        left, right = a * FACTORS[0], c * FACTORS[1]
        a, b, c, d = right >> 32 ^ b ^ first, right & LOW, left >> 32 ^ d ^ second, left & LOW
        first, second = first + STEPS[0] & LOW, second + STEPS[1] & LOW
    return [a, b, c, d]


def random(seed: Any, stream: Any, counter: Any, word: Any) -> Array:
    """Return one of the four words that the counter (counter, stream) is mixed to by a seed: the first three for word
    0, 1 and 2, else the last, less 2^31.

    seed, stream, counter: of 64 bits, those below zero by their two's complement.
    """
    halves = [(n & LOW, n >> 32 & LOW) for n in (np.asarray(n).astype(np.uint64) for n in (seed, stream, counter))]
    key, behind, before = ([half.astype(np.uint64) for half in pair] for pair in halves)
    words = mixed(key, (*before, *behind))
    number = np.asarray(word)
    chosen = np.where(number == 0, words[0], np.where(number == 1, words[1], np.where(number == 2, *words[2:])))
    return np.asarray(chosen.astype(np.int64) - 2**31)


OPERATORS: dict[str, Callable[..., Any]] = {
    "add": _absorbing(np.add),
    "mul": _absorbing(np.multiply),
    "neg": _absorbing(np.negative),
    "inv": _absorbing(_inverse),
    "max": np.maximum,
    "min": np.minimum,
    "exp": np.exp,
    "log": _logarithm,
    "sqrt": _absorbing(lambda a: np.sqrt(np.maximum(a, 0))),
    "tanh": np.tanh,
    "sigmoid": _logistic,
    "erf": _erf,
    "sin": _absorbing(np.sin),
    "cos": _absorbing(np.cos),
    "abs": _absorbing(np.abs),
    "floor": np.floor,
    "round": np.round,
    "expm1": np.expm1,
    "atan": _absorbing(np.arctan),
    "real": lambda a: a,
    "floordiv": np.floor_divide,
    "mod": np.mod,
    "lt": np.less,
    "le": np.less_equal,
    "eq": np.equal,
    "and": np.logical_and,
    "or": np.logical_or,
    "not": np.logical_not,
    "where": np.where,
    "random": random,
}


class _Place:
    """The place of the first maximum, called as NumPy's reductions are; over no lane it is 0."""

    @staticmethod
    def reduce(data: Array, axis: int, initial: float = ABSENT, keepdims: bool = False) -> Array:
        if not data.shape[axis]:
            return np.asarray(np.max(data, axis=axis, initial=initial, keepdims=keepdims).astype(np.int64) * 0)
        return np.asarray(np.argmax(data, axis=axis, keepdims=keepdims))


FOLDS: dict[str, Any] = {"sum": np.add, "max": np.maximum, "prod": np.multiply, "argmax": _Place}


def held(values: Any, dtype: Type) -> Array:
    """Return numbers as an array of a floating type holds them: rounded to its nearest ones, ties to even.

    What is beyond is infinite, or the largest number where the type has no infinities. NumPy holds a type that it does
    not know as float32.
    """
    if hasattr(np, dtype.name):
        with np.errstate(over="ignore"):
            return np.asarray(values).astype(dtype.name)
    wide = np.asarray(np.asarray(values, np.float32), np.float64)
    _, exponent = np.frexp(wide)
    unit = np.ldexp(1.0, np.maximum(exponent - dtype.digits, dtype.least))
    with np.errstate(all="ignore"):
        near = np.where(np.isfinite(wide), np.rint(wide / unit) * unit, wide)
    return np.where(np.abs(near) > dtype.top, np.copysign(dtype.top if dtype.finite else np.inf, wide), near).astype(
        np.float32
    )


def fold(monoid: str, axis: str, length: int, body: Named, mask: Named | None) -> Named:
    """Reduce an axis of this length, leaving out the lanes where the mask is false."""
    names, (data, *masks) = aligned(*(v for v in (body, mask) if v is not None), also=(axis,))
    at = names.index(axis)
    if masks:
        data = np.where(masks[0], data, NEUTRAL[monoid])
    shape = list(data.shape)
    shape[at] = length
    data = np.broadcast_to(data, shape)
    result = FOLDS[monoid].reduce(data, axis=at, initial=NEUTRAL[monoid])
    if VALUES[monoid] != "max" and not np.isfinite(result).all():
        result = np.where(np.isneginf(data).any(axis=at), ABSENT, result)
    return Named(names[:at] + names[at + 1 :], np.asarray(result))


def contraction(axis: str, a: Named, b: Named, mask: Named | None) -> Named | None:
    """Return the sum of a product as a matrix product where that is the same thing: both vary along the axis, nothing
    is absent.

    Nor is it where an axis that both have is of one lane in one of them, which stands for all lanes of the other's.
    """
    if axis not in a.names or axis not in b.names or not (np.isfinite(a.data).all() and np.isfinite(b.data).all()):
        return None
    extents = dict(zip(a.names, a.data.shape, strict=True))
    if any(extents.get(name, extent) != extent for name, extent in zip(b.names, b.data.shape, strict=True)):
        return None
    if mask is not None:
        if not set(mask.names) <= set(a.names):
            return None
        names, (kept, data) = aligned(mask, a)
        a = Named(names, np.where(kept, data, 0.0))
    batch = tuple(name for name in a.names if name in b.names and name != axis)
    rows = tuple(name for name in a.names if name not in b.names)
    columns = tuple(name for name in b.names if name not in a.names)
    left, right = _ordered(a, (*batch, *rows, axis)), _ordered(b, (*batch, axis, *columns))
    shape = left.shape[: len(batch)]
    length = left.shape[-1]
    product = np.matmul(
        left.reshape(*shape, math.prod(left.shape[len(batch) : -1]), length),
        right.reshape(*shape, length, math.prod(right.shape[len(batch) + 1 :])),
    )
    names = (*batch, *rows, *columns)
    data = product.reshape((*shape, *left.shape[len(batch) : -1], *right.shape[len(batch) + 1 :]))
    ordered = tuple(sorted(names))
    return Named(ordered, _ordered(Named(names, data), ordered))


def _ordered(value: Named, names: tuple[str, ...]) -> Array:
    return value.data.transpose([value.names.index(name) for name in names])


def scan(monoid: str, axis: str, length: int, body: Named) -> Named:
    """Return the inclusive prefix fold along an axis."""
    names, (data,) = aligned(body, also=(axis,))
    at = names.index(axis)
    data = np.broadcast_to(data, (*data.shape[:at], length, *data.shape[at + 1 :]))
    result = FOLDS[monoid].accumulate(data, axis=at)
    if monoid != "max":
        result = np.where(np.logical_or.accumulate(np.isneginf(data), axis=at), ABSENT, result)
    return Named(names, result)


def running(axis: int, gain: Any, part: Any) -> Any:
    """Return h[i] = gain[i] * h[i - 1] + part[i] along a dimension of arrays, 0 before its first lane;
    absence stays.
    """
    gains, parts = (np.moveaxis(side, axis, 0) for side in broadcast(gain, part))
    result = np.empty(parts.shape, np.result_type(gains, parts))
    gone = np.isneginf(gains) | np.isneginf(parts)
    if some := bool(gone.any()):
        np.logical_or.accumulate(gone, axis=0, out=gone)
        gains, parts = np.where(gone, 0.0, gains), np.where(gone, 0.0, parts)
    held: Any = np.zeros(parts.shape[1:], result.dtype)
    for lane in range(len(result)):
        made = result[lane, ...]
        np.multiply(gains[lane], held, out=made)
        np.add(made, parts[lane], out=made)
        held = made
    if some:
        result[gone] = ABSENT
    if (np.isneginf(result) & ~gone).any():  # what is too low for a number is absent from there on, too
        result[np.logical_or.accumulate(np.isneginf(result), axis=0)] = ABSENT
    return np.moveaxis(result, 0, axis)


def recur(axis: str, length: int, gain: Named, body: Named) -> Named:
    """Return the linear recurrence along an axis."""
    names, (gains, parts) = aligned(gain, body, also=(axis,))
    at = names.index(axis)
    parts = np.broadcast_to(parts, (*parts.shape[:at], length, *parts.shape[at + 1 :]))
    return Named(names, running(at, gains, parts))


def read(body: Named, axis: str, index: Named) -> Named:
    """Return the body at axis = index, the index clamped into the axis; of a body that is found alike all along it,
    itself.
    """
    if axis not in body.names:
        names, (alike, at) = aligned(body, index)
        return Named(names, broadcast(alike, at)[0])
    last = body.data.shape[body.names.index(axis)] - 1
    if last < 0:
        raise NapkinError(f"read along {axis}: the axis is empty here, in a running value before the first block")
    kept = [Named((name,), np.arange(n)) for name, n in zip(body.names, body.data.shape, strict=True) if name != axis]
    names, (where, *mesh) = aligned(index, *kept)
    places = iter(mesh)
    return Named(
        names, body.data[tuple(np.clip(where, 0, last) if name == axis else next(places) for name in body.names)]
    )


class Run:
    """One evaluation: the inputs, the sizes and which axes each subterm mentions."""

    def __init__(
        self,
        term: Term,
        inputs: Mapping[str, Any],
        sizes: Mapping[str, int],
        block: int | Mapping[str, int],
        dtype: Any,
    ) -> None:
        self.sizes, self.block = sizes, block
        self.dtype = np.dtype(dtype)
        self.mentions = _mentions(term)
        self.inputs = {t: self.checked(t, inputs[t.name]) for t in self.mentions if isinstance(t, Input)}
        self.top = Frame(self, {}, None)
        self.frames: dict[tuple[tuple[str, int], ...], Frame] = {}

    def checked(self, term: Input, value: Any) -> Named:
        array = np.asarray(value)
        expected = {"real": "fiu", "int": "iu", "bool": "b"}[term.kind]
        if array.dtype.kind not in expected:
            raise NapkinError(f"input {term.name} holds {array.dtype}, expected {term.kind} numbers ({term.dtype})")
        array = array.astype({"real": self.dtype, "int": np.int64, "bool": np.bool_}[term.kind])
        if term.kind == "real" and (np.isnan(array).any() or np.isposinf(array).any()):
            raise NapkinError(f"input {term.name} holds NaN or +inf; values are numbers, or -inf for an absent one")
        names = tuple(d.name for d in term.dims)
        ordered = tuple(sorted(names))
        return Named(ordered, _ordered(Named(names, array), ordered))

    def array(self, term: Term, order: tuple[str, ...]) -> Array:
        """Return the value of a term with these axes in this order, all of full length."""
        with np.errstate(all="ignore"):
            value = self.top.value(term)
        names, (data,) = aligned(value, also=order)
        full = np.broadcast_to(data, [self.top.length(name) for name in names])
        return np.ascontiguousarray(_ordered(Named(names, full), order)).reshape(
            [self.top.length(name) for name in order]
        )

    def step(self, axis: str) -> int:
        """Return how many lanes of an axis are taken at a time."""
        step = self.block.get(axis, self.length(axis)) if isinstance(self.block, Mapping) else self.block
        if step < 1:
            raise NapkinError(f"block {step} for axis {axis} is not a positive number of lanes")
        return step

    def length(self, axis: str) -> int:
        if axis not in self.sizes:
            raise NapkinError(f"axis {axis} has no size: no input carries it; give it one in sizes")
        return self.sizes[axis]


class Frame:
    """A universe of evaluation: some axes cut to a prefix; in an update also the accumulator and the frame one block
    before.

    A stream's body and mask keep the accumulator and the frame before of the stream around it; only its update has
    others (scope.py).
    """

    def __init__(
        self,
        run: Run,
        ends: Mapping[str, int],
        parent: Frame | None,
        cut: str = "",
        acc: Named | None = None,
        before: Frame | None = None,
    ) -> None:
        self.run, self.ends, self.parent, self.cut, self.acc, self.before = run, ends, parent, cut, acc, before
        self.memo: dict[Term, Named] = {}

    def prefix(self, axis: str, end: int) -> Frame:
        return Frame(self.run, {**self.ends, axis: end}, self, axis, self.acc, self.before)

    def kept(self, axis: str, end: int) -> Frame:
        """Return a prefix that is the same one whenever it is asked for; not for a frame that knows an accumulator."""
        ends = tuple(sorted({**self.ends, axis: end}.items()))
        if ends not in self.run.frames:
            self.run.frames[ends] = self.prefix(axis, end)
        return self.run.frames[ends]

    def fitted(self, value: Named) -> Named:
        """Return a value of another frame in the lanes of this one; a lane that is not there is the last."""
        data = value.data
        for at, name in enumerate(value.names):
            if data.shape[at] != self.length(name):
                if not data.shape[at]:
                    raise NapkinError(
                        f"Prev(...) varies along {name}, the axis of its own stream, which is empty before the first"
                        " block"
                    )
                data = data.take(np.minimum(np.arange(self.length(name)), data.shape[at] - 1), axis=at)
        return Named(value.names, data)

    def length(self, axis: str) -> int:
        return self.ends[axis] if axis in self.ends else self.run.length(axis)

    def value(self, root: Term) -> Named:
        """Return the value of a term, evaluating each subterm once; what a cut does not touch is left to the frame
        outside.
        """
        stack = [root]
        while stack:
            term = stack[-1]
            if term not in self.memo:
                if self.parent is not None and self.run.mentions[term].isdisjoint((self.cut, _UPDATE)):
                    self.memo[term] = self.parent.value(term)
                elif waiting := [part for part in _parts(term) if part not in self.memo]:
                    stack.extend(reversed(waiting))
                    continue
                else:
                    self.memo[term] = self.computed(term)
            stack.pop()
        return self.memo[root]

    def computed(self, term: Term) -> Named:
        rule = MEANING.get(type(term))
        if rule is None:
            raise NapkinError(f"{term!r:.80} is a pattern of a law and has no value; put a term in its place")
        return rule(self, term)


def _mentions(root: Term) -> dict[Term, frozenset[str]]:
    found: dict[Term, frozenset[str]] = {}
    for term in subterms(root):
        own = {axis.name for axis in term.axes} | ({term.axis.name} if "axis" in term.names else set())
        below = frozenset(own).union(*(found[child] for child in term.children)) - {_UPDATE}
        found[term] = below | {_UPDATE} if opened(term) else below
    return found


def _is_product(term: Term) -> bool:
    return isinstance(term, Reduce) and term.monoid == "sum" and isinstance(term.body, Map) and term.body.op == "mul"


def _parts(term: Term) -> tuple[Term, ...]:
    # A product under a sum is not formed if a matrix product will do; an Online and what stands before a block have
    # frames of their own.
    if isinstance(term, (Online, Prev)):
        return ()
    if isinstance(term, Proj):
        return (term.item,)
    return (*term.body.args, term.where) if _is_product(term) else term.children


def _map(frame: Frame, term: Term) -> Named:
    return _applied(term.op, [frame.memo[arg] for arg in term.args], frame)


def _applied(op: str, args: list[Named], frame: Frame) -> Named:
    names, arrays = aligned(*args)
    result = np.asarray(OPERATORS[op](*arrays))
    return Named(names, result.astype(frame.run.dtype) if op in ("real", "erf") else result)


def _mask(frame: Frame, term: Term) -> Named | None:
    return None if term.where is TRUE else frame.memo[term.where]


def _reduce(frame: Frame, term: Term) -> Named:
    axis, mask = term.axis.name, _mask(frame, term)
    if not _is_product(term):
        return fold(term.monoid, axis, frame.length(axis), frame.memo[term.body], mask)
    a, b = (frame.memo[arg] for arg in term.body.args)
    product = contraction(axis, a, b, mask)
    return (
        product if product is not None else fold("sum", axis, frame.length(axis), _applied("mul", [a, b], frame), mask)
    )


def _blocks(frame: Frame, axis: str) -> list[tuple[int, int]]:
    end, step = frame.length(axis), frame.run.step(axis)
    return [(start, min(start + step, end)) for start in range(0, end, step)]


def _lanes(value: Named, axis: str, start: int, end: int) -> Named:
    if axis not in value.names:
        return value
    return Named(value.names, value.data[(slice(None),) * value.names.index(axis) + (slice(start, end),)])


def _folded(frame: Frame, term: Term) -> Named:
    axis, mask, body = term.axis.name, _mask(frame, term), frame.memo[term.body]
    acc = Named((), np.asarray(NEUTRAL[term.monoid], frame.run.dtype))
    place = Named((), np.asarray(0))
    for start, end in _blocks(frame, axis):
        lanes = _lanes(body, axis, start, end), None if mask is None else _lanes(mask, axis, start, end)
        part = fold(VALUES[term.monoid], axis, end - start, *lanes)
        if term.monoid in PLACES:
            found = fold(term.monoid, axis, end - start, *lanes)
            # Blocks come in order, so of equal values the earlier lane is known already
            later = _applied("lt", [acc, part], frame)
            place = _applied("where", [later, Named(found.names, found.data + start), place], frame)
        acc = _applied(COMBINE[term.monoid], [acc, part], frame)
    return place if term.monoid in PLACES else acc


def _online(frame: Frame, term: Term) -> Named:
    axis = term.axis.name
    acc = Named((), np.asarray(0.0, frame.run.dtype))
    # Where an update refers to another such sum, that is evaluated in every prefix: these are kept, or it would be anew
    # in each of them.
    nested = any(
        isinstance(inner, Online)
        for part in subterms(term.update)
        if isinstance(part, Prev)
        for inner in subterms(part.body)
    )
    prefix = frame.kept if nested and frame.acc is None else frame.prefix
    before = prefix(axis, 0)
    for start, end in _blocks(frame, axis):
        here = prefix(axis, end)
        body = _lanes(here.value(term.body), axis, start, end)
        mask = None if term.where is TRUE else _lanes(here.value(term.where), axis, start, end)
        moved = Frame(frame.run, here.ends, here, _UPDATE, acc, before).value(term.update)
        acc = _applied("add", [moved, fold("sum", axis, end - start, body, mask)], frame)
        before = here
    return acc


def _acc(frame: Frame, term: Term) -> Named:
    if frame.acc is None:
        raise NapkinError("Acc() stands for an accumulator and has a value only inside an Online's update")
    return frame.fitted(frame.acc)


def _prev(frame: Frame, term: Term) -> Named:
    if frame.before is None:
        raise NapkinError(
            "Prev(...) stands for a running value one block before and has a value only inside an Online's update"
        )
    return frame.fitted(frame.before.value(term.body))


def _input(frame: Frame, term: Input) -> Named:
    value = frame.run.inputs[term]
    return Named(value.names, value.data[tuple(slice(frame.length(name)) for name in value.names)])


MEANING: dict[type[Term], Callable[[Frame, Any], Named]] = {
    Input: _input,
    Const: lambda frame, term: Named(
        (), np.asarray(float(term.value), frame.run.dtype) if term.kind == "real" else np.asarray(term.value)
    ),
    Index: lambda frame, term: Named((term.axis.name,), np.arange(frame.length(term.axis.name))),
    Size: lambda frame, term: Named((), np.asarray(frame.length(term.axis.name))),
    Length: lambda frame, term: Named((), np.asarray(frame.run.length(term.axis.name))),
    Map: _map,
    Reduce: _reduce,
    Fold: _folded,
    Online: _online,
    Scan: lambda frame, term: scan(term.monoid, term.axis.name, frame.length(term.axis.name), frame.memo[term.body]),
    Recur: lambda frame, term: recur(
        term.axis.name, frame.length(term.axis.name), frame.memo[term.gain], frame.memo[term.body]
    ),
    Read: lambda frame, term: read(frame.memo[term.body], term.axis.name, frame.memo[term.index]),
    Proj: lambda frame, term: frame.memo[term.item],
    Store: lambda frame, term: frame.memo[term.body],
    Group: lambda frame, term: frame.memo[term.body],
    Walk: lambda frame, term: frame.memo[term.body],
    Acc: _acc,
    Prev: _prev,
}
