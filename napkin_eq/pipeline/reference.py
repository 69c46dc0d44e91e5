"""What a term gives in PyTorch's own arithmetic: infinities and NaN as IEEE has them, on any device, with gradients.

It stands beside the language's meaning (`lang/numpy_semantics.py`), where nothing is NaN: where the two differ, a
program is outside what was promised, and that is said.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.numpy_semantics import FACTORS, LOW, ROUNDS, STEPS
from napkin_eq.lang.operators import OPS
from napkin_eq.lang.term import Const, Index, Input, Length, Map, Proj, Read, Recur, Reduce, Scan, Size, Term, subterms

TRUE = Const(True)
Named = tuple[tuple[str, ...], Any]


def _operators() -> dict[str, Callable[..., Any]]:
    import torch

    return {
        **{op: getattr(torch, op) for op in OPS if hasattr(torch, op)},
        "inv": torch.reciprocal,
        "max": torch.maximum,
        "min": torch.minimum,
        "floordiv": lambda a, b: torch.where(b == 0, 0, torch.div(a, torch.where(b == 0, 1, b), rounding_mode="floor")),
        "mod": lambda a, b: torch.where(b == 0, 0, torch.remainder(a, torch.where(b == 0, 1, b))),
        "and": torch.logical_and,
        "or": torch.logical_or,
        "not": torch.logical_not,
        "random": mixed,
    }


def mixed(seed: Any, stream: Any, counter: Any, word: Any) -> Any:
    """Return the words that counters are mixed to, as `random` of the language says, in int64, whose products wrap
    around; all four are tensors of int64, or numbers for a stream of 0 or a word that is the same everywhere.
    """
    import torch

    key, step = seed & LOW, seed >> 32 & LOW
    a, b, c, d = (half for number in (counter, stream) for half in (number & LOW, number >> 32 & LOW))
    for _ in range(ROUNDS):
        left, right = a * FACTORS[0], c * FACTORS[1]
        a, b, c, d = right >> 32 & LOW ^ b ^ key, right & LOW, left >> 32 & LOW ^ d ^ step, left & LOW
        key, step = key + STEPS[0] & LOW, step + STEPS[1] & LOW
    if isinstance(word, int):
        return (a, b, c, d)[min(word % 2**32, 3)] - 2**31
    others = torch.where(word == 1, b, torch.where(word == 2, c, d))
    return torch.where(word == 0, a, others) - 2**31


def needed(*roots: Term) -> list[Term]:
    """Return the parts of terms that an evaluation computes, children before parents: all but the products that it sums
    as they are made.
    """
    wanted, parts = set(roots), list(subterms(*roots))
    for part in reversed(parts):
        if part in wanted:
            wanted.update(part.children if (pair := summed(part)) is None else pair)
    return [part for part in parts if part in wanted]


def summed(term: Term) -> tuple[Term, Term] | None:
    """Return the two factors whose products a sum is of, where both vary along its axis and no mask leaves some out."""
    if not isinstance(term, Reduce) or term.monoid != "sum" or term.where is not TRUE:
        return None
    body = term.body
    if not isinstance(body, Map) or body.op != "mul" or not all(term.axis in arg.axes for arg in body.args):
        return None
    return body.args[0], body.args[1]


def masked(term: Term) -> bool:
    """Tell whether a mask that reads no real number, of places or of data, chooses in any part of a term."""
    masks = [part.children[0] for part in subterms(term) if isinstance(part, Map) and part.op == "where"]
    return any(all(part.kind != "real" for part in subterms(mask)) for mask in masks)


class Evaluation:
    """One evaluation of terms: tensors for the inputs, sizes of the axes, the type of real numbers.

    cases: the name of one axis more, along which inputs of one dimension more have, as their first, several data.
    absent: of a sum of products with what masks by places, or of data, leave out, those with 0 are 0, as if the others'
    factors were not read.
    """

    def __init__(
        self,
        inputs: Mapping[str, Any],
        sizes: Mapping[str, int],
        dtype: Any,
        device: Any,
        cases: str = "",
        absent: bool = False,
    ) -> None:
        import torch

        self.torch, self.inputs, self.sizes, self.dtype, self.device = torch, inputs, sizes, dtype, device
        self.cases, self.absent = cases, absent
        self.memo: dict[Term, Named] = {}
        self.operators = _operators()

    def value(self, term: Term, order: tuple[str, ...]) -> Any:
        """Return a term's value with its axes in this order, of full length."""
        for part in needed(term):
            if part not in self.memo:
                self.memo[part] = self._computed(part)
        names, data = self.memo[term]
        data = self._over(self.memo[term], tuple(sorted({*names, *order})))
        data = data.expand([self.sizes[name] for name in sorted(order)])
        ordered = sorted(order)
        return data.permute([ordered.index(name) for name in order])

    def _over(self, value: Named, names: tuple[str, ...]) -> Any:
        own, data = value
        return data[tuple(slice(None) if name in own else None for name in names)] if own != names else data

    def _aligned(self, *values: Named) -> tuple[tuple[str, ...], list[Any]]:
        names = tuple(sorted({name for own, _ in values for name in own}))
        return names, [self._over(value, names) for value in values]

    def _computed(self, term: Term) -> Named:
        torch = self.torch
        if isinstance(term, Input):
            own = [axis.name for axis in term.dims]
            data = self.inputs[term.name]
            own = [self.cases, *own] if len(own) < data.ndim else own
            data = data.to({"real": self.dtype, "int": torch.int64, "bool": torch.bool}[term.kind])
            return tuple(sorted(own)), data.permute([own.index(name) for name in sorted(own)])
        if isinstance(term, Const):
            kind = {"real": self.dtype, "int": torch.int64, "bool": torch.bool}[term.kind]
            return (), torch.tensor(
                float(term.value) if term.kind == "real" else term.value, dtype=kind, device=self.device
            )
        if isinstance(term, Index):
            return (term.axis.name,), torch.arange(self.sizes[term.axis.name], device=self.device)
        if isinstance(term, (Size, Length)):
            return (), torch.tensor(self.sizes[term.axis.name], device=self.device)
        if isinstance(term, Map):
            names, arrays = self._aligned(*(self.memo[arg] for arg in term.args))
            return names, arrays[0].to(self.dtype) if term.op == "real" else self.operators[term.op](*arrays)
        if isinstance(term, Reduce):
            return self._reduced(term)
        if isinstance(term, Recur):
            return self._recurring(term)
        if isinstance(term, Scan):
            return self._scanned(term)
        if isinstance(term, Read):
            return self._read(term)
        if isinstance(term, Proj):
            return self.memo[term.item]
        raise NapkinError(f"a {type(term).__name__} belongs to a derived term; a program is evaluated as it was read")

    def _reduced(self, term: Reduce) -> Named:
        torch, axis, body = self.torch, term.axis.name, term.body
        if (pair := summed(term)) is not None:
            (left, a), (right, b) = (self.memo[arg] for arg in pair)
            if axis in left and axis in right and not (self.absent and masked(body)):
                numbers = {name: at for at, name in enumerate(sorted({*left, *right}))}
                names = tuple(name for name in numbers if name != axis)
                return names, torch.einsum(
                    a, [numbers[n] for n in left], b, [numbers[n] for n in right], [numbers[n] for n in names]
                )
            self.memo[body] = self._computed(body)
            if self.absent and masked(body):
                names, (one, other) = self._aligned(*(self.memo[arg] for arg in pair))
                self.memo[body] = names, torch.where((one == 0) | (other == 0), 0, one * other)
        names, (data, mask) = self._aligned(self.memo[body], self.memo[term.where])
        if axis not in names:
            names, (data, mask, _) = self._aligned(
                self.memo[body], self.memo[term.where], ((axis,), torch.zeros(1, device=self.device))
            )
        at = names.index(axis)
        if term.where is not TRUE:
            data = torch.where(mask, data, {"sum": 0.0, "prod": 1.0}.get(term.monoid, -math.inf))
        data = data.expand([self.sizes[axis] if place == at else size for place, size in enumerate(data.shape)])
        folds = {"sum": torch.sum, "max": torch.amax, "prod": torch.prod, "argmax": torch.argmax}
        fold = folds[term.monoid]
        return names[:at] + names[at + 1 :], fold(data, dim=at)

    def _scanned(self, term: Scan) -> Named:
        torch, axis = self.torch, term.axis.name
        names, (data, _) = self._aligned(self.memo[term.body], ((axis,), torch.zeros(1, device=self.device)))
        at = names.index(axis)
        data = data.expand([self.sizes[axis] if place == at else size for place, size in enumerate(data.shape)])
        if term.monoid == "max":
            return names, torch.cummax(data, dim=at).values
        return names, {"sum": torch.cumsum, "prod": torch.cumprod}[term.monoid](data, dim=at)

    def _recurring(self, term: Recur) -> Named:
        torch, axis = self.torch, term.axis.name
        size = self.sizes[axis]
        names, (gain, body, along) = self._aligned(
            self.memo[term.gain], self.memo[term.body], ((axis,), torch.zeros(size, device=self.device))
        )
        at = names.index(axis)
        gains, parts, _ = (part.movedim(at, 0) for part in torch.broadcast_tensors(gain, body, along))
        held, rows = torch.zeros_like(parts[0]), []
        for lane in range(size):
            held = gains[lane] * held + parts[lane]
            rows.append(held)
        return names, torch.stack(rows).movedim(0, at)

    def _read(self, term: Read) -> Named:
        torch, axis = self.torch, term.axis.name
        own, data = self.memo[term.body]
        last = data.shape[own.index(axis)] - 1
        kept = [
            ((name,), torch.arange(size, device=self.device))
            for name, size in zip(own, data.shape, strict=True)
            if name != axis
        ]
        names, (place, *mesh) = self._aligned(self.memo[term.index], *kept)
        places = iter(mesh)
        return names, data[tuple(place.clamp(0, last) if name == axis else next(places) for name in own)]
