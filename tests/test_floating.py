# mypy: disable-error-code="no-untyped-call"
"""Floating-point verdicts: exact claims bit by bit, growth of error by samples, ranges with a witness outside them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from napkin_eq.axis import Axis
from napkin_eq.content import folder, load_rules, run_file
from napkin_eq.errors import NapkinError
from napkin_eq.evaluate import evaluate
from napkin_eq.floating import Floating, assess
from napkin_eq.law import REGISTRY, Law, Map, Max, Sum, Var, exp, inv, law, safe, statements_of, within
from napkin_eq.term import Const, Input, Term, rewritten, subterms


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



def test_halving_loses_the_last_bit_of_a_subnormal_number_and_doubling_overflows() -> None:
    lost, over = verdict(halved_and_doubled, "exact"), verdict(doubled_and_halved, "exact")
    assert (lost.found, lost.status, over.status) == ("reassociating", "refused", "refused")
    a = np.float16(float(lost.detail.split("a = ")[1].split(":")[0]))
    assert 0 < abs(a) < 2.0**-14 and np.float16(np.float16(a * np.float16(0.5)) * np.float16(2)) != a
    b = np.float16(float(over.detail.split("a = ")[1].split(":")[0]))
    assert np.isfinite(b) and abs(b) > 32752


def test_the_witness_of_what_is_not_exact_is_one() -> None:
    found = verdict(sums_associate, "exact")
    assert (found.found, found.status) == ("reassociating", "refused") and found.detail.startswith("not exact: in float16")
    a, b, d = (np.float16(float(part.split(" = ")[1].split(":")[0])) for part in found.detail.split(": ", 2)[2].split(", ")[:3])
    with np.errstate(all="ignore"):
        assert np.float16(a + b) + d != a + np.float16(b + d)


def test_the_formats_round_as_they_should() -> None:
    machine = run_file(folder("proofs") / "floating.py", "proofs")
    rng = np.random.default_rng(0)
    numbers = np.concatenate([rng.standard_normal(4000) * 2.0 ** rng.integers(-30, 18, 4000), [0.0, 65504.0, 65519.9, 65520.0, 2.0**-25, 2.0**-24]])
    half, brain = (machine["Numbers"](fmt, {}) for fmt in machine["FORMATS"])
    with np.errstate(over="ignore"):
        assert (half.rounded(numbers) == numbers.astype(np.float16).astype(np.float64)).all()
    singles = numbers.astype(np.float32)
    bits = singles.view(np.uint32)
    even = ((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32)
    assert (brain.rounded(singles.astype(np.float64)) == even).all()


def test_the_growth_of_error_is_measured() -> None:
    found = verdict(shifted, "reassociating")
    assert found.status == "granted" and 1 < found.growth < 8
    assert verdict(inverse, "reassociating").growth == 1


def test_what_error_analysis_proves_is_told_from_what_is_sampled() -> None:
    reassociated, relative = verdict(sums_associate, "reassociating"), verdict(shifted, "reassociating")
    assert (reassociated.how, reassociated.growth, str(reassociated)) == ("proved", 2.0, "reassociating ×2, proved")
    assert relative.how == "sampled" and str(relative).endswith(", sampled")
    assert verdict(halved_and_doubled, "exact").how == ""


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
    bounds = run_file(folder("proofs") / "analysis.py", "proofs")["Bounds"]()
    x = Axis("x", 50)
    a, b = Var("a"), Var("b")
    terms = [a * b + a, (a + b) - b, inv(a) * b, exp(a * b), Map("sqrt", (a * a,)), Map("log", (b * b,)), Sum(x, a * b + b), Max(x, a * b)]
    rng = np.random.default_rng(0)
    arrays = {name: (rng.standard_normal(50) + rng.choice([0, 8], 50)).astype(np.float32) for name in ("a", "b")}
    table: dict[Term, Term] = {a: Input("a", (x,), "float32"), b: Input("b", (x,), "float32")}

    def value(t: Term, dtype: str) -> Any:
        filled = rewritten(t, lambda u: table.get(u, u))
        return np.asarray(evaluate(filled, {i.name: arrays[i.name] for i in subterms(filled) if isinstance(i, Input)}, dtype=dtype), np.float64)

    seen = 0
    for term in terms:
        error = bounds.error(term)
        table |= {v: Const(4.0) for v in bounds.depths.values()}
        off = np.abs(value(term, "float32") - value(term, "float64"))
        assert (off <= 1.001 * 2.0**-24 * value(error, "float64")).all(), term
        seen += bool(off.max())
    assert seen >= 6


def test_a_range_must_be_needed_and_be_enough() -> None:
    needless, wide = verdict(products, "unsafe"), verdict(exponentials, "unsafe")
    assert needless.status == "refused" and "no inputs were found" in needless.detail
    assert wide.status == "refused" and "the range is too wide: at a = " in wide.detail


def test_every_shipped_claim_is_granted_and_remembered(registry: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    REGISTRY.statements.clear()
    load_rules()
    laws = REGISTRY.laws()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    found = assess(laws)
    assert [(s.name, str(v)) for s, v in zip(laws, found, strict=True) if v.status != "granted"] == []
    assert {v.found for v in found} == {"exact", "reassociating", "unsafe"}
    sampled = {s.name for s, v in zip(laws, found, strict=True) if (v.found, v.how) == ("reassociating", "sampled")}
    assert sampled == {"shift", "shift-weighted", "rebase", "rebase-bare", "fubini-prod", "rescale", "recentre"}
    assert sum((v.found, v.how) == ("reassociating", "proved") for v in found) == 22
    assert all(v.witness and "needs safe(" in v.detail for v in found if v.found == "unsafe")
    monkeypatch.setattr("napkin_eq.floating._ASSESSORS", {})
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
