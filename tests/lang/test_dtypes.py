"""One record for each type of numbers: every table over types has a row for it, and fp8 is what torch and
the GPU say.
"""

import numpy as np
import pytest

import napkin_eq as nq
from napkin_eq.lang.diagram import Diagram
from napkin_eq.lang.dtypes import BY_NAME, KINDS, TYPES, device
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.json_form import LANGUAGE, diagram_from_json, diagram_to_json
from napkin_eq.lang.numpy_semantics import held
from napkin_eq.lang.term import DTYPES
from napkin_eq.numerics.roundoff import STORAGE, TOP
from napkin_eq.numerics.sample_inputs import RANGE
from napkin_eq.prove.rocq_text import DTYPES as IN_ROCQ
from napkin_eq.tile.ir import DTYPES as IN_PLANS
from napkin_eq.tile.ir import Dot, statements, values_of
from napkin_eq.tile.printers import emit
from napkin_eq.tile.resources import BYTES

torch = pytest.importorskip("torch")
FP8 = BY_NAME["float8_e4m3fn"]
M, K, N = nq.axes("m k n", m=32, k=64, n=48)
A, W = nq.array("A", M, K), nq.array("W", K, N, dtype="float8_e4m3fn")


@pytest.mark.parametrize("made", TYPES, ids=lambda t: t.name)
def test_every_meaning_has_a_row(made):
    assert DTYPES[made.name] == KINDS[made.name] == LANGUAGE["words"]["dtype"][made.name] == made.kind
    assert IN_ROCQ[made.name] == made.kind.capitalize() and made.short in IN_PLANS
    assert BYTES[made.short] == made.bytes == getattr(torch, made.name).itemsize
    assert hasattr(pytest.importorskip("triton.language"), device("tl")[made.short].removeprefix("tl."))
    if made.digits:
        info = torch.finfo(getattr(torch, made.name))
        assert (info.max, info.eps) == (made.top, 2 * made.roundoff)
        assert info.smallest_normal == 2.0 ** (made.least + made.digits - 1)
    if made.storage:
        assert STORAGE[made.name] and TOP[made.name] and RANGE[made.name]


@pytest.mark.parametrize("name", [t.name for t in TYPES if t.digits])
def test_numbers_are_rounded_as_torch_rounds_them(name):
    edges = [
        0.0,
        -0.0,
        448,
        464,
        464.1,
        480,
        1e30,
        np.inf,
        -np.inf,
        np.nan,
        2.0**-9,
        2.0**-10,
        1.5 * 2.0**-10,
        1.5 * 2.0**-9,
    ]
    drawn = np.random.default_rng(0).normal(size=(5, 2000)) * np.array([[1e-3], [0.1], [1], [50], [300]])
    values = np.concatenate([drawn.ravel(), edges]).astype(np.float32)
    wanted = torch.tensor(values).to(getattr(torch, name)).to(torch.float64).numpy()
    np.testing.assert_array_equal(held(values, BY_NAME[name]).astype(np.float64), wanted)


def test_fp8_is_read_multiplied_and_stored():
    rng = np.random.default_rng(1)
    arrays = {"A": held(rng.normal(size=(32, 64)), BY_NAME["float16"]), "W": held(rng.normal(size=(64, 48)), FP8)}
    exact = arrays["A"].astype(float) @ arrays["W"].astype(float)
    derivation = nq.derive(nq.sum(A * W, K), dtype="float16")
    assert [b.dtype for b in derivation.plan.inputs] == ["f16", "e4m3"]
    np.testing.assert_allclose(emit(derivation.plan, "numpy")(arrays, emulate=True)["out"], exact, rtol=2e-3, atol=2e-3)
    stored = nq.derive(nq.sum(A * W, K), dtype="float8_e4m3fn").plan
    assert stored.outputs[0].dtype == "e4m3" and "float8e4nv" in emit(stored)
    arrays["A"] = held(arrays["A"], FP8)
    wanted = arrays["A"].astype(float) @ arrays["W"].astype(float)
    np.testing.assert_allclose(emit(stored, "numpy")(arrays, emulate=True)["out"], wanted, rtol=2.0**-4, atol=2.0**-9)


def test_the_matrix_unit_takes_fp8_in_the_type_of_16_bits_that_holds_it():
    m, k, n = nq.axes("m k n", m=1024, k=1024, n=1024)
    product = nq.sum(nq.array("A", m, k) * nq.array("W", k, n, dtype="float8_e4m3fn"), k)
    for dtype, wanted in (("bfloat16", "bf16"), ("float8_e4m3fn", "f16")):
        for kernel in nq.derive(product, dtype=dtype).plan.kernels:
            values = values_of(kernel.body)
            assert {
                values[name].dtype for s in statements(kernel.body) if isinstance(s, Dot) for name in (s.a, s.b)
            } <= {wanted}


def test_a_gpu_without_fp8_refuses_it():
    with pytest.raises(NapkinError, match="float8_e4m3fn is not a type of NVIDIA A100"):
        nq.derive(nq.sum(A * W, K), hardware="a100")


def test_outputs_have_types_of_their_own():
    diagram = Diagram("d", (("m", nq.max(A, K)), ("i", nq.argmax(A, K)))).storing(m="float32", i="int64")
    assert diagram_from_json(diagram_to_json(diagram)) == diagram
    plan = nq.derive(diagram, dtype="float16").plan
    assert [b.dtype for b in plan.outputs] == ["f32", "i64"]
    with pytest.raises(
        NapkinError, match="output i holds int values, not 'float16'; one of int8, uint8, int16, int32, int64"
    ):
        diagram.storing(i="float16")
    with pytest.raises(NapkinError, match="no output 'j'"):
        diagram.storing(j="int64")


def test_outputs_lie_in_an_order_of_their_own():
    product = nq.sum(A * nq.array("B", N, K), K)
    for order in (("n", "m"), ("m", "n")):
        diagram = Diagram("d", (("out", product), ("row", nq.sum(A, K)))).laying(out=order)
        assert diagram_from_json(diagram_to_json(diagram)) == diagram
        found = nq.derive(diagram, dtype="float16")
        assert [tuple(axis.name for axis in b.dims) for b in found.plan.outputs] == [order, ("m",)]
        assert found.outputs[0].translation.status != "differs"
    alone = nq.derive(Diagram("d", (("out", nq.exp(product)),)).laying(out=("n", "m")), dtype="float16")
    assert [axis.name for axis in alone.plan.outputs[0].dims] == ["n", "m"]
    with pytest.raises(NapkinError, match="diagram d: output out has the axes m, n, found the order m"):
        diagram.laying(out=("m",))
    named = Diagram("d", (("self", product),)).storing(**{"self": "float32"}).laying(**{"self": ("n", "m")})
    assert diagram_from_json(diagram_to_json(named)) == named
    with pytest.raises(NapkinError, match="no output 'other'; its outputs are out, row"):
        diagram.laying(other=("m",))
    broken = {**diagram_to_json(diagram), "laid": {"out": ["m", "k"]}}
    with pytest.raises(NapkinError, match="found the order m, k"):
        diagram_from_json(broken)


def test_whole_numbers_of_a_byte_and_numbers_of_eight():
    rng = np.random.default_rng(2)
    whole, wide = rng.integers(-128, 128, (32, 64)), rng.normal(size=(32, 64))
    narrow, double = nq.array("I", M, K, dtype="int8"), nq.array("D", M, K, dtype="float64")
    found = emit(nq.derive(nq.sum(narrow * 1.0, K), dtype="float32").plan, "numpy")({"I": whole})["out"]
    np.testing.assert_array_equal(found, whole.sum(1))
    diagram = Diagram("d", (("out", nq.sum(double, K)),)).storing(out="float64")
    np.testing.assert_allclose(
        emit(nq.derive(diagram).plan, "numpy")({"D": wide}, emulate=True)["out"], wide.sum(1), rtol=1e-4, atol=1e-5
    )
