"""What must derive from its naive definition, sentence by sentence, and diagrams that nobody listed."""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import resource
import statistics
import subprocess
import sys
from collections.abc import Mapping
from functools import cache

import numpy as np
import pytest

import napkin_eq as nq
from napkin_eq.certify.certificate import checked
from napkin_eq.egraph.budget import PROBE_S, SECONDS, _probe
from napkin_eq.frontend.gallery import DIAGRAMS, diagram
from napkin_eq.lang.diagram import Diagram
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.term import Term
from napkin_eq.pipeline.derivation import Derivation
from napkin_eq.pipeline.derive import derive
from napkin_eq.tile.ir import Dot, statements
from tests.arrays import assert_agrees, inputs, loads, loops, run
from tests.diagrams import NEW

# Kernels and passes at the gallery's sizes.
EXPECTED: dict[str, tuple[int, dict[str, int]]] = {
    "softmax": (1, {"x": 1}),
    "logsumexp": (1, {"x": 1}),
    "variance": (1, {"x": 1}),
    "rms_norm": (1, {"d": 1}),
    "layer_norm": (1, {"d": 1}),
    "matmul": (1, {"k": 1}),
    "linear_gelu": (1, {"d": 1}),
    "rmsnorm_linear": (2, {"d": 2}),
    "swiglu": (1, {"d": 1}),
    "mlp": (2, {"d": 1, "f": 1}),
    "linear_cross_entropy": (2, {"d": 2, "v": 1}),
    **{name: (1, {"d": 1, "x": 1}) for name in DIAGRAMS if name.endswith("attention")},
}
ATTENTIONS = sorted(name for name in DIAGRAMS if name.endswith("attention"))
# Sizes that no tile divides, and sizes that many do.
RAGGED = {
    "t": 13,
    "x": 75,
    "d": 40,
    "m": 37,
    "n": 50,
    "k": 70,
    "f": 45,
    "e": 21,
    "v": 300,
    "b": 2,
    "h": 3,
    "q": 37,
    "r": 2,
}
TIDY = {
    "t": 16,
    "x": 128,
    "d": 64,
    "m": 64,
    "n": 64,
    "k": 64,
    "f": 64,
    "e": 32,
    "v": 512,
    "b": 2,
    "h": 2,
    "q": 64,
    "r": 2,
}
KEYS = ["schema", "diagram", "hardware", "dtype", "sizes", "kernels", "predicted_us", "bytes_hbm", "bytes_once",
    "unfused_bytes_hbm", "passes", "laws",
        "unsafe", "grades", "certificate", "translation", "egraph", "seconds"]  # fmt: skip
KERNEL_KEYS = {"name", "groups", "streams", "bytes_hbm", "flops_tensor", "ops_sfu", "smem_bytes", "predicted_us"}


SOON = 2.0  # seconds as they are counted, in which a plan is found that is right, be it not the fastest


@cache
def derived(name: str) -> Derivation:
    return derive(diagram(name))


@cache
def derived_at(outputs: tuple[tuple[str, Term], ...], limit: float = SECONDS) -> Derivation:
    """Derive a diagram of the gallery at some sizes; of those that differ in their names and usual sizes alone, one."""
    return derive(Diagram("diagram", outputs), limit=limit)


def sizes_of(name: str, table: Mapping[str, int]) -> dict[str, int]:
    sizes = {axis: table[axis] for axis in inspect.signature(DIAGRAMS[name]).parameters}
    return {**sizes, "k": 2} if name == "gqa_attention" else sizes


# Every diagram of the gallery.


def test_every_diagram_of_the_gallery_is_expected_here():
    assert sorted(EXPECTED) == sorted(DIAGRAMS)


@pytest.mark.parametrize("name", list(EXPECTED))
def test_kernels_and_passes(name):
    kernels, passes = EXPECTED[name]
    report = derived(name).report()
    assert (len(report["kernels"]), report["passes"]) == (kernels, passes)
    # An axis that is folded once has one loop at most, in the plan itself; the logit of a label is a kernel of its own,
    # row by row.
    assert all(loops(derived(name).plan, axis) <= count for axis, count in passes.items())


@pytest.mark.parametrize("name", list(EXPECTED))
def test_the_report_has_the_keys_that_were_promised(name):
    report = json.loads(json.dumps(derived(name).report()))
    assert list(report) == KEYS
    assert all(set(kernel) >= KERNEL_KEYS for kernel in report["kernels"])
    assert (report["diagram"], report["hardware"], report["dtype"]) == (name, "h200", "bfloat16")
    assert report["sizes"] == {axis.name: axis.size for axis in diagram(name).axes()}
    assert set(report["certificate"]) == {"path", "status", "grade"}
    assert set(report["egraph"]) >= {"nodes", "classes", "rounds"}
    assert set(report["seconds"]) >= {"saturate", "extract", "total"}
    alone = [k["predicted_us"] for k in report["kernels"]]
    # Later launches are queued while kernels run
    assert sum(alone) - 5 * (len(alone) - 1) <= report["predicted_us"] <= sum(alone) + 0.01
    assert report["bytes_hbm"] == pytest.approx(
        sum(k["bytes_hbm"] for k in report["kernels"]), abs=len(report["kernels"])
    )


@pytest.mark.parametrize("name", list(EXPECTED))
def test_the_certificate_is_proved_and_checks(name):
    derivation = derived(name)
    assert derivation.report()["certificate"]["status"] == "proved"
    result = checked(json.loads(json.dumps(derivation.certificate)))
    assert result["status"] == "ok" and result["steps"] > 0, result


# "Row softmax (one kernel, wide rows streamed)"; what wide rows need is in test_ablation.py.


@pytest.mark.parametrize("name", ["softmax", "logsumexp"])
@pytest.mark.parametrize("width", [65536, None])
def test_wide_rows_are_streamed_in_one_kernel_and_one_pass(name, width):
    derivation = derive(diagram(name, x=width))
    assert len(derivation.plan.kernels) == 1
    assert derivation.report()["passes"] == {"x": 1}
    assert loops(derivation.plan, "x") == 1
    assert derivation.report()["laws"].count("rescale") == 1


# "Matmul (grouped tiles, streamed contraction)"


@pytest.mark.parametrize("name", ["matmul", "linear_gelu", "swiglu"])
def test_contractions_are_grouped_both_ways_and_streamed(name):
    (kernel,) = derived(name).report()["kernels"]
    (plan,) = derived(name).plan.kernels
    assert len([tile for tile in kernel["groups"].values() if tile >= 64]) == 2
    assert list(kernel["streams"].values())[0] >= 32
    assert plan.swizzle is not None
    assert any(isinstance(stmt, Dot) for stmt in statements(plan.body))
    assert loads(derived(name).plan, "A") == 1


# "Attention: one kernel, one pass over the keys, no score matrix in HBM"


@pytest.mark.parametrize("name", ATTENTIONS)
def test_attention_stores_nothing_but_its_output_and_loads_keys_and_values_once(name):
    plan = derived(name).plan
    assert plan.scratch == ()
    assert [(loads(plan, array), loops(plan, "x")) for array in "KV"] == [(1, 1)] * 2
    assert len([stmt for kernel in plan.kernels for stmt in statements(kernel.body) if isinstance(stmt, Dot)]) >= 2


@pytest.mark.parametrize("name", ["attention", "causal_attention", "gqa_attention"])
@pytest.mark.parametrize("width", [64, 128])
def test_attention_of_either_head_dimension_is_one_pass(name, width):
    usual = {axis.name: axis.size for axis in diagram(name).axes()}["d"]
    derivation = derived(name) if width == usual else derive(diagram(name, d=width))
    assert len(derivation.plan.kernels) == 1
    assert derivation.plan.scratch == ()
    assert derivation.report()["passes"] == {"d": 1, "x": 1}


@pytest.mark.parametrize("name", ["causal_attention", "window_attention"])
def test_masks_shorten_the_walk(name):
    """A causal walk leaves out nearly half of the work, a window of 1024 in 4096 more."""
    flops = {n: derived(n).report()["kernels"][0]["flops_tensor"] for n in (name, "attention")}
    assert flops[name] < {"causal_attention": 0.6, "window_attention": 0.3}[name] * flops["attention"]


def test_the_bytes_of_attention_are_those_of_its_arrays():
    report = derived("attention").report()
    assert report["bytes_hbm"] == 4 * 16 * 4096 * 128 * 2
    # A softmax that is not fused reads and writes the scores several times.
    assert report["unfused_bytes_hbm"] > 6 * 16 * 4096 * 4096 * 2


# "Linear + cross-entropy per row with no logits in HBM"


def test_no_logits_are_stored():
    plan = derived("linear_cross_entropy").plan
    assert all([axis.name for axis in buffer.dims] == ["t"] for buffer in plan.scratch)
    assert loops(plan, "v") == 1


# Numbers.


# One of each kind for sizes that need no masks at their ends; at ragged ones every diagram is run.
KINDS = (
    "softmax", "layer_norm", "matmul", "rmsnorm_linear", "mlp", "linear_cross_entropy", "causal_attention",
    "padded_attention", "gqa_attention",
)  # fmt: skip


@pytest.mark.parametrize(
    ("name", "table"),
    [
        *(pytest.param(name, RAGGED, id=f"ragged-{name}") for name in EXPECTED),
        *(pytest.param(name, TIDY, id=f"tidy-{name}") for name in KINDS),
    ],
)
def test_the_plan_equals_float64(name, table):
    sizes = sizes_of(name, table)
    assert_agrees(derived_at(DIAGRAMS[name](**sizes).outputs), sizes)


def test_a_plan_of_something_else_is_told_apart():
    t, x = nq.axes("t x", t=13, x=75)
    a = nq.array("A", t, x)
    right, wrong = derive(nq.softmax(a, x)), derive(nq.softmax(a * 1.000001, x))
    right.plan = wrong.plan
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        assert_agrees(right, {"t": 13, "x": 75})


# Long enough for several blocks, the last one ragged.
LONG = {**RAGGED, "x": 300, "q": 150, "k": 150, "f": 150, "v": 700, "b": 1, "h": 2, "r": 2}


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=pytest.mark.slow) if n in ATTENTIONS and n != "causal_attention" else n for n in EXPECTED],
)
def test_the_plan_for_any_sizes_equals_float64(name):
    """With symbolic sizes every fold is streamed; the same plan runs at two choices of them."""
    fixed = {"b", "h", "r", "d"} if name.endswith("attention") else set()
    sizes = sizes_of(name, LONG)
    derivation = derived_at(
        DIAGRAMS[name](**{axis: size if axis in fixed else None for axis, size in sizes.items()}).outputs, SOON
    )
    assert_agrees(derivation, sizes)
    assert_agrees(derivation, {axis: size if axis in fixed else max(1, size // 9) for axis, size in sizes.items()})


@pytest.mark.parametrize("symbolic", [False, True])
def test_rows_of_padding_only_give_zero(symbolic):
    sizes = {"b": 5, "h": 2, "q": 37, "x": 300, "d": 40}
    derivation = derive(DIAGRAMS["padded_attention"](**{**sizes, **({"q": None, "x": None} if symbolic else {})}))
    arrays = inputs(derivation.diagram, sizes) | {"lengths": np.array([0, 1, 128, 299, 300], dtype=np.int32)}
    out = assert_agrees(derivation, sizes, arrays)["out"]
    assert (out[0] == 0).all()
    assert (np.abs(out[1:]).max(axis=(1, 2, 3)) > 0).all()


@pytest.mark.parametrize("symbolic", [False, True])
def test_queries_whose_window_holds_no_key_give_zero(symbolic):
    sizes = {"b": 1, "h": 1, "q": 1200, "x": 75, "d": 16}
    derivation = derive(DIAGRAMS["window_attention"](**{**sizes, **({"q": None, "x": None} if symbolic else {})}))
    out = assert_agrees(derivation, sizes)["out"]
    assert (out[:, :, 75 + 1023 :] == 0).all()
    assert (np.abs(out[:, :, : 75 + 1023]).max(axis=3) > 0).all()


def test_a_mask_that_is_never_true_gives_zero():
    t, x = nq.axes("t x", t=13, x=75)
    derivation = derive(nq.softmax(nq.masked(nq.array("A", t, x), nq.index(x) < nq.index(t) - 6), x))
    out = assert_agrees(derivation, {"t": 13, "x": 75})["out"]
    assert (out[:7] == 0).all()
    assert out[7:].sum(axis=1) == pytest.approx(1)


@pytest.mark.parametrize("offset", [1e4, -1e4])
def test_a_large_shift_of_a_row_does_not_overflow(offset):
    derivation = derive(diagram("softmax", t=13, x=None))
    sizes = {"t": 13, "x": 300}
    arrays = inputs(derivation.diagram, sizes)
    moved = run(derivation, {"A": arrays["A"] + offset}, sizes)["out"]
    np.testing.assert_allclose(moved, run(derivation, arrays, sizes)["out"], rtol=1e-9)


@pytest.mark.parametrize("offset", [0.0, 1e4, -1e4])
def test_an_unsafe_definition_is_computed_safely(offset):
    """Written without subtracting a maximum: the laws find the shifted form, which overflows nowhere."""
    t, x = nq.axes("t x", t=13, x=None)
    a = nq.array("A", t, x)
    naive = Diagram("naive", (("soft", nq.exp(a) / nq.sum(nq.exp(a), x)), ("total", nq.log(nq.sum(nq.exp(a), x)))))
    sizes = {"t": 13, "x": 300}
    arrays = {"A": inputs(naive, sizes)["A"] + offset}
    found = run(derive(naive), arrays, sizes)
    for name, safe in (("soft", nq.softmax(a, x)), ("total", nq.logsumexp(a, x))):
        np.testing.assert_allclose(found[name], nq.evaluate(safe, arrays), rtol=1e-9)


def test_several_outputs_are_derived_side_by_side():
    t, x = nq.axes("t x", t=13, x=75)
    a = nq.array("A", t, x)
    derivation = derive(Diagram("several", (("soft", nq.softmax(a, x)), ("total", nq.sum(a, x)))))
    assert set(assert_agrees(derivation, {"t": 13, "x": 75})) == {"soft", "total"}
    assert checked(derivation.certificate)["status"] == "ok"


# Diagrams that nobody listed.


# Laws with many sums apart grow the e-graph most; the rest take a second or two each.
LONG_TO_DERIVE = {
    "kl_divergence", "softmax_entropy", "bhattacharyya", "differential_attention", "soft_assignment", "group_norm",
    "linear_attention",
    "sink_attention",
}  # fmt: skip


def marked(names: list[str]) -> list[object]:
    return [pytest.param(name, marks=pytest.mark.slow) if name in LONG_TO_DERIVE else name for name in names]


@pytest.mark.parametrize("name", marked(list(NEW)))
def test_a_new_diagram_derives_and_is_right(name):
    make, sizes = NEW[name]
    derivation = derive(Diagram(name, (("out", make(sizes)),)))
    assert_agrees(derivation, sizes)
    assert derivation.certificate["status"] == "proved"
    assert checked(derivation.certificate)["status"] == "ok"


@pytest.mark.parametrize("name", marked([name for name in NEW if name not in ("linear_attention", "padded_mean_pool")]))
def test_a_new_diagram_of_any_size_derives_and_is_right(name):
    make, sizes = NEW[name]
    derivation = derive(Diagram(name, (("out", make({axis: None for axis in sizes})),)), limit=SOON)
    assert_agrees(derivation, sizes)
    assert checked(derivation.certificate)["status"] == "ok"


def in_one_pass(name: str, **sizes: int) -> Derivation:
    """Derive a diagram whose rows alone keep a GPU busy, so that nothing is cut; one kernel must walk each axis once
    and store nothing between.
    """
    derivation = derive(Diagram(name, (("out", NEW[name][0](sizes)),)))
    assert len(derivation.plan.kernels) == 1
    assert derivation.plan.scratch == ()
    assert set(derivation.report()["passes"].values()) == {1}
    return derivation


def test_a_new_attention_is_one_pass_that_stores_no_scores():
    derivation = derive(
        Diagram("sigmoid_attention", (("out", NEW["sigmoid_attention"][0]({"q": 32768, "x": 4096, "d": 128})),))
    )
    # The keys may be scaled beforehand
    assert all({"q", "x"} - {a.name for a in buffer.dims} for buffer in derivation.plan.scratch)
    assert loops(derivation.plan, "x") == 1 and derivation.report()["passes"]["x"] == 1


def test_a_difference_of_attentions_stores_no_weights():
    # Two results fill the registers of a thread: the weights' sums come first, and then one product of their
    # difference.
    plan = derive(
        Diagram("difference", (("out", NEW["differential_attention"][0]({"q": 32768, "x": 4096, "d": 64})),))
    ).plan
    assert all({"q", "x"} - {a.name for a in buffer.dims} for buffer in plan.scratch)


def test_a_contrastive_loss_stores_no_similarities():
    assert loops(in_one_pass("contrastive_loss", i=32768, j=32768, d=128).plan, "j") == 1


def test_the_nearest_code_is_found_with_no_distance_stored_and_as_exactly_as_it_is_written():
    derivation = derive(Diagram("nearest_code", (("out", NEW["nearest_code"][0]({"q": 32768, "c": 4096, "d": 128})),)))
    # Norms of codes may be stored, distances not
    assert all({"q", "c"} - {a.name for a in buffer.dims} for buffer in derivation.plan.scratch)
    # On the matrix unit, |a|² - 2 a·c + |c|², it would lose all digits of codes far from 0 that are near each other.
    assert max(k["flops_tensor"] for k in derivation.report()["kernels"]) == 0


# Bytes and time.

FINGERPRINTS = """
import hashlib, json, sys
from napkin_eq.pipeline.derive import derive
from napkin_eq.frontend.gallery import diagram
for name in sys.argv[1:]:
    d = derive(diagram(name))
    if d.limited:
        continue
    for part in (d.triton(), d.pseudocode(), repr(d.plan), json.dumps(d.certificate)):
        print(name, hashlib.sha256(part.encode()).hexdigest())
"""


def fingerprints(names: list[str], seed: str) -> list[str]:
    env = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        [sys.executable, "-c", FINGERPRINTS, *names], env=env, capture_output=True, text=True, check=True
    )
    return sorted(done.stdout.splitlines())


def fingerprints_here(names: list[str]) -> list[str]:
    parts = {
        name: (d.triton(), d.pseudocode(), repr(d.plan), json.dumps(d.certificate))
        for name in names
        for d in [derived(name)]
    }
    return sorted(f"{name} {hashlib.sha256(part.encode()).hexdigest()}" for name in names for part in parts[name])


def test_the_same_bytes_in_every_process():
    names = ["attention", "layer_norm"]
    first, second = fingerprints(names, "1"), fingerprints(names[::-1], "2")
    assert len(set(first)) == 4 * len(names)
    assert first == second


@pytest.mark.slow
def test_the_same_bytes_in_a_fresh_process_and_after_whatever_was_derived_before():
    # What time ended is said to be so, and is not promised to be the same.
    names = [name for name in sorted(KINDS) if not derived(name).limited]
    there, here = fingerprints(names[::-1], "2"), fingerprints_here(names)
    whole = [name for name in names if sum(line.startswith(f"{name} ") for line in there) == 4]
    assert len(whole) > len(KINDS) * 2 // 3
    assert there == [line for line in here if line.split()[0] in whole]


def test_attention_is_derived_in_seconds_from_process_start():
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-m", "napkin_eq.cli", "derive", "attention", "--json"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    # The certificate and validation included, compiling for a folder left out. Processor time, of which other work on
    # the machine takes none, in seconds of the core that limits are counted on; 2 are promised.
    slow = max(1.0, statistics.median(_probe() for _ in range(99)) / PROBE_S)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 4 * slow
    assert list(json.loads(done.stdout)) == KEYS


# What is refused.


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"hardware": "h900"}, "h900"),
        ({"dtype": "float8"}, "unknown dtype 'float8'"),
        ({"without": ("rescales",)}, "no such law or family"),
    ],
)
def test_unknown_names_are_refused(arguments, message):
    with pytest.raises(NapkinError, match=message):
        derive(diagram("softmax"), **arguments)


def test_outputs_that_are_one_value_are_each_stored():
    a = nq.array("A", *nq.axes("m n", m=8, n=16))
    n = a.axes[1]
    for one, other in ((nq.sum(a, n), nq.sum(a, n)), (a * 2.0, a * 2.0), (a * 2.0, 2.0 * a)):
        found = derive(Diagram("d", (("one", one), ("more", nq.max(a, n)), ("other", other))), dtype="float32")
        values = run(found, {"A": np.arange(128.0).reshape(8, 16)}, {})
        np.testing.assert_array_equal(values["one"], values["other"])
        assert found.certificate["status"] == "proved" and len(values) == 3
