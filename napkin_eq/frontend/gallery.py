"""Named diagrams, each written with the library as a newcomer would write it; sizes are arguments, None leaves one
symbolic.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import napkin_eq.frontend.library as nq
from napkin_eq.lang.diagram import Diagram
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.term import Term

Size = int | None
DIAGRAMS: dict[str, Callable[..., Diagram]] = {}


def diagram(name: str, **sizes: int | None) -> Diagram:
    """Return a diagram of the gallery, with other axis sizes where given (None: symbolic)."""
    if name not in DIAGRAMS:
        raise NapkinError(f"unknown diagram {name!r:.80}; one of {', '.join(sorted(DIAGRAMS))}")
    takes = inspect.signature(DIAGRAMS[name]).parameters
    if unknown := sorted(set(sizes) - set(takes)):
        raise NapkinError(f"diagram {name} has no axis {unknown[0]!r:.80}; its axes are {', '.join(takes)}")
    return DIAGRAMS[name](**sizes)


def named(make: Callable[..., Term]) -> Callable[..., Term]:
    """Put a diagram with one output into the gallery, by its function's name and docstring."""
    name = make.__name__

    def built(**sizes: Any) -> Diagram:
        return Diagram(name, (("out", make(**sizes)),), (make.__doc__ or "").partition("\n")[0])

    built.__signature__ = inspect.signature(make)  # type: ignore[attr-defined]
    DIAGRAMS[name] = built
    return make


# Rows.


@named
def softmax(t: Size = 4096, x: Size = 8192) -> Term:
    """The softmax of each row."""
    rows, columns = nq.axes("t x", t=t, x=x)
    return nq.softmax(nq.array("A", rows, columns), columns)


@named
def logsumexp(t: Size = 4096, x: Size = 8192) -> Term:
    """The logarithm of the sum of the exponentials of each row."""
    rows, columns = nq.axes("t x", t=t, x=x)
    return nq.logsumexp(nq.array("A", rows, columns), columns)


@named
def variance(t: Size = 4096, x: Size = 8192) -> Term:
    """The variance of each row."""
    rows, columns = nq.axes("t x", t=t, x=x)
    return nq.variance(nq.array("A", rows, columns), columns)


@named
def rms_norm(t: Size = 4096, d: Size = 4096) -> Term:
    """Each row divided by its root mean square, times weights."""
    rows, width = nq.axes("t d", t=t, d=d)
    return nq.rms_norm(nq.array("A", rows, width), width, nq.array("W", width))


@named
def layer_norm(t: Size = 4096, d: Size = 4096) -> Term:
    """Each row with mean 0 and variance 1, times weights, plus a bias."""
    rows, width = nq.axes("t d", t=t, d=d)
    return nq.layer_norm(nq.array("A", rows, width), width, nq.array("W", width), nq.array("B", width))


# Contractions.


@named
def matmul(m: Size = 4096, n: Size = 4096, k: Size = 4096) -> Term:
    """The product of two matrices."""
    rows, columns, inner = nq.axes("m n k", m=m, n=n, k=k)
    return nq.matmul(nq.array("A", rows, inner), nq.array("B", inner, columns), inner)


@named
def linear_gelu(t: Size = 4096, d: Size = 4096, f: Size = 16384) -> Term:
    """A linear layer with a bias, then GELU."""
    rows, width, features = nq.axes("t d f", t=t, d=d, f=f)
    return nq.gelu(
        nq.linear(nq.array("A", rows, width), nq.array("W", width, features), width, nq.array("B", features))
    )


@named
def rmsnorm_linear(t: Size = 16, d: Size = 1024, f: Size = 1024) -> Term:
    """An RMS norm with weights, then a linear layer."""
    rows, width, features = nq.axes("t d f", t=t, d=d, f=f)
    return nq.linear(
        nq.rms_norm(nq.array("A", rows, width), width, nq.array("G", width)), nq.array("W", width, features), width
    )


@named
def swiglu(t: Size = 4096, d: Size = 4096, f: Size = 11008) -> Term:
    """Two linear layers of one input, one the gate of the other."""
    rows, width, features = nq.axes("t d f", t=t, d=d, f=f)
    a = nq.array("A", rows, width)
    gate, up = (nq.linear(a, nq.array(name, width, features), width) for name in ("G", "U"))
    return nq.swiglu(gate, up)


@named
def mlp(t: Size = 4096, d: Size = 4096, f: Size = 16384, e: Size = 4096) -> Term:
    """Two linear layers with GELU between."""
    rows, width, features, out = nq.axes("t d f e", t=t, d=d, f=f, e=e)
    hidden = nq.gelu(nq.linear(nq.array("A", rows, width), nq.array("U", width, features), width))
    return nq.linear(hidden, nq.array("V", features, out), features)


@named
def linear_cross_entropy(t: Size = 16384, v: Size = 131072, d: Size = 4096) -> Term:
    """A linear layer onto a vocabulary, then the cross-entropy of each row's label."""
    rows, words, width = nq.axes("t v d", t=t, v=v, d=d)
    logits = nq.linear(nq.array("A", rows, width), nq.array("W", words, width), width)
    return nq.cross_entropy(logits, nq.array("labels", rows, dtype="int32"), words)


# Attention. The scale is d**-0.5, a constant, so the size of a head must be a number.


def _attention(
    sizes: dict[str, Size],
    change: Callable[[Term, dict[str, nq.Axis]], Term] = lambda scores, axes: scores,
    query: str = "b h q d",
    key: str = "b h x d",
) -> Term:
    names = list(dict.fromkeys(f"{query} {key}".split()))
    axes = {axis.name: axis for axis in nq.axes(" ".join(names), **sizes)}
    if (width := axes["d"].size) is None:
        raise NapkinError("axis d has no size: the scores are scaled by d**-0.5, so give it a number, as in d=128")
    Q = nq.array("Q", *(axes[name] for name in query.split()))
    K, V = (nq.array(name, *(axes[n] for n in key.split())) for name in ("K", "V"))
    scores = change(nq.sum(Q * K, axes["d"]) * width**-0.5, axes)
    return nq.sum(nq.softmax(scores, axes["x"]) * V, axes["x"])


@named
def attention(b: Size = 1, h: Size = 16, q: Size = 4096, x: Size = 4096, d: Size = 128) -> Term:
    """Attention: a softmax of scores over the keys, as weights of the values."""
    return _attention({"b": b, "h": h, "q": q, "x": x, "d": d})


@named
def causal_attention(b: Size = 1, h: Size = 16, q: Size = 4096, x: Size = 4096, d: Size = 128) -> Term:
    """Attention in which a query sees the keys up to its own place."""
    return _attention(
        {"b": b, "h": h, "q": q, "x": x, "d": d}, lambda s, axes: nq.masked(s, nq.causal(axes["q"], axes["x"]))
    )


@named
def window_attention(b: Size = 1, h: Size = 16, q: Size = 4096, x: Size = 4096, d: Size = 128) -> Term:
    """Attention in which a query sees its own place and the 1023 before it."""
    return _attention(
        {"b": b, "h": h, "q": q, "x": x, "d": d}, lambda s, axes: nq.masked(s, nq.window(axes["q"], axes["x"], 1023))
    )


@named
def padded_attention(b: Size = 4, h: Size = 16, q: Size = 4096, x: Size = 4096, d: Size = 128) -> Term:
    """Attention over batches of keys of different lengths."""

    def padded(scores: Term, axes: dict[str, nq.Axis]) -> Term:
        return nq.masked(scores, nq.padding(axes["x"], nq.array("lengths", axes["b"], dtype="int32")))

    return _attention({"b": b, "h": h, "q": q, "x": x, "d": d}, padded)


@named
def gqa_attention(b: Size = 1, k: Size = 8, r: Size = 4, q: Size = 4096, x: Size = 4096, d: Size = 128) -> Term:
    """Attention in which r heads of queries share one head k of keys and values."""
    return _attention({"b": b, "k": k, "r": r, "q": q, "x": x, "d": d}, query="b k r q d", key="b k x d")


@named
def cross_attention(b: Size = 1, h: Size = 16, q: Size = 1024, x: Size = 4096, d: Size = 128) -> Term:
    """Attention to a sequence of another length."""
    return _attention({"b": b, "h": h, "q": q, "x": x, "d": d})


@named
def causal_cross_attention(b: Size = 1, h: Size = 16, q: Size = 1024, x: Size = 4096, d: Size = 128) -> Term:
    """Causal attention of the last queries of a sequence to all of its keys: the ends of the two line up."""
    return _attention(
        {"b": b, "h": h, "q": q, "x": x, "d": d},
        lambda s, axes: nq.masked(s, nq.causal(axes["q"], axes["x"], bottom_right=True)),
    )


@named
def symbolic_attention(b: Size = 1, h: Size = 16, q: Size = None, x: Size = None, d: Size = 128) -> Term:
    """Attention whose lengths are bound when it runs."""
    return _attention({"b": b, "h": h, "q": q, "x": x, "d": d})


@named
def alibi_attention(b: Size = 1, h: Size = 16, q: Size = 4096, x: Size = 4096, d: Size = 128) -> Term:
    """Causal attention whose scores fall with the distance, at a slope for each head."""

    def sloped(scores: Term, axes: dict[str, nq.Axis]) -> Term:
        distance = nq.index(axes["q"]) - nq.index(axes["x"])
        return nq.masked(scores - nq.array("slopes", axes["h"]) * distance, nq.causal(axes["q"], axes["x"]))

    return _attention({"b": b, "h": h, "q": q, "x": x, "d": d}, sloped)


@named
def softcap_attention(b: Size = 1, h: Size = 16, q: Size = 4096, x: Size = 4096, d: Size = 128) -> Term:
    """Attention whose scores are held between -50 and 50 by a tanh."""
    return _attention({"b": b, "h": h, "q": q, "x": x, "d": d}, lambda s, axes: 50.0 * nq.tanh(s * 0.02))
