"""Time is counted in seconds of one core, whatever this one does in a second."""

import os
import time

import pytest

from napkin_eq.egraph.budget import METER, MOST_SLOW, PROBE_S, PROBED, Budget, Meter


def spent(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


@pytest.mark.parametrize(
    ("took", "slow"), [(1.0, 1.0), (2.0, 2.0), (0.5, 0.5), (100.0, MOST_SLOW), (0.0, 1 / MOST_SLOW)]
)
def test_a_second_of_a_slow_core_is_part_of_a_second(took: float, slow: float) -> None:
    meter = Meter(lambda: took * PROBE_S)
    begun, at = meter.seconds(), time.process_time()
    spent(0.1)
    passed, real = meter.seconds() - begun, time.process_time() - at
    assert meter.slow == pytest.approx(slow)
    assert passed == pytest.approx(real / slow, rel=0.05)


def test_a_core_that_becomes_slow_is_found_to_be() -> None:
    took = iter([PROBE_S] * 3 + [2 * PROBE_S] * 300)
    meter = Meter(took.__next__)
    meter.seconds()
    spent(1.1 * PROBED)
    first = meter.seconds()
    spent(0.5 * PROBED)
    assert first == pytest.approx(1.1 * PROBED, rel=0.1) and meter.slow == 2.0
    assert meter.seconds() - first == pytest.approx(0.25 * PROBED, rel=0.1)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes are forked here")
def test_a_process_that_is_forked_begins_at_no_seconds() -> None:
    METER.seconds()
    spent(0.3)
    assert METER.seconds() >= 0.05
    if (child := os.fork()) == 0:
        os._exit(0 if 0 <= METER.seconds() < 0.05 else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_a_budget_of_no_seconds_is_over() -> None:
    budget = Budget(0.0)
    assert budget.left() <= 0 and budget.over("placement") and budget.clock.stopped == ["placement"]
