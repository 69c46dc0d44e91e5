"""Certificates and laws as text for Rocq: the data that the checker of proofs/rocq/Checker.v takes.

Nothing is decided here: rows become terms, names become numbers, a reference becomes the name of an earlier row.
What cannot be written down so (a row of unknown form, a reference to nothing, a number that is none) is refused;
whether what is written is right, Rocq says.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from napkin_eq.lang.dtypes import KINDS
from napkin_eq.lang.operators import EDGES

Data = dict[str, Any]
UNARY = dict.fromkeys([*EDGES, "not"], "") | {
    "real": "ToReal"
}
BINARY = {"add": "Add", "mul": "Mul", "max": "BMax", "min": "BMin", "floordiv": "FloorDiv", "mod": "Mod"}
BINARY |= {"lt": "Lt", "le": "Le", "eq": "Eqb", "and": "And", "or": "Or"}
MONOIDS = {"sum": "MSum", "max": "MMax", "prod": "MProd"}
SORTS = {"real": "Real", "number": "Number", "int": "Int", "bool": "Bool", "tuple": "Several"}
DTYPES = {name: kind.capitalize() for name, kind in KINDS.items()}
FACTS = {"pos": "IsPos", "nonneg": "IsNonneg", "nonzero": "IsNonzero"}
FUSED = {"alone": "false", "fused": "true"}
# What a part of a row is: t a term, x an axis, and words by their tables.
TERMS: dict[str, tuple[str, str]] = {
    "Index": ("Index", "x"),
    "Size": ("Size", "x"),
    "Length": ("Length", "x"),
    "where": ("Where", "ttt"),
    "Scan": ("Scan", "mxt"),
    "Recur": ("Recur", "xtt"),
    "Read": ("Read", "xtt"),
    "Reduce": ("Reduce", "mxtt"),
    "Acc": ("Acc", ""),
    "Prev": ("Prev", "t"),
    "Group": ("Group", "xt"),
    "Walk": ("Walk", "xt"),
    "Store": ("Store", "t"),
    "Proj": ("Proj", "kt"),
}
TERMS |= {op: (f"Un {word or op.capitalize()}", "t") for op, word in UNARY.items()} | {
    op: (f"Bin {word}", "tt") for op, word in BINARY.items()
}
JUDGMENTS = {
    "is-equal": "Equal tt",
    "is-le": "AtMost tt",
    "is-pos": "Pos t",
    "is-nonneg": "Nonneg t",
    "is-nonzero": "Nonzero t",
    "is-finite": "Finite t",
    "is-safe": "Safe t",
    "is-absent": "Absent tt",
    "is-zero": "Zero tt",
    "is-present": "Present tt",
    "is-leaves": "Leaves xt",
    "is-divides": "Divides tt",
    "is-disjoint": "Disjoint tt",
    "is-free": "Free xt",
    "is-along": "Along xt",
    "is-local": "Local xt",
    "is-scales": "Scales xtt",
    "is-stretch": "Stretch xxt",
    "is-distinct": "Distinct xx",
    "is-null": "Null xt",
    "is-settled": "Settled xt",
    "is-moves": "Moves xttt",
}
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,99}")
BOUND = re.compile(r"abs<=[0-9]{0,400}\.?[0-9]{1,400}(e[+-]?[0-9]{1,3})?")
NUMBER = re.compile(
    r"(-?)([0-9]{1,400})(?:\.([0-9]{1,400}))?(?:e([+-]?[0-9]{1,3}))?|(-?[0-9]{1,900})/([1-9][0-9]{0,899})"
)
WHOLE = {"int": re.compile("-?[0-9]{1,400}"), "bool": re.compile("[01]")}
MAX_TEXT = 100_000
HEAD = """Require Import List ZArith QArith Language Terms Checker.
Import ListNotations.
Open Scope nat_scope.
"""


class Unwritten(ValueError):
    """Something has no form in Rocq's data: it is refused."""


def rational(text: str) -> str:
    """Return a number as the fraction that its text says, not reduced: different texts stay apart where they can."""
    if not (found := NUMBER.fullmatch(text)):
        raise Unwritten(f"{text!r:.40} is no number")
    sign, whole, part, exponent, above, below = found.groups()
    if above is not None:
        numerator, denominator = int(above), int(below)
    else:
        power = int(exponent or 0) - len(part or "")
        numerator, denominator = int(f"{sign}{whole}{part or ''}") * 10 ** max(power, 0), 10 ** max(-power, 0)
    return f"(({numerator})%Z # {denominator})"


class _Names:
    """Numbers for names: those listed first, others as they come."""

    def __init__(self, listed: Sequence[str]) -> None:
        self.known = {name: number for number, name in enumerate(listed)}

    def __call__(self, name: Any) -> str:
        if type(name) is not str or not NAME.fullmatch(name):
            raise Unwritten(f"{name!r:.40} is no name")
        return str(self.known.setdefault(name, len(self.known)))


class Table:
    """Rows as definitions, n0, n1, … for terms and for judgments; or, inline, each written out where it is
    referred to.
    """

    def __init__(self, axes: _Names, inputs: _Names, variables: _Names, inline: bool = False) -> None:
        self.axes, self.inputs, self.variables, self.inline = axes, inputs, variables, inline
        self.texts: list[str] = []
        self.judgments: set[int] = set()

    def at(self, place: Any, judgment: bool = False) -> str:
        """Return the name of an earlier row, which must be a judgment or must be a term."""
        if type(place) is not int or not 0 <= place < len(self.texts) or (place in self.judgments) != judgment:
            raise Unwritten(f"there is no {'judgment' if judgment else 'term'} {place!r:.40}")
        return f"({self.texts[place]})" if self.inline else f"n{place}"

    def enter(self, row: Any) -> None:
        """Enter a row."""
        if type(row) is not list or not row or type(row[0]) is not str:
            raise Unwritten(f"{row!r:.60} is no row")
        tag, parts = row[0], row[1:]
        if tag in JUDGMENTS:
            head, _, form = JUDGMENTS[tag].partition(" ")
            self.judgments.add(len(self.texts))
        elif tag == "Tuple" and parts:
            self.texts.append("".join(f"Item {self.at(part)} (" for part in parts) + "Nothing" + ")" * len(parts))
            return
        elif tag == "Fold" and len(parts) == 5:
            head, form, parts = "Fold", "fmxtt", [parts[4], *parts[:4]]
        elif tag == "Online" and len(parts) == 5:
            head, form, parts = "Online", "fxttt", [parts[4], *parts[:4]]
        elif tag in ("Input", "Const", "Var"):
            head, form = tag, {"Input": "i", "Const": "cn", "Var": "sv"}[tag]
        elif tag in TERMS:
            head, form = TERMS[tag]
        else:
            raise Unwritten(f"{tag!r:.40} is no constructor")
        if len(form) != len(parts):
            raise Unwritten(f"{tag} has {len(form)} parts")
        told = [self.part(kind, part, parts) for kind, part in zip(form, parts, strict=True)]
        self.texts.append(" ".join([head, *told]))
        if len(self.texts[-1]) > MAX_TEXT:
            raise Unwritten("a law is too large to be written out")

    def part(self, kind: str, part: Any, parts: list[Any]) -> str:
        words = {"m": MONOIDS, "f": FUSED, "s": SORTS, "c": {name: SORTS[name] for name in ("real", "int", "bool")}}
        if kind in words:
            if type(part) is not str or part not in words[kind]:
                raise Unwritten(f"{part!r:.40} is no word that is known here")
            return words[kind][part]
        if kind == "k" and type(part) is int and part >= 0:
            return str(part)
        if kind == "n" and type(part) is str:
            if parts[0] in WHOLE and not WHOLE[parts[0]].fullmatch(part):
                raise Unwritten(f"{part!r:.40} is no constant of its type")
            return "None" if part == "-inf" else f"(Some {rational(part)})"
        names: dict[str, Callable[[Any], str]] = {"t": self.at, "x": self.axes, "i": self.inputs, "v": self.variables}
        if kind not in names:
            raise Unwritten(f"{part!r:.40} is no number of an item")
        return names[kind](part)

    def definitions(self) -> list[str]:
        return [f"Definition n{place} := {text}." for place, text in enumerate(self.texts)]


def _values(data: Any, keys: str) -> list[Any]:
    """Return the values of an object that has these keys and no others."""
    if type(data) is not dict or sorted(data) != sorted(keys.split()):
        raise Unwritten(f"expected an object with the keys {keys}")
    return [data[key] for key in keys.split()]


def _places(data: Any) -> list[str]:
    """Return a list of whole numbers, none negative, as texts."""
    if type(data) is not list or any(type(place) is not int or place < 0 for place in data):
        raise Unwritten(f"{data!r:.60} is no list of places")
    return [str(place) for place in data]


def _listed(names: Sequence[str]) -> str:
    return f"[{'; '.join(names)}]"


def _names_in(rows: list[Any], variables: bool) -> list[str]:
    """Return the names of the variables, or of the axes, of a law's rows, in order of the alphabet."""
    found = set()
    for row in rows:
        if type(row) is list and row and type(row[0]) is str:
            head, _, form = JUDGMENTS.get(row[0], " ".join(TERMS.get(row[0], ("", "")))).rpartition(" ")
            form = {"Fold": "mxttf", "Online": "xtttf", "Var": "sv"}.get(row[0], form if head else "")
            found |= {
                part
                for kind, part in zip(form, row[1:], strict=False)
                if kind == ("v" if variables else "x") and type(part) is str
            }
    return sorted(found)


class LawText:
    """A law's definition, and the numbers that its names have there: variables and axes by the alphabet."""

    def __init__(self, law: Data, lanes: Sequence[Any], name: str) -> None:
        rows, conclusion, premises = (law[key] for key in ("nodes", "conclusion", "premises"))
        self.axes, self.variables = _Names(_names_in(rows, False)), _Names(_names_in(rows, True))
        table = Table(self.axes, _Names([]), self.variables, inline=True)
        for row in rows:
            table.enter(row)
        told = {
            "conclusion": table.at(conclusion, True),
            "premises": _listed([table.at(place, True) for place in premises]),
            "lanes": _listed([self.axes(axis) for axis in lanes]),
        }
        said = ";\n  ".join(f"{field} := {text}" for field, text in told.items())
        self.text = f"Definition {name} : law := {{|\n  {said} |}}."


def certificate(data: Data, module: str = "Given") -> str:
    """Return a certificate as a module of Rocq that defines `it`; raises Unwritten for what has no form there.

    Not written, and so not looked at by Rocq: the language's table, hashes and seal, grades, evidence, how laws were
    proved, storage types.
    """
    try:
        return _written(data, module)
    except (KeyError, TypeError, AttributeError, IndexError) as problem:
        raise Unwritten(f"malformed: {problem!r:.100}") from None


def _written(data: Data, module: str) -> str:
    theorem, nodes, laws, instances, steps = (data[key] for key in "theorem nodes laws instances steps".split())
    _, listed, given, rows, *ends = _values(theorem, "language axes inputs nodes source destination")
    axes, inputs = _Names([]), _Names([])
    sizes = [_axis(axes(name), *_values(axis, "size multiple")) for name, axis in sorted(listed.items())]
    entries = [_input(inputs(name), axes, *_values(entry, "dims dtype facts")) for name, entry in sorted(given.items())]
    table = Table(axes, inputs, _Names([]))
    for row in rows:
        table.enter(row)
    if table.judgments:
        raise Unwritten("a judgment stands in the theorem")
    source, destination = map(table.at, ends)
    for row in nodes:
        table.enter(row)
    ordered = sorted(laws)
    written = {name: _law(name, laws[name], f"law{place}") for place, name in enumerate(ordered)}
    terms = [f"n{place}" for place in range(len(table.texts)) if place not in table.judgments]
    fields = {
        "declared": f"{{| sizes := {_listed(sizes)}; inputs := {_listed(entries)} |}}",
        "source": source,
        "destination": destination,
        "rows": _listed(terms),
        "claims": _listed([f"n{place}" for place in sorted(table.judgments)]),
        "laws": _listed([f"law{place}" for place in range(len(ordered))]),
        "reasons": _listed([_reason(instance, table, axes, written, ordered) for instance in instances]),
        "steps": _listed([_step(step, table) for step in steps]),
    }
    said = ";\n  ".join(f"{name} := {text}" for name, text in fields.items())
    whole = f"Definition it : certificate := {{|\n  {said} |}}."
    definitions = [*table.definitions(), *(law.text for law in written.values())]
    return "\n".join([f"Module {module}.", *definitions, whole, f"End {module}."])


def _axis(_: str, size: Any, multiple: Any) -> str:
    if type(multiple) is not int or multiple < 0 or not (size is None or (type(size) is int and size >= 0)):
        raise Unwritten("an axis has no usable size")
    return f"({'None' if size is None else f'Some {size}%N'}, {multiple}%N)"


def _input(_: str, axes: _Names, dims: Any, dtype: Any, facts: Any) -> str:
    if type(dims) is not list or type(facts) is not list or dtype not in DTYPES:
        raise Unwritten("an input has no usable axes, type or facts")
    if unknown := [fact for fact in facts if fact not in (*FACTS, "far") and not BOUND.fullmatch(fact)]:
        raise Unwritten(f"{unknown[0]!r:.40} is no fact")
    shown = _listed([FACTS[fact] for fact in facts if fact in FACTS])
    return f"({_listed([axes(dim) for dim in dims])}, {DTYPES[dtype]}, {shown})"


def _law(name: str, law: Any, definition: str) -> LawText:
    _values(law, "nodes conclusion premises floating proof sha256")
    lanes, *_ = _values(law["proof"], "lanes grade kernel method files")
    if not NAME.fullmatch(name) or type(lanes) is not list:
        raise Unwritten(f"{name!r:.40} is no name, or its lanes are no axes")
    return LawText(law, lanes, definition)


def _step(step: Any, table: Table) -> str:
    if type(step) is dict and "lemma" in step:
        lemma, moves = _values(step, "lemma steps")
        if type(moves) is not list:
            raise Unwritten("a lemma has no steps")
        return f"About {table.at(lemma)} {_listed([_move(*_values(move, 'instance forward path')) for move in moves])}"
    return f"Move {_move(*_values(step, 'instance forward path'))}"


def _move(instance: Any, forward: Any, path: Any) -> str:
    if type(forward) is not bool:
        raise Unwritten("a step has no direction")
    (place,) = _places([instance])
    return f"({place}, {str(forward).lower()}, {_listed(_places(path))})"


def _reason(instance: Any, table: Table, axes: _Names, laws: dict[str, LawText], ordered: list[str]) -> str:
    rule, given, claimed, cited = _values(instance, "rule bindings claim premises")
    claim, known = table.at(claimed, True), _places(cited)
    if type(rule) is not str or type(given) is not dict:
        raise Unwritten("an instance has no rule or bindings")
    if rule == "evident":
        if known or given:
            raise Unwritten("what is evident needs no premise and no substitution")
        return f"({claim}, Evident)"
    if rule not in laws:
        raise Unwritten(f"{rule!r:.60} is no law of the certificate")
    law, bound = laws[rule], sorted(given.items())
    terms = [f"({law.variables(name)}, {table.at(value)})" for name, value in bound if type(value) is not str]
    lanes = [f"({law.axes(name)}, {axes(value)})" for name, value in bound if type(value) is str]
    return f"({claim}, Instance {ordered.index(rule)} {_listed(terms)} {_listed(lanes)} {_listed(known)})"
