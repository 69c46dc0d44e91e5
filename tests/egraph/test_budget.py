"""What was done is counted in seconds of one core, whatever this one does in a second."""

import os
import time

import pytest

from napkin_eq.egraph.budget import (
    LOADING,
    METER,
    MOST_SLOW,
    PATIENT,
    PROBE_S,
    PROBED,
    Budget,
    Meter,
    patient,
)
from napkin_eq.frontend.gallery import diagram
from napkin_eq.pipeline.derive import derive


def spent(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


@pytest.mark.parametrize(
    ("took", "slow"), [(1.0, 1.0), (2.0, 2.0), (0.5, 0.5), (100.0, MOST_SLOW), (0.0, 1 / MOST_SLOW)]
)
def test_a_second_of_a_slow_core_is_part_of_a_second(took: float, slow: float) -> None:
    meter = Meter(lambda: took * PROBE_S)
    begun, at = meter.processor(), time.process_time()
    spent(0.1)
    passed, real = meter.processor() - begun, time.process_time() - at
    assert meter.slow == pytest.approx(slow)
    assert passed == pytest.approx(real / slow, rel=0.05)


def test_a_core_that_becomes_slow_is_found_to_be() -> None:
    took = iter([PROBE_S] * 3 + [2 * PROBE_S] * 300)
    meter = Meter(took.__next__)
    meter.processor()
    spent(1.1 * PROBED)
    first = meter.processor()
    spent(0.5 * PROBED)
    assert first == pytest.approx(1.1 * PROBED, rel=0.1) and meter.slow == 2.0
    assert meter.processor() - first == pytest.approx(0.25 * PROBED, rel=0.1)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes are forked here")
def test_a_process_that_is_forked_begins_at_no_seconds() -> None:
    METER.processor()
    spent(0.3)
    assert METER.processor() >= 0.05
    if (child := os.fork()) == 0:
        os._exit(0 if 0 <= METER.processor() < 0.05 else 1)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize("name", ["softmax", "layer_norm", "matmul", "causal_attention"])
def test_what_is_counted_is_about_what_a_derivation_takes(name: str) -> None:
    derive(diagram("softmax"))  # what is loaded, and the laws' proofs, are no part of a search
    METER.asked = -1.0
    counted, processor = METER.counted, METER.processor()
    derive(diagram(name))
    METER.asked = -1.0
    assert 0.35 < (METER.counted - counted) / (METER.processor() - processor) < 2.5


def test_far_more_of_processor_time_counts() -> None:
    assert patient(4.0, 5.0) == 4.0 and patient(4.0, LOADING + 3 * 4.0) == 4.0
    assert patient(4.0, LOADING + 30.0) == 30.0 / PATIENT


def test_a_budget_of_no_seconds_is_over() -> None:
    budget = Budget(0.0)
    assert budget.left() <= 0 and budget.over("placement") and budget.clock.stopped == ["placement"]
