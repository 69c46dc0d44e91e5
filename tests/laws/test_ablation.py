"""The laws do the work: without one of them a plan needs more passes, more kernels or more time, and stays right."""

from __future__ import annotations

from functools import cache

import pytest

from napkin_eq.cli.main import main
from napkin_eq.egraph.budget import SECONDS
from napkin_eq.frontend.gallery import DIAGRAMS, diagram
from napkin_eq.lang.errors import NapkinError
from napkin_eq.pipeline.derivation import Derivation
from napkin_eq.pipeline.derive import derive
from tests.arrays import assert_agrees, loads, loops

Shape = tuple[tuple[str, int | None], ...]


@cache
def derived(
    name: str, without: tuple[str, ...] = (), sizes: Shape = (), limit: float = SECONDS
) -> Derivation:
    return derive(diagram(name, **dict(sizes)), without=without, limit=limit)


def cost(derivation: Derivation) -> float:
    return float(derivation.report()["predicted_us"])


def passes(derivation: Derivation, axis: str) -> int:
    return int(derivation.report()["passes"][axis])


# Rescaling: attention and softmax in one pass.


@pytest.mark.parametrize("name", ["attention", "causal_attention", "gqa_attention", "symbolic_attention"])
def test_without_rescaling_attention_walks_the_keys_again_and_costs_more(name):
    whole, ablated = derived(name), derived(name, ("rescale",))
    assert (passes(whole, "x"), loops(whole.plan, "x"), loads(whole.plan, "K")) == (1, 1, 1)
    assert passes(ablated, "x") > 1
    assert loops(ablated.plan, "x") > 1
    # The keys are read again, or the scores are stored: what the law saves.
    assert loads(ablated.plan, "K") > 1 or ablated.plan.scratch
    assert cost(ablated) > 1.1 * cost(whole)
    assert "rescale" in whole.report()["laws"]
    assert "rescale" not in ablated.report()["laws"]


def test_the_pseudocode_shows_the_second_pass():
    """What the plan says, and not only what the report counts: a loop over the keys for the maximum, one
    for the sums.
    """
    plans = [derive(diagram("attention"), without=without, printer="triton") for without in ((), ("rescale",))]
    said = [plan.pseudocode().count("for each block of x__s") for plan in plans]
    assert said[0] == 1
    assert said[1] >= 2


@pytest.mark.parametrize("width", [65536, None])
@pytest.mark.parametrize("name", ["softmax", "logsumexp"])
def test_without_rescaling_wide_rows_are_walked_twice(name, width):
    sizes: Shape = (("x", width),)
    whole, ablated = derived(name, (), sizes), derived(name, ("rescale",), sizes)
    assert (passes(whole, "x"), passes(ablated, "x")) == (1, 2)
    assert cost(ablated) >= 0.98 * cost(whole)  # a row that an SM's own cache holds is walked again for next to nothing


def test_the_rescaling_of_an_exponential_is_what_attention_rests_on():
    """The law is stated for any factor; without the inference that says which, it does not apply."""
    assert passes(derived("attention", ("scales-exp",)), "x") > 1


def test_without_its_rescaling_the_loss_walks_the_words_again_or_stores_logits():
    whole, ablated = derived("linear_cross_entropy"), derived("linear_cross_entropy", ("rescale",))
    assert loops(whole.plan, "v") == 1
    logits = [buffer for buffer in ablated.plan.scratch if {"t", "v"} <= {axis.name for axis in buffer.dims}]
    assert loops(ablated.plan, "v") > 1 or logits
    assert cost(ablated) > cost(whole)


# Fold fusion.


def test_without_fold_fusion_attention_needs_more_passes_or_kernels_and_costs_more():
    whole, ablated = derived("attention"), derived("attention", ("fuse",))
    assert passes(ablated, "x") + len(ablated.plan.kernels) > passes(whole, "x") + len(whole.plan.kernels)
    assert passes(ablated, "x") > 1
    assert cost(ablated) > 1.3 * cost(whole)
    assert not any(law.startswith("fuse") for law in ablated.report()["laws"])


def test_one_instance_of_a_law_may_be_left_out_by_name():
    assert passes(derived("attention", ("fuse-online",)), "x") > 1
    assert "fuse-max" in derived("attention", ("fuse-online",)).report()["laws"]


# Streams.


@pytest.mark.parametrize("name", ["softmax", "logsumexp", "variance"])
def test_without_streams_only_whole_axes_are_folded(name):
    """A row that one tile holds needs no stream; one of any length is refused, and the message says why."""
    narrow = derived(name, ("stream",), (("x", 1024),))
    assert loops(narrow.plan, "x") == 0
    assert len(narrow.plan.kernels) == 1
    with pytest.raises(NapkinError, match="x .*not streamed"):
        derived(name, ("stream",), (("x", None),))


def test_without_streams_a_contraction_of_any_length_is_refused():
    with pytest.raises(NapkinError, match="k .*not streamed"):
        derived("matmul", ("stream",), (("k", None),))


# Groups and levels.


def test_without_groups_one_block_does_everything():
    whole, ablated = derived("matmul"), derived("matmul", ("group",))
    assert [kernel["blocks"] for kernel in ablated.report()["kernels"]] == [1]
    assert whole.report()["kernels"][0]["blocks"] > 100
    assert cost(ablated) > 10 * cost(whole)


def test_without_levels_there_is_no_kernel_and_that_is_said():
    with pytest.raises(NapkinError, match="without the law level no value may be stored, not even an output"):
        derive(diagram("matmul"), without=("level",))


# Numbers: every ablated plan is still right.

SMALL = {
    "attention": {"b": 1, "h": 2, "q": 37, "x": 300, "d": 40},
    "causal_attention": {"b": 1, "h": 2, "q": 150, "x": 150, "d": 40},
    "softmax": {"t": 13, "x": 300},
    "logsumexp": {"t": 13, "x": 300},
    "variance": {"t": 13, "x": 300},
    "layer_norm": {"t": 13, "d": 300},
    "rmsnorm_linear": {"t": 37, "d": 150, "f": 50},
    "linear_cross_entropy": {"t": 37, "v": 300, "d": 40},
}


@pytest.mark.parametrize("without", ["rescale", "fuse", "stream"])
@pytest.mark.parametrize("name", list(SMALL))
def test_an_ablated_plan_is_right(name, without):
    assert_agrees(derived(name, (without,), tuple(SMALL[name].items())), SMALL[name])


@pytest.mark.parametrize("without", ["rescale", "fuse"])
@pytest.mark.parametrize("name", list(SMALL))
def test_an_ablated_plan_for_any_sizes_is_right(name, without):
    fixed = {"b", "h", "d"} if name.endswith("attention") else set()
    sizes = tuple((axis, size if axis in fixed else None) for axis, size in SMALL[name].items())
    # Seconds as they are counted: of what is found in them each must be right
    assert_agrees(derived(name, (without,), sizes, 2.0), SMALL[name])


@pytest.mark.parametrize("family", ["rescale", "semiring", "mask"])
def test_a_family_may_be_left_out(family):
    ablated = derived("causal_attention", (family,), tuple(SMALL["causal_attention"].items()))
    assert_agrees(ablated, SMALL["causal_attention"])
    used = set(ablated.report()["laws"])
    assert not used & {
        s.name
        for s in derived("causal_attention", (), tuple(SMALL["causal_attention"].items())).statements
        if s.family == family
    }


# What is refused.


@pytest.mark.parametrize("name", ["rescales", "", "Rescale", "re scale", "../rescale"])
def test_an_unknown_law_is_refused(name):
    with pytest.raises(NapkinError, match="no such law or family; families: .*rescale"):
        derive(diagram("softmax"), without=(name,))


def test_the_command_line_takes_the_option_and_refuses_unknown_names(capsys):
    assert main(["derive", "attention", "--without", "nonsense"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert len(said.err.strip().splitlines()) == 1
    assert "'nonsense': no such law or family" in said.err


def test_every_diagram_of_the_gallery_is_known_to_the_ablations():
    assert set(SMALL) <= set(DIAGRAMS)
