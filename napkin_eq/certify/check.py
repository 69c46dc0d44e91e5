"""The independent checker of certificates: standard library only, nothing imported from the engine, to be read and
copied alone.

A certificate claims that two terms are equal and lists the steps between them. A step puts an instance of a law at a
position: one side of the instance must be the subterm there, the other takes its place. A law's conditions are
instances too, down to what can be read off a term. No search is trusted; laws are not proved here, but named with their
hashes. Numbers are rational, never rounded. docs/checker.md goes through it all, rule by rule, with the theorem of Rocq
that each rule is. `python check.py FILE`: status 0 accepted, 1 refused, 2 no such file.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NamedTuple

SCHEMA, MAX_BYTES, MAX_WORK, A_TERM = 5, 32 << 20, 16_000_000, 10
# The hash of the one language understood here; every certificate brings its table along.
LANGUAGE = "8ebefbe20277d1374426960e10490ae55d0af6a4444c183af11e9cb10e966bc8"
ACC, PREV = 1, 2  # among a term's marks: it holds an accumulator, a previous value, whose stream is outside of it
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,99}")
# What a constant of a type is written as: a real one as a decimal or a fraction, or -inf, the absent value.
NUMBERS = {
    "real": r"-inf|-?[0-9]{1,400}(\.[0-9]{1,400})?(e[+-]?[0-9]{1,3})?|-?[0-9]{1,900}/[1-9][0-9]{0,899}",
    "int": "-?[0-9]{1,400}",
    "bool": "[01]",
}
BOUND = re.compile(r"abs<=[0-9]{0,400}\.?[0-9]{1,400}(e[+-]?[0-9]{1,3})?")
CERTAIN = {"definition", "normal form", "normal form of sums"}  # methods that need no solver
STREAMS = ("Online", "is-scales", "is-moves", "is-settled")  # what speaks of all prefixes of an axis
# Of their parts those whose accumulator and previous values are the stream's own
UPDATES = (("Online", 4), ("is-scales", 3), ("is-moves", 4))
# Judgments about all places, whatever a stream has reached
UNASKED = ("is-free", "is-along", "is-local", "is-distinct")
Axes = frozenset[str]
NOWHERE = Axes()


class Node(NamedTuple):
    """A term. marks: axes that it walks, ACC, PREV; before: axes along which what its open Prevs hold varies; items: of
    a tuple.
    """

    row: list[Any]
    kind: str
    free: Axes
    marks: frozenset[Any]
    before: Axes
    items: dict[int, int]


class Law(NamedTuple):
    """A law as it may be used. lanes: axes that must not be empty; streamed: axes that it reads in prefixes; within:
    axes over whose streams its open Prevs run; shut: variables that may hold no open accumulator or previous value."""

    conclusion: int
    premises: list[int]
    lanes: list[str]
    streamed: Axes
    within: Axes
    shut: Axes


class Refused(Exception):
    """Why a certificate is not accepted."""


class Claim(NamedTuple):
    """A judgment that holds wherever the axes of lanes are not empty, those of full are read in full, and, if there is
    an axis in within, in the update of a stream over it."""

    judgment: int
    rule: str
    lanes: Axes = NOWHERE
    full: Axes = NOWHERE
    within: Axes = NOWHERE


class Scope(NamedTuple):
    """Where in a term a part stands. empty: axes that have no lane yet at the time before a block, of which Prev speaks
    there; update: the axis whose stream's update it is."""

    empty: Axes = NOWHERE
    update: Axes = NOWHERE


TOP = Scope()


def need(true: bool, problem: str) -> None:
    """Refuse the certificate, for a problem, unless something is true."""
    if not true:
        raise Refused(problem)


def text(value: Any) -> bytes:
    """Return JSON data as text, written in the one canonical way."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def sha(value: Any) -> str:
    """Return the hash of JSON data."""
    return hashlib.sha256(text(value)).hexdigest()


def values(data: Any, keys: str) -> list[Any]:
    """Return the values of an object that has these keys and no others."""
    need(sorted(data) == sorted(keys.split()), f"expected an object with the keys {keys}")
    return [data[key] for key in keys.split()]


def named(name: Any, what: str) -> str:
    """Return a name of letters, digits, _ and - in ASCII, so that no two names look alike and differ."""
    need(NAME.fullmatch(name) is not None, f"{name!a:.60} is no name of {what}")
    return str(name)


def exact(number: str) -> Fraction | None:
    """Return the number that a text says, as it stands there, or None for the absent value."""
    return None if number == "-inf" else Fraction(number)


def computed(op: str, given: list[Fraction | None]) -> Fraction | None:
    """Return an operator over exact numbers; the absent value, None, absorbs, but it is less than any number."""
    need(op in ("add", "mul", "max", "min", "neg", "inv"), f"{op} is not folded")
    present = [number for number in given if number is not None]
    if op == "max":
        return max(present, default=None)
    if len(present) < len(given):
        return None
    first, last = present[0], present[-1]
    results = {
        "add": first + last,
        "mul": first * last,
        "min": min(present),
        "neg": -first,
        "inv": 1 / first if first else first,
    }
    return results[op]


def below(row: list[Any], place: int, at: Scope) -> Scope:
    """Return where a part of a row stands."""
    if row[0] == "Online":
        own = Axes((row[1],))
        return Scope(own, own) if (row[0], place) in UPDATES else Scope(at.empty, NOWHERE)
    return TOP if row[0] == "Prev" else at


def holding(row: list[Any], claim: Claim, what: str, at: Scope) -> None:
    """Refuse a claim inside of a row in which it does not hold."""
    said = f"{what}: its conditions do not hold"
    need(row[0] != "Prev" or claim.lanes.isdisjoint(at.empty), f"{said} before the first block, of which Prev speaks")
    need(row[0] != "Online" or row[1] not in claim.full, f"{said} of the prefixes that Online takes")


class Checker:
    """One run over one certificate. Terms are numbers, and equal terms have equal numbers."""

    def __init__(self, theorem: dict[str, Any]) -> None:
        need(sha(theorem["language"]) == LANGUAGE, "it is not written in the language that is understood here")
        tables = ("constructors", "kinds", "roles", "words", "facts", "signs")
        self.constructors, self.kinds, self.roles, self.words, self.facts, self.signs = (
            theorem["language"][table] for table in tables
        )
        self.axes, self.inputs = theorem["axes"], theorem["inputs"]
        self.nodes, self.known, self.work = list[Node](), dict[str, int](), 0
        self.laws, self.claims, self.steps = dict[str, Law](), list[Claim](), 0

    def listed(self) -> None:
        """Refuse axes that have no size, and inputs over other axes, of other types or with other facts
        than are known.
        """
        for name, axis in self.axes.items():
            size, multiple = values(axis, "size multiple")
            need(type(multiple) is int and multiple > 0, f"axis {named(name, 'an axis')} has no usable multiple")
            need(
                size is None or (type(size) is int and size > 0 and size % multiple == 0),
                f"axis {name} has no usable size",
            )
        for name, entry in self.inputs.items():
            dims, dtype, facts = values(entry, "dims dtype facts")
            need(
                type(dims) is list and {*dims} <= self.axes.keys(),
                f"input {named(name, 'an input')} has an axis that is not listed",
            )
            need(len({*dims}) == len(dims), f"input {name} has an axis twice")
            need(type(facts) is list and dtype in self.words["dtype"], f"input {name} has no usable type or facts")
            known = ("pos", "nonneg", "nonzero", "far")
            unknown = [fact for fact in facts if fact not in known and not BOUND.fullmatch(fact)]
            need(not unknown, f"input {name} has a fact that is not known")

    # -- terms ---------------------------------------------------------------------------------------------------------

    def parts(self, row: list[Any]) -> list[tuple[int, str]]:
        """Return the place of each part of a row, and what it is; a tuple has any number of items but none."""
        listed = self.constructors[row[0]][0] * (len(row) - 1 if row[0] == "Tuple" and len(row) > 1 else 1)
        need(len(listed) == len(row) - 1, f"{row[0]} has {len(listed)} parts")
        return list(enumerate(listed, 1))

    def children(self, row: list[Any]) -> list[int]:
        """Return the places of those parts that are terms."""
        return [place for place, word in self.parts(row) if word in self.kinds]

    def count(self, amount: int) -> None:
        """Add to the work done, and refuse a certificate that asks for too much."""
        self.work += amount
        need(self.work <= MAX_WORK, "it is too large")

    def make(self, row: list[Any]) -> int:
        """Return the number of a term, given its constructor and its parts, which may be rows themselves."""
        self.count(len(row))
        row = [self.make(part) if type(part) is list else part for part in row]
        if (key := repr(row)) not in self.known:
            self.nodes.append(self.typed(row))
            self.known[key] = len(self.nodes) - 1
        return self.known[key]

    def typed(self, row: list[Any]) -> Node:
        """Return a term with all that is known of it; refuse parts that do not fit together."""
        self.count(A_TERM)  # what is held costs memory
        tag, gives, axis, role = row[0], self.constructors[row[0]][1], "", list[str]()
        told, free, marks, before = dict[str, str](), set[str](), set[Any](), set[str]()
        items = dict(enumerate(row[1:] if tag == "Tuple" else []))
        for place, word in self.parts(row):
            part = row[place]
            if word in self.kinds:
                node = self.nodes[part]
                self.count(len(node.free) + len(node.marks) + len(node.before))
                alike = word == "item" or told.setdefault(word, node.kind) == node.kind
                need(alike and node.kind in self.kinds[word], f"{tag} has a {node.kind} where a {word} is expected")
                # An update speaks of its own stream's accumulator and previous values; a body and a mask of those
                # outside.
                own = (tag, place) in UPDATES
                need(not own or axis not in node.before, f"what Prev holds in an update varies along {axis}")
                marks |= node.marks - {ACC, PREV} if own else node.marks
                before |= NOWHERE if own else node.before
                items = node.items if gives == "value" else items
                if tag == "Proj":
                    node = self.nodes[node.items[row[1]]]
                    told["item"] = node.kind
                need(word != "steady" or axis not in node.free, "an update varies along its axis")
                free |= node.free - ({axis} if "binds" in role and word != "place" else NOWHERE)
            elif word in self.roles:
                axis, role = named(part, "an axis"), self.roles[word]
            elif word == "input":
                told[word], free = self.words["dtype"][self.inputs[part]["dtype"]], {*self.inputs[part]["dims"]}
            elif word == "number":
                need(re.fullmatch(NUMBERS[told["type"]], part) is not None, f"{part!a:.40} is no constant of its type")
            elif word == "name":
                named(part, "a variable")
            elif word in self.words:
                told[word] = self.words[word][part]
        if tag == "Prev":
            need(marks.isdisjoint((ACC, PREV)), "Prev holds an accumulator or another Prev")
            before = free
        marks |= {"Acc": {ACC}, "Prev": {PREV}}.get(tag, {axis} if "walks" in role else NOWHERE)
        free |= {axis} if "adds" in role else NOWHERE
        return Node(row, told.get(gives, gives), frozenset(free), frozenset(marks), frozenset(before), items)

    def instantiated(self, number: int, bindings: dict[str, Any], used: set[str]) -> int:
        """Return a pattern with its variables, and its axes, replaced; add their names to those used."""
        row = list(self.nodes[number].row)
        if row[0] == "Var":
            used.add(name := row[2])
            sort, found = row[1], self.nodes[bindings[name]]
            need(sort != "number" or self.real(bindings[name]) is not None, f"{name} is bound to no number")
            need(found.kind == self.words["sort"][sort], f"{name} is bound to no {sort}")
            return int(bindings[name])
        for place, word in self.parts(row):
            if word in self.roles:
                used.add(row[place])
                row[place] = bindings[row[place]]
            elif word in self.kinds:
                row[place] = self.instantiated(row[place], bindings, used)
        return self.make(row)

    # -- judgments that need no law ------------------------------------------------------------------------------------

    def real(self, number: int) -> Fraction | None:
        """Return the value of a real constant."""
        need(
            self.nodes[number].row[:2] == ["Const", "real"],
            f"{self.nodes[number].row[0]} stands where a number is expected",
        )
        return exact(self.nodes[number].row[2])

    def leaf(self, number: int) -> int:
        """Return what a term reads, or reads as a real number: all of its values have the signs of that."""
        row = self.nodes[number].row
        return self.leaf(row[self.children(row)[0]]) if row[0] in ("Read", "real") else number

    def shown(self, number: int) -> list[str]:
        """Return the signs, and presence, that a leaf shows by itself."""
        row, kind, *_ = self.nodes[number]
        facts = (
            ["finite", *self.inputs[row[1]]["facts"]]
            if row[0] == "Input"
            else self.facts[kind] + self.facts.get(row[0], [])
        )
        if row[0] == "Const" and (value := exact(row[2])) is not None:
            facts = ["pos" if value > 0 else "nonneg" if value == 0 else "nonzero"]
        return [sign for fact in facts for sign in self.signs.get(fact, [])]

    def stretch(self, part: str, axis: str, mask: int) -> bool:
        """Tell whether a mask is part * n <= lane and lane < part * n + n, stretches of n lanes that cover the axis."""
        run = self.nodes[self.nodes[self.nodes[mask].row[2]].row[2]].row[2]
        parts, size, count = self.axes[part]["size"], self.axes[axis]["size"], self.nodes[run].row
        lane, first, length = (
            ["Index", axis],
            ["mul", ["Index", part], run],
            ["Length", axis] if size is None else ["Const", "int", str(size)],
        )
        if parts and size:
            covers = count[0] == "Const" and int(count[2]) * parts >= size
        else:  # the length divided by the parts, rounded up; where their number is a symbol in blocks of 128 lanes
            many = ["Const", "int", str(parts)] if parts else ["mul", ["Length", part], ["Const", "int", "128"]]
            least = [
                "floordiv",
                ["add", length, ["Const", "int", str(parts - 1)] if parts else ["add", many, ["Const", "int", "-1"]]],
                many,
            ]
            covers = run == self.make(least if parts else ["mul", least, ["Const", "int", "128"]])
        return (
            part != axis
            and covers
            and mask == self.make(["and", ["le", first, lane], ["lt", lane, ["add", first, run]]])
        )

    def evident(self, judgment: int) -> Claim:
        """Return a judgment that can be read off its terms, and where it holds; refuse any other."""
        word, first, last = (row := self.nodes[judgment].row)[0], row[1], row[-1]
        node, lanes, full = self.nodes[last] if word != "is-distinct" else None, NOWHERE, NOWHERE
        if node is None:
            true = first != last
        elif word == "is-equal":
            folded = self.nodes[first].row
            true = computed(folded[0], [self.real(number) for number in folded[1:]]) == self.real(last)
        elif word == "is-free":
            # An accumulator varies along axes that it does not show
            true = first not in node.free and ACC not in node.marks
        elif word == "is-along":
            true = first in node.free
        elif word == "is-local":
            true = node.marks.isdisjoint((first, ACC, PREV))
        elif word == "is-le":
            true = first == last
        elif word == "is-stretch":
            true, full = self.stretch(*row[1:]), frozenset((first,))
        else:
            leaf = self.leaf(last)
            true, counted = word[3:] in self.shown(leaf), self.nodes[leaf].row
            # Before a stream's first block there is none
            lanes = frozenset(counted[1:]) if counted[0] == "Size" else NOWHERE
        need(true, f"{row!a} does not hold by itself")
        return Claim(judgment, "evident", lanes, full)

    # -- laws and what follows from them -------------------------------------------------------------------------------

    def at(self, place: Any, table: list[Any], what: str) -> Any:
        """Return an entry of a table."""
        need(type(place) is int and place in range(len(table)), f"there is no {what} {place!a:.40}")
        return table[place]

    def table(self, rows: list[Any], table: list[int], what: str) -> list[int]:
        """Enter rows after those of a table; a row refers to rows before it, and a term's to axes that are listed."""
        for given in rows:
            row, law = list(given), what not in ("term", "judgment")
            need(type(given) is list and {type(part) for part in row} <= {str, int}, f"{given!a:.60} is no row")
            need(row[0] != "Input" if law else row[0] != "Var", f"{row[0]} does not belong into a {what}")
            need(what != "term" or row[0][:3] != "is-", f"{row[0]} is no term")
            for place, word in self.parts(row):
                need(law or word not in self.roles or row[place] in self.axes, f"axis {row[place]!a:.60} is not listed")
                row[place] = self.at(row[place], table, what) if word in self.kinds else row[place]
            table.append(self.make(row))
        return table

    def scopes(self, number: int) -> Iterator[tuple[list[Any], tuple[tuple[str, str], ...]]]:
        """Yield the row of every part of a pattern with each of its scopes: updates, other parts, Prevs around it."""
        stack, seen = list[tuple[int, tuple[tuple[str, str], ...]]]([(number, ())]), set[Any]()
        while stack:
            if (part := stack.pop()) in seen:
                continue
            seen.add(part)
            row, at = self.nodes[part[0]].row, part[1]
            self.count(1 + len(at))
            yield row, at
            for place in [] if row[0] in UNASKED else self.children(row):
                around = [("update" if (row[0], place) in UPDATES else "part", row[1])] if row[0] in STREAMS else []
                stack.append((row[place], (*at, *around, *([("prev", "")] if row[0] == "Prev" else []))))

    def law(self, name: str, raw: Any) -> str:
        """Enter a law, or an inference; return its grade, which must be that of its weakest evidence."""
        rows, conclusion, premises, floating, proof, said = values(
            raw, "nodes conclusion premises floating proof sha256"
        )
        need(
            said == sha([named(name, "a law"), rows, conclusion, premises, floating]),
            f"{name}: its hash is not that of its statement",
        )
        table = self.table(rows, [], name)
        lanes, grade, kernel, method, files = values(proof, "lanes grade kernel method files")
        judgments = [self.at(place, table, name) for place in (conclusion, *premises)]
        need(all(self.nodes[number].kind == "judgment" for number in judgments), f"{name}: it is no judgment")
        parts = [part for number in judgments for part in self.scopes(number)]
        places, first = {(row[2], at) for row, at in parts if row[0] == "Var"}, dict[str, Any]()
        opened = [
            self.nodes[row[1]] for row, at in parts if row[0] == "Prev" and all(kind != "update" for kind, _ in at)
        ]
        need(all(len(node.marks) == 1 for node in opened), f"{name}: its Prev runs over no axis, or over several")
        within = frozenset(axis for node in opened for axis in node.marks)
        streamed = within | {row[1] for row, _ in parts if row[0] in STREAMS}
        shut = Axes(variable for variable, at in places if first.setdefault(variable, at) != at)
        need(type(lanes) is list and all(type(axis) is str for axis in lanes), f"{name}: its lanes are no axes")
        self.laws[name] = Law(judgments[0], judgments[1:], lanes, streamed, within, shut)
        certain = not {*str(method).split(", ")} - CERTAIN
        earned = "A" if kernel or certain or any(file["status"] == "unsat" for file in files) else "D"
        for answers, form, _, _, status in (values(file, "answers form name sha256 status") for file in files):
            need(type(form) is bool and {*answers.values()} <= {status, "unknown", "missing"}, f"{name}: not proved")
            if status == "unsat" and not form and not kernel:
                earned = max(earned, "DCB"[min([*answers.values()].count("unsat"), 2)])
        need(grade == earned and type(kernel) is dict, f"{name}: its grade is not {earned}, that of its evidence")
        return earned

    def instance(self, raw: Any, terms: list[int]) -> None:
        """Enter a judgment that follows by a law, by an inference, or by itself, and where it holds."""
        rule, given, claimed, cited = values(raw, "rule bindings claim premises")
        need(type(given) is dict and type(cited) is list, "an instance has no bindings or premises")
        claim, premises = self.at(claimed, terms, "term"), [self.at(place, self.claims, "instance") for place in cited]
        if rule == "evident":
            need(not premises and not given, "what is evident needs no premise and no substitution")
            self.claims.append(self.evident(claim))
            return
        law, used = self.laws[rule], set[str]()
        axes = {name: value for name, value in given.items() if type(value) is str}
        bindings = {name: self.at(value, terms, "term") for name, value in given.items() if name not in axes} | axes
        need(self.instantiated(law.conclusion, bindings, used) == claim, f"{rule} does not conclude that")
        wanted = [self.instantiated(pattern, bindings, used) for pattern in law.premises]
        need(wanted == [premise.judgment for premise in premises], f"{rule} lacks a premise")
        need(used == {*bindings}, "its substitution binds other variables than the law has")
        crossing = [name for name in sorted(law.shut) if not self.nodes[bindings[name]].marks.isdisjoint((ACC, PREV))]
        need(not crossing, f"{crossing[:1]} would carry an accumulator into or out of a stream")
        lanes, streamed, within = (
            frozenset(axes[axis] for axis in listed) for listed in (law.lanes, law.streamed, law.within)
        )
        lanes, full = (
            lanes.union(*(premise.lanes for premise in premises)),
            NOWHERE.union(*(premise.full for premise in premises)),
        )
        need(full.isdisjoint(streamed), f"{rule} reads a part of an axis of which a premise needs all")
        need(
            not streamed or not any(premise.within for premise in premises),
            f"{rule} reads other prefixes than a premise speaks of",
        )
        within = within.union(*(premise.within for premise in premises))
        self.count(sum(len(premise.lanes) + len(premise.full) + len(premise.within) for premise in premises))
        self.claims.append(Claim(claim, rule, lanes, full, within))

    def put(self, root: int, path: list[Any], sides: list[int], claim: Claim, what: str, at: Scope) -> int:
        """Return a term with the second side of an equation in place of the first, which must stand at the path."""
        if not path:
            need(root == sides[0], f"{what}: the subterm at its path is not that side of the law")
            need(
                claim.within <= at.update,
                f"{what}: it holds in the update of a stream over {sorted(claim.within)} only",
            )
            return sides[1]
        row = self.nodes[root].row
        place = self.at(path[0], self.children(row), f"child, in {what},")
        holding(row, claim, what, at)
        inside = self.put(row[place], path[1:], sides, claim, what, below(row, place, at))
        return self.make([*row[:place], inside, *row[place + 1 :]])

    def everywhere(self, root: int, sides: list[int], claim: Claim, what: str) -> int:
        """Return a term with the second side of a lemma wherever the first stands; refuse where `put` would."""
        done, stack = dict[tuple[int, Scope], int](), [(root, TOP)]
        while stack:
            (term, at), row = stack[-1], self.nodes[stack[-1][0]].row
            if term <= sides[0]:  # the parts of a row come before it: what comes before the first side does not hold it
                done[stack.pop()] = sides[1] if term == sides[0] else term
                continue
            inner = {i: (row[i], Scope(below(row, i, at).empty & claim.lanes)) for i in self.children(row)}
            if waiting := [part for part in inner.values() if part not in done]:
                stack += waiting
                continue
            done[stack.pop()] = made = self.make([done[inner[i]] if i in inner else part for i, part in enumerate(row)])
            if made != term:
                holding(row, claim, what, at)
        return done[root, TOP]

    def made(self, term: int, move: Any, what: str) -> tuple[int, Claim]:
        """Return what a move makes of a term, and the claim that it is by."""
        self.steps += 1
        place, forward, path = values(move, "instance forward path")
        claim = self.at(place, self.claims, "instance")
        word, *sides = self.nodes[claim.judgment].row
        need(
            word == "is-equal" and type(forward) is bool and type(path) is list,
            f"{what}: no equation, direction or path",
        )
        return self.put(term, path, sides if forward else sides[::-1], claim, f"{what}, {claim.rule}", TOP), claim

    def step(self, current: int, step: Any, what: str) -> int:
        """Return what a step makes of a term: a move, or a lemma with the moves that it is shown by."""
        if "lemma" not in step:
            return self.made(current, step, what)[0]
        place, moves = values(step, "lemma steps")
        first = last = self.at(place, self.terms, "term")
        need(type(moves) is list and self.nodes[first].kind != "judgment", f"{what}: a lemma of no term or steps")
        lanes, full, alone = set[str](), set[str](), f"{what}: an accumulator stands outside its stream"
        for number, move in enumerate(moves):
            last, claim = self.made(last, move, f"{what}.{number}")
            self.count(len(claim.lanes) + len(claim.full))
            lanes, full = lanes | claim.lanes, full | claim.full
        need((self.nodes[first].marks | self.nodes[last].marks).isdisjoint((ACC, PREV)), alone)
        return self.everywhere(current, [first, last], Claim(first, "lemma", Axes(lanes), Axes(full)), what)

    def outputs(self, number: int) -> list[tuple[str, Axes]]:
        """Return the kind and the axes of what a term gives, item by item."""
        given = [self.nodes[item] for item in self.nodes[number].items.values() or [number]]
        self.count(sum(len(node.free) for node in given))
        return [(node.kind, node.free) for node in given]

    def run(self, data: dict[str, Any]) -> dict[str, Any]:
        """Check everything, and return what was found."""
        _, theorem, nodes, laws, instances, steps, *claimed, evidence = values(
            data, "schema theorem nodes laws instances steps status grade evidence"
        )
        _, _, _, rows, source, destination = values(theorem, "language axes inputs nodes source destination")
        self.listed()
        self.terms = terms = self.table(rows, [], "term")
        current, end = self.at(source, terms, "term"), self.at(destination, terms, "term")
        need(
            (self.nodes[current].marks | self.nodes[end].marks).isdisjoint((ACC, PREV)),
            "an accumulator stands outside its stream",
        )
        need(self.outputs(current) == self.outputs(end), "the two sides are not of one kind and shape")
        self.table(nodes, terms, "judgment")
        grades = [self.law(name, laws[name]) for name in sorted(laws)]
        for raw in instances:
            self.instance(raw, terms)
        for number, step in enumerate(steps):
            current = self.step(current, step, f"step {number}")
        need(current == end, "the steps do not lead to the destination")
        grade = max(grades, default="A")
        need(
            claimed == ["tested" if grade == "D" else "proved", grade],
            f"its status and grade are not {grade}, the weakest of its laws",
        )
        rows = evidence.get("library", []) if type(evidence) is dict else []  # no step is about these kernels
        trusted = "".join(f", trusted and not proved: {': '.join(values(row, 'kernel call grade'))!a}" for row in rows)
        return {
            "grade": grade,
            "steps": self.steps,
            "theorem": sha(theorem),
            "laws": {n: laws[n]["sha256"] for n in sorted(laws)},
            "trusted": trusted,
        }


def check(content: bytes) -> dict[str, Any]:
    """Check a certificate, given as what its file holds; "status" is ok or refused, then with a "problem"."""
    try:
        need(len(content) <= MAX_BYTES, f"more than {MAX_BYTES} bytes")
        data = json.loads(content)
        need(text(data) == content.strip(), "not JSON in the one canonical way: keys sorted, none twice, no spaces")
        need(text(data["schema"]) == text(SCHEMA), f"no certificate of schema {SCHEMA}")
        need(data.pop("sha256", "") == sha(data), "the content is not what its sha256 says")
        return {"status": "ok", **Checker(data["theorem"]).run(data)}
    except Refused as problem:
        return {"status": "refused", "problem": f"{problem!s:.200}"}
    except (json.JSONDecodeError, UnicodeDecodeError):
        return {"status": "refused", "problem": "not JSON in UTF-8"}
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError, OverflowError) as problem:
        return {"status": "refused", "problem": f"malformed: {problem!a:.200}"}


def main(arguments: list[str]) -> int:
    """Check the file named on the command line, and say what was found."""
    try:
        with open(arguments[0], "rb") as file:
            found = check(file.read(MAX_BYTES + 1))
    except (OSError, IndexError) as problem:
        print(f"unusable: {problem}; usage: python check.py FILE", file=sys.stderr)
        return 2
    accepted = "ok: {steps} steps, grade {grade}, theorem {theorem}{trusted}"
    print((accepted if found["status"] == "ok" else "refused: {problem}").format(**found))
    return int(found["status"] != "ok")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
