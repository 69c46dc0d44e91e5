"""Ways to break a plan: each takes a plan and returns one that has a mistake which people make, or None where it has no
place for it.

A mutation is stated over statements of the plan language, whatever they compute. The broken plans show what a check can
see.
"""

from __future__ import annotations

from napkin_eq.verify.selftest import mutate_lanes, mutate_numbers, mutate_running

FAMILIES = (mutate_running.mutation, mutate_lanes.mutation, mutate_numbers.mutation)
MUTATIONS = {name: change for family in FAMILIES for name, change in family.mutations.items()}
SAYS = {name: says for family in FAMILIES for name, says in family.says.items()}
