"""Running an emitted kernel against float64, within a bound computed from its term and its data (see rounding.py).

On a GPU the kernel runs as it is; without one, in Triton's interpreter, which knows float16 and float32 but not bfloat16.
Sizes are chosen so that no tile divides some of them and so that every mask cuts somewhere.
"""

from __future__ import annotations

import os
import runpy
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from napkin_eq.axis import Axis
from napkin_eq.diagram import Diagram
from napkin_eq.errors import NapkinError
from napkin_eq.term import Const, Index, Input, Map, Read, Reduce, Scan, subterms

if TYPE_CHECKING:
    from napkin_eq.derive import Derivation

# Ragged and tidy: of an axis that is folded, of one that is tiled.
FOLDED, TILED = (557, 512), (77, 128)
# The interpreter runs one block after another: a repeat there could show nothing.
REPEATS = {"cuda": 3, "cpu": 1}


@dataclass(frozen=True, slots=True)
class Case:
    """One output of one run: how far it was off, at most, and the largest part of its bound that was used."""

    output: str
    sizes: dict[str, int]
    max_error: float
    bound_used: float
    unbounded: int
    repeatable: bool
    seconds: float

    @property
    def passed(self) -> bool:
        return self.bound_used <= 1 and self.repeatable and not self.unbounded


@dataclass(frozen=True, slots=True)
class Report:
    """What a validation saw."""

    diagram: str
    hardware: str
    dtype: str
    device: str
    cases: tuple[Case, ...]

    @property
    def passed(self) -> bool:
        return all(case.passed for case in self.cases)

    def data(self) -> dict[str, Any]:
        """Return the report as data, keys stable."""
        cases = [{**asdict(case), "passed": case.passed} for case in self.cases]
        return {"schema": 1, "diagram": self.diagram, "hardware": self.hardware, "dtype": self.dtype, "device": self.device,
                "passed": self.passed, "cases": cases}  # fmt: skip

    def __str__(self) -> str:
        lines = [f"{self.diagram}, {self.dtype}, derived for {self.hardware}, on {self.device}, against float64:"]
        for case in self.cases:
            sizes = " ".join(f"{name}={size}" for name, size in case.sizes.items())
            verdict = "ok" if case.passed else "FAILED"
            notes = f"; {case.unbounded} elements have no bound" if case.unbounded else ""
            notes += "" if case.repeatable else "; a repeat gave other bits"
            lines.append(f"  {case.output}  {sizes}: max error {case.max_error:.2e}, {case.bound_used:.0%} of its bound{notes}  {verdict}")
        return "\n".join(lines)


def validate(
    diagram: Diagram,
    dtype: str | None = None,
    sizes: Sequence[Mapping[str, int]] | None = None,
    device: str = "auto",
    *,
    hardware: str = "h200",
    without: tuple[str, ...] = (),
    rules: tuple[str, ...] = (),
    seed: int = 0,
    fixed: Mapping[str, int] | None = None,
) -> Report:
    """Derive the diagram at each of the sizes, run the kernel and compare it with float64.

    sizes: without them, a ragged and a tidy choice of `trial_sizes`, where `fixed` says what may not change.
    """
    from napkin_eq.derive import derive as derived

    where, label = chosen_device(device)
    dtype = dtype or ("bfloat16" if where == "cuda" else "float16")
    if where == "cpu" and dtype == "bfloat16":
        raise NapkinError("dtype bfloat16: Triton's interpreter computes it wrongly on a CPU; take float16 or float32, or run on a GPU")
    cases: list[Case] = []
    for choice in sizes or trial_sizes(diagram, fixed or {}):
        sized = diagram.with_sizes(choice)
        derivation = derived(sized, hardware=hardware, dtype=dtype, without=without, rules=rules)
        cases += compared(sized, derivation, dtype, where, seed)
    return Report(diagram.name, hardware, dtype, label, tuple(cases))


def chosen_device(device: str) -> tuple[str, str]:
    """Return the device to run on and its description, the interpreter switched on where it is a CPU."""
    if device != "cuda" and "triton" not in sys.modules and not _gpu():
        os.environ["TRITON_INTERPRET"] = "1"
    import torch
    import triton

    if device == "cuda" or (device == "auto" and torch.cuda.is_available() and not triton.knobs.runtime.interpret):
        if not torch.cuda.is_available():
            raise NapkinError("device cuda: no GPU is visible here; leave --device out to use Triton's interpreter on the CPU")
        return "cuda", torch.cuda.get_device_name()
    if not triton.knobs.runtime.interpret:
        raise NapkinError("device cpu: set TRITON_INTERPRET=1 before Triton is imported, so that kernels run in its interpreter")
    return "cpu", "the CPU, in Triton's interpreter"


def _gpu() -> bool:
    import torch

    return bool(torch.cuda.is_available())


def trial_sizes(diagram: Diagram, fixed: Mapping[str, int]) -> list[dict[str, int]]:
    """Return two choices of sizes, small enough for an interpreter: one ragged, one of powers of two.

    An axis that ends an input (a head, a row) keeps its size up to 128. One that is folded is long enough for several
    blocks. The longest other takes several tiles, the rest 2 or 3. All reach past the constants that masks compare with.
    """
    last = {node.dims[-1].name for node in diagram.inputs() if node.dims}
    folded = {node.axis.name for node in subterms(diagram.term) if isinstance(node, (Reduce, Scan))}
    reach = _reach(diagram)
    carried = [a for a in diagram.axes() if a.name not in folded and a.name not in last]
    longest = max(carried, key=lambda a: a.size or 2**40).name if carried else ""
    ragged, tidy = {}, {}
    for axis in diagram.axes():
        name, size = axis.name, axis.size or 2**40
        if name in fixed or (name in last and size <= 128) or size <= 4:
            ragged[name] = tidy[name] = fixed.get(name, size)
            continue
        # An axis that a mask compares with a folded one must reach as far.
        few, many = FOLDED if name in folded or name in reach else TILED if name in last or name == longest else (3, 2)
        ragged[name] = _rounded(axis, few + reach.get(name, 0))
        tidy[name] = _rounded(axis, many if reach.get(name, 0) < many else 2 ** reach[name].bit_length())
    return [ragged, tidy]


def _rounded(axis: Axis, size: int) -> int:
    return -(-size // axis.multiple) * axis.multiple


def _reach(diagram: Diagram) -> dict[str, int]:
    """Return, for each axis that a comparison speaks of, the largest whole constant in such comparisons, 4096 at most."""
    found: dict[str, int] = {}
    for node in subterms(diagram.term):
        if isinstance(node, Map) and node.op in ("lt", "le", "eq"):
            inner = subterms(node)
            constants = [abs(t.value) for t in inner if isinstance(t, Const) and t.kind == "int"]
            for part in inner:
                if isinstance(part, Index):
                    found[part.axis.name] = min(4096, max([found.get(part.axis.name, 0), *constants]))
    return found


def drawn(diagram: Diagram, dtype: str, seed: int) -> dict[str, Any]:
    """Return random inputs, exactly representable in the storage type: normal, with one value in a thousand ten times as large."""
    import numpy as np
    import torch

    generator = np.random.default_rng(seed)
    arrays: dict[str, Any] = {}
    for node in diagram.inputs():
        shape = tuple(_number(axis) for axis in node.dims)
        if node.kind == "bool":
            arrays[node.name] = generator.random(shape) < 0.5
        elif node.kind == "int":
            arrays[node.name] = generator.integers(0, _range(diagram, node), shape).astype(node.dtype)
        else:
            values = generator.standard_normal(shape) * np.where(generator.random(shape) < 0.001, 10.0, 1.0)
            rounded = torch.from_numpy(_meeting(node.facts, values)).to(getattr(torch, dtype if node.dtype == "float" else node.dtype))
            arrays[node.name] = rounded.to(torch.float64).numpy()
    return arrays


def _number(axis: Axis) -> int:
    if axis.size is None:
        raise NapkinError(f"axis {axis.name} is symbolic and a run needs a number: give one with --set {axis.name}=SIZE")
    return axis.size


def _meeting(facts: tuple[str, ...], values: Any) -> Any:
    import numpy as np

    if "nonneg" in facts or "pos" in facts:
        values = np.abs(values)
    if "pos" in facts or "nonzero" in facts:
        values = values + np.where(values < 0, -0.125, 0.125)
    for fact in facts:
        if fact.startswith("abs<="):
            # 0.99: rounding to the storage type must not lift a value over the bound.
            values = np.clip(values, -0.99 * float(fact.removeprefix("abs<=")), 0.99 * float(fact.removeprefix("abs<=")))
    return values


def _range(diagram: Diagram, node: Input) -> int:
    """Return one more than the largest useful integer: a coordinate's axis, or the axis that it is compared with."""
    for term in subterms(diagram.term):
        if isinstance(term, Read) and node in subterms(term.index):
            return _number(term.axis)
    for term in subterms(diagram.term):
        if isinstance(term, Map) and term.op in ("lt", "le", "eq") and node in subterms(term):
            sizes = [_number(t.axis) for t in subterms(term) if isinstance(t, Index)]
            return max(sizes, default=7) + 1
    return 8


def compared(diagram: Diagram, derivation: Derivation, dtype: str, device: str, seed: int) -> list[Case]:
    """Run a derived kernel on random inputs and hold every output against float64."""
    import numpy as np
    import torch

    from napkin_eq.evaluate import evaluate
    from napkin_eq.rounding import error_bound

    arrays = drawn(diagram, dtype, seed)
    tensors = [_tensor(arrays[b.name], b.dtype).to(device) for b in derivation.plan.inputs]
    started = time.perf_counter()
    runs = [executed(derivation.triton(), tensors) for _ in range(REPEATS[device])]
    seconds = time.perf_counter() - started
    matrix = _matrix_roundoff(derivation)
    sizes = {axis.name: _number(axis) for axis in diagram.axes()}
    cases = []
    outputs = [each for output in derivation.outputs for each in output.each()]
    for number, (name, source, term) in enumerate(outputs):
        order = [axis.name for axis in derivation.plan.outputs[number].dims]
        exact = evaluate(source, arrays, order=order)
        # The derived term is the one whose arithmetic is bounded: it says what is stored between kernels.
        (bound,) = error_bound(term, arrays, {}, dtype, matrix, order)
        got = runs[0][number].to(torch.float64).cpu().numpy()
        used, off = _used(got, exact, bound)
        repeatable = all(torch.equal(runs[0][number].view(torch.uint8), other[number].view(torch.uint8)) for other in runs[1:])
        cases.append(Case(name, sizes, off, used, int(np.isinf(bound).sum()), repeatable, seconds))
    return cases


def _tensor(array: Any, dtype: str) -> Any:
    import torch

    names = {"f64": "float64", "f32": "float32", "f16": "float16", "bf16": "bfloat16", "i32": "int32", "i64": "int64", "i1": "bool"}
    return torch.from_numpy(array).to(getattr(torch, names[dtype])).contiguous()


def executed(source: str, tensors: Sequence[Any]) -> tuple[Any, ...]:
    """Run the launcher of an emitted file; Triton reads a kernel's text from its file, so it is written first."""
    with tempfile.TemporaryDirectory(prefix="napkin-") as folder:
        file = Path(folder) / "kernel.py"
        file.write_text(source, encoding="utf-8")
        result = runpy.run_path(str(file), run_name="napkin_kernel")["run"](*tensors)
    return result if isinstance(result, tuple) else (result,)


def _used(got: Any, exact: Any, bound: Any) -> tuple[float, float]:
    """Return the largest part of a bound that was used (infinite for NaN), and the largest error."""
    import numpy as np

    same = got == exact  # covers -inf against -inf
    with np.errstate(invalid="ignore", divide="ignore"):
        off = np.where(same, 0.0, np.abs(got - exact))
        off = np.where(np.isnan(off), np.inf, off)
        part = np.where(off == 0, 0.0, off / bound)
    return float(np.nan_to_num(part, nan=np.inf, posinf=np.inf).max(initial=0.0)), float(off.max(initial=0.0))


def _matrix_roundoff(derivation: Derivation) -> float:
    from napkin_eq.plan import Dot, statements

    dots = [s for k in derivation.plan.kernels for s in statements(k.body) if isinstance(s, Dot)]
    return 2.0**-11 if any(dot.precision == "tf32" for dot in dots) else 0.0
