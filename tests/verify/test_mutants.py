"""Broken kernels: the numeric check rejects each of them, accepts what is right, and needs its families of inputs for
it.
"""

from __future__ import annotations

import pytest

from napkin_eq.numerics.sample_inputs import families
from napkin_eq.verify.selftest.mutations import MUTATIONS, SAYS
from napkin_eq.verify.selftest.score import DTYPE, SEED, TRIALS, Score, bench, score


@pytest.fixture(scope="module")
def scored() -> Score:
    return score()


def test_every_mutant_is_rejected_and_no_right_kernel(scored):
    assert not scored.alive
    assert not scored.wronged
    assert scored.killed == scored.mutants >= 100
    assert len({name.partition("/")[2] for caught in scored.by_family.values() for name in caught}) >= 25


# Outputs are 0, or so small that they are off by themselves at most; of single ones most plans round nothing at all.
TINY = {"nothing", "subnormal", "negative-zero", "one-hot"}
# Of numbers that cancel to nothing the bound is that of their size; benchmarks/bounds.py lists the cases
LOOSE = {"alternating"}


def test_bounds_are_not_far_off_on_any_family(scored):
    """The median over the trials of bound over error, for each family, peaked ones too: no more than 40, but for those
    that are known.

    An error counts for no less than half a roundoff, so that a bound on numbers that the type holds may be a little
    below 1.
    """
    assert set(scored.looseness) == set(families())
    assert scored.looseness["nothing"] == 0  # rows of which nothing is kept are 0 whatever is rounded
    small = {name for name, seen in scored.looseness.items() if seen <= 0.5}
    assert small <= TINY, {name: scored.looseness[name] for name in small}
    assert {name for name, seen in scored.looseness.items() if seen >= 40} == LOOSE, scored.looseness


def test_each_family_rejects_a_mutant_that_random_numbers_do_not(scored):
    table = "\n".join(f"{name:14} {len(found):4}  {' '.join(found[:3])}" for name, found in scored.by_family.items())
    print(table)
    assert set(scored.by_family) == set(families())
    assert len(families()) >= 17
    assert all(scored.by_family.values()), table
    assert not {name for other in families() if other != "normal" for name in scored.by_family[other]} & set(
        scored.by_family["normal"]
    )


def test_random_numbers_alone_would_let_many_through(scored):
    assert len(scored.by_family["normal"]) < 0.6 * scored.mutants


def test_the_score_as_data(scored):
    data = scored.data()
    assert data["total"] == data["caught"] == scored.mutants
    assert data["alive"] == data["wronged"] == []


def test_every_mutation_has_a_place_and_says_what_it_is(scored):
    caught = {name.partition("/")[2] for found in scored.by_family.values() for name in found}
    assert caught == set(MUTATIONS) == set(SAYS)


def test_what_is_called_harmless_is_accepted():
    """The reasons hold: a mutation that a trial leaves out passes there, over all families."""
    trial = next(t for t in TRIALS if t.name == "reached")
    on = bench(trial, DTYPE, SEED)
    for name in trial.harmless:
        broken = MUTATIONS[name](on.plan)
        assert broken is not None
        assert all(on.used(broken, family) <= 1 for family in on.families), name
    # The list has teeth: what is not on it fails.
    harmful = next(on.mutants())
    assert any(on.used(harmful[1], family) > 1 for family in on.families)
