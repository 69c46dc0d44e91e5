"""Judgments, bounds and chains, held against NumPy, brute force and a naive closure."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable

import numpy as np
import pytest

from napkin_eq.egraph.congruence import Closure, Step
from napkin_eq.egraph.nodes import Merged
from napkin_eq.lang.axis import Axis, axes
from napkin_eq.lang.errors import NapkinError, Undecided
from napkin_eq.lang.evaluate import evaluate
from napkin_eq.lang.interval import interval
from napkin_eq.lang.term import (
    Acc,
    Const,
    Fold,
    Group,
    Index,
    Input,
    Map,
    Online,
    Prev,
    Read,
    Size,
    Store,
    Term,
    Tuple,
    as_real,
    subterms,
)
from napkin_eq.laws.axis_split import stretch_mask
from napkin_eq.laws.inference import Judge, holds, match, substitute
from napkin_eq.laws.law import (
    ABSENT,
    REGISTRY,
    TRUE,
    Inference,
    Judgment,
    Law,
    Max,
    Sum,
    Var,
    absent,
    along,
    distinct,
    exp,
    finite,
    free,
    inv,
    le,
    local,
    nonneg,
    nonzero,
    pos,
    safe,
    scales,
    where,
    zero,
)  # fmt: skip
from napkin_eq.laws.loader import load_rules

load_rules()
q, x, d = axes("q x d", q=3, x=5, d=2)
Q, K, V = Input("Q", (q, d)), Input("K", (x, d)), Input("V", (x, d))
S = Sum(d, Q * K) * 0.5
P = exp(S - Max(x, S))
RULES = REGISTRY.inferences()
JUDGE = Judge(RULES)
LAWS = {law.name: law for law in REGISTRY.laws()}
MASK = Index(q) <= Index(x)


def values(seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {t.name: rng.normal(size=[a.size for a in t.dims]) for t in (Q, K, V)}


def subterm(term: Term, path: tuple[int, ...]) -> Term:
    for place in path:
        term = term.children[place]
    return term


def sound(chain: list[Step], source: Term, destination: Term) -> None:
    """Every step is an instance of its law at its place, changes nothing else, and keeps the value."""
    current = source
    for step in chain:
        assert step.before is current
        if step.law != "arithmetic":
            law = LAWS[step.law]
            sides = [substitute(side, dict(step.bindings)) for side in (law.lhs, law.rhs)]
            old, new = sides if step.forward else sides[::-1]
            assert subterm(step.before, step.path) is old and subterm(step.after, step.path) is new
        for place in range(len(step.path)):
            a, b = subterm(step.before, step.path[:place]), subterm(step.after, step.path[:place])
            assert type(a) is type(b) and len(a.children) == len(b.children)
            assert all(
                m is n for i, (m, n) in enumerate(zip(a.children, b.children, strict=True)) if i != step.path[place]
            )
        if not any(isinstance(subterm(step.before, step.path[:i]), Prev) for i in range(len(step.path))):
            np.testing.assert_allclose(
                evaluate(step.after, values(), block=2), evaluate(step.before, values(), block=2), rtol=1e-9
            )
        current = step.after
    assert current is destination


def closure(*instances: tuple[str, dict[str, Term | Axis]]) -> Closure:
    found = Closure(REGISTRY.statements.values())
    for name, bindings in instances:
        found.instance(name, True, bindings)
    return found


# -- judgments ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "judgment",
    [
        free(x, Q), along(q, S), distinct(q, x), finite(S), finite(Max(x, S)), pos(P), nonneg(P), pos(Sum(x, P)),
        nonzero(Sum(x, P)),
        le(S, Max(x, S)), le(S, S), local(x, S), local(x, Sum(d, Q)), local(x, as_real(Index(x))),
        local(x, as_real(Size(d))),
        pos(Const(2.0)), pos(as_real(Size(x))), nonneg(as_real(Index(x))), finite(Read(Q, q, Index(x))),
        absent(MASK, where(MASK, S, -np.inf)),
        safe(S - Max(x, S)), safe(Map("tanh", (S,)) * 50.0), pos(Store(Fold("sum", x, P, TRUE, True))),
        pos(Input("A", (x,), facts=("pos",))),
        scales(x, P * V, exp(Prev(Max(x, S)) - Max(x, S))),
    ],
    ids=str,
)  # fmt: skip
def test_derived(judgment: Judgment) -> None:
    proof = JUDGE.holds(judgment)
    assert proof is not None and proof.judgment == judgment
    assert holds(judgment, RULES) is not None


@pytest.mark.parametrize(
    "judgment",
    [
        free(q, Q), free(x, S), free(q, Acc()), along(x, Q), along(Axis("q", 4), Q), distinct(x, Axis("x", 7)),
        finite(Const(-np.inf)), finite(Acc()),
        finite(where(MASK, S, -np.inf)), pos(S), pos(Const(0.0)), nonneg(Const(-1.0)), nonzero(Const(0.0)),
        le(Max(x, S), S), le(S, Q),
        local(x, Max(x, S)), local(x, as_real(Size(x))), local(x, Read(K, x, Index(q))),
        local(x, Map("lt", (Sum(x, K), Q))), local(x, Prev(Q)),
        local(x, Acc()), safe(S), safe(Q * 50.0), scales(x, S * V, exp(Prev(Max(x, S)) - Max(x, S))),
        scales(x, exp(S), Const(1.0)),
        zero(MASK, S), finite(Sum(x, where(MASK, S, -np.inf))), pos(Input("A", (x,), facts=("nonneg",))),
    ],
    ids=str,
)  # fmt: skip
def test_not_derived(judgment: Judgment) -> None:
    assert JUDGE.holds(judgment) is None


def test_an_open_argument_is_found() -> None:
    proof = JUDGE.holds(scales(x, P * V * inv(Sum(x, exp(S))), Var("r")))
    assert proof is not None
    factor = proof.judgment.args[2]
    assert isinstance(factor, Term) and JUDGE.holds(proof.judgment) is not None
    found = JUDGE.holds(absent(Var("c", "bool"), where(MASK, S, -np.inf) + Q))
    assert found is not None and found.judgment.args[0] is MASK


def test_rules_that_go_round_in_circles_end(within: Callable[..., None]) -> None:
    a, b = Var("a"), Var("b")
    loop = [
        Inference("up", "user", "", pos(a), (pos(a * 1.0),), "", "here"),
        Inference("swap", "user", "", pos(a * b), (pos(b * a),), "", "here"),
        Inference("between", "user", "", le(a, Var("d")), (le(a, b), le(b, Var("d"))), "", "here"),
    ]

    def judged() -> None:
        judge = Judge([*RULES, *loop])
        assert (
            judge.holds(pos(S)) is None and judge.holds(le(S, Q)) is None and judge.holds(le(S, Max(x, S))) is not None
        )

    within(2, judged)


def test_match_inverts_substitute() -> None:
    for law in REGISTRY.laws():
        instance = substitute(law.lhs, _bindings(law.lhs))
        found = match(law.lhs, instance, {})
        assert found is not None and substitute(law.lhs, found) is instance
    assert match(Sum(x, Var("a") * Var("a")), Sum(q, Q * Q), {}) == {"x": q, "a": Q}
    assert match(Var("a") * Var("a"), Q * K, {}) is None and match(Var("n", "number"), Const(-np.inf), {}) is None
    assert match(Sum(x, Var("a") * Sum(x, Var("b"))), Sum(x, Q * Sum(d, K)), {}) is None
    with pytest.raises(NapkinError, match="b is not bound"):
        substitute(Var("a") * Var("b"), {"a": Q})
    with pytest.raises(NapkinError, match="expected a real term"):
        substitute(Var("a"), {"a": Index(x)})


def _bindings(pattern: Term) -> dict[str, Term | Axis]:
    """An instance's bindings: axes of their own, along all of which each value varies."""
    terms = list(subterms(pattern))
    axes = {f.name: Axis(f"{f.name}_", 3) for t in terms for f in t.fields if isinstance(f, Axis)}
    place: Term = Const(1)
    for a in axes.values():
        place = place + Index(a)
    real = Input("A", tuple(axes.values()))
    less, both = Map("lt", (real, Q)), Tuple((real, Q))
    samples = {"real": real, "bool": less, "int": place, "number": Const(2.0), "tuple": both}
    return axes | {t.name: Q if t.name == "u" else samples[t.sort] for t in terms if isinstance(t, Var)}


def test_bounds_hold() -> None:
    a, b = Input("A", (x,), facts=("abs<=3",)), Input("B", (q, x), facts=("abs<=0.5", "nonneg"))
    c = where(Index(x) <= Const(2), a, -np.inf)
    terms = [
        a * b, a + b, a * a, -a, inv(b + 1.0), exp(a), Map("sqrt", (b,)), Map("abs", (a,)), Map("max", (a, b)),
        Map("min", (a, b)), Sum(x, a * b),
        Sum(x, b), Sum(x, b, Index(x) <= Const(1)), Max(x, c), exp(c), c + b, Map("tanh", (a * 9.0,)),
        Map("floor", (a,)), Map("round", (a,)),
        as_real(Index(x)) * a, as_real(Size(x)) * b, Read(a, x, Index(q)), Store(a), inv(a), Map("log", (b,)),
        Map("sigmoid", (a,)),
    ]  # fmt: skip
    for seed, term in itertools.product(range(5), terms):
        rng = np.random.default_rng(seed)
        data = {"A": rng.choice([-3.0, 3.0, 0.0, 1.3], size=5), "B": rng.choice([0.0, 0.5, 0.2], size=(3, 5))}
        got = evaluate(
            term,
            {t.name: data[t.name] for t in (a, b) if t.name in repr(term)},
            {"q": 3} if "'q'" in repr(term) else {},
        )
        present = got[np.isfinite(got)]
        lo, hi = interval(term)
        assert ((lo - 1e-12 <= present) & (present <= hi + 1e-12)).all(), (term, lo, hi)
    assert interval(Sum(x, a * b)) == (-7.5, 7.5) and interval(a * a) == (0.0, 9.0)


# -- chains ------------------------------------------------------------------------------------------------------------


def test_a_chain_by_hand() -> None:
    total = Sum(x, P)
    source = Sum(x, P * inv(total) * V)
    proof = closure(
        ("mul-commutes", {"a": P, "b": inv(total)}),
        ("mul-associates", {"a": inv(total), "b": P, "d": V}),
        ("distribute", {"a": inv(total), "b": P * V, "x": x}),
        ("mul-commutes", {"a": P, "b": V}),
    )
    destination = inv(total) * Sum(x, V * P)
    chain = proof.explain(source, destination)
    sound(chain, source, destination)
    assert [s.law for s in chain] == ["mul-commutes", "mul-associates", "distribute", "mul-commutes"]
    back = proof.explain(destination, source)
    sound(back, destination, source)
    assert len(back) == 4 and proof.explain(source, source) == []
    with pytest.raises(Undecided, match="no chain of 4 law instances"):
        proof.explain(source, Sum(x, V))


def test_structure_and_streams() -> None:
    total, n = Sum(x, P), Sum(x, P * V)
    r = exp(Prev(Max(x, S)) - Max(x, S))
    online = Online(x, P * V, TRUE, Acc() * r)
    running = Online(x, P, TRUE, Acc() * r)
    proof = closure(
        ("rescale", {"a": P * V, "r": r, "x": x}), ("rescale", {"a": P, "r": r, "x": x}),
        ("fuse-online", {"a": P, "c": TRUE, "u": Acc() * r, "x": x}),
        ("stream-max", {"a": S, "c": TRUE, "x": x}), ("fuse-max", {"a": S, "c": TRUE, "x": x}),
        ("level", {"a": inv(total) * n}),
        ("group", {"a": inv(total) * n, "x": q}),
    )  # fmt: skip
    m = Fold("max", x, S, TRUE, True)
    shown = exp(S - m)
    moved = Acc() * exp(Prev(m) - m)
    destination = Store(Group(q, inv(Online(x, shown, TRUE, moved, True)) * Online(x, shown * V, TRUE, moved)))
    assert proof.same(running, total) and proof.same(online, n)
    chain = proof.explain(inv(total) * n, destination)
    sound(chain, inv(total) * n, destination)
    assert {"rescale", "fuse-online", "stream-max", "fuse-max", "level", "group"} == {s.law for s in chain}


def test_a_class_that_holds_itself() -> None:
    proof = closure(("level", {"a": Q}), ("level", {"a": Q * K}))
    deep = Store(Store(Store(Q))) * Store(K)
    proof.instance("level", True, {"a": K})
    chain = proof.explain(deep, Store(Store(Q * K)))
    sound(chain, deep, Store(Store(Q * K)))
    assert len(chain) == 6


def test_numbers_fold() -> None:
    proof = closure(
        ("mul-associates", {"a": Q, "b": Const(2.0), "d": Const(0.25)}),
        ("arithmetic", {"left": Const(2.0) * 0.25, "right": Const(0.5)}),
    )
    chain = proof.explain(Q * 2.0 * 0.25, Q * 0.5)
    sound(chain, Q * 2.0 * 0.25, Q * 0.5)
    assert [s.law for s in chain] == ["mul-associates", "arithmetic"]


def test_an_instance_with_another_form_in_its_place() -> None:
    # The stand-in V·P has no derivation of its own for `scales`; the equal term P·V has one.
    r = exp(Prev(Max(x, S)) - Max(x, S))
    swapped = exp(-Max(x, S)) * exp(S)
    proof = closure(("mul-commutes", {"a": exp(S), "b": exp(-Max(x, S))}), ("exp-add", {"a": S, "b": -Max(x, S)}))
    bindings: dict[str, Term | Axis] = {"a": swapped, "r": r, "x": x}
    assert not proof.instance("rescale", True, bindings)
    destination = Online(x, P, TRUE, Acc() * r)
    chain = proof.explain(Sum(x, swapped), destination)
    sound(chain, Sum(x, swapped), destination)
    assert not closure().instance("cancel", True, {"a": S})


def test_what_fired_of_a_class_that_was_merged_since_is_entered_where_a_chain_is_missing() -> None:
    # Of |x| · 1 = |x| an e-graph keeps that Σ_x 1 · 1 = Σ_x 1: by then both are one class.
    ones, size = Sum(x, Const(1.0)), as_real(Size(x))
    known: list[tuple[str, dict[str, Term | Axis]]] = [
        ("sum-constant", {"a": Const(1.0), "x": x}), ("mul-one", {"a": ones}),
        ("mul-commutes", {"a": Const(1.0), "b": size}),
    ]  # fmt: skip
    proof = closure(*known)
    proof.spare([Merged("mul-commutes", True, (("a", (ones,)), ("b", (ones, K))))])
    with pytest.raises(Undecided, match="no chain of 4 law instances"):
        proof.explain(ones, size)
    proof = closure(*known)
    proof.spare([Merged("mul-one", True, (("a", (ones, size)),))])
    chain = proof.explain(ones, size)
    sound(chain, ones, size)
    assert [s.law for s in chain] == ["sum-constant", "mul-commutes", "mul-one"]


def test_a_chain_goes_round_a_step_that_leaves_no_term() -> None:
    # The shorter way to the other update leads by one that varies along the axis of its stream.
    a, b = Var("a"), Var("b")

    def stated(name: str, lhs: Term, rhs: Term) -> Law:
        return Law(name, "", "", lhs, rhs, (), False, "algebra", "", "")

    near = [stated("into", -a, a * b), stated("out-of", a * b, exp(a))]
    far = [
        stated("first", -a, inv(a)),
        stated("second", inv(a), Map("sqrt", (a,))),
        stated("third", Map("sqrt", (a,)), exp(a)),
    ]
    factor = Input("F", (q,))
    before, after = (Online(x, K, TRUE, Acc() * term) for term in (-factor, exp(factor)))
    proof, both = Closure(near), Closure([*near, *far])
    for law in near:
        assert proof.instance(law, True, {"a": factor, "b": K}) and both.instance(law, True, {"a": factor, "b": K})
    for law in far:
        assert both.instance(law, True, {"a": factor})
    assert [s.law for s in both.explain(before, after)] == ["first", "second", "third"]
    with pytest.raises(Undecided, match="leads by terms alone"):
        proof.explain(before, after)


def test_a_chain_cuts_no_axis_in_the_prefixes_of_a_stream_over_its_stretches() -> None:
    # Of what a stream over stretches has seen so far, the maximum over all stretches is not known: the checker refuses
    # such a step there.
    p, a, b = Axis("p", 2), Var("a"), Var("b")
    c = stretch_mask(p, x)
    whole, cut = Max(x, S), Max(p, Max(x, where(c, S, ABSENT)))
    sides = {"first": (Max(x, a), inv(Max(x, a))), "second": (inv(a), b)}
    far = [Law(name, "", "", *both, (), False, "algebra", "", "") for name, both in sides.items()]
    proof = Closure([*RULES, LAWS["split-max"], *far])
    fired: dict[str, dict[str, Term | Axis]] = {
        "split-max": {"a": S, "c": c, "p": p, "x": x},
        "first": {"a": S, "x": x},
        "second": {"a": whole, "b": cut},
    }
    assert all(proof.instance(name, True, bindings) for name, bindings in fired.items())
    assert [s.law for s in proof.explain(whole, cut)] == ["split-max"]
    before, after = (Online(p, reference * K, TRUE, Acc()) for reference in (whole, cut))
    assert [s.law for s in proof.explain(before, after)] == ["first", "second"]
    other = [Online(d, reference * Q, TRUE, Acc()) for reference in (whole, cut)]
    assert [s.law for s in proof.explain(*other)] == ["split-max"]


def test_closure_agrees_with_brute_force() -> None:
    leaves = [Input(name, (x,)) for name in "abcd"]
    for seed in range(12):
        rng = random.Random(seed)
        pool: list[Term] = list(leaves)
        for _ in range(14):
            pool.append(
                Map(rng.choice(["add", "mul"]), (rng.choice(pool), rng.choice(pool)))
                if rng.random() < 0.7
                else Store(rng.choice(pool))
            )
        pool = list(dict.fromkeys(pool))
        pairs = [(rng.choice(pool), rng.choice(pool)) for _ in range(5)]
        proof = Closure()
        for term in pool:
            proof.add(term)
        for a, b in pairs:
            proof.arithmetic(a, b)
        root = _naive(pool, pairs)
        for a, b in itertools.combinations(pool, 2):
            assert proof.same(a, b) == (root[a] is root[b])
            if root[a] is root[b]:
                _chain(proof.explain(a, b), a, b, pairs)


def _chain(chain: list[Step], a: Term, b: Term, pairs: list[tuple[Term, Term]]) -> None:
    current = a
    for step in chain:
        assert step.before is current
        ends = (subterm(step.before, step.path), subterm(step.after, step.path))
        assert (ends if step.forward else ends[::-1]) in pairs
        current = step.after
    assert current is b


def _naive(pool: list[Term], pairs: list[tuple[Term, Term]]) -> dict[Term, Term]:
    root = {t: t for t in pool}

    def join(a: Term, b: Term) -> bool:
        old, new = root[a], root[b]
        for t in pool:
            if root[t] is old:
                root[t] = new
        return old is not new

    for a, b in pairs:
        join(a, b)
    same = True
    while same:
        same = False
        for a, b in itertools.combinations(pool, 2):
            alike = type(a) is type(b) and a.children and (not isinstance(a, Map) or a.op == b.op)
            if (
                alike
                and root[a] is not root[b]
                and all(root[i] is root[j] for i, j in zip(a.children, b.children, strict=True))
            ):
                same = join(a, b)
    return root


def test_thousands_of_instances_take_no_time(within: Callable[..., list[Step]]) -> None:
    leaves = [Input(f"a{i}", (x,)) for i in range(7)]
    instances: list[tuple[str, dict[str, Term | Axis]]] = []
    for size in range(3, 7):
        for some in itertools.permutations(leaves, 3):
            a, b, c = some
            tail = leaves[size]
            instances += [
                ("mul-commutes", {"a": a * tail, "b": b}),
                ("mul-associates", {"a": a, "b": b, "d": c * tail}),
                ("level", {"a": a * b * c}),
            ]
    instances += [("mul-associates", {"a": a, "b": b, "d": c}) for a, b, c in itertools.permutations(leaves, 3)]
    instances += [("mul-commutes", {"a": a * b, "b": c}) for a, b, c in itertools.permutations(leaves, 3)]
    instances += [("mul-commutes", {"a": a, "b": b}) for a, b in itertools.permutations(leaves, 2)]
    assert len(instances) > 2500
    a, b, c = leaves[:3]
    chain = within(1.5, lambda: closure(*instances).explain(a * b * c, Store(c * b * a)))
    assert len(chain) <= 6
