"""The library against torch in float64, masked rows by hand, coordinates against NumPy indexing."""

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn import functional

import napkin_eq.frontend.library as nq
from napkin_eq import Term
from napkin_eq.frontend.gallery import DIAGRAMS, diagram
from napkin_eq.lang.axis import Axis, axes
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.evaluate import evaluate
from napkin_eq.lang.substitute import settled, substituted
from napkin_eq.lang.term import Fold, Index, Input, Online, Read, Scan, subterms

rng = np.random.default_rng(7)
t, x, q, d = axes("t x q d")
A = nq.array("A", t, x)
a = rng.normal(size=(5, 9)) * 3
T = torch.from_numpy(a)
W, B = nq.array("W", x), nq.array("B", x)
w, b = rng.normal(size=9), rng.normal(size=9)
DATA = {"A": a, "W": w, "B": b}
tw, tb = torch.from_numpy(w), torch.from_numpy(b)
labels = np.array([0, 3, 8, 3, 1], np.int32)

AGAINST_TORCH = {
    "softmax": (nq.softmax(A, x), functional.softmax(T, -1)),
    "log_softmax": (nq.log_softmax(A, x), functional.log_softmax(T, -1)),
    "logsumexp": (nq.logsumexp(A, x), torch.logsumexp(T, -1)),
    "softmax over two": (nq.softmax(A, x, t), T.exp() / T.exp().sum()),
    "log_softmax over two": (nq.log_softmax(A, "t", "x"), T - T.logsumexp((0, 1))),
    "logsumexp over two": (nq.logsumexp(A, t, x), T.logsumexp((0, 1))),
    "layer_norm over two": (nq.layer_norm(A, (t, x), W, B), functional.layer_norm(T, (5, 9)) * tw + tb),
    "rms_norm over two": (nq.rms_norm(A, (t, x), W), functional.rms_norm(T, (5, 9), eps=1e-6) * tw),
    "mean over two": (nq.mean(A, t, x), T.mean()),
    "variance over two": (nq.variance(A, t, x), T.var(unbiased=False)),
    "layer_norm": (nq.layer_norm(A, x, W, B), functional.layer_norm(T, (9,), tw, tb)),
    "layer_norm plain": (nq.layer_norm(A, "x"), functional.layer_norm(T, (9,))),
    "rms_norm": (nq.rms_norm(A, x, W), functional.rms_norm(T, (9,), tw, 1e-6)),
    "mean": (nq.mean(A, x), T.mean(-1)),
    "variance": (nq.variance(A, x), T.var(-1, unbiased=False)),
    "sum": (nq.sum(A, x, t), T.sum()),
    "max": (nq.max(A, t), T.amax(0)),
    "min": (nq.min(A, t), T.amin(0)),
    "prod": (nq.prod(A, x), T.prod(-1)),
    "cumsum": (nq.cumsum(A, x), T.cumsum(-1)),
    "recur": (
        nq.recur(0.5, A, x),
        sum(0.5**k * torch.nn.functional.pad(T, (k, 0))[:, : T.shape[1]] for k in range(T.shape[1])),
    ),
    "running max": (nq.scan(A, x, "max"), T.cummax(-1).values),
    "argmax": (nq.argmax(A, x), T.argmax(-1)),
    "argmin": (nq.argmin(A, t), T.argmin(0)),
    "exp": (nq.exp(A), T.exp()),
    "expm1": (nq.expm1(A), T.expm1()),
    "log": (nq.log(nq.abs(A)), T.abs().log()),
    "sqrt": (nq.sqrt(nq.abs(A)), T.abs().sqrt()),
    "rsqrt": (nq.rsqrt(nq.abs(A)), T.abs().rsqrt()),
    "reciprocal": (nq.reciprocal(A), T.reciprocal()),
    "tanh": (nq.tanh(A), T.tanh()),
    "sigmoid": (nq.sigmoid(A), T.sigmoid()),
    "erf": (nq.erf(A), T.erf()),
    "sin": (nq.sin(A), T.sin()),
    "atan": (nq.atan(A), T.atan()),
    "cos": (nq.cos(A), T.cos()),
    "floor": (nq.floor(A), T.floor()),
    "round": (nq.round(A), T.round()),
    "maximum": (nq.maximum(A, W), torch.maximum(T, tw)),
    "minimum": (nq.minimum(A, 0.5), T.clamp(max=0.5)),
    "clip": (nq.clip(A, -1, 0.5), T.clamp(-1, 0.5)),
    "where": (nq.where(A > 0, A, -1.0), torch.where(T > 0, T, -1.0)),
    "equal": (nq.where(nq.equal(nq.index(t), nq.index(x)), A, 0.0), T * torch.eye(5, 9)),
    "relu": (nq.relu(A), functional.relu(T)),
    "silu": (nq.silu(A), functional.silu(T)),
    "gelu": (nq.gelu(A), functional.gelu(T)),
    "gelu_tanh": (nq.gelu_tanh(A), functional.gelu(T, approximate="tanh")),
    "swiglu": (nq.swiglu(A, W), functional.silu(T) * tw),
    "softplus": (nq.softplus(A * 100), functional.softplus(T * 100)),
    "linear": (
        nq.linear(A, nq.array("M", q, x), x, nq.array("N", q)),
        functional.linear(T, torch.ones(4, 9).double().tril(), torch.arange(4).double()),
    ),
    "matmul": (nq.matmul(A, nq.array("M", q, x), "x"), T @ torch.ones(4, 9).double().tril().T),
    "einsum": (nq.einsum("t x, q x -> t q", A, nq.array("M", q, x)), T @ torch.ones(4, 9).double().tril().T),
    "einsum of three": (nq.einsum("t x, x, x -> t", A, W, B), (T * tw * tb).sum(-1)),
    "einsum outer": (nq.einsum("t x -> t", A), T.sum(-1)),
    "cross_entropy": (
        nq.cross_entropy(A, nq.array("labels", t, dtype="int32"), x),
        functional.cross_entropy(T, torch.from_numpy(labels).long(), reduction="none"),
    ),
}


@pytest.mark.parametrize("name", AGAINST_TORCH)
def test_the_library_agrees_with_torch(name):
    term, expected = AGAINST_TORCH[name]
    data = {**DATA, "M": np.tril(np.ones((4, 9))), "N": np.arange(4.0), "labels": labels}
    assert evaluate(term, data) == pytest.approx(expected.numpy(), rel=1e-10, abs=1e-12)


def test_random_words_hold_a_share_of_places():
    (a,) = nq.axes("a", a=4000)
    bits = evaluate(nq.random(7, nq.index(a), 0, nq.index(a) % 4), {}, {"a": 4000})
    assert bits.min() >= -(2**31) and bits.max() < 2**31 and len(np.unique(bits)) > 3990
    assert abs((bits < 0.25 * 2**32 - 2**31).mean() - 0.25) < 0.03
    assert (bits != evaluate(nq.random(8, nq.index(a), 0, nq.index(a) % 4), {}, {"a": 4000})).mean() > 0.99
    for seed in (2**63, -(2**63) - 1, 10**400):
        with pytest.raises(nq.NapkinError, match="bits, expected"):
            nq.random(seed, 0, nq.index(a), 0)


def test_every_function_of_the_library_has_a_test():
    here = Path(__file__).read_text(encoding="utf-8")
    assert not [name for name in nq.__all__ if f"nq.{name}(" not in here and name not in ("Axis", "axes")]


MASKS = {
    "causal": (nq.causal(q, x), lambda i, j, n, m: j <= i),
    "causal, ends lined up": (nq.causal(q, x, bottom_right=True), lambda i, j, n, m: j <= i + m - n),
    "window": (nq.window(q, x, 2), lambda i, j, n, m: i - 2 <= j <= i),
    "window both ways": (nq.window(q, x, 1, 3), lambda i, j, n, m: i - 1 <= j <= i + 3),
}


@pytest.mark.parametrize("name", MASKS)
@pytest.mark.parametrize("n, m", [(4, 4), (3, 6), (6, 3)])
def test_masks_are_predicates_of_coordinates(name, n, m):
    mask, holds = MASKS[name]
    assert evaluate(mask, {}, {"q": n, "x": m}, order=(q, x)).tolist() == [
        [holds(i, j, n, m) for j in range(m)] for i in range(n)
    ]


def test_padding_leaves_what_lies_behind_a_length():
    mask = nq.padding(x, nq.array("n", t, dtype="int32"))
    assert evaluate(mask, {"n": np.array([0, 2, 9])}, {"x": 4}, order=(t, x)).sum(1).tolist() == [0, 2, 4]


def test_a_fully_masked_row_is_zero_and_its_logarithm_absent():
    masked = nq.masked(A, nq.padding(x, nq.array("n", t, dtype="int32")))
    data = {**DATA, "n": np.array([0, 1, 9, 4, 0])}
    kept = torch.from_numpy(np.arange(9) < data["n"][:, None])
    expected = functional.softmax(T.masked_fill(~kept, -math.inf), -1).nan_to_num(0.0)
    assert evaluate(nq.softmax(masked, x), data) == pytest.approx(expected.numpy())
    assert evaluate(nq.logsumexp(masked, x), data)[[0, 4]].tolist() == [-math.inf] * 2
    # What meets a row with nothing in it stays finite.
    assert np.isfinite(evaluate(nq.sum(nq.softmax(masked, x) * B, x), data)).all()


def test_the_scores_of_every_attention_agree_with_torch():
    sizes = {"b": 2, "h": 2, "q": 5, "x": 7, "d": 4}
    shapes = {"Q": (2, 2, 5, 4), "K": (2, 2, 7, 4), "V": (2, 2, 7, 4)}
    data = {name: rng.normal(size=shape) for name, shape in shapes.items()}
    Q, K, V = (torch.from_numpy(data[name]) for name in "QKV")
    i, j = torch.arange(5)[:, None], torch.arange(7)
    lengths, slopes = np.array([0, 5]), np.array([0.5, 0.25])
    causal = torch.where(j <= i, 0.0, -math.inf).double()
    alibi = causal - torch.from_numpy(slopes)[:, None, None] * (i - j)
    padded = torch.where(j < torch.from_numpy(lengths)[:, None, None, None], 0.0, -math.inf).double()
    late = torch.where(j <= i + 2, 0.0, -math.inf).double()
    biases = {"attention": None, "cross_attention": None, "causal_cross_attention": late, "symbolic_attention": None,
              "causal_attention": causal, "alibi_attention": alibi, "padded_attention": padded,
                  "window_attention": causal}  # fmt: skip
    for name, bias in biases.items():
        term = diagram(name, **sizes).term
        expected = functional.scaled_dot_product_attention(Q, K, V, attn_mask=bias).nan_to_num(0.0)
        assert evaluate(term, {**data, "lengths": lengths, "slopes": slopes}) == pytest.approx(expected.numpy()), name
    capped = 50 * torch.tanh(Q @ K.mT * 0.5 / 50)
    assert evaluate(diagram("softcap_attention", **sizes).term, data) == pytest.approx(
        (functional.softmax(capped, -1) @ V).numpy()
    )
    grouped = diagram("gqa_attention", b=1, k=2, r=2, q=5, x=7, d=4).term
    Q = rng.normal(size=(1, 2, 2, 5, 4))
    expected = functional.scaled_dot_product_attention(
        torch.from_numpy(Q).reshape(1, 4, 5, 4), K[:1], V[:1], enable_gqa=True
    )
    assert evaluate(grouped, {"Q": Q, "K": data["K"][:1], "V": data["V"][:1]}).reshape(1, 4, 5, 4) == pytest.approx(
        expected.numpy()
    )


def test_a_window_is_seen_through_when_it_is_smaller_than_the_row():
    data = {
        "Q": rng.normal(size=(1, 1, 1100, 2)),
        "K": rng.normal(size=(1, 1, 1100, 2)),
        "V": rng.normal(size=(1, 1, 1100, 2)),
    }
    i, j = torch.arange(1100)[:, None], torch.arange(1100)
    Q, K, V = (torch.from_numpy(data[name]) for name in "QKV")
    expected = functional.scaled_dot_product_attention(Q, K, V, attn_mask=(j <= i) & (j > i - 1024))
    assert evaluate(diagram("window_attention", b=1, h=1, q=1100, x=1100, d=2).term, data) == pytest.approx(
        expected.numpy()
    )


def test_the_rest_of_the_gallery_agrees_with_torch():
    def data(*shapes):
        return [torch.from_numpy(rng.normal(size=shape)) for shape in shapes]

    def value(name, sizes, **inputs):
        return evaluate(diagram(name, **sizes).term, {k: v.numpy() for k, v in inputs.items()})

    X, G, U, D, g, bias = data((3, 4), (4, 6), (4, 6), (6, 5), (4,), (6,))
    sizes = {"t": 3, "d": 4, "f": 6}
    assert value("linear_gelu", sizes, A=X, W=G, B=bias) == pytest.approx(functional.gelu(X @ G + bias).numpy())
    assert value("rmsnorm_linear", sizes, A=X, G=g, W=G) == pytest.approx(
        (functional.rms_norm(X, (4,), g, 1e-6) @ G).numpy()
    )
    assert value("swiglu", sizes, A=X, G=G, U=U) == pytest.approx((functional.silu(X @ G) * (X @ U)).numpy())
    assert value("mlp", {**sizes, "e": 5}, A=X, U=U, V=D) == pytest.approx((functional.gelu(X @ U) @ D).numpy())
    words, rows = data((7, 4))[0], torch.tensor([6, 0, 2])
    found = value("linear_cross_entropy", {"t": 3, "v": 7, "d": 4}, A=X, W=words, labels=rows)
    assert found == pytest.approx(functional.cross_entropy(X @ words.T, rows, reduction="none").numpy())
    assert value("matmul", {"m": 3, "k": 4, "n": 6}, A=X, B=G) == pytest.approx((X @ G).numpy())


def test_no_diagram_of_the_gallery_is_left_out():
    # The library's own functions, held against torch above
    rows = {"softmax", "logsumexp", "variance", "rms_norm", "layer_norm"}
    here = Path(__file__).read_text(encoding="utf-8")
    assert not [name for name in DIAGRAMS if name not in rows and f'"{name}"' not in here]


def test_a_length_is_an_integer_for_masks_and_a_number_in_a_scale():
    assert nq.length(x).kind == "int"
    assert evaluate(A * nq.length(x) ** -0.5, DATA) == pytest.approx(a / 3)


def test_the_mean_square_distance_is_one_product_of_one_term_with_itself():
    away = A - nq.mean(A, x)
    assert nq.variance(A, x) is nq.sum(away * away, x) * nq.reciprocal(nq.size(x))


# Coordinates.


def reads(term):
    return [node for node in subterms(term) if isinstance(node, Read)]


def test_reads_stay_on_values_that_fold_and_reach_down_to_the_arrays_when_settled():
    ids = nq.array("ids", q, dtype="int32")
    M = nq.array("M", x, d)
    product = nq.einsum("t x, x d -> t d", A, M)
    taken = nq.take(product * 2.0 + nq.index(t), t, ids)
    assert [read.body for read in reads(taken)] == [product * 2.0 + nq.index(t)]
    below = settled(taken)
    assert all(isinstance(read.body, Input) for read in reads(below)) and reads(below)
    assert all(isinstance(read.body, Input) for read in reads(nq.take(nq.exp(A), t, ids)))
    data = {**DATA, "ids": np.array([4, 4, 0]), "M": rng.normal(size=(9, 2))}
    for term in (taken, below):
        assert evaluate(term, data) == pytest.approx((a @ data["M"] * 2 + np.arange(5)[:, None])[data["ids"]])


def test_substitution_renames_a_bound_axis_that_would_capture():
    t, x = axes("t x", t=5, x=9)
    A = nq.array("A", t, x)
    taken = settled(nq.take(nq.sum(A, x), t, nq.index(x) // 2))
    assert evaluate(taken, DATA) == pytest.approx(a.sum(1)[np.arange(9) // 2])
    with pytest.raises(NapkinError, match="axis x stands in a new coordinate .* give x a size"):
        settled(nq.take(nq.sum(nq.array("A", t, Axis("x")), "x"), t, nq.index(Axis("x"))))


def test_a_bound_axis_of_the_same_name_is_left_alone():
    M = nq.array("M", x)
    term = nq.sum(A, x) * M
    assert evaluate(nq.take(term, x, nq.index(q)), {**DATA, "M": w}, {"q": 4}, order=(t, q)) == pytest.approx(
        a.sum(1)[:, None] * w[:4]
    )


def test_axes_trade_places_and_read_through_other_reads():
    t, x = axes("t x", t=5, x=5)
    square = rng.normal(size=(5, 5))
    S = nq.array("S", t, x)
    swapped = nq.rename(S, {t: x, x: t})
    assert evaluate(swapped, {"S": square}, order=(t, x)) == pytest.approx(square.T)
    assert evaluate(nq.rename(swapped, {t: x, x: t}), {"S": square}, order=(t, x)) == pytest.approx(square)
    shifted = Read(S, x, Index(x) + Index(t))
    both = substituted(shifted, {"t": Index(t) // 2, "x": Index(t) % 2})
    i = np.arange(5)
    assert evaluate(both, {"S": square}) == pytest.approx(square[i // 2, np.minimum(i % 2 + i // 2, 4)])
    other = Axis("q", 5)
    gram = nq.sum(S * nq.rename(S, {t: other}), x)
    assert evaluate(gram, {"S": square}, order=(t, other)) == pytest.approx(square @ square.T)


def test_a_scan_is_read_as_a_whole():
    taken = nq.take(nq.cumsum(A, x), x, nq.index(q) + 2)
    assert isinstance(reads(taken)[0].body, Scan)
    assert evaluate(taken, DATA, {"q": 3}, order=(t, q)) == pytest.approx(a.cumsum(1)[:, 2:5])


def test_an_axis_is_seen_as_several_and_several_as_one():
    e, h, k = axes("e h k", e=6, h=2, k=3)
    E, e_data = nq.array("E", e), {"E": np.arange(6.0)}
    heads = nq.split(E, e, h, k)
    assert evaluate(heads, e_data).tolist() == np.arange(6.0).reshape(2, 3).tolist()
    assert evaluate(nq.merge(nq.array("H", h, k), (h, k), e), {"H": np.arange(6.0).reshape(2, 3)}).tolist() == list(
        range(6)
    )
    assert evaluate(nq.merge(heads, (h, k), e), e_data).tolist() == list(range(6))
    one, two, three = axes("one two three")
    cube = rng.normal(size=(2, 3, 2))
    flat = nq.merge(nq.array("C", one, two, three), (one, two, three), Axis("all"))
    assert evaluate(flat, {"C": cube}, {"all": 12}) == pytest.approx(cube.ravel())
    parts = nq.split(nq.array("L", Axis("all")), "all", one, two, three)
    assert evaluate(parts, {"L": cube.ravel()}, {"one": 2, "two": 3, "three": 2}) == pytest.approx(cube)


M = nq.array("M", x, d)
BAD = {
    "expected one '->'": lambda: nq.einsum("t x, x d", A, M),
    "2 terms are named and 1 given": lambda: nq.einsum("t x, x d -> t d", A),
    r"\[t d\] stands for a term with axes \[t x\]": lambda: nq.einsum("t d, x d -> t x", A, M),
    "t is summed over and one side lacks it": lambda: nq.einsum("t x, x d -> x d", A, M),
    "d is summed over and one side lacks it": lambda: nq.einsum("t x, x d -> t x", A, M),
    "'z' on the right side": lambda: nq.einsum("t x, x d -> t z", A, M),
    "'t' on the right side": lambda: nq.einsum("t x, x d -> t t", A, M),
    "size 3 on one side and 4": lambda: nq.einsum(
        "k, k -> k", nq.array("C", Axis("k", 3)), nq.array("D", Axis("k", 4))
    ),
    "matmul, left side, over d: the value has no axis d": lambda: nq.matmul(A, M, d),
    "matmul, right side, over t: the value has no axis t": lambda: nq.matmul(A, M, t),
    "sum over d: the value has no axis d, only t, x": lambda: nq.sum(A, d),
    "softmax|max over d": lambda: nq.softmax(A, d),
    "size 4 here and None": lambda: nq.sum(A, Axis("x", 4)),
    "say over which axes": lambda: nq.max(A),
    "unknown monoid 'mean'": lambda: nq.scan(A, x, "mean"),
    "expected bool": lambda: nq.masked(A, A),
    "the coordinate is real": lambda: nq.take(A, x, W),
    "take over d": lambda: nq.take(A, d, 0),
    "rename: x has size None and k size 3": lambda: nq.rename(A, {x: Axis("k", 3)}),
    "t would stand for two axes": lambda: nq.rename(A, {x: t}),
    "have another number": lambda: nq.split(nq.array("E", Axis("e", 6)), "e", Axis("h", 2), Axis("k", 4)),
    "expected int": lambda: nq.take(A, x, 1.5),
    "belongs to a derived term": lambda: nq.take(Online(x, A, nq.index(t) < 3, nq.array("U", t)), t, 0),
}


@pytest.mark.parametrize("reason", BAD)
def test_bad_use_is_refused_in_one_line(reason):
    with pytest.raises(NapkinError, match=reason) as refused:
        BAD[reason]()
    assert "\n" not in str(refused.value)


def test_coordinates_that_all_wait_for_each_other_are_chosen_at_once():
    a, b, c = (Axis(name, 4) for name in "abc")
    mixed = Index(a) + Index(b) * 2 + Index(c) * 3
    term = substituted(Input("x", (a, b, c), "float"), {"a": mixed % 4, "b": (mixed + 1) % 4, "c": (mixed + 2) % 4})
    x = np.random.default_rng(0).standard_normal((4, 4, 4))
    i, j, k = np.ogrid[:4, :4, :4]
    place = i + 2 * j + 3 * k
    np.testing.assert_array_equal(evaluate(term, {"x": x}), x[place % 4, (place + 1) % 4, (place + 2) % 4])


def test_a_fold_is_substituted_into_like_a_reduction():
    folded = Fold("sum", x, A, Index(x) <= Index(t), False)
    expected = [a[i, : i + 1].sum() for i in (4, 3)]
    assert evaluate(nq.take(folded, t, 4 - nq.index(q)), DATA, {"q": 2}) == pytest.approx(expected)


def test_deep_terms_are_substituted_into_without_recursion():
    term: Term = A
    for _ in range(450):
        term = term + 1.0
    assert evaluate(nq.take(term, x, 0), DATA) == pytest.approx(a[:, 0] + 450)
