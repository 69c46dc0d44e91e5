"""Derivations as functions of tensors: held against float64 and PyTorch's own checks of operators."""

import copy
import pickle
import warnings

import numpy as np
import pytest
import torch

import napkin_eq as nq
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.evaluate import evaluate

T, X, D = nq.axes("t x d", t=6, x=17, d=4)
A, B, W = nq.array("A", T, X), nq.array("B", X, D), nq.array("W", D)
BOTH = nq.Diagram("both", (("p", nq.softmax(A, X)), ("o", nq.sum(nq.softmax(A, X) * B, X) + W)))


def tensors(seed=0, dtype=torch.float32):
    torch.manual_seed(seed)
    return torch.randn(6, 17, dtype=dtype), torch.randn(17, 4, dtype=dtype), torch.randn(4, dtype=dtype)


@pytest.fixture(scope="module")
def derivation():
    return nq.derive(BOTH, dtype="float32")


@pytest.fixture(params=["kernels", "reference"])
def function(derivation, request):
    return derivation.compile(executor=request.param)


def by_hand(a, b, w):
    p = torch.softmax(a, 1)
    return p, p @ b + w


def test_it_gives_what_the_diagram_means(function):
    a, b, w = tensors()
    for given in (
        (a, b, w),
        (a.T.contiguous().T, b[:, [0, 1, 2, 3]].T.contiguous().T, w.expand(2, 4)[1]),
        (a.repeat(1, 2)[:, ::2][:, :17] * 0 + a, b, w),
    ):
        exact = [
            evaluate(t, {"A": given[0].numpy(), "B": given[1].numpy(), "W": given[2].numpy()}) for _, t in BOTH.outputs
        ]
        names = [b.name for b in function.inputs]
        found = function(**dict(zip("ABW", given, strict=True)))
        assert sorted(names) == ["A", "B", "W"] and [f.dtype for f in found] == [torch.float32] * 2
        for got, want, axes in zip(found, exact, ("tx", "td"), strict=True):
            assert got.shape == torch.Size([{"t": 6, "x": 17, "d": 4}[n] for n in axes])
            np.testing.assert_allclose(got.numpy(), want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("executor", ["kernels", "reference"])
def test_axes_are_as_the_diagram_says_whatever_it_is_rewritten_to(executor):
    """A choice of one value is that value, which lies otherwise than the diagram does."""
    mask = nq.array("M", D, dtype="bool")
    diagram = nq.Diagram("turned", (("out", nq.where(mask, B, B)), ("twice", B * 2.0)))
    given = torch.rand(4) < 0.5, torch.randn(17, 4)
    out, twice = nq.derive(diagram, dtype="float32").compile(executor=executor)(*given)
    assert torch.equal(out, given[1].T) and torch.equal(twice, given[1] * 2)


def test_pytorch_finds_nothing_wrong_with_the_operator(function):
    given = dict(zip("ABW", tensors(), strict=True))
    ordered = [given[b.name].requires_grad_() for b in function.inputs]
    torch.library.opcheck(function.operator, tuple(ordered))


def test_gradients_are_those_of_pytorch(function):
    a, b, w = (t.requires_grad_() for t in tensors())
    p, o = function(A=a, B=b, W=w)
    (o.sin().sum() + (p * p).sum()).backward()
    mine = [t.grad for t in (a, b, w)]
    x, y, z = (t.detach().requires_grad_() for t in (a, b, w))
    p, o = by_hand(x, y, z)
    (o.sin().sum() + (p * p).sum()).backward()
    for got, want in zip(mine, (x.grad, y.grad, z.grad), strict=True):
        torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-5)


def test_gradients_through_a_compiled_program(function):
    a, b, w = (t.requires_grad_() for t in tensors())
    torch.compile(lambda a, b, w: function(A=a * 2, B=b, W=w)[1].sin().sum(), backend="aot_eager", fullgraph=True)(
        a, b, w
    ).backward()
    x, y, z = (t.detach().requires_grad_() for t in (a, b, w))
    by_hand(x * 2, y, z)[1].sin().sum().backward()
    for got, want in zip((a.grad, b.grad, w.grad), (x.grad, y.grad, z.grad), strict=True):
        torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-5)


def test_compile_and_export_see_one_operator(function):
    a, b, w = tensors()
    called = torch.compile(lambda a, b, w: function(A=a * 2, B=b, W=w)[1].relu(), backend="aot_eager", fullgraph=True)
    want = by_hand(a * 2, b, w)[1].relu()
    torch.testing.assert_close(called(a, b, w), want, rtol=1e-5, atol=1e-5)

    class Module(torch.nn.Module):
        def forward(self, a, b, w):
            return function(A=a, B=b, W=w)[1] + 1

    exported = torch.export.export(Module(), (a, b, w))
    assert sum("napkin_eq" in str(n.target) for n in exported.graph.nodes) == 1
    torch.testing.assert_close(exported.module()(a, b, w), by_hand(a, b, w)[1] + 1, rtol=1e-5, atol=1e-5)


@pytest.fixture(scope="module")
def open_sizes():
    n, m = nq.axes("n m", m=8)
    a = nq.array("A", n, m)
    return nq.derive(nq.Diagram("open", (("o", nq.softmax(a, m)),)), dtype="float32")


def test_sizes_that_are_open_are_read_off_the_tensors(open_sizes):
    function = open_sizes.compile()
    for size in (1, 3, 33):
        a = torch.randn(size, 8)
        torch.testing.assert_close(function(a), torch.softmax(a, 1), rtol=1e-5, atol=1e-6)
    turned = open_sizes.compile(order={"o": ("m", "n")})
    called = torch.compile(lambda a: turned(a) + 1, backend="aot_eager", dynamic=True, fullgraph=True)
    for size in (5, 9):
        a = torch.randn(size, 8)
        torch.testing.assert_close(called(a), torch.softmax(a, 1).T + 1, rtol=1e-5, atol=1e-6)


def test_a_gradient_has_gradients_itself(function):
    a, b, w = (t.double().float().requires_grad_() for t in tensors())
    c = (a * 2).narrow(1, 0, 4).sum(0) + w  # an input that is computed of another one
    slopes = torch.autograd.grad(function(A=a, B=b, W=c)[1].sin().sum(), (a, b, w), create_graph=True)
    found = torch.autograd.grad(sum((s * s).sum() for s in slopes) + (a * a).sum(), (a, b, w))
    slopes = torch.autograd.grad(
        by_hand(a, b, (a * 2).narrow(1, 0, 4).sum(0) + w)[1].sin().sum(), (a, b, w), create_graph=True
    )
    wanted = torch.autograd.grad(sum((s * s).sum() for s in slopes) + (a * a).sum(), (a, b, w))
    for got, want in zip(found, wanted, strict=True):
        torch.testing.assert_close(got, want, rtol=1e-3, atol=1e-3)


def test_what_records_other_derivatives_is_told(function):
    a, b, w = tensors()
    with pytest.raises(NapkinError, match="forward-mode"):
        torch.func.jvp(lambda v: function(A=v, B=b, W=w)[1], (a,), (a,))
    with pytest.raises(NapkinError, match="torch.func"):
        torch.func.grad(lambda v: function(A=v, B=b, W=w)[1].sum())(a)


def test_a_size_that_no_input_has_is_given_by_name():
    n, m, y = nq.axes("n m y", m=8)
    a = nq.array("self", n, m)  # hostile names are names like others
    function = nq.derive(nq.Diagram("open", (("o", nq.sum(a, m) + nq.index(y)),)), dtype="float32").compile()
    given = torch.randn(3, 8)
    for size in (1, 5, 17):
        for found in (function(given, y=size), function(self=given, y=size)):
            torch.testing.assert_close(found, given.sum(1)[:, None] + torch.arange(size), rtol=1e-5, atol=1e-5)
    for wrong in (0, -1, True, 2.0, "3"):
        with pytest.raises(NapkinError, match="size y"):
            function(given, y=wrong)
    run = function.module["run"]
    for wrong in (0, -1, 2.5, "3"):
        with pytest.raises(ValueError, match="size y"):
            run(given, y_size=wrong)


def test_a_copy_is_the_function_and_none_is_pickled(function):
    assert copy.deepcopy(function) is function is copy.copy(function)
    with pytest.raises(NapkinError, match="pickled"):
        pickle.dumps(function)


def nested(row):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that they are a prototype
        return torch.nested.nested_tensor([row] * 6)


BAD = {
    "nested": (lambda f, a, b, w: f(A=nested(a[0]), B=b, W=w), "nested"),
    "a device": (lambda f, a, b, w: f(A=a, B=b, W=w, device="cpu"), "no argument"),
    "a size": (lambda f, a, b, w: f(A=a[:, :3], B=b, W=w), "expected shape|expected size"),
    "a rank": (lambda f, a, b, w: f(A=a[0], B=b, W=w), "dimensions"),
    "a type": (lambda f, a, b, w: f(A=a.double(), B=b, W=w), "expected torch.float32"),
    "a list": (lambda f, a, b, w: f(A=a.tolist(), B=b, W=w), "expected a tensor"),
    "one missing": (lambda f, a, b, w: f(A=a, B=b), "W is not given"),
    "one too many": (lambda f, a, b, w: f(a, b, w, w), "4 tensors"),
    "a stranger": (lambda f, a, b, w: f(A=a, B=b, W=w, Z=w), "no argument"),
    "sparse": (lambda f, a, b, w: f(A=a.to_sparse(), B=b, W=w), "strided"),
    "elsewhere": (lambda f, a, b, w: f(A=a, B=b, W=w.to("meta")), "is on"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_does_not_fit_is_refused_in_one_line(function, name):
    call, said = BAD[name]
    with pytest.raises(NapkinError, match=said) as caught:
        call(function, *tensors())
    assert "\n" not in str(caught.value)


def test_what_is_asked_for_is_checked(derivation):
    for more, said in (
        ({"executor": "magic"}, "executor"),
        ({"order": {"o": ("t",)}}, "order of output o"),
        ({"order": {"z": ()}}, "no output"),
    ):
        with pytest.raises(NapkinError, match=said):
            derivation.compile(**more)
