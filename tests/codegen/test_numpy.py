"""The NumPy printer: plans mean what they should, and a plan that reads or writes what it may not is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import napkin_eq as nq
from codegen.numpy import Memory, programs
from napkin_eq.lang.errors import NapkinError
from napkin_eq.numerics.running_bound import running_bound
from napkin_eq.tile import printers
from napkin_eq.tile.ir import Buffer, Coord, Kernel, Let, Load, Plan, Stmt, StoreTile, Value
from napkin_eq.tile.printers import emit
from tests import plans


def checked(case: plans.Case, emulate: bool = False) -> dict[str, tuple[plans.Array, plans.Array]]:
    outputs = emit(case.plan, "numpy")(case.arrays, emulate, case.sizes)
    assert sorted(outputs) == sorted(case.wanted)
    return {name: (np.asarray(outputs[name], dtype=np.float64), wanted) for name, wanted in case.wanted.items()}


@pytest.mark.parametrize("name", sorted(plans.FLOAT_CASES))
def test_exact_run_equals_float64(name):
    for found, wanted in checked(plans.FLOAT_CASES[name]("f32")).values():
        np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize(
    "case",
    [plans.operators(), plans.integers(), plans.coordinates(), plans.masks(), plans.window()],
    ids=lambda case: case.plan.name,
)
def test_every_operator_equals_float64(case):
    for found, wanted in checked(case).values():
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("dtype", "held", "roundoff"),
    [("f32", "float32", 2.0**-24), ("f16", "float16", 2.0**-11), ("bf16", "bfloat16", 2.0**-8)],
)
@pytest.mark.parametrize("name", ["softmax_row", "softmax_stream", "matmul", "attention"])
def test_emulated_rounding_keeps_to_the_bound_and_is_rounding(name, dtype, held, roundoff):
    torch = pytest.importorskip("torch")
    case = plans.FLOAT_CASES[name](dtype)
    stored = {n: torch.tensor(a).to(getattr(torch, held)).double().numpy() for n, a in case.arrays.items()}
    exact, rounded = (emit(case.plan, "numpy")(stored, emulate, case.sizes) for emulate in (False, True))
    for out, bound in running_bound(case.plan, stored, case.sizes).items():
        off = np.abs(rounded[out].astype(np.float64) - exact[out])
        assert (off <= bound).all()
        assert off.max() > roundoff / 4 * np.abs(exact[out]).max()
        # What is stored in 16 bits is off by nearly all that it may be; a bound for a type of one bit more would not
        # hold.
        assert dtype == "f32" or (off > bound / 2).any() or name == "attention"


def test_bfloat16_rounds_to_nearest_even():
    torch = pytest.importorskip("torch")
    case = plans.gather("bf16")
    table = case.arrays["table"]
    found = emit(case.plan, "numpy")(case.arrays, emulate=True)["out"]
    rounded = torch.tensor(table, dtype=torch.float32).to(torch.bfloat16).to(torch.float64).numpy()
    assert np.array_equal(found, rounded[np.clip(case.arrays["ids"], 0, 9)])


def changed(plan: Plan, change: Callable[[Stmt], Stmt | None]) -> Plan:
    """The plan with `change` applied to every statement outside loops; None drops one."""
    kernels = []
    for kernel in plan.kernels:
        body: tuple[Stmt, ...] = tuple(new for old in kernel.body if (new := change(old)) is not None)
        kernels.append(replace(kernel, body=body))
    return replace(plan, kernels=tuple(kernels))


def unmasked(stmt: Stmt) -> Stmt:
    return replace(stmt, masks=()) if isinstance(stmt, Load) else stmt


def short(stmt: Stmt) -> Stmt:
    return replace(stmt, args=("rs", 5)) if isinstance(stmt, Let) and stmt.out.name == "r_in" else stmt


def same_row(stmt: Stmt) -> Stmt:
    return replace(stmt, index=(0, "cs"), masks=("c_in",)) if isinstance(stmt, StoreTile) else stmt


def stored_wide(stmt: Stmt) -> Stmt:
    return replace(stmt, value="p") if isinstance(stmt, StoreTile) else stmt


def undefined(stmt: Stmt) -> Stmt | None:
    return None if isinstance(stmt, Let) and stmt.out.name == "e" else stmt


def uncast(stmt: Stmt) -> Stmt:
    return replace(stmt, args=("loaded", "m")) if isinstance(stmt, Let) and stmt.out.name == "moved" else stmt


def renamed(stmt: Stmt) -> Stmt:
    return replace(stmt, out=plans.f32("s", "r", "c")) if isinstance(stmt, Let) and stmt.out.name == "moved" else stmt


def misplaced(stmt: Stmt) -> Stmt:
    return replace(stmt, out=plans.f32("moved", "r")) if isinstance(stmt, Let) and stmt.out.name == "moved" else stmt


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (unmasked, r"x\[0, 100\] is out of bounds: c has 100 elements"),
        (short, r"output y: element \(5, 0\) is never written"),
        (same_row, r"y\[0, 0\] is written twice"),
        (stored_wide, "p is f32, stored to y, which is f16; cast first"),
        (undefined, "e is used where it is not defined"),
        (uncast, "moved is f32, but its sub takes f16, f32; cast first"),
        (renamed, "s is defined twice"),
        (misplaced, r"moved is f32\[r\], but spans \[r, c\]"),
    ],
)
def test_a_wrong_plan_is_refused(change, message):
    case = plans.softmax_row("f16")
    with pytest.raises(NapkinError, match=message):
        emit(changed(case.plan, change), "numpy")(case.arrays)


def test_scratch_is_not_read_before_it_is_written():
    case = plans.integers()
    with pytest.raises(NapkinError, match="mid.* is read before it is written"):
        emit(replace(case.plan, kernels=case.plan.kernels[::-1]), "numpy")(case.arrays)


@pytest.mark.parametrize("name", ["softmax_stream", "matmul", "attention", "gather"])
def test_several_data_at_once_give_what_each_gives(name):
    case = plans.FLOAT_CASES[name]("f32")
    run, first = emit(case.plan, "numpy"), max(n for n, a in case.arrays.items() if a.dtype.kind == "f")
    data = [case.arrays[first] * scale for scale in (1.0, -2.0, np.nan)]
    both = run({**case.arrays, first: np.stack(data)}, sizes=case.sizes, cases=len(data))
    for at, array in enumerate(data):
        for output, wanted in run({**case.arrays, first: array}, sizes=case.sizes).items():
            np.testing.assert_allclose(both[output][at], wanted, rtol=1e-12)


def test_inputs_are_checked():
    case = plans.matmul()
    with pytest.raises(NapkinError, match=r"input B: expected shape \(k=50, n=90\), found \(50, 91\)"):
        emit(case.plan, "numpy")({**case.arrays, "B": np.zeros((50, 91))})
    with pytest.raises(NapkinError, match="input B is missing; given are A"):
        emit(case.plan, "numpy")({"A": case.arrays["A"]})


def test_a_size_that_no_input_has_is_asked_for():
    with pytest.raises(NapkinError, match=r"the size of axis a is not known: no input has it; give sizes=\{'a': ...\}"):
        emit(plans.coordinates().plan, "numpy")({})


def test_functions_of_float32_are_rounded_once_whatever_the_machine():
    """NumPy's tanh of float32 is off by a unit where the vector units are wide: -0.99999994 at -9.7."""
    x = nq.Axis("x", 64)
    found = nq.derive(nq.Diagram("d", (("out", nq.tanh(nq.array("A", x))),)), dtype="float32")
    given = {"A": np.linspace(-12.0, -9.1, 64).astype(np.float32)}
    assert (emit(found.plan, "numpy")(given, True)["out"] == -1.0).all()


WHOLE = {made.__name__: made for made in (plans.integers, plans.coordinates, plans.window, plans.masks)}
EVERY = {**{name: partial(make, "f32") for name, make in plans.FLOAT_CASES.items()}, **WHOLE}


@pytest.mark.parametrize("emulate", [False, True])
@pytest.mark.parametrize("name", EVERY)
def test_programs_that_are_run_at_once_give_what_each_gives(monkeypatch, name, emulate):
    case = EVERY[name]()
    found = []
    for most in (printers.AT_ONCE, 1 << 10, 1):
        monkeypatch.setattr(printers, "AT_ONCE", most)
        found.append(emit(case.plan, "numpy")(case.arrays, emulate, sizes=case.sizes))
    for output, wanted in found[-1].items():
        for other in found[:-1]:
            np.testing.assert_allclose(other[output], wanted, rtol=1e-6 if emulate else 1e-12)


def test_a_value_of_no_block_that_every_program_stores_is_stored_more_than_once():
    n = nq.axes("n", n=8)[0]
    coord, value = Coord("rows", n, 2, "group"), Value("one", (), "f32")
    out = Buffer("out", (), "f32")
    body = (Let(value, "add", (1.0, 1.0)), StoreTile("out", (), "one"))
    plan = Plan("again", (), (out,), (Kernel("again", (), (out,), (coord,), ("rows",), body),))
    with pytest.raises(NapkinError, match="written twice .blocks starting at rows=2"):
        emit(plan, "numpy")({})


def test_programs_whose_loops_end_elsewhere_are_run_apart():
    """Causal attention goes through other blocks for each block of queries, for all heads at once."""
    case = plans.FLOAT_CASES["attention_concrete"]("f32")
    (kernel,) = case.plan.kernels
    assert printers.together(kernel, 1)[0] == ["q"]
    assert [scope.programs for scope in programs(kernel, Memory(case.plan, case.arrays, False, {}))] == [4, 4]
