# SPDX-License-Identifier: MIT
"""Several plans for sizes that are known only when they run: right where they are taken, nearly as fast as a plan for
those sizes alone.
"""

from __future__ import annotations

import json

import numpy as np
import pytest

from napkin_eq.certify.certificate import dumps
from napkin_eq.certify.check import check
from napkin_eq.cli.main import main
from napkin_eq.frontend.gallery import diagram
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.evaluate import evaluate
from napkin_eq.machine.cost import total_us
from napkin_eq.pipeline.derive import derive
from napkin_eq.pipeline.sizes import Family, family
from napkin_eq.tile.expected import Expected
from napkin_eq.tile.printers import emit
from tests.arrays import assert_agrees, inputs
from tests.codegen.test_triton import loaded


@pytest.fixture(scope="module")
def few() -> Family:
    return family(diagram("softmax", t=16, x=None), seeds=2, dtype="float16", printer="triton")


def test_what_is_promised_of_a_size_is_a_limit_of_the_plan() -> None:
    found = derive(
        diagram("softmax", t=None, x=None), expected=Expected({"t": 4096, "x": 1000}, {"x": 1024}), printer="triton"
    )
    assert found.plan.limits == {"x": 1024}
    assert derive(diagram("softmax", t=None, x=None), printer="triton").plan.limits == {}
    for x in (1, 3, 17, 1000, 1024):
        assert_agrees(found, {"t": 3, "x": x})
    assert "if x_size > 1024:" in found.code()


@pytest.mark.parametrize(("multiple", "status"), [(3, "agrees"), (5, "agrees"), (48, "not validated")])
def test_a_promise_is_kept_by_sizes_that_any_number_divides(multiple: int, status: str) -> None:
    """A plan in small has sizes that are declared, where some fit below its tiles; where none does, that is said."""
    asked = diagram("softmax", t=None, x=None).with_multiples({"x": multiple})
    found = derive(asked, expected=Expected({"t": 4096, "x": 960}, {"x": 1024}), printer="triton")
    assert [o.translation.status for o in found.outputs] == [status]
    for x in (multiple, 1024 - 1024 % multiple):
        assert_agrees(found, {"t": 3, "x": x})


@pytest.mark.slow
def test_each_plan_agrees_wherever_it_is_taken(few: Family) -> None:
    for x in (1, 2, 17, 33, 128, 1000, 1025, 5000):
        one = few.chosen({"x": x})
        assert one.needs.met({"x": x})
        assert_agrees(one.derivation, {"t": 16, "x": x})


@pytest.mark.slow
def test_each_plan_has_a_certificate_that_is_accepted(few: Family) -> None:
    assert all(check(dumps(one.derivation.certificate).encode())["status"] == "ok" for one in few.sized)


@pytest.mark.slow
def test_what_is_taken_is_nearly_as_fast_as_a_plan_for_the_size_alone(few: Family) -> None:
    for x in (128, 1000, 4096):
        alone = derive(diagram("softmax", t=16, x=x), dtype="float16", printer="triton")
        fixed = total_us([t.cost for t in alone.tiled], alone.hardware)
        assert few.chosen({"x": x}).us({"x": x}) <= 1.12 * fixed
    assert few.sized[-1].us({"x": 1000}) > 0  # the general plan holds everywhere


@pytest.mark.slow
def test_the_file_takes_the_plan_of_the_guards(few: Family, tmp_path) -> None:
    torch = pytest.importorskip("torch")
    module = loaded(few.code(), tmp_path)
    for x in (1, 17, 1000, 2049):
        assert module.chosen(x) == few.dispatch.chosen({"x": x})
        array = torch.randn(16, x).to(torch.float16)
        assert torch.allclose(module.run(array).double(), torch.softmax(array.double(), -1), atol=2e-3)


@pytest.mark.slow
def test_stretches_are_counted_at_launch() -> None:
    """A cut of an axis whose size is open is for any number of stretches, which its certificate says and the kernels
    agree with.
    """
    found = derive(
        diagram("attention", b=1, h=16, q=17, x=None), expected=Expected({"x": 16384}, counted=True), printer="triton"
    )
    assert set(found.expected.parts) == {"x_part"}
    assert any(c.axis.name == "x_part" and c.axis.size is None for kernel in found.plan.kernels for c in kernel.coords)
    assert check(dumps(found.certificate).encode())["status"] == "ok"
    for parts, x in ((1, 40), (3, 700), (7, 1025), (64, 300)):
        arrays = inputs(found.diagram, {"b": 1, "h": 16, "q": 17, "d": 128, "x": x})
        got = emit(found.plan, "numpy")(arrays, False, {"x": x, "x_part": parts})
        wanted = evaluate(
            found.source, arrays, sizes={"x": x}, order=[axis.name for axis in found.plan.outputs[0].dims]
        )
        np.testing.assert_allclose(got["out"], wanted, rtol=1e-9, atol=1e-9)


@pytest.mark.slow
def test_one_sequence_of_many_keys_is_cut_into_stretches_by_plans_for_any_number_of_both() -> None:
    """It took 45 us on an H200 by a plan for many sequences of 4096 keys, 15 where many blocks share the keys."""
    found = family(diagram("gqa_attention", b=None, k=8, r=4, q=1, x=None, d=128), seeds=3)
    assert found.chosen({"b": 1, "x": 4096}).parts and found.chosen({"b": 1, "x": 50001}).parts
    assert not found.chosen({"b": 500, "x": 4096}).parts


def test_a_diagram_of_known_sizes_has_one_plan() -> None:
    with pytest.raises(NapkinError, match="every size is a number"):
        family(diagram("softmax", t=4, x=8))


def test_sizes_are_left_open_by_name(capsys) -> None:
    assert main(["derive", "softmax", "--set", "t=any", "--set", "x=48", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["sizes"] == {"t": None, "x": 48}
    assert main(["derive", "softmax", "--set", "t=any", "--set", "t=4"]) == 2
    assert main(["derive", "softmax", "--set", "t=any", "--sizes", "--index"]) == 2


def test_a_form_without_a_chain_costs_the_next_one_nothing() -> None:
    """Of decode cut into stretches the first form divides by a sum in each of its terms, which no law allows: the next,
    as fast, has its chain.
    """
    asked = diagram("gqa_attention", b=None, k=8, r=4, q=1, x=None, d=128)
    found = derive(asked, expected=Expected({"b": 4, "x": 16384}, {"b": 4, "x": 16384}, counted=True))
    assert len(found.plan.kernels) == 2 and "split-max" in {s.law for s in found.steps}
    assert not [note for o in found.outputs for note in o.graph.notes if "was not taken" in note]
    assert check(dumps(found.certificate).encode())["status"] == "ok"
