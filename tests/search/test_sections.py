"""Graphs in sections: waists, equal layers, and whole stacks of them with one certificate."""

from __future__ import annotations

import numpy as np
import pytest

import napkin_eq as nq
from napkin_eq.certify.asked import same
from napkin_eq.certify.certificate import checked
from napkin_eq.cover import covering
from napkin_eq.cover.sections import sections
from napkin_eq.lang.diagram import Diagram
from napkin_eq.lang.errors import Undecided
from napkin_eq.lang.evaluate import evaluate
from napkin_eq.lang.term import Index, Input, Read, Reduce, Term, subterms
from napkin_eq.lang.waists import part, waists, within
from napkin_eq.pipeline.asked import aimed, chosen_statements, proved_laws
from napkin_eq.pipeline.derive import derive
from napkin_eq.search.job import Job, prover


def stack(layers: int, t: int = 64, d: int = 128, f: int = 256, last: str = "") -> nq.Term:
    T, D, F = nq.axes("t d f", t=t, d=d, f=f)
    X = nq.array("X", T, D)
    for n in range(layers):
        g = nq.rms_norm(X, D, nq.array(f"G{n}", D))
        gate, up = (nq.linear(g, nq.array(f"{w}{n}", D, F), D) for w in ("Wg", "Wu"))
        made = nq.silu(gate) * up if n + 1 < layers or not last else nq.tanh(gate) * up
        X = X + nq.linear(made, nq.array(f"Wd{n}", F, D), F)
    return X


PROVER = prover(chosen_statements((), ()))


def test_a_waist_is_all_that_what_follows_is_made_of() -> None:
    term = stack(2)
    found = waists([term])
    assert found
    for waist in found:
        # With an array in its place, nothing that is left reads a fold that came before.
        (rest,) = part([term], {waist: Input("W", tuple(waist.axes))})
        before = {t for t in within([waist], {}) if isinstance(t, Reduce)}
        assert before.isdisjoint(subterms(rest)) and waist not in subterms(rest)
    norm = next(t for t in subterms(term) if isinstance(t, Reduce))
    layer = next(w for w in found if len(w.axes) == 2 and w is not found[0])
    assert norm in within([layer], {})
    # The second layer's norm is none: the residual stream goes on beside it.
    others = [t for t in within([term], {layer: layer}) if isinstance(t, Reduce) and t.axis.name == "d"]
    assert others and not {*others[:1]} & {*found}


@pytest.mark.parametrize("layers", [5, 6, 12])
def test_equal_layers_are_equal_sections(layers: int) -> None:
    found = sections([stack(layers)], PROVER)
    assert len(found) >= layers // 2 and len({s.terms for s in found}) == 1
    (other,) = [stack(layers, last="tanh")]
    assert len({s.terms for s in sections([other], PROVER)}) == 2
    assert len(sections([stack(2)], PROVER)) == 1


def test_sections_say_what_the_whole_says() -> None:
    term = stack(5, t=2, d=4, f=6)
    rng = np.random.default_rng(0)
    data = {a.name: rng.normal(size=[x.size for x in a.dims]) * 0.3 for a in subterms(term) if isinstance(a, Input)}
    values: dict[Term, np.ndarray] = {}
    for section in sections([term], PROVER):
        given = {a.name: values[v] if v in values else data[v.name] for a, v in section.arrays.items()}
        values[section.outputs[0]] = evaluate(section.terms[0], given)
    assert values[term] == pytest.approx(evaluate(term, data))


def test_a_graph_whose_outputs_lie_apart_is_one_section() -> None:
    first = stack(3)
    T, D, F = nq.axes("t d f", t=64, d=128, f=256)
    second = first + nq.linear(nq.tanh(nq.linear(first, nq.array("A", D, F), D)), nq.array("B", F, D), F)
    for _ in range(5):
        second = second + nq.linear(nq.tanh(nq.linear(second, nq.array("A", D, F), D)), nq.array("B", F, D), F)
    assert len(sections([first, second], PROVER)) == 1 < len(sections([second], PROVER))


def test_deep_terms_are_held_against_each_other_part_by_part() -> None:
    T, D, X = nq.axes("t d x", t=8, d=4, x=8)
    T0, X0 = nq.axes("t_0 x_0", t_0=8, x_0=8)

    def layers(count: int, wrong: int = -1) -> tuple[nq.Term, nq.Term]:
        """The same layers twice, axes inside by other names the second time; every layer reads the one before at two
        places.
        """
        one = two = nq.array("A", T, D)
        for n in range(count):
            scale = 0.5 if n == wrong else 0.25
            w = nq.exp(nq.tanh(nq.tanh(nq.tanh(nq.tanh(nq.index(T) * scale)))))
            one = one * w + nq.sum(Read(one, T, Index(X)), X) * nq.sum(Read(one, T, Index(X)) * nq.index(X), X)
            inner = Read(two, T, Index(T0))
            w0 = nq.exp(nq.tanh(nq.tanh(nq.tanh(nq.tanh(nq.index(T0) * 0.25)))))
            made = inner * w0 + nq.sum(Read(two, T, Index(X0)), X0) * nq.sum(Read(two, T, Index(X0)) * nq.index(X0), X0)
            two = Read(made, T0, Index(T))
        return one, two

    one, two = layers(30)
    assert one.depth > 150 and same([one], [two])
    assert not same(*([t] for t in layers(6, wrong=0))) and not same(*([t] for t in layers(30, wrong=29)))
    assert same([one], [two], hasty=True) and not same(*([t] for t in layers(30, wrong=2)), hasty=True)


@pytest.mark.slow
def test_a_stack_of_layers_is_covered_once_and_proved_as_a_whole() -> None:
    found = derive(stack(6, t=512, d=512, f=1024), limit=20)
    (output,) = found.outputs
    assert output.cover is not None and output.cover["sections"] == 6 and output.cover["different_sections"] == 1
    assert len(found.plan.kernels) % 6 == 0 and output.translation.status == "agrees"
    data = found.certificate
    assert checked(data)["status"] == "ok"
    assert [b.name for b in found.plan.outputs] == ["out"] and [a.name for a in found.plan.outputs[0].dims] == [
        "t",
        "d",
    ]


def test_a_chain_that_sums_by_steps_break_is_sought_without_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sum carried by steps asks more of what a kernel reads than the kernel alone shows."""
    tried: list[tuple[bool, bool]] = []
    diagram = Diagram("two", (("out", stack(2)),))
    laws = proved_laws((), (), False)

    def refused(job: Job, outputs: object, listed: object, workers: object, joining: bool, limit: object) -> None:
        tried.append((job.laws is laws, joining))
        raise covering._Refused("the conditions of carry are not derived")

    monkeypatch.setattr(covering, "_accepted", refused)
    with pytest.raises(Undecided, match="carry"):
        covering.covered(Job(diagram, aimed(diagram, "h200", "bfloat16", "auto", None, (), 20.0), laws))
    assert tried == [(True, True), (True, False), (False, True)]


def test_a_cover_whose_kernels_there_was_no_time_to_derive_is_sought_once(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[bool] = []
    diagram = Diagram("two", (("out", stack(2)),))
    laws = proved_laws((), (), False)

    def late(job: Job, outputs: object, listed: object, workers: object, joining: bool, limit: object) -> None:
        tried.append(joining)
        raise Undecided("there was no time to prove it")

    monkeypatch.setattr(covering, "_accepted", late)
    with pytest.raises(Undecided, match="no time"):
        covering.covered(Job(diagram, aimed(diagram, "h200", "bfloat16", "auto", None, (), 20.0), laws))
    assert tried == [True]
