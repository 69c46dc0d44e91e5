# mypy: disable-error-code="no-untyped-call, operator"
"""Every operator at special values: what the normal form and the solvers take it to be is what evaluation gives.

`tests/prove/test_rocq.py` holds Rocq's definitions against evaluation at the same kind of values.
"""

from __future__ import annotations

import itertools
import math
import runpy
import sys
from typing import Any

import numpy as np
import pytest

import napkin_eq as nq
from napkin_eq.lang.axis import Axis
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.evaluate import evaluate
from napkin_eq.lang.interval import MAPS
from napkin_eq.lang.numpy_semantics import OPERATORS, random
from napkin_eq.lang.operators import OPS
from napkin_eq.lang.term import Const, Input, Map, Term, in_others, rewritten
from napkin_eq.laws.claim import Claim, same
from napkin_eq.laws.law import Law, Real, Var, inv, nonneg, nonzero, statements_of
from napkin_eq.laws.loader import folder
from napkin_eq.numerics.roundoff import RULES
from napkin_eq.prove import portfolio as solving
from napkin_eq.prove.prove import opinion, prove
from napkin_eq.prove.rocq_text import BINARY, UNARY
from napkin_eq.tile.printers import targets

REALS = (-math.inf, -2.5, -2.0, -0.5, -0.0, 0.0, 0.5, 1.0, 1.5, 2.5, 4.0)
INTEGERS = (-7, -3, 0, 1, 2, 8)
CURVED = ("exp", "log", "tanh", "sigmoid", "erf", "sin", "cos", "sqrt", "floor", "round", "expm1", "atan", "random")
SOME = (-math.inf, -1.0, 0.0, 2.0)
FEW = (-7, 0, 3)  # of an operator of many whole numbers
GRID: dict[str, tuple[Any, ...]] = {"real": REALS, "int": INTEGERS, "bool": (False, True)}


def instances(op: str) -> list[tuple[Any, ...]]:
    """Return arguments of an operator at special values, whole numbers too where it takes both."""
    rule = OPS[op]
    found: list[tuple[Any, ...]] = []
    for num in ("real", "int") if "num" in rule.takes else ("real",):
        kinds = [num if kind == "num" else kind for kind in rule.takes]
        grid = GRID if len(kinds) < 4 else {**GRID, "int": FEW}
        found += itertools.product(*(SOME if kind == "real" and len(kinds) > 1 else grid[kind] for kind in kinds))
    return found


def proved(goal: Term, *premises: Term) -> bool:
    return solving.holds(Claim("an operator at numbers", goal, premises, frozenset()), 2.0)


def near(term: Term, value: Any) -> Term:
    """Say that a term has a value, to a millionth where that is no number of a few digits."""
    if isinstance(value, (bool, int)) or value == -math.inf or value * 4 == round(value * 4):
        return same(term, Const(value))
    return Map("lt", (Const(value - 1e-6), term)) & Map("lt", (term, Const(value + 1e-6)))


@pytest.mark.parametrize("op", OPS)
def test_solvers_and_evaluation_agree(op: str) -> None:
    solving.load_provers()
    for args in instances(op):
        term = Map(op, tuple(map(Const, args)))
        value = evaluate(term, {}, {}).item()
        claim = near(term, value)
        assert not proved(~claim), (op, args, value)
        if op not in CURVED:
            assert proved(claim), (op, args, value)
        # The same of variables that are those numbers, so that nothing is folded as it is written.
        names = [Var(name, Const(a).kind) for name, a in zip("abdu", args, strict=False)]
        given = [same(v, Const(a)) for v, a in zip(names, args, strict=True)]
        shown = near(Map(op, tuple(names)), value)
        assert not proved(~shown, *given), (op, args, value)
        if op not in CURVED and op not in ("floordiv", "mod"):
            assert proved(shown, *given), (op, args, value)


def test_every_meaning_of_an_operator_has_a_row() -> None:
    """Where this fails it names the table: what an operator's record says is read off it everywhere else."""
    targets()
    triton, gluon, runner = (
        sys.modules[f"napkin_eq.codegen.{name}"] for name in ("triton.kernel", "gluon.side", "numpy")
    )
    smt = runpy.run_path(str(folder("proofs") / "smt.py"))
    for name, op in OPS.items():
        assert name in OPERATORS, f"{name}: lang/numpy_semantics.py"
        assert name in RULES, f"{name}: numerics/roundoff.py"
        # Of mixed bits nothing is said in Rocq, which refuses a certificate that holds them
        assert name in {*UNARY, *BINARY, "where", "random"}, f"{name}: prove/rocq_text.py"
        assert op.means or name in {*smt["OPERATOR"], *smt["INTEGER"]}, f"{name}: proofs/smt.py"
        assert op.gives == "bool" or "int" in op.takes or name in {*MAPS, "where"}, f"{name}: lang/interval.py"
        if op.written is None:
            assert name in {*triton.INFIX, *triton.CALLS, *triton.SPECIAL, "floordiv", "mod", "real"}, (
                f"{name}: codegen/triton/kernel.py"
            )
            assert name in {*gluon.INFIX, *gluon.CALLS, *gluon.ONE, "floordiv", "mod", "real", "round"}, (
                f"{name}: codegen/gluon/side.py"
            )
            assert name in runner.OPS, f"{name}: codegen/numpy.py"


def test_what_an_operator_is_written_as_is_what_it_means() -> None:
    x = Axis("x")
    values = np.concatenate([np.linspace(-4, 4, 801), [-math.inf, 1e-9, -1e-9]])
    array = Input("A", (x,))
    for name, op in OPS.items():
        for form in (op.means, op.written):
            if form is not None:
                found, wanted = (evaluate(t, {"A": values}) for t in (in_others(form, array), Map(name, (array,))))
                np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-15 if form is op.means else 0.0)


def test_bits_are_those_that_are_published() -> None:
    """The words of Random123's `kat_vectors` for philox4x32 of ten rounds: of nothing, of all bits, of the digits of pi
    (Salmon, Moraes, Dror and Shaw, SC 2011; github.com/DEShawResearch/random123).
    """
    published = {
        ((0, 0), (0, 0, 0, 0)): (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8),
        ((2**32 - 1,) * 2, (2**32 - 1,) * 4): (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD),
        ((0xA4093822, 0x299F31D0), (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344)): (
            0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1,
        ),
    }  # fmt: skip

    def signed(low: int, high: int) -> Any:
        return np.array(low + (high << 32), np.uint64).astype(np.int64)[()]

    for (key, counter), words in published.items():
        seed, behind, stream = signed(*key), signed(*counter[:2]), signed(*counter[2:])
        assert [w + 2**31 for w in random(seed, stream, behind, np.arange(4)).tolist()] == list(words)
        given = [nq.array(name, dtype="int64") for name in "abd"]
        term = Map("random", (*given, Const(2)))
        assert evaluate(term, {"a": seed, "b": stream, "d": behind}, {}).item() == words[2] - 2**31
    assert random(1, 2, 3, 3) == random(1, 2, 3, 7) == random(1, 2, 3, -1) != random(1, 2, 3, 2)


def test_bits_are_the_same_for_the_same_counter_and_nothing_else_is_known_of_them() -> None:
    solving.load_provers()
    a, b, c, d = (Var(name, "int") for name in "abcd")
    one, other = Map("random", (a, b, Const(3), d)), Map("random", (a, c, Const(3), d))
    assert proved(same(one, other), same(b, c)) and not proved(same(one, other))
    assert proved(Map("le", (one, Const(2**31 - 1)))) and proved(Map("le", (Const(-(2**31)), one)))
    assert not proved(Map("lt", (one, Const(2**31 - 1)))) and not proved(Map("lt", (one, Const(0))))


def test_whole_numbers_divided_by_variables() -> None:
    """Quotients round down, remainders have the sign of the divisor, and by 0 both are 0."""
    i, j = Var("i", "int"), Var("j", "int")
    solving.load_provers()
    for a, b in itertools.product((-7, 0, 8), (-3, 0, 3)):
        given = same(i, Const(a)), same(j, Const(b))
        for op in ("floordiv", "mod"):
            value = evaluate(Map(op, (Const(a), Const(b))), {}, {}).item()
            assert proved(same(Map(op, (i, j)), Const(value)), *given), (op, a, b)
            assert not proved(same(Map(op, (i, j)), Const(value + 1)), *given), (op, a, b)


@pytest.mark.parametrize("values", [SOME, (-math.inf, -1.0, 1.0)])
def test_the_normal_form_agrees_where_it_decides(values: tuple[float, ...]) -> None:
    solving.load_provers()
    form = solving._DECIDERS["normal form"]
    for op in (name for name, rule in OPS.items() if set(rule.takes) <= {"real", "num"}):
        for args in itertools.product(values, repeat=len(OPS[op].takes)):
            term = Map(op, tuple(map(Const, args)))
            value = evaluate(term, {}, {}).item()
            assert not form(Claim("", ~near(term, value), (), frozenset())), (op, args)


def test_a_law_over_whole_numbers_with_a_sign_is_tested() -> None:
    i, j = Var("i", "int"), Var("j", "int")
    back = Map("real", (i // j * j + i % j,)), Map("real", (i,))
    wrong, right = (
        Law("divided", "user", "", *back, (condition(j),), False, "algebra", "", "") for condition in (nonneg, nonzero)
    )
    found = opinion(wrong)
    assert found.status == "refuted" and found.example is not None and found.example.refutes()
    assert "j = 0" in str(found.example)
    assert opinion(right).status == "proved"


def test_what_could_not_be_tested_is_not_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    def halves(a: Real):
        return a * 0.5 + a * 0.5, a

    (law,) = statements_of(halves)
    assert prove([law], use_cache=False)[0].status == "proved"

    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise NapkinError("input v0 holds float64, expected int numbers")

    monkeypatch.setattr(sys.modules["napkin_eq.lang.evaluate"], "bound_sizes", refuse)
    (verdict,) = prove([law], use_cache=False)
    assert (verdict.status, verdict.grade) == ("unknown", "-") and "was not tested" in verdict.detail


def test_evaluation_keeps_zero_and_its_sign_one_number() -> None:
    a = Input("a", ())
    for term in (inv(a), Map("sqrt", (a,)), Map("eq", (a, Const(0.0))), Map("log", (a,)), Map("max", (a, Const(0.0)))):
        values = [evaluate(term, {"a": np.array(zero)}, {}).item() for zero in (0.0, -0.0)]
        assert values[0] == values[1], term
        assert rewritten(term, lambda t: t) is term
