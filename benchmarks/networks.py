"""Whole networks by their plain definitions: what a cover by kernels is measured on; nothing here knows how to be fast.

Weights are stored with what is summed over first. A network is a function of its sizes that gives a diagram; `NETWORKS`
has all by name.
"""

from __future__ import annotations

from collections.abc import Callable

import napkin_eq as nq
from napkin_eq import Axis, Diagram, Term


def rotary(a: Term, e: Axis, C: Term, S: Term) -> Term:
    """Return heads turned by cosines and sines, the second half of a head against the first."""
    half = (e.size or 0) // 2
    lower = nq.index(e) < half
    return a * C + nq.where(lower, -nq.take(a, e, nq.index(e) + half), nq.take(a, e, nq.index(e) - half)) * S


def llama_layer(X: Term, n: str, t: Axis, d: Axis, k: int, r: int, e: int, f: int) -> Term:
    """Return a Llama block of some tokens, `n` in the names of its weights."""
    K, R, E, F, x = *nq.axes("k r e f", k=k, r=r, e=e, f=f), Axis("x", t.size)
    C, S = nq.array("C", t, E), nq.array("S", t, E)
    h = nq.rms_norm(X, d, nq.array(f"G1{n}", d))
    q = rotary(nq.linear(h, nq.array(f"Wq{n}", d, K, R, E), d), E, C, S)
    key = rotary(nq.linear(h, nq.array(f"Wk{n}", d, K, E), d), E, C, S)
    value = nq.linear(h, nq.array(f"Wv{n}", d, K, E), d)
    key, value = nq.rename(key, {t: x}), nq.rename(value, {t: x})
    scores = nq.masked(nq.sum(q * key, E) * e**-0.5, nq.causal(t, x))
    o = nq.sum(nq.softmax(scores, x) * value, x)
    y = X + nq.sum(o * nq.array(f"Wo{n}", K, R, E, d), K, R, E)
    g = nq.rms_norm(y, d, nq.array(f"G2{n}", d))
    gate, up = (nq.linear(g, nq.array(f"{w}{n}", d, F), d) for w in ("Wg", "Wu"))
    return y + nq.linear(nq.swiglu(gate, up), nq.array(f"Wd{n}", F, d), F)


def llama(
    layers: int = 1, t: int = 4096, d: int = 4096, k: int = 8, r: int = 4, e: int = 128, f: int = 14336
) -> Diagram:
    """Llama blocks, one after the other, of a prompt."""
    T, D = nq.axes("t d", t=t, d=d)
    X = nq.array("X", T, D)
    for layer in range(layers):
        X = llama_layer(X, str(layer) if layers > 1 else "", T, D, k, r, e, f)
    return Diagram("llama", (("out", X),))


def llama_decode(
    b: int = 1, x: int = 8192, d: int = 4096, k: int = 8, r: int = 4, e: int = 128, f: int = 14336
) -> Diagram:
    """A Llama block of one token a sequence, whose earlier keys and values are an input and whose own are
    outputs too.
    """
    B, X, D, K, R, E, F = nq.axes("b x d k r e f", b=b, x=x, d=d, k=k, r=r, e=e, f=f)
    A, C, S = nq.array("X", B, D), nq.array("C", B, E), nq.array("S", B, E)
    h = nq.rms_norm(A, D, nq.array("G1", D))
    q = rotary(nq.linear(h, nq.array("Wq", D, K, R, E), D), E, C, S)
    key = rotary(nq.linear(h, nq.array("Wk", D, K, E), D), E, C, S)
    value = nq.linear(h, nq.array("Wv", D, K, E), D)
    keys, values = nq.array("Kc", B, K, X, E), nq.array("Vc", B, K, X, E)
    scores, own = nq.sum(q * keys, E) * e**-0.5, nq.sum(q * key, E) * e**-0.5
    top = nq.maximum(nq.max(scores, X), own)
    w, mine = nq.exp(scores - top), nq.exp(own - top)
    o = (nq.sum(w * values, X) + mine * value) / (nq.sum(w, X) + mine)
    y = A + nq.sum(o * nq.array("Wo", K, R, E, D), K, R, E)
    g = nq.rms_norm(y, D, nq.array("G2", D))
    gate, up = (nq.linear(g, nq.array(w, D, F), D) for w in ("Wg", "Wu"))
    out = y + nq.linear(nq.swiglu(gate, up), nq.array("Wd", F, D), F)
    return Diagram("llama_decode", (("out", out), ("K", key), ("V", value)))


def gpt(layers: int = 1, t: int = 4096, h: int = 16, e: int = 128, f: int = 8192) -> Diagram:
    """GPT blocks, one after the other: LayerNorm, attention of all heads, GELU, biases everywhere; dropout is off."""
    T, X, H, E, F, D = nq.axes("t x h e f d", t=t, x=t, h=h, e=e, f=f, d=h * e)
    A = nq.array("X", T, D)
    for layer in range(layers):
        n = str(layer) if layers > 1 else ""
        g = nq.layer_norm(A, D, nq.array(f"G1{n}", D), nq.array(f"B1{n}", D))
        q, key, value = (nq.linear(g, nq.array(f"W{w}{n}", D, H, E), D, nq.array(f"B{w}{n}", H, E)) for w in "qkv")
        key, value = nq.rename(key, {T: X}), nq.rename(value, {T: X})
        p = nq.softmax(nq.masked(nq.sum(q * key, E) * e**-0.5, nq.causal(T, X)), X)
        y = A + nq.sum(nq.sum(p * value, X) * nq.array(f"Wo{n}", H, E, D), H, E) + nq.array(f"Bo{n}", D)
        g = nq.layer_norm(y, D, nq.array(f"G2{n}", D), nq.array(f"B2{n}", D))
        m = nq.gelu_tanh(nq.linear(g, nq.array(f"W1{n}", D, F), D, nq.array(f"Bm{n}", F)))
        A = y + nq.linear(m, nq.array(f"W2{n}", F, D), F, nq.array(f"Bd{n}", D))
    return Diagram("gpt", (("out", A),))


def attention_backward(
    h: int = 16, q: int = 4096, d: int = 128, stored: bool = False, forward: bool = False, causal: bool = False
) -> Diagram:
    """The gradients of attention's queries, keys and values; `stored`: the logarithm of the sum of exponentials is an
    input, `forward`: and so is what the forward pass came to, as libraries have it; `causal`: a query sees no key after
    it.
    """
    H, Q_, X, D = nq.axes("h q x d", h=h, q=q, x=q, d=d)
    Q, dO = nq.array("Q", H, Q_, D), nq.array("dO", H, Q_, D)
    K, V = nq.array("K", H, X, D), nq.array("V", H, X, D)
    s = nq.sum(Q * K, D) * d**-0.5
    if causal:
        s = nq.masked(s, nq.causal(Q_, X))
    p = nq.exp(s - nq.array("L", H, Q_, dtype="float32")) if stored or forward else nq.softmax(s, X)
    dP = nq.sum(dO * V, D)
    dS = p * (dP - (nq.sum(nq.array("O", H, Q_, D) * dO, D) if forward else nq.sum(p * dP, X)))
    outputs = (("dQ", nq.sum(dS * K, X) * d**-0.5), ("dK", nq.sum(dS * Q, Q_) * d**-0.5), ("dV", nq.sum(p * dO, Q_)))
    return Diagram("causal_attention_backward" if causal else "attention_backward", outputs)


def rms_norm_backward(t: int = 4096, d: int = 4096) -> Diagram:
    """The gradients of an RMS norm's input and weights."""
    T, D = nq.axes("t d", t=t, d=d)
    X, dY, G = nq.array("X", T, D), nq.array("dY", T, D), nq.array("G", D)
    r = nq.rsqrt(nq.mean(X * X, D) + 1e-6)
    g = dY * G
    dX = r * g - X * (r * r * r) * nq.mean(g * X, D)
    return Diagram("rms_norm_backward", (("dX", dX), ("dG", nq.sum(dY * X * r, T))))


def cross_entropy_backward(t: int = 4096, v: int = 32768, d: int = 4096) -> Diagram:
    """The gradients of a linear layer and the mean cross-entropy after it, of its input and weights."""
    T, W_, D = nq.axes("t v d", t=t, v=v, d=d)
    A, W = nq.array("A", T, D), nq.array("W", W_, D)
    labels = nq.array("labels", T, dtype="int32")
    p = nq.softmax(nq.sum(A * W, D), W_)
    dL = (p - nq.where(nq.equal(nq.index(W_), labels), 1.0, 0.0)) * (1 / t)
    return Diagram("cross_entropy_backward", (("dA", nq.sum(dL * W, W_)), ("dW", nq.sum(dL * A, T))))


def mixture(t: int = 4096, d: int = 2048, n: int = 16, c: int = 512, j: int = 2, f: int = 4096) -> Diagram:
    """A mixture of experts: a router, the tokens of each expert gathered, their products, and the results back at their
    tokens.

    Which tokens an expert takes, and where a token's results lie, are inputs.
    """
    T, D, N, C, J, F = nq.axes("t d n c j f", t=t, d=d, n=n, c=c, j=j, f=f)
    X = nq.array("X", T, D)
    places, expert = nq.array("places", N, C, dtype="int32"), nq.array("expert", T, J, dtype="int32")
    slot = nq.array("slot", T, J, dtype="int32")
    weight = nq.take(nq.softmax(nq.linear(X, nq.array("R", D, N), D), N), N, expert)
    gathered = nq.take(X, T, places)
    gate, up = (nq.linear(gathered, nq.array(w, N, D, F), D) for w in ("Wg", "Wu"))
    made = nq.linear(nq.swiglu(gate, up), nq.array("Wd", N, F, D), F)
    return Diagram("mixture", (("out", nq.sum(weight * nq.take(nq.take(made, N, expert), C, slot), J)),))


def latent(t: int = 4096, d: int = 2048, h: int = 16, e: int = 128, wide: int = 512) -> Diagram:
    """Multi-head latent attention with its projections: keys and values of a head come of one latent vector
    of a token.
    """
    T, X, D, H, E, L = nq.axes("t x d h e l", t=t, x=t, d=d, h=h, e=e, l=wide)
    A = nq.array("X", T, D)
    c = nq.rms_norm(nq.linear(A, nq.array("Wc", D, L), D), L, nq.array("G", L))
    q = nq.linear(A, nq.array("Wq", D, H, E), D)
    key, value = (nq.rename(nq.linear(c, nq.array(w, L, H, E), L), {T: X}) for w in ("Wk", "Wv"))
    p = nq.softmax(nq.masked(nq.sum(q * key, E) * e**-0.5, nq.causal(T, X)), X)
    return Diagram("latent", (("out", nq.sum(nq.sum(p * value, X) * nq.array("Wo", H, E, D), H, E)),))


def evoformer(s: int = 128, r: int = 256, m: int = 256, z: int = 128, h: int = 8, e: int = 32) -> Diagram:
    """Gated attention along the rows of an alignment, biased by pairs, with its projections."""
    Sq, R, X, M, Z, H, E = nq.axes("s r x m z h e", s=s, r=r, x=r, m=m, z=z, h=h, e=e)
    a = nq.layer_norm(nq.array("M", Sq, R, M), M, nq.array("Gm", M), nq.array("Bm", M))
    pair = nq.layer_norm(nq.array("Z", R, X, Z), Z, nq.array("Gz", Z), nq.array("Bz", Z))
    bias = nq.linear(pair, nq.array("Wb", Z, H), Z)
    q, key, value, gate = (nq.linear(a, nq.array(f"W{w}", M, H, E), M) for w in "qkvg")
    key, value = nq.rename(key, {R: X}), nq.rename(value, {R: X})
    p = nq.softmax(nq.sum(q * key, E) * e**-0.5 + bias, X)
    o = nq.sigmoid(gate) * nq.sum(p * value, X)
    return Diagram("evoformer", (("out", nq.sum(o * nq.array("Wo", H, E, M), H, E)),))


def chained(h: int = 16, q: int = 4096, d: int = 64) -> Diagram:
    """Two attentions: what one gives are keys of the next."""
    H, Q_, X, D = nq.axes("h q x d", h=h, q=q, x=q, d=d)

    def attend(queries: Term, keys: Term, values: Term) -> Term:
        return nq.sum(nq.softmax(nq.sum(queries * keys, D) * d**-0.5, X) * values, X)

    first = attend(nq.array("Q", H, Q_, D), nq.array("K", H, X, D), nq.array("V", H, X, D))
    return Diagram(
        "chained", (("out", attend(nq.array("P", H, Q_, D), nq.rename(first, {Q_: X}), nq.array("U", H, X, D))),)
    )


def unet(b: int = 4, g: int = 8, c: int = 32, y: int = 64, x: int = 64) -> Diagram:
    """A small level of a U-Net: norm over groups of channels, SiLU and a window of 3 x 3, down to half and up again,
    beside what is passed by.
    """
    B, G, C, Y, X, U, V, OUT = nq.axes("b g c y x u v o", b=b, g=g, c=c, y=y, x=x, u=3, v=3, o=g * c)
    Yh, Xh = nq.axes("yh xh", yh=y // 2, xh=x // 2)

    def normed(a: Term, rows: Axis, columns: Axis, w: str) -> Term:
        part = nq.split(a, OUT, G, C) if any(axis.name == "o" for axis in a.axes) else a
        centre = nq.mean(nq.mean(nq.mean(part, C), rows), columns)
        away = part - centre
        scale = nq.rsqrt(nq.mean(nq.mean(nq.mean(away * away, C), rows), columns) + 1e-5)
        return nq.silu(away * scale * nq.array(w, G, C))

    def window(a: Term, w: str, rows: Axis, columns: Axis, at: tuple[Term, Term]) -> Term:
        i, j = at[0] + nq.index(U) - 1, at[1] + nq.index(V) - 1
        inside = (i >= 0) & (i < (rows.size or 0)) & (j >= 0) & (j < (columns.size or 0))
        seen = nq.where(inside, nq.take(nq.take(a, rows, i), columns, j), 0.0)
        return nq.sum(seen * nq.array(w, U, V, G, C, OUT), U, V, G, C)

    A = nq.array("X", B, G, C, Y, X)
    down = window(normed(A, Y, X, "G1"), "W1", Y, X, (nq.index(Yh) * 2, nq.index(Xh) * 2))
    inner = window(normed(down, Yh, Xh, "G2"), "W2", Yh, Xh, (nq.index(Yh), nq.index(Xh)))
    up = nq.take(nq.take(inner, Yh, nq.index(Y) // 2), Xh, nq.index(X) // 2)
    return Diagram("unet", (("out", nq.sum(up * nq.array("W3", OUT, G, C), OUT) + A),))


NETWORKS: dict[str, Callable[[], Diagram]] = {
    "llama": llama,
    "llama of 2": lambda: llama(2),
    "llama of 12": lambda: llama(12),
    "llama decode b1": llama_decode,
    "llama decode b64": lambda: llama_decode(64),
    "gpt": gpt,
    "gpt of 2": lambda: gpt(2),
    "gpt of 12": lambda: gpt(12),
    "attention backward": attention_backward,
    "attention backward, stored": lambda: attention_backward(stored=True),
    "attention backward, 16k": lambda: attention_backward(q=16384),
    "attention backward, 16k, of its forward pass": lambda: attention_backward(q=16384, forward=True),
    "causal attention backward, 16k": lambda: attention_backward(q=16384, causal=True),
    "causal attention backward, 16k, of its forward pass": lambda: attention_backward(
        q=16384, forward=True, causal=True
    ),
    "rms norm backward": rms_norm_backward,
    "cross-entropy backward": cross_entropy_backward,
    "mixture of experts": mixture,
    "latent attention": latent,
    "evoformer": evoformer,
    "chained attentions": chained,
    "u-net level": unet,
}
