"""A diagram of your own: `napkin-eq derive examples/sink_pooling.py`.

Cosine-similarity attention in which a learned logit per head takes part of the weight and gives nothing.
"""

import napkin_eq as nq

h, q, x, d = nq.axes("h q x d", h=8, q=1024, x=2048, d=64)
Q, K, V = nq.array("Q", h, q, d), nq.array("K", h, x, d), nq.array("V", h, x, d)
sink = nq.array("sink", h)


def unit(a: nq.Term) -> nq.Term:
    return a * nq.rsqrt(nq.sum(a * a, d) + 1e-6)


scores = nq.sum(unit(Q) * unit(K), d) * 10.0
most = nq.maximum(nq.max(scores, x), sink)
weights = nq.exp(scores - most)
out = nq.sum(weights * V, x) / (nq.sum(weights, x) + nq.exp(sink - most))
