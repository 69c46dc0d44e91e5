"""A tile that a contraction put off to the next block reads again is read where the block before copied it."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

import pytest

import napkin_eq as nq
from napkin_eq.pipeline.derivation import Derivation
from napkin_eq.pipeline.derive import derive
from napkin_eq.tile.boxes import rings, roles_of
from napkin_eq.tile.ir import Kernel, Let, Load, Loop, Stmt, statements
from napkin_eq.tile.passes.tma import copied, kept
from napkin_eq.tile.passes.warp_roles import assigned


@cache
def gradient(causal: bool) -> Derivation:
    """Derive the gradient of attention's keys: scores and weights' gradients are both made of queries, which the sum
    reads once more.
    """
    h, q, x, d = nq.axes("h q x d", h=16, q=8192, x=8192, d=128)
    queries, given = nq.array("Q", h, q, d), nq.array("dO", h, q, d)
    keys, values = nq.array("K", h, x, d), nq.array("V", h, x, d)
    scores = nq.sum(queries * keys, d) * 128**-0.5
    scores = nq.masked(scores, nq.causal(q, x)) if causal else scores
    weights = nq.exp(scores - nq.array("L", h, q, dtype="float32"))
    less = nq.array("D", h, q, dtype="float32")
    return derive(nq.sum(weights * (nq.sum(given * values, d) - less) * queries, q) * 128**-0.5)


def kernel(causal: bool = False) -> Kernel:
    (found,) = gradient(causal).plan.kernels
    return found


@pytest.mark.parametrize("causal", [False, True])
def test_what_the_next_block_reads_again_is_copied_once(causal):
    roles = roles_of(kernel(causal))
    again = [s for s in statements(kernel(causal).body) if isinstance(s, Load) and s.again]
    assert again and {s.out.name for s in again} == {name for name, _ in roles.kept}
    (ring,) = {ring for names, ring in roles.rings if roles.kept[0][1] in names}  # of all parts of the loop
    assert ring.depth > kernel(causal).stages
    assert [r for r in rings(kernel(causal)) if r.copies == ring.copies] == [ring]
    text = gradient(causal).code()
    copying = text[text.index("_copy(") : text.index("_compute(")]
    assert len(re.findall(r"copy_global_to_shared\(Q_box", copying)) == (4 if causal else 2)  # once in each part


@pytest.mark.parametrize("causal", [False, True])
def test_every_buffer_is_given_back_once_and_after_it_was_read_again(causal):
    """Walk the parts of the loop as they are printed, two blocks each: what is waited for, read and given back."""
    text = gradient(causal).code()
    body = text[text.index("_compute(") : text.index("def ", text.index("_compute(") + 1)]
    (depth,) = set(re.findall(r"dO_n % (\d+)|Q_n % (\d+)", body)) or {("", "")}
    slots = int(next(filter(None, depth)))
    taken, held, given, slot_of = 0, set(), [], {}
    loops = re.split(r"\n        # ", body)[1:]
    for part in loops:
        times = 2 if "\n        for q" in "\n" + part.split("\n", 2)[1] else 1
        for _ in range(times):
            for line in part.split("\n"):
                if found := re.search(r"(\w+) = \(\w+_n - (\d)\) % \d+", line):
                    slot_of[found[1]] = taken - int(found[2])
                    assert slot_of[found[1]] in held
                elif re.search(r"\w+_n \+= 1", line) and "K_n" not in line and "V_n" not in line:
                    held.add(taken)
                    taken += 1
                    assert len(held) <= slots
                elif (found := re.search(r"arrive\(\w+_free\.index\((\w+)\)\)", line)) and found[1] in slot_of:
                    held.remove(slot_of[found[1]])
                    given.append(slot_of[found[1]])
    assert not held and given == list(range(taken)) and taken > 2


def changed(stmt: Stmt, name: str) -> Stmt:
    """Return a statement with what is added to a place's number one less."""
    if isinstance(stmt, Loop):
        parts = tuple(replace(p, body=tuple(changed(s, name) for s in p.body)) for p in stmt.parts)
        return replace(stmt, parts=parts)
    if isinstance(stmt, Let) and stmt.out.name == name:
        place, added = stmt.args
        assert isinstance(added, int)
        return replace(stmt, args=(place, added - 1))
    return stmt


def test_a_tile_that_is_another_one_is_copied():
    """A load that lies a lane off says that the block before has its tile, and has not."""
    whole = kernel()
    first = next(s for s in statements(whole.body) if isinstance(s, Load) and s.again)
    made = {s.out.name: s for s in statements(whole.body) if hasattr(s, "out")}
    moved = next(i for i in first.index if isinstance(made.get(i), Let) and made[i].op == "add")
    off = replace(whole, body=tuple(changed(s, moved) for s in whole.body))
    assert kept(whole, copied(whole)) and not kept(off, copied(off))
    assert not roles_of(assigned(off)).kept
    assert roles_of(assigned(whole)).kept == roles_of(whole).kept
