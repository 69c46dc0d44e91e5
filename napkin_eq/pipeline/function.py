"""A derivation as a function of tensors: an operator of `torch.library`, with the shapes that it gives and its
gradient.

torch.export, torch.compile and CUDA graphs see one operator; what it does is the emitted launcher. The gradient is that
of the diagram computed again in PyTorch's own arithmetic and operators: no kernel of ours.
"""

from __future__ import annotations

import hashlib
import runpy
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from napkin_eq.lang.dtypes import BY_SHORT
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.evaluate import axes_in, output_order
from napkin_eq.lang.term import Term
from napkin_eq.pipeline.reference import Evaluation
from napkin_eq.search.derivation import Derived
from napkin_eq.tile.ir import Buffer

EXECUTORS = ("kernels", "reference")
_registered: dict[str, Any] = {}


class Function:
    """What `Derivation.compile()` gives: call it with the diagram's arrays as tensors, in order or by name.

    Tensors may have any strides, and must have the storage types that the derivation read them as. Sizes that the
    diagram leaves open are read off the tensors; one that no input has is given by the name of its axis. Gives a
    tensor, or a tuple of them where the diagram has several outputs, axes as `evaluate` orders them or as `order` says.
    Raises NapkinError for arguments that do not fit.
    """

    def __init__(
        self, derivation: Derived, source: Callable[[], str], executor: str, order: Mapping[str, Sequence[str]]
    ) -> None:
        if executor not in EXECUTORS:
            raise NapkinError(f"executor {executor!r:.60}: expected one of {', '.join(EXECUTORS)}")
        plan = derivation.plan
        self.inputs, self.stored = plan.inputs, plan.outputs
        parts = [part for output in derivation.outputs for part in output.each()]
        self.terms = tuple((name, term) for name, term, _ in parts)
        asked = dict(derivation.diagram.outputs)  # whose axes may be in another order than those of what it became
        self.order = tuple(_ordered(name, asked[name], order) for name, _ in self.terms)
        if unknown := sorted(set(order) - {name for name, _ in self.terms}):
            raise NapkinError(
                f"order: there is no output {unknown[0]!r:.60}; outputs are {', '.join(name for name, _ in self.terms)}"
            )
        every = {axis.name: axis for b in (*plan.inputs, *plan.outputs) for axis in b.dims}
        every |= {axis.name: axis for _, term in self.terms for axis in axes_in(term)}
        self.fixed = {name: axis.size for name, axis in every.items() if axis.size is not None}
        self.multiples = {name: axis.multiple for name, axis in every.items() if axis.size is None}
        read = {axis.name for b in plan.inputs for axis in b.dims}
        self.free = tuple(sorted(name for name in self.multiples if name not in read))
        self.text = source() if executor == "kernels" else ""
        self.module: dict[str, Any] | None = None  # of the emitted file, once it is needed
        self.operator = _operator(self, derivation.diagram.name)

    def __call__(self, /, *tensors: Any, **named: Any) -> Any:
        device = {} if self.inputs or "device" not in named else {"device": named.pop("device")}
        given, sizes = self._given(tensors, named)
        return self.operator(*given, *(sizes[name] for name in self.free), **device)

    def __copy__(self) -> Function:
        return self

    def __deepcopy__(self, memo: Any) -> Function:
        return self  # nothing of it changes

    def __reduce__(self) -> Any:
        raise NapkinError(
            "a compiled derivation cannot be pickled; write it by derive -o, and load that folder's file, or derive it"
            " again"
        )

    def _given(self, tensors: Sequence[Any], named: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """Return the tensors in order and the sizes of axes; raises NapkinError where they do not fit."""
        import torch

        names = [b.name for b in self.inputs]
        if len(tensors) > len(names):
            raise NapkinError(f"{len(tensors)} tensors are given; expected {len(names)}: {', '.join(names) or 'none'}")
        given = dict(zip(names, tensors, strict=False))
        for name, value in named.items():
            if name in given or name not in (*names, *self.free):
                raise NapkinError(
                    f"{name!r:.60} is {'given twice' if name in given else 'no argument'}; arguments are"
                    f" {', '.join((*names, *self.free))}"
                )
            given[name] = value
        if missing := [name for name in (*names, *self.free) if name not in given]:
            raise NapkinError(f"{missing[0]} is not given; expected {', '.join((*names, *self.free))}")
        sizes: dict[str, Any] = dict(self.fixed)
        device = None
        for buffer in self.inputs:
            tensor, dtype = given[buffer.name], getattr(torch, BY_SHORT[buffer.dtype].name)
            if not isinstance(tensor, torch.Tensor):
                raise NapkinError(f"{buffer.name}: expected a tensor, found {type(tensor).__name__}")
            if tensor.dtype != dtype:
                raise NapkinError(
                    f"{buffer.name}: expected {dtype}, found {tensor.dtype}; derive for that type, or cast it"
                )
            if tensor.layout != torch.strided or tensor.is_nested:
                found = "a nested one" if tensor.is_nested else tensor.layout
                raise NapkinError(f"{buffer.name}: expected a strided tensor, found {found}")
            if not torch.compiler.is_compiling() and _transformed(tensor):
                raise NapkinError(
                    f"{buffer.name}: torch.func and forward-mode derivatives do not see through it; use backward() or"
                    " torch.autograd.grad"
                )
            device = tensor.device if device is None else device
            if tensor.device != device:
                raise NapkinError(
                    f"{buffer.name} is on {tensor.device}, the tensors before it are on {device}; put all on one device"
                )
            shape = tuple(tensor.shape)
            if len(shape) != len(buffer.dims):
                raise NapkinError(
                    f"{buffer.name}: expected {len(buffer.dims)} dimensions ({_wanted(buffer, sizes)}), found shape"
                    f" {shape}"
                )
            for axis, size in zip(buffer.dims, shape, strict=True):
                if axis.name not in sizes:
                    sizes[axis.name] = size
                elif sizes[axis.name] != size:
                    raise NapkinError(f"{buffer.name}: expected shape ({_wanted(buffer, sizes)}), found {shape}")
        for name in self.free:
            sizes[name] = given[name]
            if isinstance(given[name], bool) or not isinstance(given[name], (int, torch.SymInt)):
                raise NapkinError(f"size {name}: expected a whole number, found {given[name]!r:.60}")
        for name, size in sizes.items():
            if size < 1 or size % self.multiples.get(name, 1):
                raise NapkinError(
                    f"size {name}: expected a multiple of {self.multiples.get(name, 1)} of at least 1, found {size}"
                )
        return [given[name] for name in names], sizes

    # -- what the operators do -----------------------------------------------------------------------------------------

    def sizes(self, values: Sequence[Any]) -> dict[str, Any]:
        """Return the size of every axis, of the operator's arguments, which fit."""
        found: dict[str, Any] = dict(self.fixed)
        for buffer, tensor in zip(self.inputs, values, strict=False):
            found.update({axis.name: size for axis, size in zip(buffer.dims, tensor.shape, strict=True)})
        return found | dict(zip(self.free, values[len(self.inputs) :], strict=True))

    def made(self, values: Sequence[Any], **device: Any) -> list[Any]:
        """Return what the kernels, or the diagram in PyTorch's arithmetic, give; on `device` where no tensor says
        where.
        """
        import torch

        sizes, tensors = self.sizes(values), values[: len(self.inputs)]
        if not self.text:
            own = zip(self.referred(tensors, sizes, **device), self.dtypes(), strict=True)
            # No view of an input
            return [value.to(dtype).clone(memory_format=torch.contiguous_format) for value, dtype in own]
        if self.module is None:
            self.module = _loaded(self.text)
        arrays = [tensor.contiguous() for tensor in tensors]
        called = self.module.get("GIVEN", {})  # a size that only the term has is none of the kernels'
        given = self.module["run"](
            *arrays, **{called[name]: sizes[name] for name in self.free if name in called}, **device
        )
        found = given if isinstance(given, tuple) else (given,)
        turned = []
        for value, buffer, order in zip(found, self.stored, self.order, strict=True):
            names = [axis.name for axis in buffer.dims]
            turned.append(value.permute([names.index(name) for name in order]))
        return turned

    def referred(self, tensors: Sequence[Any], sizes: Mapping[str, int], device: Any = None) -> list[Any]:
        """Return the outputs in PyTorch's own arithmetic, in float32, or float64 where an input has it;
        gradients pass.
        """
        import torch

        wide = torch.float64 if any(t.dtype == torch.float64 for t in tensors) else torch.float32
        work = Evaluation(
            {b.name: t for b, t in zip(self.inputs, tensors, strict=True)},
            sizes,
            wide,
            tensors[0].device if tensors else device,
        )
        return [work.value(term, order) for (_, term), order in zip(self.terms, self.order, strict=True)]

    def dtypes(self) -> list[Any]:
        """Return the types of the outputs."""
        import torch

        return [getattr(torch, BY_SHORT[buffer.dtype].name) for buffer in self.stored]

    def shaped(self, values: Sequence[Any]) -> list[Any]:
        """Return empty tensors like the outputs: as kernels store them, turned."""
        import torch

        sizes, device = self.sizes(values), values[0].device if self.inputs else None
        found = []
        for buffer, order, dtype in zip(self.stored, self.order, self.dtypes(), strict=True):
            own = [axis.name for axis in buffer.dims] if self.text else list(order)
            empty = torch.empty([sizes[name] for name in own], dtype=dtype, device=device)
            found.append(empty.permute([own.index(name) for name in order]))
        return found

    def gradients(self, slopes: Sequence[Any], values: Sequence[Any]) -> list[Any]:
        """Return the gradient of each input of real numbers, None of others; where gradients are recorded, one that has
        gradients itself.
        """
        import torch

        again = torch.is_grad_enabled()  # as it is under create_graph

        sizes, tensors = self.sizes(values), values[: len(self.inputs)]
        with torch.enable_grad():
            # Views, so that a gradient ends at each input even where one is computed of another.
            leaves = [_leaf(t, again) if t.is_floating_point() else t for t in tensors]
            found = self.referred(leaves, sizes)
            pairs = [(value, slope) for value, slope in zip(found, slopes, strict=True) if value.requires_grad]
            wanted = [leaf for leaf in leaves if leaf.requires_grad]
            got: list[Any] = [None] * len(wanted)
            if pairs and wanted:
                outs, given = [value for value, _ in pairs], [slope.to(value.dtype) for value, slope in pairs]
                got = list(
                    torch.autograd.grad(
                        outs, wanted, given, create_graph=again, allow_unused=True, materialize_grads=True
                    )
                )
        each = iter(got)
        return [next(each) if leaf.requires_grad else None for leaf in leaves]


def _leaf(tensor: Any, again: bool) -> Any:
    return tensor.view_as(tensor) if again and tensor.requires_grad else tensor.detach().requires_grad_()


def _transformed(tensor: Any) -> bool:
    """Tell whether a tensor carries a derivative forwards, or is one of torch.func's that record another gradient."""
    import torch

    if torch.autograd.forward_ad.unpack_dual(tensor).tangent is not None:
        return True
    return bool(torch._C._functorch.is_gradtrackingtensor(tensor))


def _wanted(buffer: Buffer, sizes: Mapping[str, Any]) -> str:
    return ", ".join(f"{axis.name}={sizes.get(axis.name, 'any')}" for axis in buffer.dims)


def _ordered(name: str, term: Term, order: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    own = [axis.name for axis in output_order(term)]
    wanted = tuple(order.get(name, own))
    if sorted(wanted) != sorted(own):
        raise NapkinError(
            f"order of output {name}: expected its axes {', '.join(own) or '(none)'} in some order, found"
            f" {', '.join(map(str, wanted))}"
        )
    return wanted


def runnable(text: str) -> str:
    """Return an emitted file as it runs here: Triton's interpreter multiplies float32 as it is, and does not know the
    word for products in parts of bfloat16, which hold all its digits, too.
    """
    import triton

    if not triton.knobs.runtime.interpret:
        return text
    return text.replace('input_precision="bf16x6"', 'input_precision="ieee"')


def _loaded(text: str) -> dict[str, Any]:
    """Return the names of an emitted file, which Triton reads a kernel's text from."""
    folder = Path(tempfile.mkdtemp(prefix="napkin-eq-"))
    file = folder / "kernel.py"
    file.write_text(runnable(text), encoding="utf-8")
    return runpy.run_path(str(file), run_name="napkin_kernel")


def _operator(function: Function, name: str) -> Any:
    """Return the operator of a function, registered once for each text."""
    import torch

    arrays = [f"Tensor a{n}" for n in range(len(function.inputs))]
    sizes = [f"SymInt s{n}" for n in range(len(function.free))]
    results = ", ".join(["Tensor"] * len(function.terms))
    told = [function.text, str(function.terms), str(function.order), str(function.inputs), str(function.stored)]
    key = hashlib.sha256("\n".join(told).encode()).hexdigest()[:16]
    called = f"napkin_eq::derived_{key}"
    if called in _registered:
        return _registered[called]

    def alone(found: list[Any]) -> Any:
        return tuple(found) if len(found) > 1 else found[0]

    def real(*values: Any, **device: Any) -> Any:
        return alone(function.made(values, **device))

    if not function.inputs:  # nothing says where to run but the launcher
        return real

    made = torch.library.custom_op(
        called,
        lambda *values: real(*values),
        mutates_args=(),
        schema=f"({', '.join([*arrays, *sizes])}) -> ({results})",
    )
    made.register_fake(lambda *values: alone(function.shaped(values)))

    def saved(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.save_for_backward(*inputs[: len(function.inputs)])
        ctx.sizes = list(inputs[len(function.inputs) :])

    def graded(ctx: Any, *slopes: Any) -> tuple[Any, ...]:
        return (*function.gradients(slopes, [*ctx.saved_tensors, *ctx.sizes]), *([None] * len(function.free)))

    made.register_autograd(graded, setup_context=saved)
    _registered[called] = made
    return made
