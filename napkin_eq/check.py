"""The independent checker of certificates: standard library only, nothing imported from the engine, to be read and copied alone.

A certificate claims that two terms are equal and lists the steps between them. Each step names a law, its direction, a
position, and what each variable stands for. The checker builds both sides of that instance itself, compares one with the
subterm at the position, puts the other in its place, and derives the law's conditions again. It trusts no search; it does
not prove the laws, but names them with their hashes. `python -m napkin_eq.check FILE`: status 0 ok, 1 refused, 2 unusable.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import sys
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

SCHEMA, MAX_BYTES, MAX_NODES, MAX_STEPS, MAX_DEPTH = 1, 32 << 20, 500_000, 20_000, 500
KEYS = "destination derivations grade inferences laws meta nodes preconditions schema sha256 source status steps trusted".split()
TRUSTED = [
    "that each statement marked proved is true: what is checked here is its use",
    "this checker and Python's double precision, in which numbers are folded",
    "the way from the destination to running code: printer, compiler, hardware",
]
SLOTS = {
    "Input": "name dims dtype facts", "Const": "const", "Index": "axis", "Size": "axis", "Length": "axis", "Map": "op terms",
    "Reduce": "monoid axis term term", "Fold": "monoid axis term term flag", "Online": "axis term term term flag", "Scan": "monoid axis term",
    "Read": "term axis term", "Tuple": "terms", "Proj": "place term", "Store": "term", "Group": "axis term", "Walk": "axis term", "Acc": "",
    "Prev": "term", "Var": "name sort",
}  # fmt: skip
DTYPES = {"float": "real", "float16": "real", "bfloat16": "real", "float32": "real", "int32": "int", "int64": "int", "bool": "bool"}
OPS = {  # kinds taken > kind given; n: all int or all real
    **dict.fromkeys("add mul max min".split(), "nn>n"), "neg": "n>n", "real": "i>r", **dict.fromkeys("floordiv mod".split(), "ii>i"),
    **dict.fromkeys("inv exp log sqrt tanh sigmoid erf sin cos abs floor round".split(), "r>r"), "not": "b>b", "where": "bnn>n",
    **dict.fromkeys("lt le eq".split(), "nn>b"), **dict.fromkeys("and or".split(), "bb>b"),
}  # fmt: skip
WORDS = {"dtype": tuple(DTYPES), "op": tuple(OPS), "monoid": ("sum", "max", "prod"), "sort": ("real", "bool", "int", "number", "tuple")}
JUDGMENTS = {  # a: an axis, t: a term
    **dict.fromkeys("free along local".split(), "at"), "distinct": "aa", **dict.fromkeys("pos nonneg nonzero finite safe".split(), "t"),
    **dict.fromkeys("le absent zero divides disjoint".split(), "tt"), "scales": "att", "stretch": "aat",
}  # fmt: skip
SIGNS = {"pos": ("pos", "nonneg", "nonzero"), "nonneg": ("nonneg",), "nonzero": ("nonzero",)}
OPEN, ACC, PREV = "?", "Acc()", "Prev()"  # among the axes a term walks: it holds a variable, an accumulator, a previous value unbound


class Refused(Exception):
    """What is wrong with a certificate."""


class Axis(NamedTuple):
    name: str
    size: int | None
    multiple: int


class Node(NamedTuple):
    tag: str
    fields: tuple[Any, ...]
    children: tuple[int, ...]
    kind: str
    axes: dict[str, int | None]
    walked: frozenset[str]
    depth: int


Judged = tuple[str, tuple[Any, ...]]


@dataclass(frozen=True)
class Result:
    """What the check found. laws: name and hash of every statement relied on; source and destination: hashes of the two terms."""

    status: str
    grade: str = ""
    steps: int = 0
    problems: tuple[str, ...] = ()
    laws: dict[str, str] = field(default_factory=dict)
    source: str = ""
    destination: str = ""


def need(true: bool, problem: str) -> None:
    if not true:
        raise Refused(problem)


def sha(value: Any) -> str:
    """Hash JSON data, written in one canonical way."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()).hexdigest()


def fingerprints(nodes: list[Any]) -> list[str]:
    """Return a hash for each node of a table, over all that lies below it."""
    found: list[str] = []
    for tag, *parts in nodes:
        slots = SLOTS[tag].split()
        shown = [found[p] if s == "term" else [found[c] for c in p] if s == "terms" else p for s, p in zip(slots, parts, strict=True)]
        found.append(sha([tag, *shown]))
    return found


def statement_hash(name: str, statement: dict[str, Any], prints: list[str]) -> str:
    """Return the hash of a law or inference: all of its meaning, not its proof."""

    def shown(judgments: list[Any]) -> list[Any]:
        return [[word, *(prints[a] if isinstance(a, int) else a for a in args)] for word, *args in judgments]

    if "lhs" in statement:
        sides = [prints[statement["lhs"]], prints[statement["rhs"]]]
        return sha(["law", name, *sides, shown(statement["conditions"]), statement["both"], statement["floating"]])
    return sha(["inference", name, shown([statement["conclusion"]]), shown(statement["premises"])])


def assumption(name: str, dtype: str, facts: Any) -> str:
    """Say what is assumed of an input."""
    return ", ".join([f"input {name} ({dtype}): every element is a number, none NaN or infinite", *facts])


def computed(op: str, values: list[float]) -> float:
    """Return an operator over numbers; the absent value, -inf, absorbs except under max."""
    if op in ("max", "min"):
        return max(values) if op == "max" else min(values)
    if -math.inf in values:
        return -math.inf
    first, last = values[0], values[-1]
    result = {"add": first + last, "mul": first * last, "neg": -first, "inv": 1 / first if first else 0.0}[op]
    need(math.isfinite(result), f"arithmetic: {op} of {values} overflows")
    return result


def kind(tag: str, fields: tuple[Any, ...], kinds: list[str]) -> str:
    """Return the kind of a node from the kinds of its children; refuse what does not fit."""
    if tag == "Map":
        takes, gives = OPS[fields[0]].split(">")
        words = {"r": "real", "i": "int", "b": "bool", "n": next((k for k, t in zip(kinds, takes, strict=False) if t == "n"), "real")}
        need(kinds == [words[t] for t in takes] and words["n"] in ("real", "int"), f"{fields[0]} over {kinds}")
        return words[gives]
    if tag in ("Reduce", "Fold", "Online", "Scan"):
        need(kinds == ["real", "bool", "real"][: len(kinds)], f"{tag} over {kinds}")
    need("tuple" not in kinds or tag in ("Store", "Group", "Walk"), f"{tag} of a tuple")
    need(tag != "Read" or kinds[1] == "int", "an index is no int")
    need(tag != "Tuple" or len(kinds) > 0, "a tuple of nothing")
    if tag in ("Store", "Group", "Walk", "Prev", "Read"):
        return kinds[0]
    if tag in ("Input", "Const", "Var"):
        word: str = DTYPES[fields[2]] if tag == "Input" else fields[tag == "Var"]
        return "real" if word == "number" else word
    return {"Tuple": "tuple", "Index": "int", "Size": "int", "Length": "int"}.get(tag, "real")


def axes(tag: str, fields: tuple[Any, ...], parts: list[Node], axis: Axis | None) -> dict[str, int | None]:
    """Return the free axes of a node and their sizes; refuse an axis of two sizes, or one that is missing."""
    merged = {a.name: a.size for a in fields[1]} if tag == "Input" else {axis.name: axis.size} if axis and tag in ("Index", "Scan") else {}
    for place, part in enumerate(parts):
        inside = axis is not None and (tag != "Read" or place == 0)
        if axis and inside:
            need(part.axes.get(axis.name, axis.size) == axis.size, f"axis {axis.name} has two sizes")
            lacking = axis.name not in part.axes and part.tag != "Var"
            need(not lacking or tag not in ("Read", "Group", "Walk"), f"{tag} along {axis.name}, which its body lacks")
            need(lacking or part.tag == "Var" or (tag, place) != ("Online", 2), "an update varies along its axis")
        for name, size in part.axes.items():
            if not (axis and inside and name == axis.name and tag in ("Reduce", "Fold", "Online", "Read")):
                need(merged.setdefault(name, size) == size, f"axis {name} has two sizes")
    return merged


class Terms:
    """Terms as numbers in a table, equal terms having equal numbers; each node is typed as it is made."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.known: dict[Any, int] = {}

    def make(self, tag: str, fields: tuple[Any, ...], children: tuple[int, ...]) -> int:
        key = (tag, fields, children)
        if key not in self.known:
            parts = [self.nodes[c] for c in children]
            depth = 1 + max((p.depth for p in parts), default=0)
            need(depth <= MAX_DEPTH and len(self.nodes) < 2 * MAX_NODES, "the terms are too deep or too many")
            axis = next((f for f in fields if isinstance(f, Axis)), None)
            over = frozenset[str]().union(*(p.walked for p in parts)) - ({ACC, PREV} if tag == "Online" else set())
            if tag in ("Var", "Acc", "Prev"):
                over |= {{"Var": OPEN, "Acc": ACC, "Prev": PREV}[tag]}
            elif axis and tag not in ("Index", "Length", "Group", "Walk"):  # a length is full in every prefix
                over |= {axis.name}
            item = self.item(fields[0], children[0]) if tag == "Proj" else None
            typed = (item.kind, item.axes) if item else (kind(tag, fields, [p.kind for p in parts]), axes(tag, fields, parts, axis))
            self.known[key] = len(self.nodes)
            self.nodes.append(Node(tag, fields, children, *typed, over, depth))
        return self.known[key]

    def item(self, place: int, body: int) -> Node:
        """Return an item of a tuple, which may stand under Store, Group and Walk."""
        node = self.nodes[body]
        while node.tag in ("Store", "Group", "Walk"):
            node = self.nodes[node.children[0]]
        need(node.tag == "Tuple" and type(place) is int and 0 <= place < len(node.children), f"there is no item {place!r:.40}")
        return self.nodes[node.children[place]]

    def below(self, *roots: int) -> list[int]:
        """Return all that lies below, children first: a child's number is smaller than its parent's."""
        seen, stack = set(roots), list(roots)
        while stack:
            new = [c for c in self.nodes[stack.pop()].children if c not in seen]
            seen.update(new)
            stack += new
        return sorted(seen)

    def fits(self, sort: str, value: Any) -> bool:
        node = self.nodes[value] if type(value) is int else None
        if sort == "number":
            return node is not None and node.tag == "Const" and node.kind == "real" and math.isfinite(float(node.fields[1]))
        return node is not None and node.kind == sort

    def instance(self, pattern: Any, bindings: dict[str, Any], used: set[str]) -> Any:
        """Return a pattern with its variables, and its axes, replaced."""

        def axis(a: Any) -> Any:
            if not isinstance(a, Axis):
                return a
            used.add(a.name)
            need(isinstance(bindings.get(a.name), Axis), f"axis variable {a.name} is not bound to an axis")
            return bindings[a.name]

        if isinstance(pattern, Axis):
            return axis(pattern)
        done: dict[int, int] = {}
        for number in self.below(pattern):
            node = self.nodes[number]
            if node.tag == "Var":
                name, sort = node.fields
                used.add(name)
                need(self.fits(sort, bindings.get(name)), f"variable {name} is not bound to a {sort} term")
                done[number] = bindings[name]
            else:
                done[number] = self.make(node.tag, tuple(map(axis, node.fields)), tuple(done[c] for c in node.children))
        return done[int(pattern)]

    def plain(self, root: Any) -> Any:
        """Return a term without Store, Group, Walk and items of a tuple, and with Reduce for Fold: the same value."""
        if isinstance(root, Axis):
            return root
        done: dict[int, int] = {}
        for number in self.below(root):
            tag, fields, children = self.nodes[number][:3]
            below = tuple(done[c] for c in children)
            if tag in ("Store", "Group", "Walk"):
                done[number] = below[0]
            elif tag == "Proj":
                done[number] = self.nodes[below[0]].children[fields[0]]
            else:
                done[number] = self.make(*(("Reduce", fields[:2]) if tag == "Fold" else (tag, fields)), below)
        return done[root]

    def facts(self, number: int) -> tuple[str, ...]:
        """Signs and presence as a leaf itself shows them."""
        node = self.nodes[number]
        if node.tag == "Read" or node.fields[:1] == ("real",) and node.tag == "Map":
            return self.facts(node.children[0])
        if node.tag == "Const" and node.kind != "bool":
            v = float(node.fields[1])
            signs = (("pos", v > 0), ("nonneg", v >= 0), ("nonzero", v != 0), ("finite", True))
            return tuple(name for name, true in signs if true and math.isfinite(v))
        if node.tag == "Input":
            return ("finite", *(name for fact in node.fields[3] for name in SIGNS.get(fact, ())))
        if node.tag in ("Size", "Length", "Index"):
            return ("finite", *SIGNS["nonneg" if node.tag == "Index" else "pos"])
        return ("finite",) if node.kind in ("int", "bool") else ()

    def spelled(self, number: int) -> tuple[Any, ...]:
        node = self.nodes[number]
        return (*([] if node.tag == "Map" else [node.tag]), *node.fields, *map(self.spelled, node.children))

    def stretch(self, part: Axis, axis: Axis, mask: int) -> bool:
        """Tell whether a mask is part * n <= lane and lane < part * n + n, stretches of n lanes that cover the axis."""
        lanes, lane = part.size, ("Index", axis)
        if lanes is None or part.name == axis.name or self.nodes[mask].depth > 8:
            return False
        least = ("floordiv", ("add", ("Length", axis), ("Const", "int", lanes - 1)), ("Const", "int", lanes))
        for run in map(self.spelled, self.below(mask)):
            first = ("mul", ("Index", part), run)
            covers = run == least if axis.size is None else run[:2] == ("Const", "int") and run[2] * lanes >= axis.size
            if covers and self.spelled(mask) == ("and", ("le", first, lane), ("lt", lane, ("add", first, run))):
                return True
        return False

    def holds(self, judged: Judged) -> bool:
        """Tell whether a judgment can be read off its terms; what only an inference shows is not."""
        name, args = judged
        first, last = args[0], args[-1]
        if name == "distinct":
            return bool(first.name != last.name)
        if name in ("free", "along", "local"):
            node = self.nodes[last]
            if name == "along":
                return first.name in node.axes and node.axes[first.name] == first.size
            if name == "local":
                return node.walked.isdisjoint((first.name, ACC, PREV))
            return first.name not in node.axes and ACC not in node.walked  # an accumulator varies along axes that it does not show
        if name == "stretch":
            return self.stretch(*args)
        return bool(first == last) if name == "le" else name in ("pos", "nonneg", "nonzero", "finite") and name in self.facts(last)


class Checker:
    """One run over one certificate; every method refuses by raising."""

    def __init__(self, data: dict[str, Any]) -> None:
        need(type(data) is dict and data.get("schema") == SCHEMA, f"not a certificate of schema {SCHEMA}")
        need(sorted(data) == sorted(KEYS), f"expected the keys {KEYS}")
        need(data["sha256"] == sha({k: v for k, v in data.items() if k != "sha256"}), "the content is not what its sha256 says")
        need(data["status"] in ("proved", "tested"), "it does not claim to be proved")
        need(data["trusted"] == TRUSTED, "it trusts other things than this checker says")
        need(len(data["nodes"]) <= MAX_NODES and len(data["steps"]) <= MAX_STEPS, "too many nodes or steps")
        self.data, self.terms, self.ids, self.used = data, Terms(), list[int](), set[str]()
        for raw in data["nodes"]:
            self.ids.append(self.node(raw))
        self.prints = fingerprints(data["nodes"])
        self.proofs: list[tuple[Judged, frozenset[str]]] = []

    def run(self) -> Result:
        data = self.data
        claims: dict[str, Any] = {**self.data["laws"], **self.data["inferences"]}
        need(len(claims) == len(data["laws"]) + len(data["inferences"]), "a law and an inference share a name")
        for name, claim in claims.items():
            need(("lhs" in claim) == (name in data["laws"]), f"{name} is listed as what it is not")
            need(claim["hash"] == statement_hash(name, claim, self.prints), f"{name}: its hash is not that of its statement")
            graded = claim["grade"] in ("A", "B", "C") if claim["status"] == "proved" else (claim["status"], claim["grade"]) == ("tested", "D")
            need(graded, f"{name}: not proved")
        for derivation in data["derivations"]:
            self.proofs.append(self.derivation(derivation))
        source, destination = self.closed(data["source"]), self.closed(data["destination"])
        need(not {ACC, PREV} & (self.terms.nodes[source].walked | self.terms.nodes[destination].walked), "an accumulator stands outside its stream")
        current = source
        for number, step in enumerate(data["steps"]):
            try:
                current = self.step(current, step)
            except Refused as problem:
                raise Refused(f"step {number}, {step['law']}: {problem}") from None
        need(current == destination, "the steps do not lead to the destination")
        need(self.used == set(claims), f"listed but not used, or used but not listed: {sorted(self.used ^ set(claims))}")
        grade = max((claims[name]["grade"] for name in claims), default="A")
        need(data["grade"] == grade, f"its grade is {grade}, the weakest of its laws")
        need((data["status"] == "tested") == (grade == "D"), "it claims to be proved, but a law of it was tested only")
        inputs = {self.terms.nodes[n].fields for n in self.terms.below(source, destination) if self.terms.nodes[n].tag == "Input"}
        need(len({i[0] for i in inputs}) == len(inputs), "two inputs share a name")
        assumed = sorted(assumption(name, dtype, facts) for name, _, dtype, facts in inputs)
        need(data["preconditions"] == assumed, "its preconditions are not those of its inputs")
        hashes = {name: claims[name]["hash"] for name in sorted(claims)}
        return Result("ok", grade, len(data["steps"]), (), hashes, self.prints[data["source"]], self.prints[data["destination"]])

    def ref(self, raw: Any) -> int:
        need(type(raw) is int and 0 <= raw < len(self.ids), f"{raw!r:.40} is no node before this one")
        return self.ids[int(raw)]

    def closed(self, raw: Any) -> int:
        need(OPEN not in self.terms.nodes[self.ref(raw)].walked, "a pattern stands where a term is expected")
        return self.ref(raw)

    def axis(self, raw: Any) -> Axis:
        axis = Axis(*raw)
        need(type(axis.name) is str and bool(re.match(r"[A-Za-z][A-Za-z0-9_]{0,62}\Z", axis.name)), "an axis has no usable name")
        need(all(type(n) is int and 0 < n <= 2**40 for n in (axis.size or 1, axis.multiple)) and axis.size != 0, f"axis {axis.name} has no usable size")
        return axis

    def node(self, raw: Any) -> int:
        tag, *parts = raw
        fields: list[Any] = []
        children: list[int] = []
        for slot, part in zip(SLOTS[tag].split(), parts, strict=True):
            if slot in ("term", "terms"):
                children += [self.ref(r) for r in (part if slot == "terms" else [part])]
            elif slot == "const":
                word = {bool: "bool", int: "int", str: "real"}[type(part)]
                need(word != "real" or (repr(float(part)) == part and not math.isnan(float(part))), f"{part!r:.40} is no number")
                fields += [word, part]
            else:
                need(slot not in WORDS or part in WORDS[slot], f"unknown {slot} {part!r:.40}")
                need(slot != "flag" or type(part) is bool, "a flag is true or false")
                need(slot != "place" or type(part) is int, "an item has no number")
                need(slot != "name" or (type(part) is str and bool(re.match(r"[A-Za-z][A-Za-z0-9_]{0,62}\Z", part))), "a name is not usable")
                need(slot != "facts" or all(f in SIGNS or re.match(r"abs<=[0-9.e+-]+\Z", f) for f in part), "an input has an unknown fact")
                shown = self.axis(part) if slot == "axis" else tuple(map(self.axis, part)) if slot == "dims" else part
                fields.append(tuple(part) if slot == "facts" else shown)
        return self.terms.make(tag, tuple(fields), tuple(children))

    def judged(self, raw: Any, bindings: dict[str, Any] | None, used: set[str]) -> Judged:
        """Return a judgment, its arguments decoded; with bindings, it is a pattern to be instantiated by them."""
        name, *args = raw
        found: list[Any] = []
        for sort, arg in zip(JUDGMENTS[name], args, strict=True):
            value = self.axis(arg) if sort == "a" else self.closed(arg) if bindings is None else self.ref(arg)
            found.append(value if bindings is None else self.terms.instance(value, bindings, used))
        return name, tuple(found)

    def bindings(self, raw: dict[str, Any]) -> dict[str, Any]:
        return {name: self.axis(value) if type(value) is list else self.closed(value) for name, value in raw.items()}

    def derivation(self, raw: dict[str, Any]) -> tuple[Judged, frozenset[str]]:
        """Check one inference; return its judgment, and the axes that it, or what it rests on, needs not to be empty."""
        judged = self.judged(raw["judgment"], None, set())
        premises = [self.proofs[p] for p in raw["premises"] if type(p) is int and p >= 0]
        bindings, used, rule = self.bindings(raw["bindings"]), set[str](), raw["rule"]
        if rule == "base":
            need(self.terms.holds(judged) and not raw["premises"], f"{raw['judgment']} does not hold by itself")
        elif rule == "plain":
            need(judged[0] not in ("free", "along", "local", "distinct"), "rule plain speaks of values only")
            need([p[0] for p in premises] == [(judged[0], tuple(map(self.terms.plain, judged[1])))], "rule plain does not give this")
        else:
            self.used.add(rule)
            claim = self.data["inferences"][rule]
            need(self.judged(claim["conclusion"], bindings, used) == judged, f"{rule} does not conclude {raw['judgment']}")
            need([self.judged(p, bindings, used) for p in claim["premises"]] == [p[0] for p in premises], f"{rule} lacks a premise")
            need(all(p[0][0] != "stretch" for p in premises), "a stretch is a condition of laws only: it holds of a whole axis, not of a prefix")
        need(used == set(bindings), "a substitution binds other variables than its rule has")
        sized = self.terms.nodes[judged[1][0]].walked if judged[0] in ("pos", "nonneg", "nonzero", "finite") else frozenset()
        return judged, sized.union(*(p[1] for p in premises))

    def step(self, root: int, raw: dict[str, Any]) -> int:
        """Return the term after one step."""
        bindings, used, nodes = self.bindings(raw["bindings"]), set[str](), self.terms.nodes
        spine = [root]
        for place in raw["path"]:
            need(type(place) is int and 0 <= place < len(nodes[spine[-1]].children), "its path leaves the term")
            spine.append(nodes[spine[-1]].children[place])
        proofs = [self.proofs[p] for p in raw["conditions"] if type(p) is int and p >= 0]
        if raw["law"] == "arithmetic":
            used, sides, wanted = {"left", "right"}, [bindings["left"], bindings["right"]], []
            operator, value = nodes[sides[0]], nodes[sides[1]]
            need(operator.tag == "Map" and all(nodes[n].tag == "Const" and nodes[n].kind == "real" for n in (*operator.children, sides[1])), "not numbers")
            result = computed(operator.fields[0], [float(nodes[c].fields[1]) for c in operator.children])
            need(result == float(value.fields[1]), f"{operator.fields[0]} gives {result!r}")
        else:
            self.used.add(raw["law"])
            law = self.data["laws"][raw["law"]]
            sides = [self.terms.instance(self.ref(law[side]), bindings, used) for side in ("lhs", "rhs")]
            wanted = [self.judged(c, bindings, used) for c in law["conditions"]]
            for name in self.crossing(law):
                need(not {ACC, PREV} & nodes[bindings[name]].walked, f"{name} would carry an accumulator into or out of a stream")
        need(wanted == [p[0] for p in proofs], "its conditions are not those derived")
        need(used == set(bindings), "its substitution binds other variables than the law has")
        streams = {nodes[n].fields[0].name for n in spine[:-1] if nodes[n].tag == "Online"}
        need(not any(word == "stretch" and args[0].name in streams for (word, args), _ in proofs), "a stream's axis counts stretches")
        emptied = streams if any(nodes[n].tag == "Prev" for n in spine[:-1]) else set()
        need(not any(emptied & p[1] for p in proofs), "before the first block an axis is empty, and a condition needs it not to be")
        need(type(raw["forward"]) is bool, "its direction is not said")
        old, new = map(int, sides if raw["forward"] else sides[::-1])
        need(spine[-1] == old, "the subterm at its path is not that side of the law")
        for number, place in zip(spine[-2::-1], raw["path"][::-1], strict=True):
            tag, fields, children = nodes[number][:3]
            new = self.terms.make(tag, fields, (*children[:place], new, *children[place + 1 :]))
        return new

    def crossing(self, law: dict[str, Any]) -> list[str]:
        """Return the variables of a law that stand inside a stream in one place and outside in another."""
        seen = set[tuple[int, int]]()
        stack = [(self.ref(law["lhs"]), 0), (self.ref(law["rhs"]), 0)]
        while stack:
            number, level = stack.pop()
            if (number, level) not in seen:
                seen.add((number, level))
                node = self.terms.nodes[number]
                stack += [(c, level + (node.tag in ("Online", "Prev"))) for c in node.children]
        names = [self.terms.nodes[n].fields[0] for n, _ in seen if self.terms.nodes[n].tag == "Var"]
        return sorted({name for name in names if names.count(name) > 1})


def check(data: Any) -> Result:
    """Check a certificate given as JSON data."""
    try:
        return Checker(data).run()
    except Refused as problem:
        return Result("refused", problems=(str(problem),))
    except (KeyError, TypeError, IndexError, ValueError, AttributeError, RecursionError, OverflowError) as problem:
        return Result("refused", problems=(f"malformed: {type(problem).__name__}: {problem!s:.200}",))


def read(text: bytes) -> Any:
    """Read JSON strictly: no key twice, no NaN, bounded size and depth; raise ValueError otherwise."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) != len(pairs):
            raise ValueError("a key is given twice")
        return dict(pairs)

    def never(word: str) -> Any:
        raise ValueError(f"{word} is no JSON number")

    if len(text) > MAX_BYTES:
        raise ValueError(f"{len(text)} bytes; at most {MAX_BYTES} are read")
    try:
        return json.loads(text, object_pairs_hook=once, parse_constant=never)
    except RecursionError:
        raise ValueError("nested too deep") from None


def main(arguments: list[str]) -> int:
    """Check the file named on the command line and say what was found; with --json as data."""
    try:
        (name,) = [a for a in arguments if a != "--json"]
        with open(name, "rb") as file:
            data = read(file.read(MAX_BYTES + 1))
    except (OSError, ValueError) as problem:
        print(f"unusable: {problem}; usage: python -m napkin_eq.check FILE", file=sys.stderr)
        return 2
    result = check(data)
    said = f"ok: {result.steps} steps, grade {result.grade}, source {result.source[:12]}, destination {result.destination[:12]}"
    if "--json" in arguments:
        said = json.dumps({"schema": SCHEMA, **asdict(result)})
    print(said if "--json" in arguments or result.status == "ok" else f"refused: {result.problems[0]}")
    return 0 if result.status == "ok" else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
