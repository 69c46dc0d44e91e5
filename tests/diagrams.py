"""Diagrams that the gallery does not have, written with the public names as a newcomer would write them.

Each is a function of a mapping of sizes (None: symbolic) that returns a term; NEW lists them with small sizes to run
at.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import napkin_eq as nq
from napkin_eq.lang.axis import Axis
from napkin_eq.lang.term import Term

Sizes = Mapping[str, int | None]
NEW: dict[str, tuple[Callable[[Sizes], Term], dict[str, int]]] = {}


def new(**sizes: int) -> Callable[[Callable[[Sizes], Term]], Callable[[Sizes], Term]]:
    """List a diagram under its function's name, with sizes that no tile divides."""

    def register(make: Callable[[Sizes], Term]) -> Callable[[Sizes], Term]:
        NEW[make.__name__] = make, sizes
        return make

    return register


def axes(names: str, sizes: Sizes) -> tuple[Axis, ...]:
    return nq.axes(names, **{name: sizes[name] for name in names.split()})


# Other attentions.


@new(q=37, x=75, d=40)
def sigmoid_attention(sizes: Sizes) -> Term:
    q, x, d = axes("q x d", sizes)
    Q, K, V = nq.array("Q", q, d), nq.array("K", x, d), nq.array("V", x, d)
    return nq.sum(nq.sigmoid(nq.sum(Q * K, d) * 0.125 - 4.0) * V, x)


@new(q=37, x=75, d=40, e=24)
def linear_attention(sizes: Sizes) -> Term:
    q, x, d, e = axes("q x d e", sizes)
    Q, K, V = nq.softplus(nq.array("Q", q, d)), nq.softplus(nq.array("K", x, d)), nq.array("V", x, e)
    weights = nq.sum(Q * K, d)
    return nq.sum(weights * V, x) / nq.sum(weights, x)


@new(q=37, x=75, d=40)
def differential_attention(sizes: Sizes) -> Term:
    q, x, d = axes("q x d", sizes)
    V = nq.array("V", x, d)

    def part(n: int) -> Term:
        scores = nq.sum(nq.array(f"Q{n}", q, d) * nq.array(f"K{n}", x, d), d) * 0.125
        return nq.softmax(scores, x)

    return nq.sum((part(1) - 0.5 * part(2)) * V, x)


@new(h=3, q=37, x=75, d=40)
def sink_attention(sizes: Sizes) -> Term:
    h, q, x, d = axes("h q x d", sizes)
    Q, K, V, sink = nq.array("Q", h, q, d), nq.array("K", h, x, d), nq.array("V", h, x, d), nq.array("sink", h)
    scores = nq.masked(nq.sum(Q * K, d) * 0.125, nq.causal(q, x))
    top = nq.maximum(nq.max(scores, x), sink)
    shifted = nq.exp(scores - top)
    return nq.sum(shifted / (nq.sum(shifted, x) + nq.exp(sink - top)) * V, x)


@new(q=37, x=75, d=40)
def soft_assignment(sizes: Sizes) -> Term:
    q, x, d = axes("q x d", sizes)
    A, C = nq.array("A", q, d), nq.array("C", x, d)
    distance = nq.sum((A - C) * (A - C), d)
    return nq.sum(nq.softmax(-0.5 * distance, x) * C, x)


# Losses.


@new(t=13, x=75)
def softmax_entropy(sizes: Sizes) -> Term:
    t, x = axes("t x", sizes)
    A = nq.array("A", t, x)
    return -nq.sum(nq.softmax(A, x) * nq.log_softmax(A, x), x)


@new(t=13, x=75)
def kl_divergence(sizes: Sizes) -> Term:
    t, x = axes("t x", sizes)
    P, Q = nq.array("P", t, x), nq.array("Q", t, x)
    return nq.sum(nq.softmax(P, x) * (nq.log_softmax(P, x) - nq.log_softmax(Q, x)), x)


@new(i=37, j=37, d=40)
def contrastive_loss(sizes: Sizes) -> Term:
    i, j, d = axes("i j d", sizes)
    A, B = nq.array("A", i, d), nq.array("B", j, d)
    similar = nq.sum(A * B, d) * 0.5
    return nq.logsumexp(similar, j) - nq.take(similar, j, nq.index(i))


@new(t=13, x=75)
def bhattacharyya(sizes: Sizes) -> Term:
    t, x = axes("t x", sizes)
    return nq.sum(nq.sqrt(nq.softmax(nq.array("P", t, x), x) * nq.softmax(nq.array("Q", t, x), x)), x)


@new(t=13, x=75)
def huber_loss(sizes: Sizes) -> Term:
    t, x = axes("t x", sizes)
    off = nq.abs(nq.array("A", t, x) - nq.array("B", t, x))
    return nq.mean(nq.where(off < 1.0, 0.5 * off * off, off - 0.5), x)


# Rows.


@new(n=5, g=3, c=6, s=37)
def group_norm(sizes: Sizes) -> Term:
    n, g, c, s = axes("n g c s", sizes)
    A = nq.array("A", n, g, c, s)
    off = A - nq.mean(nq.mean(A, s), c)
    return off * nq.rsqrt(nq.mean(nq.mean(off * off, s), c) + 1e-5) * nq.array("W", g, c)


@new(t=13, x=75)
def noisy_softmax(sizes: Sizes) -> Term:
    t, x = axes("t x", sizes)
    return nq.softmax((nq.array("A", t, x) + nq.array("noise", t, x)) * 2.0, x)


@new(t=13, x=75)
def log_mean_exp(sizes: Sizes) -> Term:
    t, x = axes("t x", sizes)
    return nq.logsumexp(nq.array("A", t, x), x) - nq.log(nq.size(x))


@new(t=13, x=75, c=20)
def padded_mean_pool(sizes: Sizes) -> Term:
    t, x, c = axes("t x c", sizes)
    inside = nq.padding(x, nq.array("lengths", t, dtype="int32"))
    return nq.sum(nq.array("A", t, x, c), x, where=inside) / nq.sum(nq.where(inside, 1.0, 0.0), x)


@new(t=13, i=18, w=4, x=72)
def windowed_max_pool(sizes: Sizes) -> Term:
    t, i, w, x = axes("t i w x", sizes)
    return nq.max(nq.take(nq.array("A", t, x), x, nq.index(i) * 4 + nq.index(w)), w)


@new(x=37, y=75)
def outer_softmax(sizes: Sizes) -> Term:
    x, y = axes("x y", sizes)
    return nq.softmax(nq.array("a", x) * nq.array("b", y), y)


@new(t=13, x=75)
def mean_absolute_deviation(sizes: Sizes) -> Term:
    t, x = axes("t x", sizes)
    A = nq.array("A", t, x)
    return nq.mean(nq.abs(A - nq.mean(A, x)), x)


@new(t=13, v=50, d=40)
def embedded_rms_norm(sizes: Sizes) -> Term:
    t, v, d = axes("t v d", sizes)
    row = nq.take(nq.array("E", v, d), v, nq.array("ids", t, dtype="int32"))
    return nq.rms_norm(row, d, nq.array("W", d))


# Contractions.


@new(q=37, c=75, d=40)
def nearest_code(sizes: Sizes) -> Term:
    q, c, d = axes("q c d", sizes)
    off = nq.array("A", q, d) - nq.array("C", c, d)
    return nq.min(nq.sum(off * off, d), c)


@new(t=37, d=40, f=75, e=24)
def gated_mlp(sizes: Sizes) -> Term:
    t, d, f, e = axes("t d f e", sizes)
    A = nq.array("A", t, d)
    gate, up = nq.linear(A, nq.array("G", d, f), d), nq.linear(A, nq.array("U", d, f), d)
    return nq.linear(nq.swiglu(gate, up), nq.array("D", f, e), f)


@new(t=37, d=40, f=75, r=16)
def lora_linear(sizes: Sizes) -> Term:
    t, d, f, r = axes("t d f r", sizes)
    A = nq.array("A", t, d)
    low = nq.linear(nq.linear(A, nq.array("L", d, r), d), nq.array("R", r, f), r)
    return nq.linear(A, nq.array("W", d, f), d) + 0.25 * low


@new(t=37, d=40, f=75)
def rms_linear_residual(sizes: Sizes) -> Term:
    t, d, f = axes("t d f", sizes)
    normed = nq.rms_norm(nq.array("A", t, d), d, nq.array("G", d))
    return nq.array("R", t, f) + nq.linear(normed, nq.array("W", d, f), d)


@new(m=37, n=24, k=75)
def quantised_linear(sizes: Sizes) -> Term:
    m, n, k = axes("m n k", sizes)
    return nq.matmul(nq.array("A", m, k), nq.array("W", k, n) * nq.array("scale", n), k) * nq.array("row", m)


@new(b=2, t=20, w=3, c=16, o=24, y=22)
def convolution(sizes: Sizes) -> Term:
    b, t, w, c, o, y = axes("b t w c o y", sizes)
    seen = nq.take(nq.array("A", b, y, c), y, nq.index(t) + nq.index(w))
    return nq.sum(seen * nq.array("K", w, c, o), w, c)


@new(i=20, j=24, k=18, l=30)
def chain_of_three(sizes: Sizes) -> Term:
    i, j, k, last = axes("i j k l", sizes)
    A, B, C = nq.array("A", i, j), nq.array("B", j, k), nq.array("C", k, last)
    return nq.sum(nq.sum(A * B, j) * C, k)
