"""The verifier verified: every wrong law of the corpus is refused for a true reason, every valid one is accepted."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from napkin_eq.laws.law import TRUE, Acc, Law, Online, Sum, distinct, free, scales
from napkin_eq.prove import prove as proving
from napkin_eq.prove.corpus import Entry, entries
from napkin_eq.prove.prove import Outcome, opinion
from napkin_eq.verify.selftest import selftest
from napkin_eq.verify.selftest.selftest import judged
from tests.statements import stated

ENTRIES = entries()
WRONG = [entry for entry in ENTRIES if entry.expected == "wrong"]
# What the verifier must see through, by verification's list of families; each has valid laws to tell apart from the
# wrong ones.
FAMILIES = "activation contraction grid head initial mask mean norm rescaling scaling split stream tail"


def named(entry: Entry) -> str:
    return f"{entry.family}.{entry.name}"


def test_the_corpus_is_large_enough() -> None:
    count = Counter(entry.expected for entry in ENTRIES)
    assert count["wrong"] + count["inexact"] >= 90 and count["valid"] >= 25
    for family in FAMILIES.split():
        assert {"wrong", "valid"} <= {entry.expected for entry in ENTRIES if entry.family == family}
    assert len({named(entry) for entry in ENTRIES}) == len(ENTRIES)


def test_no_wrong_law_is_only_a_renamed_one() -> None:
    said = Counter(str(s.statement()) for entry in WRONG for s in entry.statements)
    assert [text for text, times in said.items() if times > 1] == []


@pytest.mark.parametrize("entry", ENTRIES, ids=named)
def test_the_verifier_judges_rightly(entry: Entry) -> None:
    assert judged(entry).why == ""


@pytest.mark.parametrize("entry", WRONG, ids=named)
def test_the_symbolic_prover_alone_accepts_no_wrong_law(entry: Entry, monkeypatch: pytest.MonkeyPatch) -> None:
    opinion(ENTRIES[0].statements[0])
    monkeypatch.delitem(proving._PROVERS, "numeric")
    assert [s.name for s in entry.statements if opinion(s, timeout_s=0.2).status == "proved"] == []


def distribute_anything(a, b, x):
    return Sum(x, a * b), a * Sum(x, b)


def test_an_instance_that_meets_no_condition_refutes_nothing() -> None:
    (law,) = stated(distribute_anything)
    example = opinion(law).example
    assert example is not None and example.refutes()
    assert isinstance(law, Law)
    (a,), x = [v for v in example.values if v.name == "a"], law.lhs.axis
    assert not replace(example, statement=replace(law, conditions=(free(x, a),))).refutes()
    assert not replace(example, statement=replace(law, rhs=law.lhs)).refutes()


def test_a_verifier_that_accepts_or_refuses_everything_scores_badly(monkeypatch: pytest.MonkeyPatch) -> None:
    few = [*WRONG[:3], *[entry for entry in ENTRIES if entry.expected == "valid"][:3]]
    for status, score in (("proved", (3, 0)), ("refuted", (0, 0)), ("unknown", (0, 0))):
        monkeypatch.setattr(selftest, "opinion", lambda statement, answer=status: Outcome(answer, "said so"))
        found = [judged(entry) for entry in few]
        assert (sum(r.passed for r in found[3:]), sum(r.passed for r in found[:3])) == score


def nested(a, r, x, y):
    return Sum(x, Sum(y, a)), Online(x, Sum(y, a), TRUE, r * Acc()), scales(x, a, r), free(x, r), distinct(x, y)


def nested_alike(a, r, x, y):
    return *nested(a, r, x, y), free(y, r)


def test_what_fills_a_variable_of_a_stream_does_not_vary_where_the_variable_does_not() -> None:
    """A nested sum is carried with the factor of what it sums if that is one number along the other axis."""
    (wrong,), (right,) = stated(nested), stated(nested_alike)
    assert opinion(wrong, timeout_s=20).status == "refuted"
    assert opinion(right, timeout_s=20).status == "proved"
