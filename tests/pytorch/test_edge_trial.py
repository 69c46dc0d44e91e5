"""Kernels at the edges of the numbers: NaN, infinities and zeros in data give what PyTorch gives, or the kernel is not
taken.
"""

from __future__ import annotations

import re
import time
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx

import napkin_eq as nq
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.term import Const, subterms
from napkin_eq.pipeline.reference import Evaluation, needed
from napkin_eq.pytorch import edge_trial
from napkin_eq.pytorch.build.edges import shown
from napkin_eq.pytorch.edge_trial import Differs, Trial, with_edges
from napkin_eq.pytorch.flat import flat
from napkin_eq.pytorch.importer import from_torch, of_graph
from napkin_eq.pytorch.kernels import diagram_of
from napkin_eq.search.job import prover
from napkin_eq.tile import ir as p
from napkin_eq.tile.passes.bare_edges import bare
from napkin_eq.tile.printers import emit
from napkin_eq.verify.miniature import miniature
from tests.codegen.test_triton import DEVICE, loaded

INF, NAN = float("inf"), float("nan")
DATA = torch.tensor(
    [[1.0, NAN, 2.0, 0.5], [INF, 0.0, 1.0, 3.0], [-INF] * 4, [-1.0, 0.0, 3.0, -2.0], [-INF, 1.0, 2.0, 0.0], [0.0] * 4]
)


def derived(fn, shape=(6, 4), merged=False):
    program = from_torch(fn, torch.empty(shape))
    program = flat(program) if merged else program
    return nq.derive(diagram_of(program), dtype="float32", printer="triton", limit=10)


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: x.softmax(1),
        lambda x: x.amax(1),
        lambda x: 1 / x,
        lambda x: torch.logsumexp(x, 1),
        lambda x: (x - x.amin(1, keepdim=True)) / (x.amax(1, keepdim=True) - x.amin(1, keepdim=True)),
    ],
)
def test_a_kernel_gives_what_pytorch_gives_of_nan_and_infinities(fn, tmp_path):
    text = emit(with_edges(derived(fn)), "triton")
    with np.errstate(all="ignore"):
        got = loaded(text, tmp_path).run(DATA.to(DEVICE)).cpu()
    torch.testing.assert_close(got, fn(DATA), equal_nan=True)


@pytest.mark.parametrize("fn", [lambda x: x.argmax(1), lambda x: x.argmin(1)])
def test_the_first_nan_is_the_largest_and_data_are_read_once(fn, tmp_path):
    traced = make_fx(fn, tracing_mode="fake")(torch.empty(DATA.shape))
    program = of_graph(traced.graph, "places", {}, {}, undefined=True)
    plan = with_edges(nq.derive(diagram_of(program), dtype="float32", printer="triton", limit=10))
    assert [sum(isinstance(s, p.Load) for s in p.statements(kernel.body)) for kernel in plan.kernels] == [1]
    with np.errstate(all="ignore"):
        got = loaded(emit(plan, "triton"), tmp_path).run(DATA.to(DEVICE)).cpu()
    assert got.tolist() == fn(DATA).tolist()


def test_the_number_of_coordinates_that_differ_is_nan_where_one_is(tmp_path):
    def fn(x, y):
        return torch.cdist(x, y, p=0.0)

    x, y = DATA.clone(), torch.randn(3, 4)
    y[0] = x[3]
    traced = make_fx(fn, tracing_mode="fake")(x, y)
    found = nq.derive(diagram_of(of_graph(traced.graph, "differ", {}, {})), dtype="float32", printer="triton", limit=10)
    with np.errstate(all="ignore"):
        got = loaded(emit(found.plan, "triton"), tmp_path).run(x.to(DEVICE), y.to(DEVICE)).cpu()
    torch.testing.assert_close(got, fn(x, y), equal_nan=True)


def test_a_place_among_numbers_that_may_be_nan_is_not_taken():
    x, y = nq.axes("x y", x=6, y=4)
    a = nq.array("a", x, y)
    for term in (a, nq.where(a < 0.0, 0.0, a), nq.where(nq.array("b", x, y) < 0.0, a, 0.0)):
        with pytest.raises(Differs, match="place of a largest"):
            with_edges(nq.derive(nq.argmax(term, y), dtype="float32", printer="triton", limit=10))


def test_nan_is_kept_in_maxima_only_where_it_would_be_lost():
    assert not any(kernel.nan for kernel in with_edges(derived(lambda x: x.softmax(1))).kernels)
    assert all(kernel.nan for kernel in with_edges(derived(lambda x: x.amax(1))).kernels)
    assert "greatest_or_nan" not in derived(lambda x: x.amax(1)).triton()


def test_a_kernel_that_keeps_to_the_language_differs_at_zero_and_that_is_found():
    found = derived(lambda x: 1 / x)
    small = miniature(found.diagram, found.outputs, found.plan, found.hardware, found.dtype, prover(found.statements))
    trial = Trial(small)
    assert "zero" in trial.difference(small.plan)
    bared = replace(small.plan, kernels=tuple(bare(kernel, nan=False) for kernel in small.plan.kernels))
    assert not trial.difference(bared)


def tried(fn, *shapes):
    found = derived(fn, *shapes)
    proved = prover(found.statements)
    return Trial(
        miniature(found.diagram, found.outputs, found.plan, found.hardware, found.dtype, proved, {"i": 5, "j": 5})
    )


def test_a_lost_nan_is_found_and_at_which_data():
    trial = tried(lambda x: x.amax(1), (64, 4096))
    lost, kept = (
        replace(trial.small.plan, kernels=tuple(bare(kernel, nan=nan) for kernel in trial.small.plan.kernels))
        for nan in (False, True)
    )
    assert trial.difference(lost).startswith("on nan at the first element of x")
    assert not trial.difference(kept)
    assert trial.difference(lost)  # what PyTorch gives is kept, and is not used up


def test_every_case_is_held_against_its_own():
    trial = tried(lambda x: x.softmax(1), (64, 4096))
    names = [said for some, _, _ in trial.cases() for said in some]
    assert len(names) == len(set(names)) > 48 and names[-1] == "mixture 31"
    some, _, wanted = trial.known[-1]
    wanted["out"][len(some) - 1, 0, 0] = 2.0
    assert trial.difference(trial.small.plan).startswith("on mixture 31")


def test_infinities_are_pytorchs_in_products_where_they_have_to_be():
    def fn(x):
        return torch.xlogy(x - 1, x * x)

    trial = tried(fn)
    (kernel,) = trial.small.plan.kernels
    kept, left = (
        replace(trial.small.plan, kernels=(bare(kernel, nan=False, absorbing=absorbing),))
        for absorbing in (True, False)
    )
    assert "inf" in trial.difference(kept)
    assert not trial.difference(left)
    found = derived(fn)
    assert with_edges(found).kernels == (bare(found.plan.kernels[0], nan=False, absorbing=False),)


@pytest.mark.parametrize(
    ("fn", "shape"),
    [
        (lambda x: x / torch.norm(x), (4096, 4096)),  # in stretches
        (lambda x: torch.nn.functional.log_softmax(x, 1).mean(), (4096, 8192)),  # rows that are stored whole
        (lambda x: torch.nn.functional.max_pool2d(x, 4, 1, 1), (2, 8, 512, 512)),  # masks that reach far
    ],
)
def test_a_trial_of_a_large_program_takes_little(fn, shape):
    found = derived(fn, shape, merged=True)
    begun = time.process_time()
    with_edges(found)
    assert time.process_time() - begun < 6


def masked(q, k, v, mask):
    scores = (q @ k.transpose(-2, -1)) * 96**-0.5
    return scores.masked_fill(mask, -INF).softmax(-1) @ v


ROWS = torch.tensor([[0, 0, 0, 0, 0], [1, 1, 1, 1, 1], [1, 0, 1, 0, 0], [0, 0, 0, 0, 1]]).bool()


def attended(q, k, v, m):
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=m)


def safely(q, k, v, m):
    return torch.ops.aten._safe_softmax(q @ k.mT + m, -1) @ v


@pytest.mark.parametrize("seen", [False, True])
@pytest.mark.parametrize(
    ("fn", "mask"), [(attended, ROWS), (attended, torch.zeros(ROWS.shape).masked_fill(~ROWS, -INF)), (safely, None)]
)
def test_attention_is_zero_in_a_row_that_is_masked_whole_and_nan_where_its_scores_are(fn, mask, seen, tmp_path):
    mask = torch.zeros(ROWS.shape).masked_fill(~ROWS, -INF) if mask is None else mask
    mask = mask | torch.eye(4, 5).bool() if seen and mask.dtype == torch.bool else mask
    q, k, v = torch.randn(2, 4, 8), torch.rand(2, 5, 8), torch.randn(2, 5, 6)
    program = from_torch(fn, q, k, v, mask)
    torch.testing.assert_close(program.run(q, k, v, mask).float(), fn(q, k, v, mask), rtol=1e-4, atol=1e-5)
    assert (fn(q, k, v, mask)[:, 0] == 0).all() or mask[0].any()
    plan = with_edges(nq.derive(diagram_of(program), dtype="float32", printer="triton", limit=10))
    run = loaded(emit(plan, "triton"), tmp_path).run
    for number, at in ((0.0, 0), (NAN, 1), (NAN, 2), (INF, 1), (-INF, 3)):
        q[1, at, 0] = number
        given = {"q": q, "k": k, "v": v, "m": mask}
        with np.errstate(all="ignore"):
            got = run(*(given[buffer.name].to(DEVICE) for buffer in plan.inputs)).cpu()
        wanted = fn(q, k, v, mask)
        torch.testing.assert_close(got, wanted, equal_nan=True, rtol=1e-4, atol=1e-5)
        (found,) = program.referred((q, k, v, mask))
        torch.testing.assert_close(found.float(), wanted, equal_nan=True, rtol=1e-4, atol=1e-5)


def test_rows_whose_first_blocks_hold_minus_infinity_alone_are_streamed(tmp_path):
    q, k, v, m = torch.randn(16, 16), torch.randn(4096, 16), torch.randn(4096, 16), torch.randn(16, 4096)
    m[:, :3000], m[1, :-1], m[2, 3002:], m[3] = -INF, -INF, -INF, -INF
    found, trial = given(q.shape, k.shape, v.shape, m.shape)(attended)
    plan = trial.small.plan
    assert "before the last" in trial.difference(edge_trial._bare(plan, {"nan": True}))
    assert not trial.difference(edge_trial._bare(plan, {"nan": True, "begun": True}))
    plan, data = with_edges(found), {"q": q, "k": k, "v": v, "m": m}
    with np.errstate(all="ignore"):
        got = loaded(emit(plan, "triton"), tmp_path).run(*(data[b.name].to(DEVICE) for b in plan.inputs)).cpu()
    torch.testing.assert_close(got, attended(q, k, v, m), rtol=1e-4, atol=1e-5)


def summed_up(x, t):
    most = x.amax(1, True)
    less = x - most
    total = less.exp().sum(1, True).log()
    return most, total, torch.nn.functional.nll_loss(less - total, t)


def test_what_rows_of_minus_infinity_alone_give_is_stored_beside_their_maximum():
    found, trial = given((600, 20000), (torch.int64, 600))(summed_up)
    plan, nan = trial.small.plan, {"nan": True}
    assert "before the last" in trial.difference(edge_trial._bare(plan, nan))
    assert "PyTorch's nan" in trial.difference(edge_trial._bare(plan, {**nan, "begun": True}))
    assert not trial.difference(edge_trial._bare(plan, {**nan, "begun": True, "ended": True}))
    (kernel, *_) = with_edges(found).kernels
    assert kernel == bare(found.plan.kernels[0], nan=True, begun=True, ended=True)


def test_maxima_of_kernels_that_warps_share_leave_nan_out():
    _, trial = given((600, 20000), (torch.int64, 600))(summed_up)
    plan, how = trial.small.plan, {"nan": True, "begun": True, "ended": True}
    every = [True] * len(plan.kernels)
    less = edge_trial._bare(plan, {**how, "nan": False})
    assert edge_trial._bare(plan, how, every) == less != edge_trial._bare(plan, how)


def test_running_maxima_that_warps_share_begin_with_the_first_number():
    """A bias may hold -inf in whole blocks of keys: the groups of warps compute with 0 until there is a number."""

    def biased(q, k, v, bias):
        return torch.softmax(q @ k.transpose(-1, -2) * 0.125 + bias, -1) @ v

    q, bias = (torch.empty(2, 8, 1024, n, dtype=torch.bfloat16) for n in (64, 1024))
    found = nq.derive(from_torch(biased, q, q, q, bias).diagram, "h200", "bfloat16")
    (kernel,) = with_edges(found).kernels
    assert kernel.workers is not None and kernel != bare(found.plan.kernels[0], nan=False)
    computing = kernel.workers.roles.computing
    assert any(name.endswith("__begun") for name in (*computing.values, *computing.whole)), "the groups know it"
    assert "begun" not in found.code() and "begun" in replace(found, plan=with_edges(found)).code()


def test_what_a_mask_leaves_out_need_not_be_read_where_there_are_edges_too():
    """PyTorch has 0 times -inf, which is NaN, of values that no row sees; of a number times a 0 that is no mask's it
    stays.
    """

    def biased(q, k, v, bias):
        places = torch.arange(16)
        scores = (q @ k.transpose(-1, -2) + bias).masked_fill(places[None] > places[:, None], -INF)
        return torch.softmax(scores, -1) @ v

    q, bias = torch.empty(2, 16, 8), torch.empty(2, 16, 16)
    found = nq.derive(from_torch(biased, q, q, q, bias).diagram, "h200", "float32", printer="triton")
    assert with_edges(found).kernels
    trial = Trial(edge_trial._in_small(found))
    data = {name: array[None] for name, array in trial.plain.items()}
    values = next(name for name, array in data.items() if name == "v")
    data[values] = np.full_like(data[values], -INF)
    (strict,), (unread,) = trial.exact(data, 1)["out"], trial.unread(data, 0)["out"]
    assert np.isnan(strict).any() and np.isneginf(unread).all()

    nothing = derived(lambda x: torch.log((x * 0.0).sum(1, keepdim=True) + x.amax(1, keepdim=True)))
    trial = Trial(edge_trial._in_small(nothing))
    data = {name: np.full_like(array, INF)[None] for name, array in trial.plain.items()}
    assert np.isnan(trial.unread(data, 0)["out"]).all(), "no mask: NaN stays"


def test_attention_under_masks_of_coordinates_alone_has_no_choice_for_empty_rows():
    q = torch.empty(2, 16, 8)
    for fn, choices in (
        (lambda q: torch.nn.functional.scaled_dot_product_attention(q, q, q, is_causal=True), 1),
        (lambda q: torch.nn.functional.scaled_dot_product_attention(q, q, q), 0),
        (lambda q: attended(q, q, q, torch.arange(16) > 2), 1),
        (lambda q: attended(q, q, q, torch.arange(16)[:, None] > torch.arange(16)), 2),  # the first row is empty
    ):
        (term,) = (term for _, term in from_torch(fn, q).diagram.outputs)
        assert sum(getattr(part, "op", "") == "where" for part in subterms(term)) == choices


def test_attention_of_many_heads_under_a_mask_is_tried_soon():
    found, trial = given(*[(8, 8, 512, 96)] * 3, (torch.bool, 1, 1, 512, 512))(masked)
    assert max(trial.small.sizes.values()) <= 64 and edge_trial._work(trial.small) < 1e9
    begun = time.process_time()
    with_edges(found)
    assert time.process_time() - begun < 6


def test_labels_by_which_scores_and_weights_are_read_are_of_one_number_of_classes():
    def fn(x, t, w):
        return torch.nn.functional.cross_entropy(x, t, w)

    found, trial = given((8192, 1024), (torch.int64, 8192), (1024,))(fn)
    assert max(trial.small.sizes.values()) <= 32
    assert with_edges(found)


def test_a_divergence_is_no_number_where_pytorchs_is():
    s = torch.tensor([0.5, -INF, -1.0, 0.3, NAN, -0.2]).double()
    t = torch.tensor([0.2, 0.0, 0.5, NAN, 0.0, 0.0]).double()

    def fn(s, t):
        return torch.nn.functional.kl_div(s, t, reduction="none")

    (found,) = from_torch(fn, s, t).referred((s, t), torch.float64)
    torch.testing.assert_close(found, fn(s, t), equal_nan=True)


def test_a_trial_does_not_make_the_products_that_it_sums():
    q, x, d = nq.axes("q x d", q=6, x=4, d=5)
    a, b = nq.array("A", q, d), nq.array("B", x, d)
    body = a * b
    scores = nq.sum(body, d)
    assert body not in needed(scores) and body in needed(scores, body) and a in needed(scores)
    given_ = {"A": torch.randn(6, 5).double(), "B": torch.randn(4, 5).double()}
    sizes = {"q": 6, "x": 4, "d": 5}
    for term, wanted in ((scores, given_["A"] @ given_["B"].T), (scores * nq.sum(body * body, d), None)):
        found = Evaluation(given_, sizes, torch.float64, None).value(term, ("q", "x"))
        exact = nq.evaluate(term, {name: array.numpy() for name, array in given_.items()}, order=("q", "x"))
        torch.testing.assert_close(found, torch.from_numpy(exact.copy()))
        assert wanted is None or torch.allclose(found, wanted)


def test_labels_that_are_coordinates_are_never_left_out():
    program = from_torch(lambda x: torch.nn.functional.cross_entropy(x, torch.arange(8)), torch.empty(8, 8))
    assert not any(isinstance(part, Const) and part.value == -100 for part in subterms(program.diagram.term))


@pytest.mark.parametrize(
    ("fn", "shape"),
    [
        (lambda x: x.softmax(1) + 1, (3, 1)),
        (lambda x: x.log_softmax(1), (3, 1)),
        (lambda x: x.sum(1, keepdim=True).softmax(1), (3, 4)),
        (lambda x: torch.nn.functional.avg_pool1d(x, 2)[:, None].repeat(1, 3, 1, 1).softmax(1), (2, 3, 4)),
    ],
)
def test_what_is_the_same_along_a_row_is_tried_since_its_softmax_is_a_number_whatever_it_is(fn, shape):
    assert not all(map(shown, from_torch(fn, torch.empty(shape)).edges))
    with pytest.raises(Differs, match="PyTorch's nan"):
        with_edges(derived(fn, shape))


def test_places_of_extremes_are_not_taken():
    with pytest.raises(Differs, match="the place of a largest number"):
        with_edges(derived(lambda x: x.argmax(1)))


def given(*inputs):
    """Return a derivation of a program of several inputs, and its trial; a dtype before a shape is that of integers or
    masks.
    """

    def of(fn):
        shapes = (shape if isinstance(shape[0], torch.dtype) else (torch.float32, *shape) for shape in inputs)
        program = flat(from_torch(fn, *(torch.zeros(shape[1:], dtype=shape[0]) for shape in shapes)))
        found = nq.derive(diagram_of(program), dtype="float32", printer="triton", limit=10)
        return found, Trial(edge_trial._in_small(found))

    return of


def changed(plan, change):
    """Yield a plan with one statement in other words, once for each that a change has some for."""

    def within(body, target, new):
        for stmt in body:
            if stmt is target:
                yield from new
            elif isinstance(stmt, p.Loop):
                parts = (replace(part, body=tuple(within(part.body, target, new))) for part in stmt.parts)
                yield replace(stmt, parts=tuple(parts))
            else:
                yield stmt

    for at, kernel in enumerate(plan.kernels):
        for stmt in p.statements(kernel.body):
            if new := change(stmt):
                other = replace(kernel, body=tuple(within(kernel.body, stmt, new)))
                yield replace(plan, kernels=(*plan.kernels[:at], other, *plan.kernels[at + 1 :]))


def loaded_otherwise(name, op, *args):
    def change(stmt):
        if not isinstance(stmt, p.Load) or stmt.buffer != name:
            return ()
        raw = replace(stmt.out, name=f"{stmt.out.name}__raw")
        return replace(stmt, out=raw), p.Let(stmt.out, op, (raw.name, *args))

    return change


def guarded(stmt):
    """A quotient by 0 is 0."""
    if not isinstance(stmt, p.Let) or stmt.op != "div":
        return ()
    zero, found = (replace(stmt.out, name=f"{stmt.out.name}__{name}") for name in ("zero", "ratio"))
    test = p.Let(replace(zero, dtype="i1"), "eq", (stmt.args[1], 0.0))
    return test, replace(stmt, out=found), replace(stmt, op="where", args=(zero.name, 0.0, found.name))


def by_arithmetic(stmt):
    """What a mask leaves out is multiplied by 0."""
    if not isinstance(stmt, p.Let) or stmt.op != "where" or 0.0 not in stmt.args[1:]:
        return ()
    kept = next((arg for arg in stmt.args[1:] if isinstance(arg, str)), 1.0)
    factor = replace(stmt.out, name=f"{stmt.out.name}__factor")
    numbers = (0.0 if arg == 0.0 else 1.0 for arg in stmt.args[1:])
    return p.Let(factor, "where", (stmt.args[0], *numbers)), replace(stmt, op="mul", args=(factor.name, kept))


def off(stmt):
    """A factor is one per cent off."""
    if not isinstance(stmt, p.Let) or stmt.op != "mul" or not isinstance(stmt.args[1], float):
        return ()
    return (replace(stmt, args=(stmt.args[0], 1.01 * stmt.args[1])),)


def loss(x, labels):
    return torch.nn.functional.cross_entropy(x, labels, reduction="sum")


@pytest.mark.parametrize(
    ("fn", "inputs", "change", "said"),
    [
        (lambda x, y: torch.copysign(x, y), [(64, 256)] * 2, loaded_otherwise("y", "add", 0.0), "-0 at the first"),
        (lambda x, m: x.sum(1) / m.sum(1), [(64, 256), (torch.bool, 64, 256)], guarded, "0 of m|mixture"),
        (lambda x, n: x / n, [(64, 256), (torch.int64, 64, 1)], guarded, "0 of n|mixture"),
        (lambda x, n: (x / n).softmax(1), [(64, 256), (torch.int32, 64, 1)], guarded, "0 of n|mixture"),
        (torch.nn.functional.cross_entropy, [(64, 256), (torch.int64, 64)], guarded, "-100 of t"),
        (loss, [(64, 256), (torch.int64, 64)], by_arithmetic, "where .* is -100"),
        (lambda x: 1e-10 / x, [(64, 256)], off, "plain numbers"),
    ],
)
def test_a_wrong_plan_is_found_by_the_data_that_show_it(fn, inputs, change, said):
    found, trial = given(*inputs)(fn)
    right = next(
        plan for nan in (False, True) if not trial.difference(plan := edge_trial._bare(trial.small.plan, {"nan": nan}))
    )
    wrong = [trial.difference(plan) for plan in changed(right, change)]
    assert any(re.search(said, why) for why in wrong), wrong


def test_lengths_of_loops_are_tried_one_by_one():
    """Data with other whole numbers take other blocks of a loop, so that they cannot run at once."""

    def fn(x, n):
        return torch.where(torch.arange(2**17)[None] < n, x, 0.0).sum(1) / n[:, 0]

    found, trial = given((64, 2**17), (torch.int64, 64, 1))(fn)
    assert with_edges(found)
    run, apart = emit(edge_trial._bare(trial.small.plan, {"nan": False}), "numpy"), 0
    for names, data, _ in trial.cases():
        alone = list(trial.ran(run, data, len(names)))
        assert len(alone) == len(names) and not any(isinstance(values, NapkinError) for values in alone)
        try:
            run(data, sizes=trial.small.sizes, cases=len(names))
        except NapkinError as reason:
            assert "the cases would take other blocks" in str(reason)
            apart += 1
    assert apart


def test_a_plan_that_gives_nothing_on_some_data_differs():
    found, trial = given((64, 256))(lambda x: 1 / x)
    plan = edge_trial._bare(trial.small.plan, {"nan": False})

    def unmasked(stmt):
        return (replace(stmt, index=(2**20,) * len(stmt.index)),) if isinstance(stmt, p.StoreTile) else ()

    (wrong,) = changed(plan, unmasked)
    assert "on plain numbers: kernel" in trial.difference(wrong)


def test_a_plan_without_one_in_small_whose_sizes_are_open_is_not_taken(monkeypatch):
    def none(*_):
        raise NapkinError("lowered at small sizes it has other statements")

    i, j = nq.axes("i j", j=64)
    found = nq.derive(nq.reciprocal(nq.array("x", i, j)), dtype="float32", printer="triton", limit=10)
    monkeypatch.setattr(edge_trial, "miniature", none)
    with pytest.raises(Differs, match="not tried"):
        with_edges(found)


def test_what_a_loss_leaves_out_may_be_no_number():
    x, labels = torch.randn(6, 4), torch.tensor([0, -100, 3, -100, 1, 2])
    x[1], x[3] = NAN, -INF
    for reduction in ("none", "mean", "sum"):
        program = from_torch(
            lambda x, t, how=reduction: torch.nn.functional.cross_entropy(x, t, reduction=how), x, labels
        )
        (found,) = program.referred((x, labels), torch.float64)
        torch.testing.assert_close(
            found.float(), torch.nn.functional.cross_entropy(x, labels, reduction=reduction), equal_nan=True
        )
