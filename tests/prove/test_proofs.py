# mypy: disable-error-code="no-untyped-call, operator"
"""Every shipped law is proved; verdicts are cached by what they say; what is false, vacuous or not understood is
refused.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from napkin_eq.lang.axis import Axis
from napkin_eq.lang.errors import LawRefused, Undecided
from napkin_eq.lang.term import Const, Index, Length, Map, Read, Scan, Term, subterms
from napkin_eq.laws.law import (
    REGISTRY,
    Law,
    Mask,
    Max,
    Statement,
    Sum,
    distinct,
    exp,
    finite,
    free,
    inv,
    le,
    nonneg,
    nonzero,
    pos,
    size,
    stretch,
)  # fmt: skip
from napkin_eq.laws.loader import load_rules
from napkin_eq.laws.obligation import claims_of, variants
from napkin_eq.prove import portfolio as solving
from napkin_eq.prove import prove as proving
from napkin_eq.prove.prove import Verdict, opinion, prove, prove_report, require_proved, statement_hash
from napkin_eq.prove.verdict import SCHEMA
from tests.statements import stated


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the tests a cache of their own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "napkin_eq" / "verdicts.json"


@pytest.fixture
def shipped(registry: object) -> Iterator[list[Statement]]:
    REGISTRY.statements.clear()
    load_rules()
    yield list(REGISTRY.statements.values())


def distribute(a, b, x):
    return Sum(x, a * b), a * Sum(x, b), free(x, a)


def distribute_anything(a, b, x):
    return Sum(x, a * b), a * Sum(x, b)


def last_of_a_scan(a, x):
    return Read(Scan("sum", x, a), x, Length(x) + (-1)), Sum(x, a)


@pytest.fixture(scope="module")
def cold(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a cache of its own to the tests over all shipped laws: the first of them fills it."""
    return tmp_path_factory.mktemp("cold")


def test_every_shipped_law_is_proved_within_the_time(
    shipped: list[Statement], cold: Path, monkeypatch: pytest.MonkeyPatch, within: Callable[..., list[Verdict]]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(cold))
    monkeypatch.setattr(solving, "_SAID", {})
    verdicts = within(30, lambda: prove(shipped), tries=1)
    assert [(v.name, v.status, v.detail) for v in verdicts if v.status != "proved"] == []
    assert len(verdicts) > 100 and [v.name for v in verdicts] == [s.name for s in shipped]
    assert {v.grade for v in verdicts} == ({"A"} if shutil.which("coqc") else {"A", "B"})
    assert [f.name for v in verdicts for f in v.files if f.answers != dict.fromkeys(("z3", "cvc5"), f.status)] == []


def test_the_symbolic_proof_and_the_numeric_test_are_both_asked(
    shipped: list[Statement], monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = [s for s in shipped if s.name in ("factor", "shift", "rescale", "fubini-max")]
    prove(chosen, use_cache=False)
    for held in ("_DECIDERS", "_DEEP", "_SOLVERS"):
        monkeypatch.setattr(solving, held, {})
    assert [v.status for v in prove(chosen, use_cache=False)] == ["unknown"] * 4
    monkeypatch.setattr(proving, "_PROVERS", {})
    assert [v.status for v in prove(chosen, use_cache=False)] == ["unknown"] * 4


def test_dropping_a_condition_of_a_shipped_law_is_noticed(shipped: list[Statement]) -> None:
    # Without these conditions each law is false, so every one of them does its work.
    needed = {"distribute": 0, "cancel": 0, "skip-sum": 0, "skip-max": 0, "max-scale": 1, "exp-log": 0, "rescale": 0}
    needed |= {"carry": 0, "carry-weighted": 0, "skip-online": 0}
    laws = {s.name: s for s in shipped if isinstance(s, Law)}
    weaker: list[Statement] = []
    for name, place in needed.items():
        conditions = laws[name].conditions
        weaker.append(replace(laws[name], conditions=conditions[:place] + conditions[place + 1 :]))
    assert {v.name: v.status for v in prove(weaker, use_cache=False)} == dict.fromkeys(needed, "refuted")


def test_swapping_the_sides_changes_nothing(shipped: list[Statement]) -> None:
    turned = [replace(s, lhs=s.rhs, rhs=s.lhs) for s in shipped if isinstance(s, Law)]
    assert [law.name for law in turned if opinion(law).status != "proved"] == []


def test_a_false_law_is_refused_with_name_place_and_counterexample(cache: Path) -> None:
    with pytest.raises(LawRefused) as caught:
        require_proved([*stated(distribute), *stated(distribute_anything)])
    assert caught.value.exit_code == 1
    message = str(caught.value)
    assert "law distribute-anything at" in message and "test_proofs.py" in message
    assert "x has 2 lanes" in message and "a = [" in message and "left" in message


def test_the_counterexample_is_one(cache: Path) -> None:
    (verdict,) = prove(stated(distribute_anything))
    values: dict[str, list[float]] = {}
    for name in ("a", "b"):
        text = verdict.detail.split(f"{name} = [")[1].split("]")[0]
        values[name] = [float("-inf") if part == "absent" else float(part) for part in text.split(", ")]
    left = float(verdict.detail.split("left ")[1].split(",")[0])
    assert sum(p * q for p, q in zip(values["a"], values["b"], strict=True)) == left
    assert verdict.detail == prove(stated(distribute_anything), use_cache=False)[0].detail


def test_what_no_prover_understands_is_undecided_and_named(cache: Path) -> None:
    with pytest.raises(Undecided, match="last-of-a-scan at .*Read") as caught:
        require_proved(stated(last_of_a_scan))
    assert caught.value.exit_code == 3
    assert not cache.exists()


def test_a_solver_that_is_not_there_is_named(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proving, "solver_versions", lambda: {"z3": "missing", "cvc5": "1.3"})
    with pytest.raises(Undecided, match="z3 is not installed"):
        require_proved(stated(last_of_a_scan))
    monkeypatch.setattr(proving, "solver_versions", lambda: {"z3": "4.0", "cvc5": "1.3"})
    with pytest.raises(Undecided) as caught:
        require_proved(stated(last_of_a_scan))
    assert "installed" not in str(caught.value)


def test_a_law_that_nothing_meets_is_refused() -> None:
    def nothing(a):
        return a + 1.0, a, pos(a), pos(-a)

    (verdict,) = prove(stated(nothing), use_cache=False)
    assert (verdict.status, verdict.method) == ("refuted", "vacuous")


def test_axes_that_may_be_one_are_tried_as_one() -> None:
    def sums(a, x, y):
        return Sum(x, Sum(y, a)), Sum(y, Sum(x, a))

    assert len(variants(stated(sums)[0])) == 2
    assert prove(stated(sums), use_cache=False)[0].status == "proved"


def off_the_mean(x: Axis, y: Axis, z: Axis):
    def lane(a: Axis) -> Term:
        return Map("real", (Index(a),))

    return (Sum(y, lane(x)) - lane(x) * size(y)) * (Sum(z, lane(y)) - lane(y) * size(z)), Const(0.0)


def test_three_axes_may_be_one() -> None:
    """Any two of these axes may be one, all three not."""
    (law,) = stated(off_the_mean)
    assert [sorted({f.name for t in subterms(v.lhs) for f in t.fields if isinstance(f,
        Axis)}) for v in variants(law) if isinstance(v, Law)] == [
        ["x", "y", "z"], ["x", "y"], ["x", "z"], ["x", "y"], ["x"]
    ]  # fmt: skip
    found = opinion(law)
    assert found.status == "refuted" and found.example is not None and found.example.refutes()
    assert list(found.example.lanes) == ["x"]


def test_axes_that_are_apart_are_never_one() -> None:
    def apart(a, c: Mask, x, y, p: Axis):
        return Sum(x, Sum(y, a)), Sum(y, Sum(x, a)), distinct(x, y), stretch(p, x, c)

    assert len(variants(stated(apart)[0])) == 2  # p is y, or not

    def many(a, x, y, z, p: Axis, q: Axis, r: Axis):
        return Sum(x, Sum(y, Sum(z, Sum(p, Sum(q, Sum(r, a)))))), a * 0.0

    assert opinion(stated(many)[0]).status == "unknown" and "axes" in prove(stated(many), use_cache=False)[0].detail


@pytest.mark.parametrize(
    ("law", "lanes"),
    [
        (lambda a, x: le(a, Max(x, a)), ("x",)),  # a may stand still along x, and the maximum of no lanes is absent
        (lambda a, x: nonneg(Sum(x, exp(a))), ()),
        (lambda a, x: pos(Sum(x, exp(a))), None),
        (lambda a, b, x: (Sum(x, a * b), a * Sum(x, b), free(x, a)), ("x",)),
        (lambda a, b, x: (Sum(x, a + b), Sum(x, a) + Sum(x, b)), ()),
        (lambda a, x, y: (Sum(x, Sum(y, a)), Sum(y, Sum(x, a)), distinct(x, y)), ()),
        (lambda a, x, y: (Sum(x, Map("max", (Max(y, a), a))), Sum(x, Max(y, a)), free(y, a)), ("y",)),
        (lambda a, x: (a * size(x) * inv(size(x)), a), ("x",)),
        (lambda a, x, y: (Sum(y, a * size(x) * inv(size(x))), Sum(y, a)), ("x",)),
    ],
)
def test_axes_that_must_have_lanes_are_named(law: Callable[..., object], lanes: tuple[str, ...] | None) -> None:
    law.__name__ = "named"
    (verdict,) = prove(stated(law), use_cache=False)
    assert (verdict.status, verdict.lanes) == (("proved", lanes) if lanes is not None else ("refuted", ()))


def test_a_stream_is_claimed_at_its_first_block_and_at_each_later_one(shipped: list[Statement]) -> None:
    (carry,) = [s for s in shipped if s.name == "carry"]
    assert [c.what for c in claims_of(carry)] == ["the first block", "one more block", "both sides"]


def test_the_cache_is_used_and_keyed_by_what_is_said(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (first,) = prove(stated(distribute))
    monkeypatch.setattr(proving, "_PROVERS", {})
    assert prove(stated(distribute)) == [first]
    (law,) = stated(distribute)
    renamed = replace(law, name="other", reading="Another reading.")
    assert statement_hash(renamed) == statement_hash(law)
    assert prove([renamed])[0].status == "unknown"  # its scripts name it, so their hashes are others
    assert isinstance(law, Law)
    assert len({statement_hash(s) for s in (law, replace(law, conditions=()), replace(law, lhs=law.rhs))}) == 3


def test_a_new_version_of_the_provers_forgets_old_verdicts(monkeypatch: pytest.MonkeyPatch) -> None:
    (law,) = stated(distribute)
    before = statement_hash(law)
    monkeypatch.setattr(proving, "_version", lambda: "another")
    assert statement_hash(law) != before


def test_the_solvers_and_their_versions_are_part_of_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    (law,) = stated(distribute)
    keys, uncached = [], proving._version.__wrapped__
    monkeypatch.setattr(proving, "_version", uncached)
    for versions in ({"z3": "1", "cvc5": "1"}, {"z3": "2", "cvc5": "1"}, {"z3": "1", "cvc5": "missing"}):
        monkeypatch.setattr(proving, "solver_versions", versions.copy)
        keys.append(proving._key(law))
    assert len(set(keys)) == 3


def damaged(name: str, value: object) -> str:
    entry = {
        "name": "d",
        "status": "proved",
        "grade": "A",
        "method": "",
        "detail": "",
        "seconds": 0,
        "files": [],
        "kernel": {},
        "lanes": [],
    }
    return json.dumps({"schema": SCHEMA, "verdicts": {"KEY": {**entry, name: value}}})


@pytest.mark.parametrize(
    "text",
    [
        "",
        "not json",
        "[]",
        '{"schema": 1, "verdicts": {}}',
        json.dumps({"schema": SCHEMA, "verdicts": [1]}),
        "[" * 100_000,
        json.dumps({"schema": SCHEMA, "verdicts": {"KEY": {"name": "distribute", "status": "proved"}}}),
        damaged("name", 1),
        damaged("status", "great"),
        damaged("kernel", {"rocq/Laws.v": 1}),
        damaged("lanes", [1]),
        damaged("files", [1]),
    ],
)
def test_a_damaged_cache_is_ignored(text: str, cache: Path) -> None:
    law = stated(distribute_anything)
    cache.parent.mkdir()
    cache.write_text(text.replace("KEY", proving._key(law[0])), encoding="utf-8")
    assert prove(law)[0].status == "refuted"
    assert json.loads(cache.read_text(encoding="utf-8"))["schema"] == SCHEMA
    assert [file.name for file in cache.parent.iterdir()] == [cache.name]


def test_a_cache_that_cannot_be_written_is_no_error(cache: Path) -> None:
    cache.parent.write_text("a file where the folder should be", encoding="utf-8")
    assert prove(stated(distribute))[0].status == "proved"


def test_with_a_warm_cache_no_solver_is_loaded_and_it_is_quick(
    cold: Path, monkeypatch: pytest.MonkeyPatch, pace: Callable[[], float]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(cold))
    program = (
        "import sys, time\nfrom napkin_eq.laws.loader import load_rules\nfrom napkin_eq.laws.law import REGISTRY\nfrom"
        " napkin_eq.prove.prove import require_proved\nload_rules()\nbegan = time.process_time()\nfound ="
        " require_proved(REGISTRY.statements.values())\nprint(len(found), {'z3', 'cvc5', 'torch', 'numpy'} &"
        " set(sys.modules) or 'light', time.process_time() - began)\n"
    )
    for _ in range(2):  # the first run fills the cache, unless the test of all laws did
        said = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True
        ).stdout.split()
    assert int(said[0]) > 100 and said[1] == "light" and float(said[-1]) < 0.5 * pace()


def test_a_users_rule_file_goes_through_the_same_door(tmp_path: Path, cache: Path, registry: object) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "from napkin_eq.law import Sum, law\n\n\n@law('A sum is at rest.')\ndef my_sum(a, x):\n    return Sum(x, a +"
        " 1.0), Sum(x, a) + 1.0\n",
        encoding="utf-8",
    )
    load_rules(file)
    report = prove_report([REGISTRY.statements["my-sum"]])
    assert (report["proved"], report["refuted"], report["unknown"]) == (0, 1, 0)
    (entry,) = report["laws"]
    assert entry["family"] == "mine" and entry["verdict"] == "refuted" and "x has 2 lanes" in entry["counterexample"]
    assert json.loads(json.dumps(report)) == report
    with pytest.raises(LawRefused, match=r"mine\.py:4"):
        require_proved([s for s in REGISTRY.statements.values() if s.family == "mine"])


def test_a_normal_form_may_need_what_is_known_of_a_sum() -> None:
    def balance(a, b, x):
        total = Sum(x, exp(a))
        return Sum(x, exp(a) * b * inv(total)) * total, Sum(x, exp(a) * b), nonzero(total)

    def lowest(a, x):
        return -Max(x, -a), Map("min", (a, a)), free(x, a)

    assert [v.status for f in (balance, lowest) for v in prove(stated(f), use_cache=False)] == ["proved", "proved"]


def test_a_time_out_is_not_a_proof() -> None:
    def slow(a, b, d):
        return exp(a) * (b * b + d * d), exp(a) * (b + d) * (b + d) - Const(2.0) * (b * d * exp(a))

    (verdict,) = prove(stated(slow), timeout_s=0, use_cache=False)
    assert verdict.status == "unknown" and "time is up" in verdict.detail
    assert prove(stated(slow), use_cache=False)[0].status == "proved"
    assert isinstance(verdict, Verdict)


def test_every_prover_stops_at_its_limit(monkeypatch: pytest.MonkeyPatch, within: Callable[..., list[Verdict]]) -> None:
    def squarings(a, b):
        t = a + b
        for _ in range(60):
            t = t * t
        return t + 0.0, t

    def powers(a, b, d, x):
        t = a + b + d
        for _ in range(6):
            t = t * t
        return Sum(x, t * 2.0), Sum(x, t) + Sum(x, t) + a * 0.0

    def slow(a, b, d, e, x):
        left = Max(x, a * b * b + d * e * e - a * d) * (a * a + b * b + d * d + 1.0)
        return (
            le(left * left, left * left * (2.0 + e * e * d * d)),
            finite(a),
            finite(b),
            finite(d),
            finite(e),
            free(x, e),
        )

    def both() -> list[Verdict]:
        (large,) = prove(stated(squarings), use_cache=False)
        assert (large.status, large.method) == ("unknown", "not understood") and "written out" in large.detail
        (other,) = prove(stated(powers), use_cache=False)
        assert other.status != "proved"
        return [large, other]

    within(20, both, tries=1)
    asked: list[float] = []

    def waits(text: str, timeout_s: float) -> str:
        asked.append(timeout_s)
        until = time.process_time() + timeout_s
        while time.process_time() < until:
            pass
        return "unknown"

    solving.solvers()
    monkeypatch.setattr(solving, "_SOLVERS", {"z3": waits, "cvc5": waits})
    monkeypatch.setattr(solving, "_SAID", {})
    (verdict,) = within(proving.LIMITS * 0.2 + 2, lambda: prove(stated(slow), timeout_s=0.2, use_cache=False), tries=1)
    assert verdict.status == "unknown" and len(asked) > 2
