"""The independent checker of certificates: standard library only, nothing imported from the engine, to be read and copied alone.

A certificate claims that two terms are equal and lists the steps between them. A step puts an instance of a law at a position:
one side of the instance must be the subterm there, the other takes its place. A law's conditions are instances too, down to what
can be read off a term. No search is trusted; laws are not proved here, but named with their hashes. docs/checker.md goes through
it all. `python check.py FILE`: status 0 accepted, 1 refused, 2 no such file.
"""

from __future__ import annotations

import hashlib
import json
import math
import sys
from typing import Any, NamedTuple

SCHEMA, MAX_BYTES, MAX_WORK = 4, 32 << 20, 1_000_000
# The hash of the one language understood here; every certificate brings its table along.
LANGUAGE = "9ce881e9ca3dfc7dc081212c4b494d00c326f94d3ac687fd93b2a2e859d98aef"
ACC, PREV = 1, 2  # among a term's marks: it holds an accumulator, a previous value, whose stream is outside of it


class Node(NamedTuple):
    """A term. marks: axes that it walks, ACC, PREV, and for each variable its name and how many streams are around it; items: of a tuple."""

    row: list[Any]
    kind: str
    free: frozenset[str]
    marks: frozenset[Any]
    items: dict[int, int]


def need(true: bool, problem: str) -> None:
    """Refuse the certificate, for a problem, unless something is true."""
    if not true:
        raise ValueError(problem)


def text(value: Any) -> bytes:
    """Return JSON data as text, written in the one canonical way."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def sha(value: Any) -> str:
    """Return the hash of JSON data."""
    return hashlib.sha256(text(value)).hexdigest()


def values(data: Any, keys: str) -> list[Any]:
    """Return the values of an object that has these keys and no others."""
    need(type(data) is dict and sorted(data) == sorted(keys.split()), f"expected an object with the keys {keys}")
    return [data[key] for key in keys.split()]


def computed(op: str, given: list[float]) -> float:
    """Return an operator over real numbers; the absent value, -inf, absorbs, except under max and min."""
    first, last, absent = given[0], given[-1], -math.inf in given and op not in ("max", "min")
    results = {"add": first + last, "mul": first * last, "max": max(given), "min": min(given), "neg": -first, "inv": 1 / first if first else 0.0}
    need(absent or math.isfinite(results[op]) or results[op] in given, f"{op} of {given} overflows")
    return -math.inf if absent else results[op]


class Checker:
    """One run over one certificate. Terms are numbers, and equal terms have equal numbers."""

    def __init__(self, theorem: dict[str, Any]) -> None:
        need(sha(theorem["language"]) == LANGUAGE, "it is not written in the language that is understood here")
        tables = ("constructors", "kinds", "roles", "words", "facts", "signs")
        self.constructors, self.kinds, self.roles, self.words, self.facts, self.signs = (theorem["language"][table] for table in tables)
        self.axes, self.inputs = theorem["axes"], theorem["inputs"]
        sizes = [size for axis in self.axes.values() for size in values(axis, "size multiple") if size is not None]
        need(all(type(size) is int and size > 0 for size in sizes), "an axis has no usable size")
        self.nodes, self.known, self.work = list[Node](), dict[str, int](), 0
        self.laws, self.claims, self.bars = dict[str, tuple[int, list[int], bool]](), list[int](), list[set[tuple[Any, ...]]]()

    def parts(self, row: list[Any]) -> list[tuple[int, str]]:
        """Return the place of each part of a row, and what it is; a tuple has any number of items."""
        listed = self.constructors[row[0]][0] * (len(row) - 1 if row[0] == "Tuple" else 1)
        need(len(listed) == len(row) - 1, f"{row[0]} has {len(listed)} parts")
        return list(enumerate(listed, 1))

    def children(self, row: list[Any]) -> list[int]:
        """Return the places of those parts that are terms."""
        return [place for place, word in self.parts(row) if word in self.kinds]

    def make(self, row: list[Any]) -> int:
        """Return the number of a term, given its constructor and its parts, which may be rows themselves."""
        self.work += 1
        need(self.work <= MAX_WORK, "it is too large")
        row = [self.make(part) if type(part) is list else part for part in row]
        key = repr(row)
        if key not in self.known:
            self.nodes.append(self.typed(row))
            self.known[key] = len(self.nodes) - 1
            self.work += len(self.nodes[-1].free) + len(self.nodes[-1].marks)
        return self.known[key]

    def typed(self, row: list[Any]) -> Node:
        """Return a term with all that is known of it; refuse parts that do not fit together."""
        tag, gives, axis, role = row[0], self.constructors[row[0]][1], "", list[str]()
        told, free, marks, items = dict[str, str](), set[str](), set[Any](), dict(enumerate(row[1:] if row[0] == "Tuple" else []))
        for place, word in self.parts(row):
            part = row[place]
            if word in self.kinds:
                node = self.nodes[part]
                alike = word == "item" or told.setdefault(word, node.kind) == node.kind
                need(alike and node.kind in self.kinds[word], f"{tag} has a {node.kind} where a {word} is expected")
                marks |= node.marks
                items = node.items if gives == "value" else items
                if tag == "Proj":
                    node = self.nodes[node.items[row[1]]]
                    told["item"] = node.kind
                need(word != "steady" or axis not in node.free, "an update varies along its axis")
                free |= node.free - ({axis} if "binds" in role and word != "place" else set())
            elif word in self.roles:
                need(type(part) is str, f"{part!r:.60} is no axis")
                axis, role = part, self.roles[word]
            elif word == "input":
                dims, dtype, _ = values(self.inputs[part], "dims dtype facts")
                told[word], free = self.words["dtype"][dtype], set(dims)
            elif word == "number":
                need(math.isfinite(float(part)) or part in ("inf", "-inf"), f"{part!r:.40} is no number")
            elif word in self.words:
                told[word] = self.words[word][part]
        if tag in ("Online", "Prev"):
            marks = {(m[0], m[1] + 1) if type(m) is tuple else m for m in marks if tag == "Prev" or m not in (ACC, PREV)}
        own: dict[str, Any] = {"Acc": ACC, "Prev": PREV, "Var": (row[-1], 0)}
        marks |= {own[tag]} if tag in own else {axis} if "walks" in role else set()
        return Node(row, told.get(gives, gives), frozenset(free | {axis} if "adds" in role else free), frozenset(marks), items)

    def instantiated(self, number: int, bindings: dict[str, Any], used: set[str]) -> int:
        """Return a pattern with its variables, and its axes, replaced; add their names to those used."""
        row = list(self.nodes[number].row)
        if row[0] == "Var":
            _, sort, name = row
            used.add(name)
            found = self.nodes[bindings[name]]
            finite = sort != "number" or math.isfinite(self.real(bindings[name]))
            need(finite and found.kind == self.words["sort"][sort], f"{name} is bound to no {sort}")
            return int(bindings[name])
        for place, word in self.parts(row):
            if word in self.roles:
                used.add(row[place])
                row[place] = bindings[row[place]]
            elif word in self.kinds:
                row[place] = self.instantiated(row[place], bindings, used)
        return self.make(row)

    def real(self, number: int) -> float:
        """Return the value of a real constant."""
        need(self.nodes[number].row[:2] == ["Const", "real"], f"{self.nodes[number].row[0]} stands where a number is expected")
        return float(self.nodes[number].row[2])

    def shown(self, number: int) -> list[str]:
        """Return the signs, and presence, that a leaf shows by itself."""
        row, kind, *_ = self.nodes[number]
        if row[0] in ("Read", "real"):
            return self.shown(row[self.children(row)[0]])
        facts = ["finite", *self.inputs[row[1]]["facts"]] if row[0] == "Input" else self.facts[kind] + self.facts.get(row[0], [])
        if row[0] == "Const" and kind != "bool" and math.isfinite(float(row[2])):
            facts = ["pos" if float(row[2]) > 0 else "nonneg" if float(row[2]) == 0 else "nonzero"]
        return [sign for fact in facts for sign in self.signs.get(fact, [])]

    def stretch(self, part: str, axis: str, mask: int) -> bool:
        """Tell whether a mask is part * n <= lane and lane < part * n + n, stretches of n lanes that cover the axis."""
        run = self.nodes[self.nodes[self.nodes[mask].row[2]].row[2]].row[2]
        lanes, size, count = self.axes[part]["size"], self.axes[axis]["size"], self.nodes[run].row
        lane, first = ["Index", axis], ["mul", ["Index", part], run]
        least = ["floordiv", ["add", ["Length", axis], ["Const", "int", str(lanes - 1)]], ["Const", "int", str(lanes)]]
        covers = run == self.make(least) if size is None else count[0] == "Const" and int(count[2]) * lanes >= size
        return part != axis and covers and mask == self.make(["and", ["le", first, lane], ["lt", lane, ["add", first, run]]])

    def evident(self, row: list[Any]) -> bool:
        """Tell whether a judgment can be read off its terms."""
        word, first, last = row[0], row[1], row[-1]
        if word == "is-distinct":
            return bool(first != last)
        if word == "is-equal":
            return computed(self.nodes[first].row[0], [self.real(number) for number in self.nodes[first].row[1:]]) == self.real(last)
        node = self.nodes[last]
        free = first not in node.free and ACC not in node.marks  # an accumulator varies along axes that it does not show
        known = {"is-along": first in node.free, "is-free": free, "is-local": node.marks.isdisjoint((first, ACC, PREV)), "is-le": first == last}
        return known[word] if word in known else self.stretch(*row[1:]) if word == "is-stretch" else word[3:] in self.shown(last)

    def at(self, place: Any, table: list[int], what: str) -> Any:
        """Return an entry of a table."""
        need(type(place) is int and 0 <= place < len(table), f"there is no {what} {place!r:.40}")
        return table[place]

    def table(self, rows: list[Any], table: list[int], what: str) -> list[int]:
        """Enter rows after those of a table; a row refers to rows before it."""
        for given in rows:
            row = list(given)
            pattern = row[0] == "Var" and what == "term"
            need({type(part) for part in row} <= {str, int} and not pattern, f"{row!r:.60} is no row of a {what}")
            for place in self.children(row):
                row[place] = self.at(row[place], table, what)
            table.append(self.make(row))
        return table

    def law(self, name: str, raw: Any) -> str:
        """Enter a law, or an inference; return its grade, which must be that of its weakest evidence."""
        rows, conclusion, premises, floating, proof, said = values(raw, "nodes conclusion premises floating proof sha256")
        need(said == sha([name, rows, conclusion, premises, floating]), f"{name}: its hash is not that of its statement")
        table = self.table(rows, [], name)
        empty, grade, kernel, method, files = values(proof, "empty grade kernel method files")
        self.laws[name] = self.at(conclusion, table, name), [self.at(place, table, name) for place in premises], empty
        earned = "A" if kernel or method in ("definition", "normal form") or any(file["status"] == "unsat" for file in files) else "D"
        for answers, form, _, _, status in (values(file, "answers form name sha256 status") for file in files):
            need(type(form) is bool and {*answers.values()} <= {status, "unknown", "missing"}, f"{name}: not proved")
            if status == "unsat" and not form and not kernel:
                earned = max(earned, "DCB"[min([*answers.values()].count("unsat"), 2)])
        need(grade == earned and type(kernel) is dict and type(empty) is bool, f"{name}: its grade is not {earned}, that of its evidence")
        return earned

    def instance(self, raw: Any, terms: list[int]) -> None:
        """Enter a judgment that follows by a law, by an inference, or by itself, and what bars it: a Prev, a stream."""
        rule, given, claimed, cited = values(raw, "rule bindings claim premises")
        claim, premises = self.at(claimed, terms, "term"), [self.at(place, self.claims, "instance") for place in cited]
        bindings: dict[str, Any] = {name: value if type(value) is str else self.at(value, terms, "term") for name, value in given.items()}
        row, marks, used, empty = self.nodes[claim].row, self.nodes[claim].marks, set[str](), True
        if rule == "evident":
            need(not premises and self.evident(row), f"{row} does not hold by itself")
        else:
            conclusion, wanted, empty = self.laws[rule]
            need(self.instantiated(conclusion, bindings, used) == claim, f"{rule} does not conclude that")
            need([self.instantiated(pattern, bindings, used) for pattern in wanted] == premises, f"{rule} lacks a premise")
            names = [mark[0] for mark in self.nodes[conclusion].marks if type(mark) is tuple]
            crossing = [name for name in names if names.count(name) > 1 and {ACC, PREV} & self.nodes[bindings[name]].marks]
            need(not crossing, f"{crossing[:1]} would carry an accumulator into or out of a stream")
        need(used == set(bindings), "its substitution binds other variables than the law has")
        # Before a stream's first block an axis is empty, and later it is a prefix: a sign, or a law, may fail there, and stretches do not cover.
        fails = row[0][3:] in self.signs or not empty
        own = {("Online", row[1])} if row[0] == "is-stretch" else {("Prev", m if m in self.axes else "") for m in marks if fails}
        self.bars.append(own.union(*(self.bars[place] for place in cited)))
        self.work += len(self.bars[-1])
        self.claims.append(claim)

    def put(self, root: int, path: list[Any], sides: list[int], bars: set[tuple[Any, ...]], what: str, streams: tuple[str, ...] = ("",)) -> int:
        """Return a term with the second side of an equation in place of the first, which must stand at the path."""
        if not path:
            need(root == sides[0], f"{what}: the subterm at its path is not that side of the law")
            return sides[1]
        row = self.nodes[root].row
        barred = {("Prev", axis) for axis in streams} if row[0] == "Prev" else {tuple(row[:2])}
        need(not bars & barred, f"{what}: its conditions do not hold of the prefixes that {row[0]} takes")
        place = self.at(path[0], self.children(row), f"child, in {what},")
        return self.make([*row[:place], self.put(row[place], path[1:], sides, bars, what, (*streams, row[1] if row[0] == "Online" else "")), *row[place + 1 :]])

    def run(self, data: dict[str, Any]) -> dict[str, Any]:
        """Check everything, and return what was found."""
        _, theorem, nodes, laws, instances, steps, *claimed, _ = values(data, "schema theorem nodes laws instances steps status grade evidence")
        _, _, _, rows, source, destination = values(theorem, "language axes inputs nodes source destination")
        terms = self.table(rows, [], "term")
        current, end = self.at(source, terms, "term"), self.at(destination, terms, "term")
        need(not {ACC, PREV} & (self.nodes[current].marks | self.nodes[end].marks), "an accumulator stands outside its stream")
        self.table(nodes, terms, "term")
        grades = [self.law(name, laws[name]) for name in sorted(laws)]
        for raw in instances:
            self.instance(raw, terms)
        for number, step in enumerate(steps):
            place, forward, path = values(step, "instance forward path")
            word, *sides = self.nodes[self.at(place, self.claims, "instance")].row
            need(word == "is-equal" and type(forward) is bool and type(path) is list, f"step {number}: no equation, direction or path")
            what = f"step {number}, {instances[place]['rule']}"
            current = self.put(current, path, sides if forward else sides[::-1], self.bars[place], what)
        need(current == end, "the steps do not lead to the destination")
        grade = max(grades, default="A")
        need(claimed == ["tested" if grade == "D" else "proved", grade], f"its status and grade are not {grade}, the weakest of its laws")
        return {"grade": grade, "steps": len(steps), "theorem": sha(theorem), "laws": {name: laws[name]["sha256"] for name in sorted(laws)}}


def check(content: bytes) -> dict[str, Any]:
    """Check a certificate, given as what its file holds; "status" is ok or refused, then with a "problem"."""
    try:
        need(len(content) <= MAX_BYTES, f"more than {MAX_BYTES} bytes")
        data = json.loads(content)
        need(text(data) == content.strip(), "not JSON in the one canonical way: keys sorted, none twice, no spaces")
        need(type(data) is dict and text(data.get("schema")) == text(SCHEMA), f"no certificate of schema {SCHEMA}")
        need(data.pop("sha256", "") == sha(data), "the content is not what its sha256 says")
        return {"status": "ok", **Checker(data["theorem"]).run(data)}
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError, OverflowError) as problem:
        return {"status": "refused", "problem": f"{problem!s:.200}" if type(problem) is ValueError else f"malformed: {problem!r:.200}"}


def main(arguments: list[str]) -> int:
    """Check the file named on the command line, and say what was found."""
    try:
        with open(arguments[0], "rb") as file:
            found = check(file.read(MAX_BYTES + 1))
    except (OSError, IndexError) as problem:
        print(f"unusable: {problem}; usage: python check.py FILE", file=sys.stderr)
        return 2
    print(("ok: {steps} steps, grade {grade}, theorem {theorem}" if found["status"] == "ok" else "refused: {problem}").format(**found))
    return int(found["status"] != "ok")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
