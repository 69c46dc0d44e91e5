"""A diagram in another form: what tests ask of the chain that leads there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

import napkin_eq as nq
from napkin_eq.certify.asked import same
from napkin_eq.certify.certificate import require_accepted
from napkin_eq.lang.evaluate import output_order
from napkin_eq.lang.term import Term
from napkin_eq.search.job import Laws, Rewritten


def led(asked: Term, made: tuple[tuple[Term, ...], Rewritten] | None, laws: Laws, arrays: Mapping[str, Any]) -> Term:
    """Return the form that was made of a term: its chain is accepted, from a term that is shown to say the same, and it
    has the term's values.
    """
    assert made is not None
    (source,), form = made
    assert same([asked], [source])
    (target,) = form.outputs
    require_accepted(source, target, form.steps, laws.statements, laws.verdicts)
    found, exact = (nq.evaluate(t, arrays, order=[a.name for a in output_order(asked)]) for t in (target, asked))
    np.testing.assert_allclose(found, exact, rtol=1e-9, atol=1e-9)
    return target
