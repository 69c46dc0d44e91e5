"""Running an emitted kernel against float64, within a bound computed from its term and its data (see rounding.py).

On a GPU the kernel runs as it is; without one, in Triton's interpreter, which knows float16 and float32 but not
bfloat16. Sizes are chosen so that no tile divides some of them and so that every mask cuts somewhere. Inputs are drawn
from families (see sample_inputs.py), plain random numbers if none is named. A failure prints the command that runs the
same case again.
"""

from __future__ import annotations

import inspect
import os
import runpy
import sys
import tempfile
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from napkin_eq.lang.axis import Axis
from napkin_eq.lang.diagram import Diagram
from napkin_eq.lang.dtypes import BY_NAME, BY_SHORT, NARROW, STORAGE
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.term import Const, Index, Map, Reduce, Scan, subterms
from napkin_eq.numerics.sample_inputs import Family, applies, draw, families, family, number, resized
from napkin_eq.verify.tolerance import LOOSE

if TYPE_CHECKING:
    from napkin_eq.pipeline.derivation import Derivation

# Ragged and tidy: of an axis that is folded, of one that is tiled.
FOLDED, TILED = (557, 512), (77, 128)
# The interpreter runs one block after another: a repeat there could show nothing.
REPEATS = {"cuda": 3, "cpu": 1}
VERDICTS = ("failed", "unknown", "ok")


@dataclass(frozen=True, slots=True)
class Case:
    """One output of one run: how far it was off, at most, and the largest part of an element's bound that was used.

    Bounds: the largest of each of the three of tolerance.py; an element is held to the least of its own. looseness: see
    Compared.
    unbounded: of the elements those that have no bound, as where a sum may pass the range of float32. A case is
    *failed* where an element is past its bound, or a repeat gives other bits; *unknown* where none has a bound, or
    where the bounds say too little, or some of plain random numbers have none; else *ok*.
    """

    output: str
    sizes: dict[str, int]
    family: str
    seed: int
    max_error: float
    a_priori: float
    running: float
    source: float
    bound_used: float
    looseness: float
    elements: int
    unbounded: int
    repeatable: bool
    seconds: float

    @property
    def verdict(self) -> str:
        if self.bound_used > 1 or not self.repeatable:
            return "failed"
        nothing = 0 < self.elements == self.unbounded or (self.unbounded and self.family == "normal")
        return "unknown" if nothing or self.looseness > LOOSE else "ok"

    @property
    def passed(self) -> bool:
        return self.verdict == "ok"


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

    @property
    def verdict(self) -> str:
        """The worst of the cases: failed, else unknown, else ok."""
        return min((case.verdict for case in self.cases), key=VERDICTS.index, default="unknown")

    def data(self) -> dict[str, Any]:
        """Return the report as data, keys stable."""
        cases = [{**asdict(case), "verdict": case.verdict, "passed": case.passed} for case in self.cases]
        return {"schema": 2, "diagram": self.diagram, "hardware": self.hardware, "dtype": self.dtype,
            "device": self.device,
                "verdict": self.verdict, "passed": self.passed, "cases": cases}  # fmt: skip

    def __str__(self) -> str:
        lines = [f"{self.diagram}, {self.dtype}, derived for {self.hardware}, on {self.device}, against float64:"]
        for case in self.cases:
            sizes = " ".join(f"{name}={size}" for name, size in case.sizes.items())
            verdict = {"ok": "ok", "unknown": "UNKNOWN", "failed": "FAILED"}[case.verdict]
            notes = f"; {case.unbounded} of {case.elements} elements have no bound" if case.unbounded else ""
            notes += f"; the bounds are {case.looseness:.0f} times what is lost" if case.looseness > LOOSE else ""
            notes += "" if case.repeatable else "; a repeat gave other bits"
            bounds = (
                f"bounds {case.a_priori:.2e} a priori, {case.running:.2e} running and {case.source:.2e} of the diagram"
            )
            off = f"max error {case.max_error:.2e}, {bounds}, {case.bound_used:.0%} used"
            lines.append(f"  {case.output}  {sizes}  {case.family}: {off}{notes}  {verdict}")
            if not case.passed:
                lines.append(f"    again: {self.replay(case)}")
        return "\n".join(lines)

    def replay(self, case: Case) -> str:
        """Return the command that runs a case again."""
        sets = " ".join(f"--set {name}={size}" for name, size in case.sizes.items())
        return (
            f"napkin-eq run {self.diagram} --hardware {self.hardware} --dtype {self.dtype} --family {case.family}"
            f" --seed {case.seed} {sets}"
        )


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
    inputs: Sequence[str] = ("normal",),
    printer: str = "auto",
    max_error: float | None = None,
) -> Report:
    """Derive the diagram at each of the sizes, run the kernel and compare it with float64.

    printer, max_error: as `derive` takes them; on a CPU the same plan is printed in portable Triton.
    sizes: without them, a ragged and a tidy choice of `trial_sizes`, where `fixed` says what may not change.
    inputs: names of families of inputs, or "all". Raises NapkinError for one that cannot differ from random numbers
    here.
    """
    from napkin_eq.pipeline.derive import derive as derived
    from napkin_eq.pipeline.top_k import portable

    where, label = chosen_device(device)
    dtype = dtype or ("bfloat16" if where == "cuda" else "float16")
    if dtype not in STORAGE:
        raise NapkinError(f"unknown dtype {dtype!r:.60}; one of {', '.join(STORAGE)}")
    if where == "cpu" and BY_NAME[dtype].short in NARROW and dtype != "float16":
        raise NapkinError(
            f"dtype {dtype}: Triton's interpreter computes it wrongly on a CPU; take float16 or float32, or run on"
            " a GPU"
        )
    declared = [(i.name, i.dtype) for i in diagram.inputs()] + list(diagram.held)
    if where == "cpu" and (wide := next((name for name, held in declared if held == "bfloat16"), None)):
        raise NapkinError(
            f"{wide} is declared bfloat16, which Triton's interpreter computes wrongly on a CPU; declare it float, or"
            " run on a GPU"
        )
    chosen = _chosen(diagram, inputs)

    def made(sized: Diagram) -> Derivation:
        found = derived(
            sized,
            hardware=hardware,
            dtype=dtype or "",
            without=without,
            rules=rules,
            printer=printer,
            max_error=max_error,
        )
        return portable(found) if where == "cpu" else found

    cases: list[Case] = []
    choices = list(sizes) if sizes else trial_sizes(diagram, fixed or {})
    for choice in choices[:1] if choices[1:] == choices[:1] else choices:
        sized = diagram.with_sizes(choice)
        whole = {axis.name: number(axis, {}) for axis in sized.axes()}
        derivation = made(sized)
        for drawn_from in chosen:
            other = resized(
                sized, drawn_from, whole, {n: t for n, t in _tiles(derivation).items() if n not in (fixed or {})}
            )
            other = {name: size or whole[name] for name, size in sized.fitted(other, fixed or ()).items()}
            if other == whole:
                cases += compared(sized, derivation, dtype, where, seed, drawn_from)
            else:
                again = diagram.with_sizes(other)
                cases += compared(again, made(again), dtype, where, seed, drawn_from)
    return Report(diagram.name, hardware, dtype, label, tuple(cases))


def _chosen(diagram: Diagram, names: Sequence[str]) -> list[Family]:
    if "all" in names:
        return [found for found in families().values() if applies(diagram, found)]
    chosen = [family(name) for name in names]
    for found in chosen:
        if not applies(diagram, found):
            raise NapkinError(
                f"family {found.name}: diagram {diagram.name} has no input of masks or integers, which it is about;"
                " take another"
            )
    return chosen


def _tiles(derivation: Derivation) -> dict[str, int]:
    """Return the tile of each axis that takes several."""
    coords = [c for kernel in derivation.plan.kernels for c in kernel.coords]
    return {c.axis.name: c.tile for c in coords if c.tile > 1 and (c.axis.size is None or c.tile < c.axis.size)}


def chosen_device(device: str) -> tuple[str, str]:
    """Return the device to run on and its description, the interpreter switched on where it is a CPU."""
    if device != "cuda" and "triton" not in sys.modules and not _gpu():
        os.environ["TRITON_INTERPRET"] = "1"
    import torch
    import triton

    if device == "cuda" or (device == "auto" and torch.cuda.is_available() and not triton.knobs.runtime.interpret):
        if not torch.cuda.is_available():
            raise NapkinError(
                "device cuda: no GPU is visible here; leave --device out to use Triton's interpreter on the CPU"
            )
        return "cuda", torch.cuda.get_device_name()
    if not triton.knobs.runtime.interpret:
        raise NapkinError(
            "device cpu: set TRITON_INTERPRET=1 before Triton is imported, so that kernels run in its interpreter"
        )
    return "cpu", "the CPU, in Triton's interpreter, as portable Triton"


def _gpu() -> bool:
    import torch

    return bool(torch.cuda.is_available())


def trial_sizes(diagram: Diagram, fixed: Mapping[str, int]) -> list[dict[str, int]]:
    """Return two choices of sizes, small enough for an interpreter: one ragged, one of powers of two.

    An axis that ends an input (a head, a row) keeps its size up to 128. One that is folded is long enough for several
    blocks. The longest other takes several tiles, the rest 2 or 3. All reach past the constants that masks compare
    with.
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
    return [
        {name: size for name, size in diagram.fitted(sizes, fixed).items() if size is not None}
        for sizes in (ragged, tidy)
    ]


def _rounded(axis: Axis, size: int) -> int:
    return -(-size // axis.multiple) * axis.multiple


def _reach(diagram: Diagram) -> dict[str, int]:
    """Return, for each axis that a comparison speaks of, the largest whole constant in such comparisons,
    4096 at most.
    """
    found: dict[str, int] = {}
    for node in subterms(diagram.term):
        if isinstance(node, Map) and node.op in ("lt", "le", "eq"):
            inner = subterms(node)
            constants = [abs(t.value) for t in inner if isinstance(t, Const) and t.kind == "int"]
            for part in inner:
                if isinstance(part, Index):
                    found[part.axis.name] = min(4096, max([found.get(part.axis.name, 0), *constants]))
    return found


def compared(
    diagram: Diagram, derivation: Derivation, dtype: str, device: str, seed: int, drawn_from: Family | None = None
) -> list[Case]:
    """Run a derived kernel on inputs of a family, plain random numbers if none is given, and hold every output against
    float64; one that does not compile gives way to the next, as where it is written.
    """
    import numpy as np
    import torch

    from napkin_eq.lang.evaluate import evaluate
    from napkin_eq.numerics.compare import compare, must_spoil
    from napkin_eq.pipeline.compiled import instead
    from napkin_eq.verify.tolerance import tolerances

    drawn_from = drawn_from or family("normal")
    sizes = {axis.name: number(axis, {}) for axis in diagram.axes()}
    drawn = draw(diagram, drawn_from, sizes, dtype, seed)
    tensors = [_tensor(drawn.arrays[b.name], b.dtype).to(device) for b in derivation.plan.inputs]
    started = time.perf_counter()
    # The interpreter computes with NumPy, and some families are there to overflow.
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            runs = [
                executed(derivation.code() if device == "cuda" else derivation.triton(), tensors, device)
                for _ in range(REPEATS[device])
            ]
        except Exception:  # whatever Triton's compiler raises; that it was the compiler is asked of it alone
            other = instead(derivation) if device == "cuda" else None
            if other is None:
                raise
            return compared(diagram, other, dtype, device, seed, drawn_from)
    seconds = time.perf_counter() - started
    allowed = tolerances(derivation, drawn, {}, dtype)
    cases = []
    outputs = [each for output in derivation.outputs for each in output.each()]
    for place, (name, source, _) in enumerate(outputs):
        buffer = derivation.plan.outputs[place]
        order = [axis.name for axis in buffer.dims]
        exact = evaluate(source, drawn.clean, order=order)
        must = must_spoil(source, drawn.clean, {}, drawn.spoilt, order) if drawn_from.spoil == "nan" else None
        got = runs[0][place].to(torch.float64).cpu().numpy()
        tolerance = allowed[buffer.name]
        seen = compare(got, exact, tolerance.least, BY_SHORT[buffer.dtype].name if source.kind == "real" else "", must)
        # As bytes, for which a scalar needs an axis: -0 and NaN are to repeat as well.
        first, *others = (run[place].reshape(-1).view(torch.uint8) for run in runs)
        repeatable = all(torch.equal(first, other) for other in others)
        ways = (tolerance.a_priori, tolerance.running, tolerance.source)
        before, along, own = (float(np.where(np.isfinite(b), b, 0.0).max(initial=0.0)) for b in ways)
        cases.append(Case(
            name, sizes, drawn_from.name, seed, seen.max_error, before, along, own, seen.bound_used, seen.looseness,
            seen.elements, seen.unbounded,
            repeatable, seconds,
        ))  # fmt: skip
    return cases


def _tensor(array: Any, dtype: str) -> Any:
    import numpy as np
    import torch

    return torch.from_numpy(np.asarray(array)).to(getattr(torch, BY_SHORT[dtype].name)).contiguous()


def executed(source: str, tensors: Sequence[Any], device: str = "") -> tuple[Any, ...]:
    """Run the launcher of an emitted file; Triton reads a kernel's text from its file, so it is written first.

    device: where a kernel without inputs is to run, which otherwise runs where they are.
    """
    from napkin_eq.pipeline.function import runnable

    with tempfile.TemporaryDirectory(prefix="napkin-") as folder:
        file = Path(folder) / "kernel.py"
        file.write_text(runnable(source), encoding="utf-8")
        run = runpy.run_path(str(file), run_name="napkin_kernel")["run"]
        place = [name for name, parameter in inspect.signature(run).parameters.items() if parameter.default == "cuda"]
        result = run(*tensors, **{name: device for name in place if device})
    return result if isinstance(result, tuple) else (result,)
