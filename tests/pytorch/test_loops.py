"""Loops that a program was traced through are found again: each is held against PyTorch in float64, and its diagram is
one recurrence or none.
"""

import pytest
import torch

import napkin_eq as nq
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.term import Recur, Scan, subterms

L, D, N = 6, 3, 2


def inputs():
    torch.manual_seed(0)
    return torch.randn(2, L, D), torch.rand(2, L, D), -torch.rand(D, N), torch.randn(2, L, N), torch.randn(2, L, N)


def selective(u, dt, a, b, c):
    gain, part = torch.exp(torch.einsum("bld,dn->bldn", dt, a)), torch.einsum("bld,bln,bld->bldn", dt, b, u)
    h, ys = torch.zeros(2, D, N, dtype=u.dtype), []
    for i in range(L):
        h = gain[:, i] * h + part[:, i]
        ys.append(torch.einsum("bdn,bn->bd", h, c[:, i]))
    return torch.stack(ys, 1)


def last_state_too(u, dt, a, b, c):
    h, ys = u[:, 0], []
    for i in range(L):
        h = torch.sigmoid(dt[:, i]) * h + u[:, i]
        ys.append(h[:, :, None])
    return torch.cat(ys, dim=-1), h, ys[2]


def backwards(u, dt, a, b, c):
    h, ys = torch.zeros(2, D, dtype=u.dtype), [u[:, 0]] * L
    for i in reversed(range(L)):
        h = 0.9 * h + u[:, i]
        ys[i] = h
    return torch.stack(ys, 1)


def two_states(u, dt, a, b, c):
    s, z, ys = torch.zeros(2, D, N, dtype=u.dtype), torch.zeros(2, N, dtype=u.dtype), []
    for i in range(L):
        k, q = torch.exp(b[:, i]), torch.exp(c[:, i])
        s, z = s + u[:, i, :, None] * k[:, None], z + k
        ys.append((s * q[:, None]).sum(-1) / (z * q).sum(-1, keepdim=True))
    return torch.stack(ys, 1)


def two_layers(u, dt, a, b, c):
    for _ in range(2):
        h, ys = torch.zeros(2, D, dtype=u.dtype), []
        for i in range(L):
            h = torch.where(dt[:, i] > 0.5, h * dt[:, i], u[:, i])
            ys.append(h)
        u = torch.stack(ys, 1) * 2
    return u


def averaged(u, dt, a, b, c):
    ys = [u[:, 0]]
    for i in range(1, L):
        ys.append(0.9 * ys[-1] + 0.1 * u[:, i])
    return torch.stack(ys, 1)


def by_scan(u, dt, a, b, c):
    from torch._higher_order_ops.scan import scan

    def turn(states, x):
        one, two = states
        one = torch.sigmoid(x[0]) * one + x[1]
        two = two * 0.5 + one
        return (one, two), (one * two).clone()

    last, ys = scan(turn, (u[:, 0].clone(), u[:, 1].clone()), (dt.movedim(1, 0), u.movedim(1, 0)), reverse=True)
    return ys, *last


def curved(u, dt, a, b, c):
    h, ys = torch.zeros(2, D, dtype=u.dtype), []
    for i in range(L):
        h = torch.tanh(h + u[:, i])
        ys.append(h)
    return torch.stack(ys, 1)


def mixed(u, dt, a, b, c):  # a state that is multiplied by a matrix
    h, ys, w = torch.zeros(2, D, dtype=u.dtype), [], a @ a.T
    for i in range(L):
        h = h @ w + u[:, i]
        ys.append(h)
    return torch.stack(ys, 1)


def crossing(u, dt, a, b, c):
    one, two, ys = u[:, 0], u[:, 1], []
    for i in range(L):
        one, two = two, one + two * dt[:, i]
        ys.append(two)
    return torch.stack(ys, 1)


def squared(u, dt, a, b, c):
    h, ys = u[:, 0], []
    for i in range(L):
        h = h * h * 0.1 + u[:, i]
        ys.append(h)
    return torch.stack(ys, 1)


def uneven(u, dt, a, b, c):  # one turn does something else
    h, ys = torch.zeros(2, D, dtype=u.dtype), []
    for i in range(L):
        h = h * 0.5 + (u if i != 3 else dt)[:, i]
        ys.append(h)
    return torch.stack(ys, 1)


def no_state(u, dt, a, b, c):
    return torch.cat([torch.sin(u[:, i : i + 1]) for i in range(L)], 1)


LOOPS = {
    "selective": 1,
    "last_state_too": 1,
    "backwards": 1,
    "two_states": 2,
    "two_layers": 2,
    "averaged": 1,
    "by_scan": 2,
}
OTHERS = ("curved", "mixed", "crossing", "squared", "uneven", "no_state")


def recurrences(program):
    return len({t for _, term in program.diagram.outputs for t in subterms(term) if isinstance(t, Recur)})


@pytest.mark.parametrize("name", [*LOOPS, *OTHERS])
def test_a_loop_is_what_pytorch_gives(name):
    function, arrays = globals()[name], inputs()
    program = nq.from_torch(function, *arrays)
    found, wanted = program.run(*arrays), function(*(t.double() for t in arrays))
    pairs = zip(found, wanted, strict=True) if isinstance(wanted, tuple) else [(found, wanted)]
    for got, want in pairs:
        torch.testing.assert_close(torch.as_tensor(got).double(), want, rtol=1e-9, atol=1e-9)
    assert recurrences(program) == LOOPS.get(name, 0)


def test_a_selective_scan_is_one_kernel():
    program = nq.from_torch(selective, *inputs())
    derivation = nq.derive(program.diagram, dtype=program.dtype)
    assert derivation.certificate["status"] == "proved" and len(derivation.plan.kernels) == 1
    assert str(program.diagram.term).startswith("Σ")


def test_a_state_that_is_not_linear_is_said():
    from torch._higher_order_ops.scan import scan

    with pytest.raises(NapkinError, match="no linear function"):
        nq.from_torch(
            lambda u: scan(lambda c, x: (torch.tanh(c + x), c.clone()), u[0].clone(), u)[1], torch.randn(5, 3)
        )


def test_prefixes_by_a_combination(monkeypatch):
    from napkin_eq.pytorch.build.builder import Builder, Value
    from napkin_eq.pytorch.build.wires import Wires
    from napkin_eq.pytorch.operators.scans import associative_scan

    def read(combination):
        b = Builder(Wires())
        dims = tuple(b.fresh(size, "dim", size) for size in (5, 3))
        axes = [axis for dim in dims for axis in dim]
        xs = [Value(nq.array(name, *axes), dims, "float32") for name in "AB"]
        return [v.term for v in associative_scan(b, lambda module, values: combination(b, *values), None, xs)]

    def pair(b, g, h, gain, part):
        return [b.pointwise(lambda x, y: x * y, g, gain), b.pointwise(lambda x, y, z: x * y + z, gain, h, part)]

    def turned(b, g, h, gain, part):
        return [b.pointwise(lambda x, y: x * y, g, gain), b.pointwise(lambda x, y, z: x * y + z, g, h, part)]

    product, state = read(pair)
    assert type(product) is Scan and product.monoid == "prod" and isinstance(state, Recur)
    with pytest.raises(NapkinError, match="no composition"):
        read(turned)
