"""A region as it is called: its kernels, or its diagram in PyTorch's arithmetic; on a GPU an operator of PyTorch."""

from __future__ import annotations

import hashlib
import operator
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.json_form import dumps_diagram
from napkin_eq.pytorch.build.recomputed import lying
from napkin_eq.pytorch.kernels import caller, strided
from napkin_eq.pytorch.naming import expression
from napkin_eq.pytorch.regions import Region
from napkin_eq.pytorch.sizes import settled


class Kernel:
    """A region as it is called: its kernels, or its diagram in PyTorch's arithmetic."""

    def __init__(self, region: Region) -> None:
        import torch

        program = region.program
        assert program is not None
        held = [node.meta["val"] for node in region.returns]
        shapes = tuple((_numbers(value.shape), _numbers(value.stride())) for value in held)
        if region.kernels is not None:
            self.run = caller(program, region.kernels, shapes, held[0].device, region.shapes)
        else:
            current = settled(shapes, region.shapes)
            types = [value.dtype for value in held]
            widest = torch.float64 if any(t == torch.float64 for t in types) else torch.float32

            def referred(*given: Any) -> tuple[Any, ...]:
                # Results are tensors of their own: two may be one value, or an input in another shape.
                seen, found = {lying(tensor) for tensor in given}, []
                for value, shape, dtype in zip(program.referred(given, widest), current(given), types, strict=True):
                    own = strided(value.to(dtype), *shape)
                    found.append(strided(own.clone(), *shape) if lying(own) in seen else own)
                    seen.add(lying(found[-1]))
                return tuple(found)

            self.run = referred
        if program.met:
            self.run = _alike(self.run, program.met, region.shapes)
        self.__name__ = f"napkin_eq_{region.nodes[-1].name}"

    def __call__(self, *given: Any) -> tuple[Any, ...]:
        return self.run(*given)


def _alike(run: Callable[..., Any], met: Sequence[tuple[Any, Any, str]], shapes: Sequence[Any]) -> Callable[..., Any]:
    """Return a function of a region's arguments that raises NapkinError for sizes that meet and differ, as PyTorch
    raises an error for them.
    """
    current = settled(tuple((a, c) for a, c, _ in met), shapes)

    def called(*given: Any) -> Any:
        for (a, c), (*_, node) in zip(current(given), met, strict=True):
            if a != c:
                raise NapkinError(f"{node}: sizes {a} and {c} meet in one dimension")
        return run(*given)

    return called


def _numbers(sizes: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(map(expression, sizes))


_registered: dict[str, Any] = {}


def registered(region: Region) -> Any:
    """Return a region as an operator of torch.library, with the shapes that it gives."""
    import torch

    name = f"napkin_eq::region_{digest(region)}"
    if name in _registered:
        return _registered[name]
    kernel = Kernel(region)
    held = [node.meta["val"] for node in region.returns]
    shapes = tuple((_numbers(v.shape), _numbers(v.stride())) for v in held)
    current, types, device = settled(shapes, region.shapes), [value.dtype for value in held], held[0].device

    def real(tensors: list[torch.Tensor], sizes: list[int]) -> list[torch.Tensor]:
        return list(kernel.run(*tensors, *sizes))

    def fake(tensors: list[torch.Tensor], sizes: list[int]) -> list[torch.Tensor]:
        like = zip(current([*tensors, *sizes]), types, strict=True)
        return [torch.empty_strided(size, stride, dtype=dtype, device=device) for (size, stride), dtype in like]

    # As torch.library.custom_op does, but for what that does at each call, 8 us of the host (measured on a CPU)
    library, own = _library(), name.partition("::")[2]
    tags = (torch.Tag.pt2_compliant_tag, torch.Tag.needs_exact_strides)
    library.define(f"{own}(Tensor[] tensors, SymInt[] sizes) -> Tensor[]", tags=tags)
    library.impl(own, real, "CompositeExplicitAutograd")
    torch.library.register_fake(name, fake, lib=library)
    _registered[name] = getattr(torch.ops.napkin_eq, own).default
    return _registered[name]


def alone(module: Any, region: Region) -> Callable[[list[Any]], list[Any]] | None:
    """Return a graph that is one region as a function of the list of its arguments: kernels are called with nothing of
    PyTorch or Inductor between. None for a graph with anything else in it.
    """
    from torch._functorch.aot_autograd import make_boxed_func

    places = {node: at for at, node in enumerate(n for n in module.graph.nodes if n.op == "placeholder")}
    (results,) = next(iter(reversed(module.graph.nodes))).args
    own = {*region.nodes}
    calls = [node for node in module.graph.nodes if node.op not in ("placeholder", "output")]
    within = all(node in own or (node.target is operator.getitem and node.args[0] in own) for node in calls)
    if region.kernels is None or not within or not {*region.given} <= places.keys():
        return None
    if len({*results}) < len(results) or not {*results} <= {*region.returns}:
        return None
    order = [places[node] for node in (*region.reads, *region.sizes)]
    slots = [region.returns.index(node) for node in results]
    run = Kernel(region).run

    def called(*args: Any) -> list[Any]:
        found = run(*[args[at] for at in order])
        return [found[slot] for slot in slots]

    return make_boxed_func(called)  # type: ignore[no-any-return]


@cache
def _library() -> Any:
    import torch

    return torch.library.Library("napkin_eq", "FRAGMENT")


def digest(region: Region) -> str:
    """Return a name for what a region is: Inductor remembers graphs by their text on disk, names of operators in it."""
    program = region.program
    assert program is not None
    ports = [(port.name, port.dtype, port.dims, port.order, port.room) for port in (*program.inputs, *program.outputs)]
    held = [node.meta["val"] for node in region.returns]
    of_results = [(_numbers(v.shape), _numbers(v.stride()), v.dtype, v.device) for v in held]
    made = region.kernels.file.stem if region.kernels is not None else "reference"
    parts = [dumps_diagram(program.diagram), program.dtype, made, ports, of_results, [*map(_numbers, region.shapes)]]
    return hashlib.sha256("\n".join(map(str, parts)).encode()).hexdigest()[:24]
