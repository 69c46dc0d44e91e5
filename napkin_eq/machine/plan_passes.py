"""The passes over an assembled plan, in order: each decides one thing, and writes it down where printers read it.

What a kernel is by itself is decided before: by lowering, with `fuse_accumulator`, and by the search, which prices
kernels as they are and as `warp_specialize` and `warp_roles` make them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from napkin_eq.machine.dependent_launch import dependent_launch
from napkin_eq.tile.ir import Plan
from napkin_eq.tile.passes.cache_hints import cache_hints
from napkin_eq.tile.verify_ir import verified_plan


class Passes(NamedTuple):
    """Passes by name, each from a plan to one that says more."""

    cache_hints: Callable[[Plan], Plan]
    dependent_launch: Callable[[Plan], Plan]


PASSES = Passes(cache_hints, dependent_launch)


def decided(plan: Plan) -> Plan:
    """Return a plan with what these passes decide written into it; raises WrongPlan where it breaks a rule of its
    language.
    """
    for made in PASSES:
        plan = verified_plan(made(plan))
    return plan
