"""A program that was read: its diagram, what its inputs and outputs are called, how tensors go in and come out, and
what it may be called with.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import eq, ge, gt, le, lt, ne
from typing import Any

from napkin_eq.lang.axis import Axis
from napkin_eq.lang.diagram import Diagram
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.evaluate import evaluate, output_order
from napkin_eq.lang.term import Input, Term, subterms
from napkin_eq.pytorch.build.builder import Edge, Place
from napkin_eq.pytorch.build.extents import Limit
from napkin_eq.pytorch.build.wires import Dim, Tie
from napkin_eq.pytorch.naming import first_line
from napkin_eq.pytorch.sizes import settled

EXACT = 2.0**53
COMPARED = {"==": eq, "!=": ne, "<=": le, "<": lt, ">=": ge, ">": gt}
REAL = ("float64", "float32", "float16", "bfloat16")


@dataclass(frozen=True, slots=True)
class Port:
    """An input or output: its name in the diagram, where it comes from, PyTorch's type, and the wires of each
    dimension.

    source: "input", "parameter", "buffer" or "constant" of inputs; "output", "buffer" or "input" (written again) of
    outputs. target: the parameter's, buffer's or input's own name. term: of outputs. order: its dimensions as they lie
    in memory, those that are furthest apart first, where that is another order. room: of an input with gaps, how many
    places there are for each of its dimensions, in that order: more than it has where others lie between, 0 where all
    of its elements are one.
    """

    name: str
    source: str
    target: str
    dtype: str
    dims: tuple[Dim, ...]
    term: Term | None = None
    order: tuple[int, ...] = ()
    room: tuple[int, ...] = ()

    @property
    def axes(self) -> tuple[Axis, ...]:
        return tuple(axis for dim in self.dims for axis in dim)


@dataclass(frozen=True, slots=True)
class Program:
    """A program of PyTorch as a diagram.

    `inputs` and `outputs` are in the program's order, parameters and buffers first as named inputs; `edges` is where
    PyTorch gives NaN or an infinity and the language does not, `places` where data choose places that PyTorch refuses
    outside of a dimension. symbols: the sizes of axes that are left open, by name. dtype: of the inputs declared
    "float". Call `derive(program.diagram, dtype=program.dtype)`.
    """

    diagram: Diagram
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    dtype: str
    edges: tuple[Edge, ...] = ()
    places: tuple[Place, ...] = ()
    symbols: Mapping[str, Any] = field(default_factory=dict)
    given: tuple[Any, ...] = ()  # sizes that a part of a graph is given beside its tensors, behind these
    limits: tuple[Limit, ...] = ()  # what holds of symbols in every call
    tied: Mapping[Any, Tie] = field(default_factory=dict)  # symbols that stand for others, as these meet
    state: Mapping[str, Any] = field(default_factory=dict)
    structure: Callable[[Sequence[Any]], Any] | None = None
    flatten: Callable[..., Sequence[Any]] | None = None

    @property
    def met(self) -> list[tuple[Any, Any, str]]:
        """Sizes that PyTorch did not compare before they met in an operator, which are equal in every call, and the
        node.
        """
        found = [(symbol, size, node) for symbol, (size, node, _) in self.tied.items()]
        return [*found, *((a, c, node) for word, a, c, node in self.limits if word == "==" and node)]

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """Return what the program gives, in float64 by the language's meaning, in the form in which the function
        returns it.

        Numbers that the example gave beside its tensors are fixed; they may be given again, but no others. Raises
        NapkinError for arguments other than the program's, where the data are NaN or infinite, lead PyTorch to a
        number that the language does not have, or choose a place outside of a dimension, and where memory is over.
        """
        try:
            found = self.evaluated(self.bound(*args, **kwargs))
        except MemoryError as reason:
            raise NapkinError(
                f"program {self.diagram.name}: its meaning takes more memory than there is ({first_line(reason)}), as"
                " each value is held whole; give it smaller inputs"
            ) from None
        outputs = [value for port, value in zip(self.outputs, found, strict=True) if port.source == "output"]
        return self.structure(outputs) if self.structure else outputs[0] if len(outputs) == 1 else tuple(outputs)

    def bound(self, *args: Any, **kwargs: Any) -> list[Any]:
        """Return the tensors of all inputs in order: those given, and the parameters, buffers and constants of the
        module.
        """
        given = list(self.flatten(*args, **kwargs) if self.flatten else args)
        wanted = [port for port in self.inputs if port.source == "input"]
        if len(given) < len(wanted):
            raise NapkinError(
                f"program {self.diagram.name}: {len(given)} inputs given, {len(wanted)} expected: "
                f"{', '.join(p.target for p in wanted)}"
            )
        places = iter(given)
        return [next(places) if port.source == "input" else self.state[port.target] for port in self.inputs]

    def arrays(self, tensors: Sequence[Any]) -> dict[str, Any]:
        """Return tensors by the names of the diagram's inputs, each dimension cut into its wires."""
        found = {}
        for port, tensor in zip(self.inputs, tensors[: len(self.inputs)], strict=True):
            if len(shape := laid(tensor).shape) != len(port.dims):
                raise NapkinError(
                    f"input {port.target} has shape {tuple(shape)}, expected {len(port.dims)} dimensions"
                )
        sizes = self.sizes(tensors)
        for port, tensor in zip(self.inputs, tensors[: len(self.inputs)], strict=True):
            if tensor.is_meta:
                raise NapkinError(f"input {port.target} is on the device meta, which has no data; give one with data")
            tensor = laid(tensor)
            shape = tuple(tensor.shape)
            for at, (dim, size) in enumerate(zip(port.dims, shape, strict=True)):
                wanted = math.prod(axis.size or 0 for axis in dim)
                if wanted and wanted != size:
                    raise NapkinError(f"input {port.target}: dimension {at} has size {size}, expected {wanted}")
            for at, (dim, size) in enumerate(zip(port.dims, shape, strict=True)):
                if (wanted := math.prod(sizes[axis.name] for axis in dim)) != size:
                    raise NapkinError(
                        f"input {port.target}: dimension {at} has size {size}, expected {wanted} beside the sizes of"
                        " the other dimensions"
                    )
            found[port.name] = tensor.reshape([sizes[axis.name] for axis in port.axes])
        return found

    def sizes(self, tensors: Sequence[Any]) -> dict[str, int]:
        """Return the size of each axis: as it was declared, or as the tensors have it."""
        known: dict[str, int] = {a.name: a.size for a in self.diagram.axes() if a.size is not None}
        known |= {a.name: a.size for port in (*self.inputs, *self.outputs) for a in port.axes if a.size is not None}
        if self.symbols or self.limits:
            shapes = [[self._extent(dim) for dim in port.dims] for port in self.inputs]
            beside = self.given[: len(tensors) - len(self.inputs)]
            sides = tuple((one, other) for _, one, other, _ in self.limits)
            of = settled((*self.symbols.values(), sides), [*shapes, *((number,) for number in beside)])
            values = [laid(value) if hasattr(value, "shape") else value for value in tensors]
            *found, held = of(values)
            known |= {name: int(size) for name, size in zip(self.symbols, found, strict=True)}
            for (word, *names, _), (one, other) in zip(self.limits, held, strict=True):
                if not COMPARED[word](one, other):
                    hint = "read it with an example of such sizes"
                    if (one, word, other) == (2, "<=", 1):  # an example of size 1 leaves no dimension open
                        hint = 'state the least size: dynamic_shapes with torch.export.Dim("n") for that dimension'
                    raise NapkinError(
                        f"program {self.diagram.name}: it was read for sizes of which {names[0]} {word} {names[1]}, and"
                        f" of these it is not true that {one} {word} {other}: {hint}"
                    )
        return known

    def _extent(self, dim: Dim) -> Any:
        return math.prod((axis.size or self.symbols[axis.name] for axis in dim), start=1)

    def evaluated(self, tensors: Sequence[Any], checked: bool = True) -> list[Any]:
        """Return the outputs as tensors, in float64 and by the language's meaning; `checked` against PyTorch's
        arithmetic.
        """
        import numpy as np
        import torch

        arrays = self.arrays([t.detach() for t in tensors])
        for port in self.inputs:
            held = arrays[port.name]
            if port.dtype.startswith(("int", "uint")) and held.dtype != getattr(torch, port.dtype) and held.numel():
                least, most = (getattr(torch.iinfo(getattr(torch, port.dtype)), end) for end in ("min", "max"))
                if held.dtype.is_floating_point or int(held.min()) < least or int(held.max()) > most:
                    raise NapkinError(f"input {port.target} holds {held.dtype}, not all of them of {port.dtype}")
        data = {
            name: np.asarray((t.double() if t.is_floating_point() else t).cpu().numpy()) for name, t in arrays.items()
        }
        sizes, found = self.sizes(tensors), list[Any]()
        own = {a.name for a in self.diagram.axes()}
        if checked:
            self._placed(data, sizes)
        used = {node.name for node in self.diagram.inputs()}
        bound = {name: size for name, size in sizes.items() if name in own}
        whole = evaluate(self.diagram.term, {n: a for n, a in data.items() if n in used}, bound)
        values = whole if isinstance(whole, tuple) else (whole,)
        if checked:
            self._exact(data, sizes)
        exact = self.referred(tensors) if checked else [None] * len(self.outputs)
        for port, value, other in zip(self.outputs, self._spread(values), exact, strict=True):
            assert port.term is not None
            order = [axis.name for axis in output_order(port.term)]
            if port.dtype not in REAL and value.dtype.kind == "f" and not np.isfinite(value).all():
                raise NapkinError(
                    f"program {self.diagram.name}: {port.name} is a whole number of what is infinite, which PyTorch"
                    " leaves open"
                )
            result = self.shaped(port, torch.from_numpy(np.array(value)), order, sizes)
            if other is not None and not _agree(result, other):
                at = int((~_near(result, other)).reshape(-1).nonzero()[0])
                says = other.reshape(-1)[at].item()
                raise NapkinError(
                    f"program {self.diagram.name}: these data lead to {says} in PyTorch's arithmetic, "
                    f"at element {at} of {port.name}, and to "
                    f"{result.reshape(-1)[at].item():g} here: the language has no NaN and no +inf{self._hint()}"
                )
            found.append(result)
        return found

    def _exact(self, data: Mapping[str, Any], sizes: Mapping[str, int]) -> None:
        """Raise NapkinError where whole numbers that are computed in float64 pass what that holds exactly."""
        import numpy as np

        for edge in self.edges:
            if edge.kind != "exact":
                continue
            found = _value(edge.term, data, sizes)
            if abs(found[np.isfinite(found)]).max(initial=0.0) >= EXACT:
                raise NapkinError(
                    f"program {self.diagram.name}: whole numbers past 2^53 are computed in float64 here ({edge.node})"
                )

    def _placed(self, data: Mapping[str, Any], sizes: Mapping[str, int]) -> None:
        """Raise NapkinError where data choose a place outside of a dimension."""
        for place in self.places:
            if not {node.name for node in subterms(place.term) if isinstance(node, Input)} <= data.keys():
                continue  # in a loop, where it is of what stands for a state
            size = math.prod(axis.size or sizes[axis.name] for axis in place.dim)
            found = _value(place.term, data, sizes)
            outside = (found < (-size if place.negative else 0)) | (found >= size)
            outside &= found != place.ignored if place.ignored is not None else True
            if outside.any():
                least = -size if place.negative else 0
                raise NapkinError(
                    f"program {self.diagram.name}: index {int(found[outside].flat[0])} is outside of a dimension"
                    f" ({place.node}), expected {least} to {size - 1}: clamp it, or pass other data"
                )

    def _spread(self, values: Sequence[Any]) -> list[Any]:
        by_name = dict(zip((name for name, _ in self.diagram.outputs), values, strict=True))
        return [by_name[port.name] for port in self.outputs]

    def _hint(self) -> str:
        said = list(dict.fromkeys(edge.said for edge in self.edges))
        return f"; it may be {said[0]}" if said else ""

    def referred(self, tensors: Sequence[Any], dtype: Any = None) -> list[Any]:
        """Return the outputs by PyTorch's own arithmetic of the same term, in float64 unless another type is asked
        for; gradients pass through.
        """
        import torch

        from napkin_eq.pipeline.reference import Evaluation

        sizes = self.sizes(tensors)
        device = next((value.device for value in tensors if hasattr(value, "device")), None)
        work = Evaluation(self.arrays(tensors), sizes, dtype or torch.float64, device)
        found = []
        for port in self.outputs:
            assert port.term is not None
            order = [axis.name for axis in port.term.axes]
            found.append(self.shaped(port, work.value(port.term, tuple(order)), order, sizes))
        return found

    def shaped(self, port: Port, value: Any, order: Sequence[str], sizes: Mapping[str, int]) -> Any:
        """Return an output's value, whose axes come in some order, as the tensor of the program: real numbers keep
        their type.
        """
        import torch

        names = [axis.name for axis in port.axes]
        missing = [name for name in names if name not in order]
        value = value.permute([list(order).index(name) for name in names if name in order])
        value = value[tuple(None if name in missing else slice(None) for name in names)] if missing else value
        value = value.expand([sizes[name] for name in names])
        value = value.reshape([math.prod(sizes[axis.name] for axis in dim) for dim in port.dims])
        if port.dtype.startswith(("float", "bfloat")):
            return value
        return (value.round() if value.is_floating_point() else value).to(getattr(torch, port.dtype))


@dataclass(frozen=True, slots=True)
class Call:
    """How a program is called: the names of its arguments, each of which may hold several tensors and numbers, and what
    of these is fixed, as it was no tensor when the program was read.

    nested: how the example's arguments were, as torch.utils._pytree says it. signature: of the function that was read,
    None where Python does not know it.
    """

    program: str
    names: tuple[str, ...]
    fixed: Mapping[int, Any]
    nested: Any
    signature: inspect.Signature | None = None

    def tensors(self, *args: Any, **kwargs: Any) -> list[Any]:
        """Return the tensors of a call in order; raises NapkinError where it is not one of the program."""
        import torch
        from torch.utils import _pytree as pytree

        whole = self._placed(args, kwargs)
        given = pytree.tree_leaves(whole)
        if len(given) != len(self.names):
            raise NapkinError(
                f"program {self.program}: {len(given)} inputs given, {len(self.names)} expected:"
                f" {', '.join(self.names)}; what the example did not have is fixed: read it with an example that has it"
            )
        try:
            given = self.nested.flatten_up_to(whole)  # dictionaries in the order of the example's
        except ValueError as reason:
            raise NapkinError(
                f"program {self.program}: its arguments are not nested as the example's were: {first_line(reason)}"
            ) from None
        found = []
        for at, (name, value) in enumerate(zip(self.names, given, strict=True)):
            if at not in self.fixed and not isinstance(value, torch.Tensor):
                raise NapkinError(f"program {self.program}: input {name} is {value!r:.60}, expected a tensor")
            if at not in self.fixed:
                found.append(value)
            elif isinstance(value, torch.Tensor) or not _same(value, self.fixed[at]):
                said = f"a {type(value).__name__}" if isinstance(value, torch.Tensor) else f"{value!r:.60}"
                raise NapkinError(
                    f"program {self.program}: input {name} is {said}, expected {self.fixed[at]!r:.60}, at which it was"
                    " fixed when the program was read: read it again with the other, or give a tensor to both"
                )
        return found

    def _placed(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return arguments in the order of the function's own, where some are given by name."""
        if self.signature is None or not kwargs:
            return args, kwargs
        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError as reason:
            raise NapkinError(f"program {self.program}: {reason}; it takes {self.signature}") from None
        return bound.args, bound.kwargs


def signature_of(fn: Any) -> inspect.Signature | None:
    """Return the signature of a function or module, None where Python does not know it."""
    try:
        return inspect.signature(getattr(fn, "forward", fn))
    except (TypeError, ValueError):
        return None


def _same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and bool(one == other or (one != one and other != other))


def lying(diagram: Diagram, orders: Mapping[str, Sequence[Axis]]) -> Diagram:
    """Return a diagram whose outputs lie along their axes in these orders; an axis along which all elements of an
    output are one is no dimension of what is stored.
    """
    free = {name: {axis.name for axis in term.axes} for name, term in diagram.outputs}
    found = {name: [a.name for a in orders[name] if a.name in free[name]] for name in free if name in orders}
    return diagram.laying(**{name: order for name, order in found.items() if len(order) == len(free[name]) > 1})


def laid(tensor: Any) -> Any:
    """Return a tensor as it lies in memory: complex numbers with their two parts as the last dimension."""
    import torch

    return torch.view_as_real(tensor.resolve_conj()) if tensor.is_complex() else tensor


def _value(term: Term, data: Mapping[str, Any], sizes: Mapping[str, int]) -> Any:
    """Return what a term of some of a program's inputs is, as an array."""
    import numpy as np

    used = {node.name for node in subterms(term) if isinstance(node, Input)}
    own = {part.axis.name for part in subterms(term) if hasattr(part, "axis")} | {a.name for a in term.axes}
    arrays = {name: array for name, array in data.items() if name in used}
    return np.asarray(evaluate(term, arrays, {name: size for name, size in sizes.items() if name in own}))


def _near(a: Any, b: Any) -> Any:
    import torch

    if not a.is_floating_point():
        return a == b
    return torch.isclose(a, b, rtol=1e-6, atol=1e-9, equal_nan=False) | (a == b)


def _agree(a: Any, b: Any) -> bool:
    return bool(_near(a, b.detach().to(a.dtype).cpu()).all())
