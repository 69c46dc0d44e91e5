# mypy: disable-error-code="no-untyped-call"
"""Floating-point verdicts: exact claims bit by bit, growth of error by samples, ranges with a witness outside them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from napkin_eq.lang.axis import Axis
from napkin_eq.lang.errors import NapkinError
from napkin_eq.lang.evaluate import evaluate
from napkin_eq.lang.term import Const, Input, Size, Term, rewritten, subterms
from napkin_eq.laws.law import (
    REGISTRY,
    TRUE,
    Acc,
    Law,
    Map,
    Max,
    Online,
    Prev,
    Reduce,
    Sum,
    Var,
    distinct,
    exp,
    finite,
    free,
    inv,
    law,
    local,
    safe,
    scales,
    size,
    statements_of,
    within,
)  # fmt: skip
from napkin_eq.laws.loader import folder, load_rules, run_file
from napkin_eq.prove.float_class import Floating, assess


def verdict(function: Callable[..., Any], claimed: str) -> Floating:
    (found,) = statements_of(function, claimed)
    assert isinstance(found, Law)
    return assess([found], use_cache=False)[0]


def halved_and_doubled(a):
    return (a * 0.5) * 2.0, a


def doubled_and_halved(a):
    return (a * 2.0) * 0.5, a


def maxima_associate(a, b, d):
    return Map("max", (Map("max", (a, b)), d)), Map("max", (a, Map("max", (b, d))))


def sums_associate(a, b, d):
    return (a + b) + d, a + (b + d)


def shifted(a, x):
    return Sum(x, exp(a)), exp(Max(x, a)) * Sum(x, exp(a - Max(x, a)))


def products(a, b):
    return a * b, b * a, within(safe(a))


def exponentials(a, b):
    return exp(a + b), exp(a) * exp(b), within(safe(a))


def inverse(a):
    return inv(inv(a)), a


def recentred(a, x):
    mean = Sum(x, a) * inv(size(x))
    step = Prev(mean) - mean
    return (
        Sum(x, (a - mean) * (a - mean)),
        Online(x, (a - mean) * (a - mean), TRUE, Acc() + Prev(size(x)) * (step * step)),
        local(x, a),
    )


def test_halving_loses_the_last_bit_of_a_subnormal_number_and_doubling_overflows() -> None:
    lost, over = verdict(halved_and_doubled, "exact"), verdict(doubled_and_halved, "exact")
    assert (lost.found, lost.status, over.status) == ("reassociating", "refused", "refused")
    a = np.float16(float(lost.detail.split("a = ")[1].split(":")[0]))
    assert 0 < abs(a) < 2.0**-14 and np.float16(np.float16(a * np.float16(0.5)) * np.float16(2)) != a
    b = np.float16(float(over.detail.split("a = ")[1].split(":")[0]))
    assert np.isfinite(b) and abs(b) > 32752


def test_the_witness_of_what_is_not_exact_is_one() -> None:
    found = verdict(sums_associate, "exact")
    assert (found.found, found.status) == ("reassociating", "refused") and found.detail.startswith(
        "not exact: in float16"
    )
    a, b, d = (
        np.float16(float(part.split(" = ")[1].split(":")[0])) for part in found.detail.split(": ", 2)[2].split(", ")[:3]
    )
    with np.errstate(all="ignore"):
        assert np.float16(a + b) + d != a + np.float16(b + d)


def test_the_formats_round_as_they_should() -> None:
    machine = run_file(folder("proofs") / "floating.py", "proofs")
    rng = np.random.default_rng(0)
    numbers = np.concatenate(
        [
            rng.standard_normal(4000) * 2.0 ** rng.integers(-30, 18, 4000),
            [0.0, 65504.0, 65519.9, 65520.0, 2.0**-25, 2.0**-24],
        ]
    )
    half, brain = (machine["Numbers"](fmt, {}) for fmt in machine["FORMATS"])
    with np.errstate(over="ignore"):
        assert (half.rounded(numbers) == numbers.astype(np.float16).astype(np.float64)).all()
    singles = numbers.astype(np.float32)
    bits = singles.view(np.uint32)
    even = ((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32)
    assert (brain.rounded(singles.astype(np.float64)) == even).all()


def test_the_growth_of_error_is_measured() -> None:
    found = verdict(shifted, "reassociating")
    assert found.status == "granted" and found.growth == 32
    assert verdict(inverse, "reassociating").growth == 1


def test_what_error_analysis_proves_is_told_from_what_is_sampled() -> None:
    reassociated, relative = verdict(sums_associate, "reassociating"), verdict(shifted, "reassociating")
    assert (reassociated.how, reassociated.growth, str(reassociated)) == ("proved", 2.0, "reassociating ×2, proved")
    assert (relative.how, str(relative)) == ("proved", "reassociating ×32, proved, exponents up to 88")
    assert verdict(recentred, "reassociating").how == "sampled"
    assert verdict(halved_and_doubled, "exact").how == ""


def place_moved_by_a_number(a, r, x):
    return Map("real", (Reduce("argmax", x, a + r),)), Map("real", (Reduce("argmax", x, a),)), free(x, r), finite(r)


def place_of_equal_sums(a, b, x):
    return (a + b) * Map("real", (Reduce("argmax", x, a),)), a * Map("real", (Reduce("argmax", x, a),)) + b * Map(
        "real", (Reduce("argmax", x, a),)
    )


def test_of_another_place_of_a_maximum_nothing_is_claimed() -> None:
    found = verdict(place_moved_by_a_number, "reassociating")
    assert found.status == "unknown" and "rounding makes two of them equal" in found.detail
    assert verdict(place_of_equal_sums, "reassociating").status == "granted"


def test_a_growth_that_is_not_bounded_is_not_proved() -> None:
    """b added and taken away again: the bound of the old side knows nothing of b."""

    def detour(a, b):
        return a, (a + b) - b

    def without(a, b):
        return (a + b) - b, a

    analysis = run_file(folder("proofs") / "analysis.py", "proofs")["analysis"]
    (wrong,), (right,) = statements_of(detour), statements_of(without)
    assert analysis(wrong).answer == "unknown"
    assert (analysis(right).answer, analysis(right).growth) == ("yes", 1.0)


def test_the_bounds_of_error_analysis_are_kept_by_float32() -> None:
    bounds = run_file(folder("proofs") / "analysis.py", "proofs")["Bounds"](statements_of(sums_associate)[0])
    x = Axis("x", 50)
    a, b = Var("a"), Var("b")
    terms = [
        a * b + a,
        (a + b) - b,
        inv(a) * b,
        exp(a * b),
        Map("sqrt", (a * a,)),
        Map("log", (b * b,)),
        Sum(x, a * b + b),
        Max(x, a * b),
    ]
    rng = np.random.default_rng(0)
    arrays = {name: (rng.standard_normal(50) + rng.choice([0, 8], 50)).astype(np.float32) for name in ("a", "b")}
    table: dict[Term, Term] = {a: Input("a", (x,), "float32"), b: Input("b", (x,), "float32")}

    def value(t: Term, dtype: str) -> Any:
        filled = rewritten(t, lambda u: table.get(u, u))
        return np.asarray(
            evaluate(filled, {i.name: arrays[i.name] for i in subterms(filled) if isinstance(i, Input)}, dtype=dtype),
            np.float64,
        )

    seen = 0
    for term in terms:
        error = bounds.error(term)
        table |= {v: Const(4.0) for v in bounds.depths.values()}
        off = np.abs(value(term, "float32") - value(term, "float64"))
        assert (off <= 1.001 * 2.0**-24 * value(error, "float64")).all(), term
        seen += bool(off.max())
    assert seen >= 6


def asked(function: Callable[..., Any]) -> Any:
    (found,) = statements_of(function)
    assert isinstance(found, Law)
    return run_file(folder("proofs") / "analysis.py", "proofs")["Growth"](found, found.lhs, found.rhs)


def weighed(a, b, x):
    return Sum(x, exp(a) * b), exp(Max(x, a)) * Sum(x, exp(a - Max(x, a)) * b)


def test_the_growth_for_exponents_in_range_is_needed_and_no_error_exceeds_it() -> None:
    """Errors seen in float32, with exponents of every size, against the growth that is proved times the bound of the
    side that is replaced.
    """
    growth, rng, x = asked(weighed), np.random.default_rng(0), Axis("x")
    proved = next(g for g in growth.offered if growth.proved(g))
    assert proved == 28 and not growth.proved(20.0)
    law = growth.law
    table: dict[Term, Term] = {Var(name): Input(name, (x,), "float32") for name in "ab"}
    left, right, bound = (
        rewritten(t, lambda u: table.get(u, u)) for t in (law.lhs, law.rhs, growth.bounds.error(law.lhs))
    )
    bound = rewritten(bound, lambda u: Const(2.0) if u in growth.bounds.depths.values() else table.get(u, u))
    worst = 0.0
    for trial in range(60):
        wide = (1.0, 10.0, 80.0)[trial % 3] * rng.standard_normal(40)
        given = {"a": np.minimum(wide + rng.choice([0.0, 80.0, -80.0]), 84.0), "b": rng.standard_normal(40)}
        given["a"][trial % 40] = rng.choice([84.0, given["a"].max()])
        given = {name: values.astype(np.float32) for name, values in given.items()}
        exact, limit = (float(np.asarray(evaluate(t, given, {"x": 40}))) for t in (left, bound))
        off = abs(float(np.asarray(evaluate(right, given, {"x": 40}, dtype="float32"))) - exact)
        worst = max(worst, (off / (2.0**-24 * limit)))
    assert 0 < worst <= proved
    # One lane at 0 under a reference of 88: the bounds themselves, of errors relative to that lane, differ by more than
    # 20.
    numbers = {
        Var("a"): Const(0.0),
        Var("reference 1"): Const(88.0),
        **{depth: Const(1.0) for depth in growth.bounds.depths.values()},
    }
    after, before = (
        float(evaluate(rewritten(t, lambda u: numbers.get(u, u)), {})) for t in (growth.after, growth.before)
    )
    assert 20 * before < after <= proved * before


def test_without_a_range_or_for_a_reference_that_is_not_free_no_growth_is_proved() -> None:
    growth = asked(weighed)
    growth.premises = [j for j in growth.premises if Const(88.0) not in j.args]
    assert not any(growth.proved(g) for g in growth.offered)

    def doubled(a, x):
        return Sum(x, exp(a)), exp(Max(x, a)) * Sum(x, exp(a - (Max(x, a) + Max(x, a))))

    with pytest.raises(NapkinError, match="not proved for any reference"):
        asked(doubled)


def test_a_stream_that_rescales_costs_a_few_roundoffs_a_block() -> None:
    def rescaled(a, r, x):
        return Sum(x, a), Online(x, a, TRUE, Acc() * r), scales(x, a, r), free(x, r)

    growth = asked(rescaled)
    assert growth.proved(3.0) and not growth.proved(1.0)
    analysis = run_file(folder("proofs") / "analysis.py", "proofs")
    analysis["Growth"].__init__.__globals__["STEP"] = Const(2.0)  # a product alone is off by four roundoffs
    with pytest.raises(NapkinError, match="not proved that a block adds no more"):
        analysis["Growth"](growth.law, growth.law.lhs, growth.law.rhs)
    # In float32, blocks of 8 lanes: the bound of the old side at D = 32, of which each of the 8 blocks takes an
    # addition.
    rng = np.random.default_rng(0)
    for _ in range(50):
        factors = rng.uniform(0.3, 2.0, 8).astype(np.float32)
        lanes = rng.standard_normal((8, 8)).astype(np.float32)  # as the stream sees them, when their block comes
        carried = np.float32(0)
        exact = 0.0
        for factor, block in zip(factors, lanes, strict=True):
            carried = np.float32(np.float32(carried * factor) + block.sum(dtype=np.float32))
            exact = exact * float(factor) + block.sum(dtype=np.float64)
        later = np.append(np.cumprod(factors[:0:-1].astype(np.float64))[::-1], 1.0)
        size_of_all = (np.abs(lanes.astype(np.float64)) * later[:, None]).sum()
        assert abs(float(carried) - exact) <= 3 * (1 + 32) * size_of_all * 2.0**-24


def test_products_over_axes_round_as_often_in_either_order() -> None:
    def swapped(a, x, y):
        return Reduce("prod", x, Reduce("prod", y, a)), Reduce("prod", y, Reduce("prod", x, a)), distinct(x, y)

    growth = asked(swapped)
    assert growth.proved(1.0) and not growth.proved(0.9)
    numbers = {Axis("x"): 5, Axis("y"): 7}
    filled = rewritten(growth.after, lambda t: Const(numbers[t.axis]) if isinstance(t, Size) else t)
    assert float(evaluate(filled, {}, {axis.name: n for axis, n in numbers.items()})) == 35 + 4 * (35 - 1)
    a = np.random.default_rng(0).uniform(0.5, 2.0, (5, 7)).astype(np.float32)
    exact = np.prod(a, dtype=np.float64)
    assert abs(float(a.prod(axis=0).prod()) - exact) <= (35 + 4 * 34) * 2.0**-24 * exact


def test_a_range_must_be_needed_and_be_enough() -> None:
    needless, wide = verdict(products, "unsafe"), verdict(exponentials, "unsafe")
    assert needless.status == "refused" and "no inputs were found" in needless.detail
    assert wide.status == "refused" and "the range is too wide: at a = " in wide.detail


def test_every_shipped_claim_is_granted_and_remembered(
    registry: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    REGISTRY.statements.clear()
    load_rules()
    laws = REGISTRY.laws()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    found = assess(laws)
    assert [(s.name, str(v)) for s, v in zip(laws, found, strict=True) if v.status != "granted"] == []
    assert {v.found for v in found} == {"exact", "reassociating", "unsafe"}
    sampled = {s.name for s, v in zip(laws, found, strict=True) if (v.found, v.how) == ("reassociating", "sampled")}
    recurring = {"sum-scan", "sum-recur", "recur-factor", "recur-sum"}
    split = {"split-prod", "split-masked-max"}
    others = {"carry", "carry-weighted", "carry-scaled", "sum-runs", "squares-about", "squares-about-where", "exp-over"}
    runs = {"scan-in-runs-sum", "scan-in-runs-prod", "recur-in-runs", "read-before", "read-back", "read-sum"}
    read = {f"read-{way}-{op}" for way in ("both", "second") for op in ("add", "mul", "max", "min")}
    assert sampled == {*others, *recurring, *split, *runs, *read}
    assert sum((v.found, v.how) == ("reassociating", "proved") for v in found) == 43
    assert {s.name for s, v in zip(laws, found, strict=True) if v.needs == "exponents up to 88"} == {
        "shift",
        "shift-weighted",
        "rebase",
        "rebase-bare",
    }
    assert all(v.witness and "needs safe(" in v.detail for v in found if v.found == "unsafe")
    monkeypatch.setattr("napkin_eq.prove.float_class._ASSESSORS", {})
    assert assess(laws) == found
    file = tmp_path / "napkin_eq" / "floating.json"
    data = json.loads(file.read_text())
    data["verdicts"] = {key: entry | {"found": "great"} for key, entry in data["verdicts"].items()}
    file.write_text(json.dumps(data))
    with pytest.raises(KeyError):  # forgotten, so an assessor is asked, and all were taken away above
        assess(laws[:1])


def test_a_claim_must_be_one_and_unsafe_must_name_its_range(registry: object) -> None:
    def bare(a, b):
        return exp(a + b), exp(a) * exp(b)

    with pytest.raises(NapkinError, match="names its range"):
        law("An exponential turns a sum into a product.", floating="unsafe")(bare)
    with pytest.raises(NapkinError, match="unknown floating-point class 'sound'"):
        law("An exponential turns a sum into a product.", floating="sound")(bare)


def test_a_law_that_may_cancel_says_so_and_shows_where():
    """Of inputs that are exact: a sum of sums loses what a sum of small differences keeps, a factor moved out loses
    nothing.
    """
    load_rules()
    shipped = {s.name: s for s in REGISTRY.statements.values()}
    sums, factor = assess([shipped["sum-add"], shipped["distribute"]])
    assert sums.status == factor.status == "granted"
    assert re.search(r"b = \[?-", sums.cancels) and "the bound grows" in sums.cancels
    assert str(sums).endswith("may cancel")
    assert not factor.cancels and "cancel" not in str(factor)


def test_laws_are_assessed_in_a_process_of_its_own_and_what_it_finds_is_remembered(tmp_path):
    code = (
        "from napkin_eq.laws.law import REGISTRY, Law\n"
        "from napkin_eq.laws.loader import load_rules\n"
        "from napkin_eq.prove import float_class as f\n"
        "load_rules()\n"
        "laws = [s for s in REGISTRY.statements.values() if isinstance(s, Law) and s.floating == 'exact'][:f.MANY]\n"
        "with f.assessed_beside(laws):\n"
        "    assert not f._remembered()\n"
        "there = f._remembered()\n"
        "assert {f._key(law) for law in laws} == set(there)\n"
        "assert [there[f._key(law)] for law in laws] == f.assess(laws, use_cache=False)\n"
        "with f.assessed_beside(laws[:1]):\n"
        "    pass\n"
    )
    env = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
