# mypy: disable-error-code="no-untyped-def, no-untyped-call, arg-type"
"""An axis cut into stretches: the judgment, the laws that use it, and that nothing else passes for a cut."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from napkin_eq.certify.certificate import Data, checked, make
from napkin_eq.egraph.congruence import Step
from napkin_eq.lang.axis import Axis
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.evaluate import evaluate
from napkin_eq.lang.term import Acc, Const, Index, Input, Length, Map, Online, Reduce, Term
from napkin_eq.laws import claim
from napkin_eq.laws.axis_split import stretch_mask
from napkin_eq.laws.inference import Judge, substitute
from napkin_eq.laws.law import (
    ABSENT,
    REGISTRY,
    TRUE,
    Inference,
    Max,
    Statement,
    Sum,
    Var,
    _check_inference,
    finite,
    free,
    stretch,
    where,
)
from napkin_eq.laws.loader import load_rules
from napkin_eq.prove.prove import prove
from tests.statements import stated

load_rules()
LAWS = {law.name: law for law in REGISTRY.laws()}
STATEMENTS: list[Statement] = list(REGISTRY.statements.values())
VERDICTS = {v.name: v for v in prove(STATEMENTS)}
P = Axis("p", 3)
SIZES = [
    Axis("x", 1),
    Axis("x", 2),
    Axis("x", 7),
    Axis("x", 9),
    Axis("x", 383),
    Axis("x", 384),
    Axis("x", 1000),
    Axis("x"),
]


def mask(part: Axis, axis: Axis, run: Term, more: Term | None = None) -> Term:
    first = Index(part) * run
    return (first <= Index(axis)) & (Index(axis) < first + (run if more is None else more))


@pytest.mark.parametrize("x", SIZES, ids=str)
def test_every_lane_is_in_exactly_one_stretch(x: Axis) -> None:
    for lanes in [x.size] if x.size else [1, 2, 3, 4, 7, 100]:
        found = evaluate(stretch_mask(P, x), {}, {"x": lanes}, order=(P, x))
        assert found.shape == (3, lanes) and (found.sum(axis=0) == 1).all()


def test_the_laws_are_proved() -> None:
    names = ("split-sum", "split-max", "join-stretches", "rebase", "rebase-bare")
    assert {VERDICTS[name].status for name in names} == {"proved"}
    assert {
        v.status for v in prove([replace(LAWS[n], lhs=LAWS[n].rhs, rhs=LAWS[n].lhs) for n in names], use_cache=False)
    } == {"proved"}


def split_prod(a, c, x, p: Axis):
    return Reduce("prod", x, a), Reduce("prod", p, Reduce("prod", x, where(c, a, 1.0))), stretch(p, x, c), free(p, a)


def split_sum_of_products(a, b, c, x, p: Axis):
    return Sum(x, a * b), Sum(p, Sum(x, where(c, a * b, 0.0))), stretch(p, x, c), free(p, a), free(p, b)


def wrong_neutral(a, c, x, p: Axis):
    return Max(x, a), Max(p, Max(x, where(c, a, 0.0))), stretch(p, x, c), free(p, a)


def wrong_neutral_of_a_sum(a, c, x, p: Axis):
    return Sum(x, a), Sum(p, Sum(x, where(c, a, 1.0))), stretch(p, x, c), free(p, a)


def varies(a, c, x, p: Axis):
    return Sum(x, a), Sum(p, Sum(x, where(c, a, 0.0))), stretch(p, x, c)


def any_mask(a, c, x, p: Axis):
    return Sum(x, a), Sum(p, Sum(x, where(c, a, 0.0))), free(p, a)


def any_mask_of_a_maximum(a, c, x, p: Axis):
    return Max(x, a), Max(p, Max(x, where(c, a, ABSENT))), free(p, a)


def turned_mask(a, c, x, p: Axis):
    return Max(x, a), Max(p, Max(x, where(~c, a, ABSENT))), stretch(p, x, c), free(p, a)


def other_axis(a, c, x, y, p: Axis):
    # True as well: whatever lane of y it is, exactly one p takes the whole sum.
    return Sum(x, a), Sum(p, Sum(x, where(c, a, 0.0))), stretch(p, y, c), free(p, a)


def counted_by_x(a, c, x, p: Axis):
    return Sum(x, a), Sum(p, Sum(x, where(c, a, 0.0))), stretch(x, p, c), free(p, a)


def mixed(a, c, x, p: Axis):
    return Sum(x, a), Sum(p, Max(x, where(c, a, 0.0))), stretch(p, x, c), free(p, a)


def joined_anyhow(a, c, x, p: Axis):
    return Sum(p, Sum(x, where(c, a, 0.0))), Sum(x, a), free(x, a), free(p, a)


def joined_though_it_varies(a, c, x, p: Axis):
    return Sum(p, Sum(x, where(c, a, 0.0))), Sum(x, a), stretch(p, x, c), free(x, a)


def test_true_neighbours_are_proved() -> None:
    for law in (split_prod, split_sum_of_products, other_axis):
        assert [v.status for v in prove(stated(law), use_cache=False)] == ["proved"], law


@pytest.mark.parametrize(
    "law",
    [
        wrong_neutral, wrong_neutral_of_a_sum, varies, any_mask, any_mask_of_a_maximum, turned_mask, counted_by_x,
        mixed, joined_anyhow, joined_though_it_varies,
    ],
    ids=lambda f: f.__name__,
)
def test_false_neighbours_are_refuted(law: Any) -> None:
    assert [v.status for v in prove(stated(law), use_cache=False)] == ["refuted"]


@pytest.mark.parametrize("least", [True, False], ids=["overlapping", "a lane in none"])
def test_less_than_exactly_one_does_not_do(least: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """With stretches that overlap, or that leave a lane out, nothing is proved."""

    def weaker(p: Axis, x: Axis, c: Term) -> Term:
        count, one = Sum(p, where(c, Const(1.0), 0.0)), Const(1.0)
        return claim.le(one, count) if least else claim.le(count, one)

    monkeypatch.setitem(claim.JUDGMENT, "stretch", weaker)
    verdicts = {v.name: v.status for v in prove([LAWS["split-sum"], LAWS["split-max"]], use_cache=False)}
    assert verdicts["split-sum"] != "proved"
    assert least or verdicts["split-max"] != "proved"


def test_a_maximum_may_be_split_into_stretches_that_overlap() -> None:
    """The one above is no accident of the prover: of a maximum a lane may be taken twice."""
    x, a = Axis("x", 7), Input("A", (Axis("x", 7),))
    data = {"A": np.random.default_rng(0).standard_normal(7)}
    overlapping = mask(P, x, Const(3), Const(5))
    assert evaluate(Max(P, Max(x, where(overlapping, a, ABSENT))), data) == data["A"].max()
    assert evaluate(Sum(P, Sum(x, where(overlapping, a, 0.0))), data) != pytest.approx(data["A"].sum())


def test_a_stream_over_the_counting_axis_is_not_understood() -> None:
    def streamed(a, c, x, p: Axis):
        return Sum(x, a), Online(p, Sum(x, where(c, a, 0.0)), TRUE, Acc()), stretch(p, x, c), free(p, a)

    (verdict,) = prove(stated(streamed), use_cache=False)
    assert verdict.status != "proved" and "does not hold in a stream" in verdict.detail


def test_an_inference_does_not_rest_on_stretches() -> None:
    x, p, c, a = Axis("x"), Axis("p"), Var("c", "bool"), Var("a")
    rule = Inference("odd", "user", "", finite(Sum(x, where(c, a, 0.0))), (stretch(p, x, c), finite(a)), "", "here")
    with pytest.raises(NapkinError, match="a condition of laws only"):
        _check_inference(rule)


# -- what is a cut, for the judge and for the checker ------------------------------------------------------------------


def split(x: Axis, part: Axis, cut: Term, wrap: Any = None) -> Data:
    """A certificate of one step, its condition derived where the judge does so, else claimed."""
    a = Input("A", (x,))
    bindings: dict[str, Term | Axis] = {"a": a, "c": cut, "p": part, "x": x}
    law = LAWS["split-sum"]
    before, after = (substitute(side, bindings) for side in (law.lhs, law.rhs))
    path: tuple[int, ...] = ()
    if wrap is not None:
        before, after, path = wrap(before), wrap(after), (0,)
    step = Step(law.name, True, path, tuple(sorted(bindings.items())), before, after)
    return make(before, after, [step], STATEMENTS, VERDICTS, {})


@pytest.mark.parametrize("x", [Axis("x", 1), Axis("x", 7), Axis("x", 1000), Axis("x")], ids=str)
def test_stretches_may_be_counted_later(x: Axis) -> None:
    """However many there are, each lane is in exactly one; the judge and the checker say so."""
    part = Axis("p")
    for count in (1, 2, 3, 64):
        for lanes in [x.size] if x.size else [1, 127, 128, 129, 1000]:
            found = evaluate(stretch_mask(part, x), {}, {"x": lanes, "p": count}, order=(part, x))
            assert found.shape == (count, lanes) and (found.sum(axis=0) == 1).all()
    assert Judge(REGISTRY.inferences()).holds(stretch(part, x, stretch_mask(part, x)))
    assert checked(split(x, part, stretch_mask(part, x)))["status"] == "ok"


def counted(x: Axis, lanes: int = 128, less: int = -1, length: Term | None = None) -> list[tuple[Axis, Axis, Term]]:
    """A cut into stretches that are counted later, as it should be or not."""
    part = Axis("p")
    many = Map("mul", (Length(part), Const(lanes)))
    whole = length if length is not None else Length(x) if x.size is None else Const(x.size)
    run = Map("mul", (Map("floordiv", (Map("add", (whole, Map("add", (many, Const(less))))), many)), Const(lanes)))
    return [(x, part, mask(part, x, run))]


COUNTED_WRONG = [
    *counted(N := Axis("x"), less=-2), *counted(N, lanes=64), *counted(N, length=Const(7)),
    *counted(Axis("x", 1000), length=Const(999)),
    (N, Axis("p"), mask(Axis("p"), N, Map("floordiv", (Length(N), Length(Axis("p")))))),
    (N, Axis("p"), mask(Axis("p"), N, Const(128))),
]  # fmt: skip


@pytest.mark.parametrize(("x", "part", "cut"), COUNTED_WRONG)
def test_a_count_that_leaves_lanes_out_is_refused(x: Axis, part: Axis, cut: Term) -> None:
    assert checked(claimed(x, part, cut))["status"] == "refused"
    assert [checked(claimed(*right))["status"] for right in counted(x)] == ["ok"]


@pytest.mark.parametrize("x", SIZES, ids=str)
def test_the_judge_and_the_checker_agree_on_a_cut(x: Axis) -> None:
    judge = Judge(REGISTRY.inferences())
    assert judge.holds(stretch(P, x, stretch_mask(P, x)))
    result = checked(split(x, P, stretch_mask(P, x)))
    assert result["status"] == "ok", result
    for odd in (TRUE, Index(P) <= Index(x), stretch_mask(Axis("p", 4), x)):
        assert not judge.holds(stretch(P, x, odd))
    assert not judge.holds(stretch(x, x, stretch_mask(P, x)))
    assert not judge.holds(stretch(Axis("p"), x, stretch_mask(P, x)))


def claimed(x: Axis, part: Axis, cut: Term) -> Data:
    """The same certificate with a mask of one's own: what the judge would not derive is written down nevertheless."""
    honest = stretch_mask(part, x)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("napkin_eq.laws.inference.is_stretch", lambda *_: True)
        data = split(x, part, cut)
    assert cut is honest or "is-stretch" in {row[0] for row in data["nodes"]}
    return data


X7, N = Axis("x", 7), Axis("x")
LEAST = Map("floordiv", (Length(N) + Const(2), Const(3)))


def test_any_length_that_covers_the_axis_will_do_for_the_checker() -> None:
    for run in (3, 4, 7, 128):
        assert checked(claimed(X7, P, mask(P, X7, Const(run))))["status"] == "ok"
    assert checked(claimed(N, P, mask(P, N, LEAST)))["status"] == "ok"


@pytest.mark.parametrize(
    ("x", "part", "cut"),
    [
        (X7, P, mask(P, X7, Const(2))),  # a lane in none
        (X7, P, mask(P, X7, Const(0))),
        (X7, P, mask(P, X7, Const(-3))),
        (X7, P, mask(P, X7, Const(3), Const(4))),  # overlapping
        (X7, P, (Index(P) * Const(3) <= Index(X7))),
        (X7, P, TRUE),
        (X7, P, ~mask(P, X7, Const(3))),
        (X7, P, mask(P, X7, Const(3)) & mask(P, X7, Const(3))),
        (X7, P, mask(P, X7, Index(Axis("y", 9)))),
        (X7, P, mask(P, X7, LEAST)),
        (N, P, mask(P, N, Const(100))),
        (N, P, mask(P, N, Map("floordiv", (Length(N), Const(3))))),
        (N, P, mask(P, N, Map("floordiv", (Length(N) + Const(2), Const(4))))),
        (N, Axis("p", 2), mask(Axis("p", 2), N, LEAST)),
        (X7, Axis("p"), mask(Axis("p"), X7, Const(7))),
    ],
    ids=range(15),
)
def test_what_is_no_cut_is_refused(x: Axis, part: Axis, cut: Term) -> None:
    result = checked(claimed(x, part, cut))
    # The last where a cut varies along an axis of its own
    causes = ("does not hold by itself", "malformed", "not of one kind and shape")
    assert result["status"] == "refused" and any(cause in result["problem"] for cause in causes), result


def test_a_cut_is_not_used_where_its_axis_is_streamed() -> None:
    def wrap(axis: Axis) -> Any:
        return lambda total: Online(axis, total, TRUE, Acc())

    assert checked(split(X7, P, stretch_mask(P, X7), wrap(Axis("z", 5))))["status"] == "ok"
    assert (
        "do not hold of the prefixes that Online takes"
        in checked(split(X7, P, stretch_mask(P, X7), wrap(P)))["problem"]
    )


def test_a_law_holds_of_numbers() -> None:
    for x in (Axis("x", 5), Axis("x", 400)):
        a = Input("A", (x,))
        data = {"A": np.random.default_rng(1).standard_normal(x.size)}
        for name in ("split-sum", "split-max", "rebase-bare"):
            bindings = {"a": a, "c": stretch_mask(P, x), "p": P, "x": x, "m": Const(0.5)}
            left, right = (evaluate(substitute(side, bindings), data) for side in (LAWS[name].lhs, LAWS[name].rhs))
            np.testing.assert_allclose(left, right)
