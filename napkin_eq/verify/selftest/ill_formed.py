"""Ill-formed certificates: what a rule of the checker asks of a certificate's parts is broken in each way, one at a
time.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterator
from typing import Any

from napkin_eq.certify.certificate import Data, sealed

NO_NUMBERS = (
    "inf",
    "+inf",
    "nan",
    "1_0",
    "0x1",
    " 1.0",
    "+1.0",
    "1/0",
    "1e9999",
    "",
    "½",
    "١",
    "1.",
    ".5",
    "1//2",
    "Infinity",
)
NO_NAMES = ("x\u200b", "х", "ｘ", "x\u0301", "", "x y", "x\n", "x\nok", "\ud800", "1x", "x;", "ǆ", 7, None, True)
NO_SIZES = (0, -1, True, "5", 2.5, [5])
NO_FACTS = ("large", "abs<=", "abs<=-1", "abs<=nan", "abs<=1e9999", "finite", "positive")


def ill_formed(data: Data) -> Iterator[tuple[str, Data]]:
    """Yield certificates, to be sealed, in which one thing that the checker asks of their parts is broken, with the
    rule that it is.
    """
    for broken in (_of_instances, _of_steps, of_lemmas, _of_tables, _of_the_theorem, _of_rows, _of_constants):
        yield from broken(data)


def _with(data: Data, value: Any, *at: Any) -> Data:
    """Return data with another value at a place; what is not on the way there is shared."""
    if not at:
        return value  # type: ignore[no-any-return]
    copied: Any = copy.copy(data)
    copied[at[0]] = _with(data[at[0]] if len(at) > 1 else None, value, *at[1:])  # type: ignore[arg-type]
    return copied  # type: ignore[no-any-return]


def _of_instances(data: Data) -> Iterator[tuple[str, Data]]:
    terms = [row[0][:3] != "is-" for row in (*data["theorem"]["nodes"], *data["nodes"])]
    for number, instance in enumerate(data["instances"]):
        at, cited = ("instances", number), instance["premises"]
        for premises in (
            cited[:-1],
            [*cited, number],
            [*cited, 0],
            cited[::-1],
            [*cited[:-1], number],
            [*cited[:-1], -1],
            [True] * len(cited),
            "",
        ):
            if premises != cited:
                yield "premises: dropped, added, swapped, cited from later", _with(data, premises, *at, "premises")
        for rule in ("evident", "level", "nothing", 0):
            if rule != instance["rule"]:
                yield "another rule than the one that was used", _with(data, rule, *at, "rule")
        for name, value in instance["bindings"].items():
            rest = {other: given for other, given in instance["bindings"].items() if other != name}
            yield "a substitution that lacks a variable", _with(data, rest, *at, "bindings")
            others: list[Any] = (
                ["nowhere", 0, True, *data["theorem"]["axes"]]
                if isinstance(value, str)
                else ["x", -1, *range(len(terms))]
            )
            for other in others:
                if other != value or type(other) is not type(value):
                    yield "a substitution that binds something else", _with(data, other, *at, "bindings", name)
        yield "a substitution of more variables than there are", _with(data, 0, *at, "bindings", "more")
        for claim in (-1, len(terms), True, "0", *(place for place in range(len(terms)) if place != instance["claim"])):
            yield "a claim that does not follow", _with(data, claim, *at, "claim")


def _of_steps(data: Data) -> Iterator[tuple[str, Data]]:
    steps = data["steps"]
    for number, step in enumerate(steps):
        yield "a step left out", _with(data, steps[:number] + steps[number + 1 :], "steps")
        yield "a step taken backwards", _with(data, not step["forward"], "steps", number, "forward")
        yield "a direction that is none", _with(data, int(step["forward"]), "steps", number, "forward")
        paths: list[Any] = [
            [*step["path"], 0],
            [*step["path"], 9],
            [-1, *step["path"]],
            [True, *step["path"]],
            [*step["path"], "0"],
            "",
            0,
            {},
        ]
        for path in paths:
            yield "a path that leads elsewhere", _with(data, path, "steps", number, "path")
        for instance in (
            -1,
            len(data["instances"]),
            True,
            *(i for i in range(len(data["instances"])) if i != step["instance"]),
        ):
            yield "a step by another instance", _with(data, instance, "steps", number, "instance")


def of_lemmas(data: Data) -> Iterator[tuple[str, Data]]:
    """Yield certificates of one lemma, to be sealed, in which one thing that is asked of it is broken, with the rule
    that it is.
    """
    good = as_lemma(data)
    (step,) = good["steps"]
    rows = (*data["theorem"]["nodes"], *data["nodes"])
    for place in (-1, len(rows), True, "0", None, *(place for place in range(len(rows)) if place != step["lemma"])):
        yield "a lemma about another term", _with(good, place, "steps", 0, "lemma")
    others: list[Any] = [[], "", None, {}, 0, [step], [[]], [*step["steps"], *step["steps"][-1:]]]
    for inner in others:
        yield "a lemma without its steps", _with(good, inner, "steps", 0, "steps")
    for odd in ({**step, "path": []}, {"lemma": step["lemma"]}, {**step["steps"][0], "lemma": step["lemma"]}):
        yield "a lemma with something more, or less", _with(good, odd, "steps", 0)
    for rule, other in _of_steps({**data, "steps": step["steps"]}):
        yield f"in a lemma, {rule}", _with(good, other["steps"], "steps", 0, "steps")


def _of_tables(data: Data) -> Iterator[tuple[str, Data]]:
    theorem = data["theorem"]
    for name, axis in theorem["axes"].items():
        rest = {other: entry for other, entry in theorem["axes"].items() if other != name}
        yield "an axis that is not listed", _with(data, rest, "theorem", "axes")
        for size in NO_SIZES:
            yield "an axis without a usable size", _with(data, size, "theorem", "axes", name, "size")
        for multiple in (0, -1, True, "1", None, *((7 * axis["size"],) if axis["size"] else ())):
            yield "an axis without a usable multiple", _with(data, multiple, "theorem", "axes", name, "multiple")
        yield "an axis with something more", _with(data, 1, "theorem", "axes", name, "more")
        for odd in NO_NAMES:
            if isinstance(odd, str):
                yield "a name that looks like another", _with(data, {**theorem["axes"], odd: axis}, "theorem", "axes")
    for name, entry in theorem["inputs"].items():
        rest = {other: given for other, given in theorem["inputs"].items() if other != name}
        yield "an input that is not listed", _with(data, rest, "theorem", "inputs")
        for dims in (["nowhere"], [*entry["dims"], "nowhere"], ["x", "x"], "x", [0], [["x"]], None):
            yield (
                "an input over axes that are not listed, or twice",
                _with(data, dims, "theorem", "inputs", name, "dims"),
            )
        for dtype in ("float128", "", 0, None, ["float"]):
            yield "an input of no type", _with(data, dtype, "theorem", "inputs", name, "dtype")
        unused = {"more": {"dims": [], "dtype": "real", "facts": []}}
        yield "an input of no type", _with(data, {**theorem["inputs"], **unused}, "theorem", "inputs")
        for facts in ({}, "", 0, {"pos": 1}):
            yield "an input with a fact that is none", _with(data, facts, "theorem", "inputs", name, "facts")
        for fact in NO_FACTS:
            yield "an input with a fact that is none", _with(data, [fact], "theorem", "inputs", name, "facts")
        for odd in NO_NAMES:
            if isinstance(odd, str):
                yield (
                    "a name that looks like another",
                    _with(data, {**theorem["inputs"], odd: entry}, "theorem", "inputs"),
                )


def _of_the_theorem(data: Data) -> Iterator[tuple[str, Data]]:
    theorem = data["theorem"]
    rows, count = theorem["nodes"], len(theorem["nodes"])
    reals = [place for place, row in enumerate(rows) if row[0] in ("Input", "add", "mul", "Reduce", "inv", "exp")]
    free, top = reals[0], theorem["source"]
    bad: dict[str, list[list[Any]]] = {
        "a judgment among the terms": [
            ["is-equal", top, top],
            ["is-le", free, free],
            ["is-free", "x", free],
            ["is-distinct", "x", "x"],
        ],
        "a pattern variable among the terms": [["Var", "real", "a"], ["Var", "number", "a"]],
        "an axis that is not listed": [
            ["Index", "nowhere"],
            ["Size", "nowhere"],
            ["Group", "nowhere", free],
            ["Scan", "sum", "nowhere", free],
        ],
        "an input that is not listed": [["Input", "nothing"], ["Input", "x"]],
        "a row that is none": [
            ["Tuple"],
            ["exp"],
            ["exp", free, free],
            ["magic", free],
            [7],
            [],
            ["exp", "x"],
            ["exp", count],
            ["exp", -1],
            ["exp", True],
        ],
        "an accumulator outside its stream": [["Acc"], ["Prev", free]],
    }
    for rule, listed in bad.items():
        for row in listed:
            more = {**data, "theorem": {**theorem, "nodes": [*rows, row]}}
            if row not in (["Acc"], ["Prev", free]):
                yield rule, shifted(more, count)
            for end in ("source", "destination"):
                yield rule, _with(shifted(more, count), count, "theorem", end)
    for end in ("source", "destination"):
        for place in (-1, count + 10_000, True, "0", None, *(place for place in range(count) if place != theorem[end])):
            yield "a theorem about something else than was proved", _with(data, place, "theorem", end)


# Rows that fit together, referred to from where they begin, and such as do not fit after them.
FIT: list[list[Any]] = [
    ["Index", "x"], ["real", 0], ["Const", "bool", "1"], ["Const", "int", "3"], ["Tuple", 1, 2],
    ["Reduce", "sum", "x", 1, 2], ["Acc"], ["Prev", 5],
    ["add", 6, 7], ["Online", "x", 1, 2, 8, "alone"], ["Read", "x", 1, 3], ["Scan", "max", "x", 1], ["Size", "x"],
    ["where", 2, 0, 3], ["Proj", 1, 4],
    ["and", 14, 2], ["lt", 0, 3], ["Store", 4], ["Group", "x", 1], ["add", 0, 3], ["floordiv", 0, 3], ["not", 2],
    ["Fold", "prod", "x", 1, 2, "fused"],
    ["Prev", 1], ["Online", "x", 1, 2, 5, "fused"], ["Reduce", "sum", "x", 23, 2],
    ["Proj", 1, 17], ["Walk", "x", 17],
]  # fmt: skip
UNFIT: list[list[Any]] = [
    ["exp", 0], ["exp", 2], ["exp", 4], ["add", 0, 1], ["add", 2, 2], ["and", 1, 2], ["and", 0, 0], ["not", 1],
    ["real", 1], ["real", 2], ["lt", 0, 1],
    ["lt", 2, 2], ["where", 1, 1, 1], ["where", 2, 0, 1], ["where", 2, 2, 2], ["floordiv", 1, 1],
    ["Reduce", "sum", "x", 0, 2], ["Reduce", "sum", "x", 1, 1],
    ["Reduce", "mean", "x", 1, 2], ["Reduce", "sum", 0, 1, 2], ["Fold", "sum", "x", 1, 2, "both"],
    ["Online", "x", 1, 2, 1, "alone"],
    ["Online", "x", 1, 2, 2, "alone"],
    ["Online", "x", 1, 1, 5, "alone"], ["Online", "x", 0, 2, 5, "alone"], ["Online", "x", 1, 2, 25, "alone"],
    ["Online", "x", 1, 2, 5, ""], ["Read", "x", 4, 3],
    ["Read", "x", 1, 1], ["Read", "x", 1, 2], ["Scan", "sum", "x", 0], ["Scan", "min", "x", 1], ["Tuple", 4],
    ["Tuple", 1, 4], ["Proj", 2, 4], ["Proj", -1, 4],
    ["Proj", 0, 1], ["Prev", 4], ["Prev", 6], ["Prev", 7], ["Prev", 8], ["inv", 3], ["sqrt", 2], ["Acc", 1], ["Index"],
    ["Index", "x", "x"], ["Proj", "0", 4],
    ["Proj", True, 4], ["Store", None], ["Const", "real", None], ["Const", "int", "1.0"], ["Const", "word", "1"],
]  # fmt: skip


def _of_rows(data: Data) -> Iterator[tuple[str, Data]]:
    for row in UNFIT:
        yield "a row whose parts do not fit together", extended(data, [*FIT, row])


def extended(data: Data, rows: list[list[Any]]) -> Data:
    """Return a certificate whose theorem holds more rows, that nothing refers to, after its own; they refer to each
    other from 0.
    """
    for number, row in enumerate(rows):
        start = len(data["theorem"]["nodes"]) - number
        placed = [
            row[0],
            *(
                part + start if type(part) is int and (row[0], at) != ("Proj", 1) else part
                for at, part in enumerate(row[1:], 1)
            ),
        ]
        count = len(data["theorem"]["nodes"])
        data = shifted({**data, "theorem": {**data["theorem"], "nodes": [*data["theorem"]["nodes"], placed]}}, count)
    return data


def shifted(data: Data, count: int) -> Data:
    """Return a certificate that refers past one more row of the theorem."""
    def after(place: Any) -> Any:
        return place + 1 if type(place) is int and place >= count else place

    nodes = [[row[0], *map(after, row[1:])] for row in data["nodes"]]
    instances = [
        {
            **given,
            "claim": after(given["claim"]),
            "bindings": {name: after(value) for name, value in given["bindings"].items()},
        }
        for given in data["instances"]
    ]
    return {**data, "nodes": nodes, "instances": instances}


def _of_constants(data: Data) -> Iterator[tuple[str, Data]]:
    for place, row in enumerate(data["theorem"]["nodes"]):
        if row[0] == "Const":
            for text in (
                *NO_NUMBERS,
                *(
                    ("2", "-1", "0.5", "true")
                    if row[1] == "bool"
                    else ("-inf", "0.5", "1e3", "1/2")
                    if row[1] == "int"
                    else ()
                ),
            ):
                yield "a constant that is no number of its type", _with(data, text, "theorem", "nodes", place, 2)
            for kind in ("int", "bool", "number", "float"):
                if (
                    kind != row[1]
                    and not (kind == "int" and row[2].lstrip("-").isdigit())
                    and not (kind == "bool" and row[2] in "01")
                ):
                    yield "a constant of another type", _with(data, kind, "theorem", "nodes", place, 1)
            yield "a constant that is no text", _with(data, 1, "theorem", "nodes", place, 2)


def changed(data: Data, place: int, row: list[Any]) -> Data:
    """Return a certificate with another row at a place, wherever it is used."""
    split = len(data["theorem"]["nodes"])
    rows = [*data["theorem"]["nodes"], *data["nodes"]]
    rows[place] = row
    return sealed({**data, "theorem": {**data["theorem"], "nodes": rows[:split]}, "nodes": rows[split:]})


def as_lemma(data: Data, around: int = 0) -> Data:
    """Return a certificate with its steps as those of a lemma about the subterm that they are in, or about one so many
    levels around it.
    """
    paths = [step["path"] for step in data["steps"]]
    shared = [child for child, *_ in itertools.takewhile(lambda at: len(set(at)) == 1, zip(*paths, strict=False))]
    shared = shared[: max(0, len(shared) - around)]
    nodes, kinds = data["theorem"]["nodes"], data["theorem"]["language"]["kinds"]
    place = data["theorem"]["source"]
    for child in shared:
        row = nodes[place]
        words = data["theorem"]["language"]["constructors"][row[0]][0] * (len(row) - 1 if row[0] == "Tuple" else 1)
        place = [part for part, word in zip(row[1:], words, strict=True) if word in kinds][child]
    inner = [{**step, "path": step["path"][len(shared) :]} for step in data["steps"]]
    return sealed({**data, "steps": [{"lemma": place, "steps": inner}]})
