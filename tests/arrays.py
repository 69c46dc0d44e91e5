"""Runs a plan tile by tile in float64 and holds it against the meaning of the diagram it was derived from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from napkin_eq.lang.diagram import Diagram
from napkin_eq.lang.evaluate import evaluate
from napkin_eq.pipeline.derivation import Derivation
from napkin_eq.tile.ir import Load, Loop, Plan, Stmt, statements
from napkin_eq.tile.printers import emit

Arrays = dict[str, Any]


def inputs(diagram: Diagram, sizes: Mapping[str, int], seed: int = 0) -> Arrays:
    """Draw normal values; integers from 0 to the longest axis, so that they reach past every one they may index."""
    generator = np.random.default_rng(seed)
    arrays: Arrays = {}
    for node in diagram.inputs():
        shape = tuple(sizes[axis.name] for axis in node.dims)
        whole = generator.integers(0, max(sizes.values()) + 1, shape).astype(node.dtype) if node.kind == "int" else None
        arrays[node.name] = generator.standard_normal(shape) if whole is None else whole
    return arrays


def run(derivation: Derivation, arrays: Arrays, sizes: Mapping[str, int]) -> dict[str, Any]:
    """Run the plan; `sizes` may tell more than the plan asks for."""
    symbols = {axis.name for axis in derivation.diagram.axes() if axis.size is None}
    outputs: dict[str, Any] = emit(derivation.plan, "numpy")(
        arrays, False, {n: s for n, s in sizes.items() if n in symbols}
    )
    return outputs


def assert_agrees(derivation: Derivation, sizes: Mapping[str, int], arrays: Arrays | None = None) -> dict[str, Any]:
    """Assert that the plan equals float64 to 1e-9 at these sizes; return what it gave."""
    arrays = inputs(derivation.diagram, sizes) if arrays is None else arrays
    symbols = {axis.name: sizes[axis.name] for axis in derivation.diagram.axes() if axis.size is None}
    found = run(derivation, arrays, sizes)
    sources = [source for output in derivation.outputs for _, source, _ in output.each()]
    for source, buffer in zip(sources, derivation.plan.outputs, strict=True):
        wanted = evaluate(source, arrays, sizes=symbols, order=[axis.name for axis in buffer.dims])
        assert np.isfinite(wanted).all()
        np.testing.assert_allclose(found[buffer.name], wanted, rtol=1e-9, atol=1e-9)
    return found


def loops(plan: Plan, axis: str) -> int:
    """Count the loops over an axis in which something is folded, read off the plan's statements."""
    count = 0
    for kernel in plan.kernels:
        for stmt in statements(kernel.body):
            count += isinstance(stmt, Loop) and bool(stmt.carried) and kernel.coord(stmt.coord).axis.name == axis
    return count


def loads(plan: Plan, buffer: str) -> int:
    """Count the places that load a buffer; the parts of one loop, masked and not, count as one."""
    count = 0
    for kernel in plan.kernels:
        bodies: list[tuple[Stmt, ...]] = [kernel.body]
        bodies += [
            max((part.body for part in s.parts), key=len) for s in statements(kernel.body) if isinstance(s, Loop)
        ]
        count += sum(isinstance(s, Load) and s.buffer == buffer for body in bodies for s in body)
    return count
