"""The cases of the benchmark against peers: which diagram, at which sizes; no figure stands here.

Weights of linear layers are stored as torch.nn.Linear stores them, features first. Sizes are those of a row's name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from napkin_eq.frontend import library as nq
from napkin_eq.frontend.gallery import diagram
from napkin_eq.lang.diagram import Diagram
from napkin_eq.lang.term import Term

TOKENS = 16384


@dataclass(frozen=True, slots=True)
class Case:
    """One row of the table: `kind` names its peers and its reference in carried/, `sizes` are axes of the diagram."""

    work: str
    case: str
    kind: str
    sizes: dict[str, int]
    make: Callable[..., Diagram] = field(repr=False)

    def diagram(self) -> Diagram:
        """Return the diagram at the row's sizes."""
        return self.make(**self.sizes)

    def tiny(self) -> Case:
        """Return the case at sizes small enough for Triton's interpreter; heads and their depth shrink too."""
        small = {
            "b": 1,
            "h": 2,
            "k": 2 if "q" in self.sizes else 48,
            "r": 2,
            "q": 24,
            "x": 40,
            "d": 16,
            "m": 24,
            "n": 24,
            "t": 24,
            "f": 40,
            "v": 72,
            "l": 16,
        }
        sizes = {name: min(size, small[name]) for name, size in self.sizes.items()}
        if "q" in sizes and self.sizes["q"] == self.sizes["x"]:
            sizes["q"] = sizes["x"]
        return Case(self.work, self.case, self.kind, sizes, self.make)


def one(name: str, term: Term) -> Diagram:
    """Return a diagram with one output."""
    return Diagram(name, (("out", term),))


def gallery(name: str) -> Callable[..., Diagram]:
    """Return the maker of a diagram of the gallery."""
    return lambda **sizes: diagram(name, **sizes)


def document_attention(b: int, h: int, q: int, x: int, d: int) -> Diagram:
    """Causal attention over packed documents: a query sees the keys from the start of its document to its own place."""
    B, H, Q, X, D = nq.axes("b h q x d", b=b, h=h, q=q, x=x, d=d)
    scores = nq.sum(nq.array("Q", B, H, Q, D) * nq.array("K", B, H, X, D), D) * d**-0.5
    seen = (nq.array("start", B, Q, dtype="int32") <= nq.index(X)) & nq.causal(Q, X)
    return one("document_attention", nq.sum(nq.softmax(nq.masked(scores, seen), X) * nq.array("V", B, H, X, D), X))


def rmsnorm_linear(t: int, d: int, f: int) -> Diagram:
    """An RMS norm with weights, then a linear layer."""
    T, D, F = nq.axes("t d f", t=t, d=d, f=f)
    return one(
        "rmsnorm_linear", nq.linear(nq.rms_norm(nq.array("A", T, D), D, nq.array("G", D)), nq.array("W", F, D), D)
    )


def swiglu(t: int, d: int, f: int) -> Diagram:
    """Two linear layers of one input, one the gate of the other."""
    T, D, F = nq.axes("t d f", t=t, d=d, f=f)
    a = nq.array("A", T, D)
    return one("swiglu", nq.swiglu(nq.linear(a, nq.array("G", F, D), D), nq.linear(a, nq.array("U", F, D), D)))


def lora(t: int, d: int, f: int, l: int) -> Diagram:  # noqa: E741
    """A linear layer and a correction of low rank."""
    T, D, F, L = nq.axes("t d f l", t=t, d=d, f=f, l=l)
    a = nq.array("A", T, D)
    low = nq.linear(nq.linear(a, nq.array("P", L, D), D), nq.array("R", F, L), L)
    return one("lora", nq.linear(a, nq.array("W", F, D), D) + low)


def cases() -> Iterator[Case]:
    """Yield the rows of the table, the ones looked at first to begin with."""
    for mask in ("full", "causal"):
        for d in (128, 64):
            for n in (TOKENS, TOKENS // 4, TOKENS // 16):
                b, h = TOKENS // n, 2048 // d
                make = gallery("attention" if mask == "full" else "causal_attention")
                yield Case(
                    "attention forward",
                    f"b{b} h{h} n{n} d{d} {mask}",
                    f"attention.{mask}",
                    dict(b=b, h=h, q=n, x=n, d=d),
                    make,
                )
    wide = dict(b=4, h=16, q=4096, x=4096, d=128)
    for name in ("window", "softcap", "alibi"):
        yield Case(
            "attention variant", f"{name} b4 h16 n4096 d128", f"attention.{name}", wide, gallery(f"{name}_attention")
        )
    yield Case(
        "attention variant",
        "gqa b4 hq16 hk4 n4096 d128",
        "attention.gqa",
        dict(b=4, k=4, r=4, q=4096, x=4096, d=128),
        gallery("gqa_attention"),
    )
    packed = dict(b=1, h=16, q=TOKENS, x=TOKENS, d=128)
    yield Case("attention variant", "document b1 h16 n16384 d128", "attention.document", packed, document_attention)
    for n in (8192, 65536):
        for b in (1, 16, 64):
            yield Case(
                "decode",
                f"b{b} hq32 hk8 n{n} d128",
                "attention.decode",
                dict(b=b, k=8, r=4, q=1, x=n, d=128),
                gallery("gqa_attention"),
            )
    for m, k, n in ((4096, 4096, 4096), (8192, 8192, 8192), (16, 4096, 4096), (128, 8192, 8192), (256, 65536, 256)):
        yield Case("matmul", f"{m}x{k}x{n}", "matmul", dict(m=m, n=n, k=k), gallery("matmul"))
    for t, width in ((16384, 4096), (4096, 65536)):
        yield Case("rows", f"softmax {t}x{width}", "rows.softmax", dict(t=t, x=width), gallery("softmax"))
        yield Case("rows", f"rmsnorm {t}x{width}", "rows.rms_norm", dict(t=t, d=width), gallery("rms_norm"))
        yield Case("rows", f"layernorm {t}x{width}", "rows.layer_norm", dict(t=t, d=width), gallery("layer_norm"))
    for t in (16, 4096):
        yield Case(
            "fused", f"rmsnorm+linear {t}x4096x4096", "rmsnorm_linear", dict(t=t, d=4096, f=4096), rmsnorm_linear
        )
        yield Case("fused", f"swiglu {t}x4096x14336", "swiglu", dict(t=t, d=4096, f=14336), swiglu)
        yield Case("fused", f"lora {t}x4096x4096 r16", "lora", dict(t=t, d=4096, f=4096, l=16), lora)
    vocabulary = dict(t=8192, v=128256, d=4096)
    yield Case("fused", "linear+xent 8192x4096x128256", "cross_entropy", vocabulary, gallery("linear_cross_entropy"))
