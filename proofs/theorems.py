"""Statements as theorems of Rocq, over the values, reductions and streams that proofs/rocq/Values.v defines; and their
proofs.

What a statement says is printed from its own terms: an axis is a type X of lanes and a list xs of them; a variable is a
value for each lane of every axis that it may vary along; a condition is its meaning (napkin_eq/laws/claim.py) in every
lane. An axis that a stream walks comes in blocks, and what may hold a running result is a function of the lanes seen so
far. The proof is the one listed for the name here, else that of a statement about single lanes. Whether a proof is one
is for Rocq's kernel to say.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from napkin_eq.lang.axis import Axis
from napkin_eq.lang.term import Acc, Const, Fold, Map, Online, Prev, Reduce, Size, Term, subterms
from napkin_eq.laws.claim import JUDGMENT, LARGEST_EXPONENT, STREAMED, NotUnderstood, meaning
from napkin_eq.laws.law import TRUE, Judgment, Law, Statement, Var
from napkin_eq.laws.obligation import conditions_of, judgments_of, terms_of, variants
from napkin_eq.prove.rocq import formaliser

NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*\Z")
# Names that mean something in the text made here, or to Rocq.
SAME = "add mul neg abs inv sqrt exp log sin cos tanh sigmoid floor max min le lt eq".split()
OPERATORS = {**{op: op for op in SAME}, "and": "andb", "or": "orb", "not": "negb", "where": "choice"}
TAKEN = {
    *"acc now seen block rest largest absent size filter concat scales settled moves Sum Max Prod".split(),
    *"FoldSum FoldMax FoldProd Online In R Some None Forall".split(),
    *"as at cofix else end exists fix for forall fun if in let match mod return then using where with Prop Set Type"
    .split(),
    *OPERATORS.values(),
}
REDUCTIONS = {"sum": "Sum", "max": "Max", "prod": "Prod"}
SORTS = {"real": "val", "bool": "bool", "number": "R"}


@formaliser
def theorem(statement: Statement) -> str:
    """Return a statement as a theorem of Rocq, with its proof; raises NotUnderstood for what Values.v has
    no words for.
    """
    name = statement.name.replace("-", "_")
    _named(name.replace("_", ""))
    if len(variants(statement)) > 1:
        raise NotUnderstood(f"{statement.name} is not printed as a theorem: two of its axes may be one")
    printed = _Statement(statement)
    said = " ".join(statement.statement().split()).replace("(*", "( *").replace("*)", "* )").replace('"', "'")
    lines = [*printed.premises(), printed.conclusion()]
    body = " ->\n  ".join(lines)
    return (
        f"(* {said} *)\nTheorem {name} {printed.binders()} :\n  {body}.\nProof."
        f" {PROOFS.get(statement.name, 'pointwise.')} Qed.\n"
    )


@dataclass(frozen=True, slots=True)
class Place:
    """Where a term stands: the lanes that are named, the lanes seen so far by the stream and before its block, and if
    there is an accumulator.
    """

    lanes: frozenset[str] = frozenset()
    now: str = ""
    seen: str = ""
    updating: bool = False

    def at(self, *axes: str) -> Place:
        return replace(self, lanes=self.lanes | set(axes))


class _Statement:
    """One statement in Rocq's words."""

    def __init__(self, statement: Statement) -> None:
        self.statement, self.conditions = statement, conditions_of(statement)
        judgments, terms = judgments_of(statement), terms_of(statement)
        self.every = subterms(*terms)
        axes = {f for t in self.every for f in t.fields if isinstance(f, Axis)} | {
            a for j in judgments for a in j.args if isinstance(a, Axis)
        }
        self.axes = sorted(_named(axis.name) for axis in axes)
        walked = {t.axis.name for t in self.every if isinstance(t, Online)} | {
            str(j.args[0]) for j in judgments if j.name in STREAMED
        }
        if len(walked) > 1:
            raise NotUnderstood(f"streams over {', '.join(sorted(walked))} in one statement")
        self.walked = next(iter(walked), "")
        self.blocks = sorted({t.axis.name for t in self.every if isinstance(t, (Fold, Online))})
        self.fixed = {(str(j.args[0]), j.args[1]) for j in judgments if j.name == "free"}
        self.local = {j.args[1] for j in judgments if j.name == "local"}
        self.variables = sorted({t for t in self.every if isinstance(t, Var)}, key=lambda v: str(v.name))
        moving = [j for j in judgments if j.name in ("scales", "moves")]
        self.factors = {t for j in moving for t in j.args[-1:] if isinstance(t, Term)}
        self.updates = self._only_in_updates()

    def _only_in_updates(self) -> set[Term]:
        """Return the variables that stand for parts of updates and of factors only: they may speak of what was seen
        before the block.
        """
        within = {t for root in self.factors for t in subterms(root)}
        within |= {t for online in self.every if isinstance(online, Online) for t in subterms(online.update)}
        elsewhere = {t for root in terms_of(self.statement) if root not in self.factors for t in _outside(root)}
        return {t for t in within - elsewhere if isinstance(t, Var)}

    # -- what is quantified --------------------------------------------------------------------------------------------

    def binders(self) -> str:
        found = [f"({x.upper()} : Type) ({x}s : list {x.upper()})" for x in self.axes]
        found += [f"({x}_blocks : list (list {x.upper()}))" for x in self.blocks]
        found += [f"({_named(v.name)} : {self.sort(v)})" for v in self.variables]
        found += ["(largest : R)"] if self.bounded() else []
        names = [
            *(x.upper() for x in self.axes),
            *(f"{x}s" for x in self.axes),
            *self.axes,
            *(v.name for v in self.variables),
        ]
        if len(set(names)) < len(names):
            raise NotUnderstood(
                f"{self.statement.name}: its axes and variables have names that Rocq's would clash with"
            )
        return " ".join(found)

    def sort(self, v: Var) -> str:
        if v.sort not in SORTS:
            raise NotUnderstood(f"a variable of kind {v.sort} has no words in Rocq here")
        return " -> ".join([*self.prefixes(v), *(x.upper() for x in self.signature(v)), SORTS[v.sort]])

    def signature(self, v: Term) -> list[str]:
        if v.sort == "number" or v in self.updates:
            return [x for x in self.axes if x != self.walked and (x, v) not in self.fixed] if v.sort != "number" else []
        return [x for x in self.axes if (x, v) not in self.fixed]

    def prefixes(self, v: Var) -> list[str]:
        """Return the types of what a variable of a streamed statement depends on besides lanes: the lanes seen, and an
        accumulator.
        """
        if not self.walked or v in self.local or v.sort == "number":
            return []
        seen = f"list {self.walked.upper()}"
        if v not in self.updates:
            return [seen]
        return [seen, seen] if v in {t for root in self.factors for t in subterms(root)} else [seen, seen, "val"]

    def bounded(self) -> bool:
        return any(j.name == "safe" for j in judgments_of(self.statement))

    # -- premises and conclusion ---------------------------------------------------------------------------------------

    def premises(self) -> list[str]:
        lines = [f"concat {x}_blocks = {x}s -> Forall (fun block => block <> []) {x}_blocks" for x in self.blocks]
        lines += [
            f"{x}s <> []" for x in self.axes if not isinstance(self.statement, Law) or self.statement.name in WITH_LANES
        ]
        lines += ["11 <= largest"] if self.bounded() else []
        told = (*JUDGMENT, "scales", "moves", "settled")
        return [*lines, *(self.everywhere(j) for j in self.conditions if j.name in told)]

    def conclusion(self) -> str:
        if not isinstance(self.statement, Law):
            return self.everywhere(self.statement.conclusion)
        top = Place(now=f"{self.walked}s" if self.walked else "")
        lhs, rhs = self.statement.lhs, self.statement.rhs
        lanes = sorted(self.open(lhs) | self.open(rhs))
        return _for_all(lanes, top.now, self.walked) + "\n  = ".join(
            _bare(self.term(t, top.at(*lanes))) for t in (lhs, rhs)
        )

    def everywhere(self, judgment: Judgment) -> str:
        """Return a judgment in every lane, and of every prefix of the axis that is walked."""
        x = self.walked
        if judgment.name == "settled":
            (value,) = (a for a in judgment.args if isinstance(a, Term))
            others = sorted(self.open(value))
            if x in others:
                raise NotUnderstood(f"{judgment} is printed of what does not vary along {x}")
            said = _bare(self.term(value, Place(frozenset(others), "now")))
            return (
                f"({_for_all(others)}settled {x}s (fun now => {said}))"
                if others
                else f"settled {x}s (fun now => {said})"
            )
        if judgment.name in ("scales", "moves"):
            *bodies, change = (a for a in judgment.args if isinstance(a, Term))
            others = sorted({y for t in (*bodies, change) for y in self.open(t)} - {x})
            place = Place(frozenset({x, *others}), "now")
            lanes = [f"(fun now {x} => {_bare(self.term(body, place))})" for body in bodies]
            told = _bare(self.term(change, Place(frozenset(others), "now", "seen")))
            said = f"{judgment.name} {x}s {' '.join(lanes)} (fun seen now => {told})"
            return f"({_for_all(others)}{said})" if others else said
        if judgment.name not in JUDGMENT:
            raise NotUnderstood(f"the judgment {judgment.name} has no words in Rocq here")
        mask = meaning(judgment)
        lanes = sorted(self.open(mask))
        if not self.walked:
            said = f"{_for_all(lanes)}{_bare(self.term(mask, Place().at(*lanes)))} = true"
            return f"({said})" if lanes else said
        if any(isinstance(t, Prev) for t in subterms(mask)):
            place = Place(now="(seen ++ block)", seen="seen")
            quantified = f"forall seen block rest, {x}s = seen ++ block ++ rest -> block <> [] -> "
        else:
            place = Place(now="now")
            quantified = f"forall now rest, {x}s = now ++ rest -> now <> [] -> "
        return f"({quantified}{_for_all(lanes, place.now, x)}{_bare(self.term(mask, place.at(*lanes)))} = true)"

    # -- terms ---------------------------------------------------------------------------------------------------------

    def open(self, t: Term) -> set[str]:
        """Return the axes along which a term may vary."""
        if isinstance(t, Var):
            return set(self.signature(t)) if t is not LARGEST_EXPONENT else set()
        bound = {t.axis.name} if isinstance(t, (Reduce, Fold, Online)) else set()
        return {x for child in t.children for x in self.open(child)} - bound

    def lanes(self, x: str, place: Place) -> str:
        return place.now if x == self.walked else f"{x}s"

    def term(self, t: Term, place: Place) -> str:
        """Return a term in Rocq's words."""
        if isinstance(t, Var):
            return self.variable(t, place)
        if isinstance(t, Const):
            return _number(t)
        if isinstance(t, (Reduce, Fold)):
            return self.reduced(t, place)
        if isinstance(t, Online):
            x = t.axis.name
            within = replace(place.at(x), now="now")
            update = _bare(self.term(t.update, replace(place, now="now", seen="seen", updating=True)))
            mask, body = (_bare(self.term(part, within)) for part in (t.where, t.body))
            return f"(Online {x}_blocks (fun now {x} => {mask}) (fun now {x} => {body}) (fun seen now acc => {update}))"
        if isinstance(t, Prev) and place.seen:
            return self.term(t.body, replace(place, now=place.seen, seen="", updating=False))
        if isinstance(t, Acc) and place.updating:
            return "acc"
        if isinstance(t, Map) and t.op in OPERATORS and all(a.kind != "int" for a in t.args):
            return f"({' '.join([OPERATORS[t.op], *(self.term(a, place) for a in t.args)])})"
        if isinstance(t, Map) and t.op == "real" and isinstance(t.args[0], Size):
            return f"(size {self.lanes(t.args[0].axis.name, place)})"
        raise NotUnderstood(f"{t.op if isinstance(t, Map) else type(t).__name__} has no words in Rocq here")

    def variable(self, v: Var, place: Place) -> str:
        if v is LARGEST_EXPONENT or v.sort == "number":
            return f"(Some {'largest' if v is LARGEST_EXPONENT else v.name})"
        given = self.prefixes(v)
        if (
            (len(given) > 1 and not place.seen)
            or (len(given) > 2 and not place.updating)
            or not set(self.signature(v)) <= place.lanes
        ):
            raise NotUnderstood(f"{v.name} stands where what it depends on is not known")
        parts = [[], [place.now], [place.seen, place.now], [place.seen, place.now, "acc"]][len(given)]
        parts = [v.name, *parts, *self.signature(v)]
        return f"({' '.join(parts)})" if len(parts) > 1 else v.name

    def reduced(self, t: Term, place: Place) -> str:
        if t.monoid not in REDUCTIONS:
            raise NotUnderstood(f"a reduction by {t.monoid} is not among Rocq's definitions")
        x, name = t.axis.name, REDUCTIONS[t.monoid]
        body, mask = (_bare(self.term(part, place.at(x))) for part in (t.body, t.where))
        if isinstance(t, Fold):
            return f"(Fold{name} {x}_blocks (fun {x} => {mask}) (fun {x} => {body}))"
        lanes = self.lanes(x, place)
        kept = lanes if t.where is TRUE else f"(filter (fun {x} => {mask}) {lanes})"
        return f"({name} {kept} (fun {x} => {body}))"


def _outside(root: Term) -> set[Term]:
    """Return the subterms of a term that stand outside of every update."""
    parts = root.children[:-1] if isinstance(root, Online) else root.children
    return {root}.union(*map(_outside, parts))


def _named(name: str) -> str:
    if not NAME.match(name) or name in TAKEN:
        raise NotUnderstood(f"the name {name!r:.40} means something else in Rocq, or is none there")
    return name


def _number(number: Term) -> str:
    if number.kind == "bool":
        return "true" if number.value else "false"
    if number.kind == "int":
        raise NotUnderstood(f"the constant {number.value!r:.40} has no words in Rocq here")
    exact = number.exact
    if exact is None:
        return "absent"
    told = f"{exact.numerator}{f' / {exact.denominator}' if exact.denominator > 1 else ''}"
    return f"(Some {told if told.isdigit() else f'({told})'})"


def _bare(text: str) -> str:
    """Return a text without the parentheses around all of it."""
    depth = 0
    for place, letter in enumerate(text):
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if depth == 0:
            return text[1:-1] if place and place == len(text) - 1 else text
    return text


def _for_all(lanes: Sequence[str], now: str = "", walked: str = "") -> str:
    return "".join(f"forall {x}, In {x} {now if x == walked else f'{x}s'} -> " for x in lanes)


# Laws that say something of axes with lanes only. All others are shown of empty axes as well, which Prev speaks of
# before a stream's first block.
WITH_LANES = ("distribute", "sum-constant")
# Proofs of statements that are not about single lanes, or need more than cases and arithmetic. Lemmas are those of
# Values.v.
# Folds in Values.v: the operator, what it leaves alone, and the ending of the lemma that says so
FOLDS = ("Sum", "add", "(Some 0)", "0"), ("Max", "max", "absent", "absent"), ("Prod", "mul", "(Some 1)", "1")
PROOFS: dict[str, str] = {
    "exp-add": "pointwise. f_equal. apply exp_plus.",
    "exp-neg": "pointwise. f_equal. apply exp_Ropp.",
    "log-mul": "pointwise. f_equal. apply ln_mult; assumption.",
    "log-inv": "pointwise. f_equal. apply ln_Rinv. assumption.",
    "log-exp": "pointwise. f_equal. apply ln_exp.",
    "exp-log": "pointwise. f_equal. apply exp_ln. assumption.",
    "exp-over": "pointwise. f_equal. rewrite exp_plus, exp_Ropp, exp_ln by assumption. reflexivity.",
    "root-squared": "pointwise. f_equal. apply sqrt_sqrt. assumption.",
    "shift": "intros. apply sum_shifted_bare. intros x lane none. exact (max_none _ _ _ x none lane).",
    "shift-weighted": "intros. apply sum_shifted. intros x lane none. exact (max_none _ _ _ x none lane).",
    "nonneg-size": "intros _. unfold size. pose proof (pos_INR (length xs)). pointwise.",
    "pos-size": (
        "intro lanes. destruct xs as [|x xs]; [contradiction |]. "
        "unfold size. cbn [length]. rewrite S_INR. pose proof (pos_INR (length xs)). pointwise."
    ),
    "skip-max": (
        "intros out. symmetry. apply (reduce_filter max absent max_absent). intros x lane. apply or_eq, out, lane."
    ),
    "skip-sum": (
        "intros out. symmetry. apply (reduce_filter add (Some 0) add_0). intros x lane. apply or_eq, out, lane."
    ),
    **{
        f"split-{fold.lower()}": (
            f"intros once. apply (reduce_split {op} {none} {op}_{unit} {op}_comm {op}_assoc). intros x lane. apply"
            " eq_true, once, lane."
        )
        for fold, op, none, unit in FOLDS
    },
    **{
        f"split-masked-{fold.lower()}": (
            f"intros once. etransitivity; [| apply (reduce_split {op} {none} {op}_{unit} {op}_comm {op}_assoc _ _ _ _"
            f" c (fun x => choice (d x) (a x) {none})); intros x lane; apply eq_true, once, lane]. clear once. unfold"
            f" {fold}, reduce. induction xs as [| x xs IH]; [reflexivity |]. cbn [map fold_right filter]. destruct"
            f" (d x); cbn [map fold_right]; rewrite IH; [reflexivity | symmetry; apply {op}_{unit}]."
        )
        for fold, op, none, unit in FOLDS
        if fold != "Prod"  # no law
    },
    "squares-about": (
        "intros there known. assert (P : exists s t, Sum xs (fun x => a x) = Some s /\\ forall k, Sum xs (fun x => mul"
        " (add (a x) (Some k)) (add (a x) (Some k))) = Some (t + 2 * k * s + k * k * INR (length xs))). { induction xs"
        " as [| x xs IH]. { exists 0, 0. split; [reflexivity |]. intro k. cbn. f_equal. ring. } destruct IH as"
        " (s & t & S & T). { intros y lane. apply there. right. exact lane. } destruct (a x) as [v |] eqn:V;"
        " [| specialize (there x (or_introl eq_refl)); rewrite V in there; discriminate]. exists (v + s), (v * v + t)."
        " split. { change (add (a x) (Sum xs (fun x => a x)) = Some (v + s)). rewrite V, S. reflexivity. } intro k."
        " change (add (mul (add (a x) (Some k)) (add (a x) (Some k))) (Sum xs (fun x => mul (add (a x) (Some k))"
        " (add (a x) (Some k)))) = Some (v * v + t + 2 * k * (v + s) + k * k * INR (length (x :: xs)))). rewrite V,"
        " (T k). cbn [length]. rewrite S_INR. cbn [add mul two_of]. f_equal. ring. } destruct r as [k |];"
        " [| discriminate]. destruct xs as [| y ys]. { unfold size. cbn. destruct (Req_EM_T 0 0) as [E | N];"
        " [f_equal; ring | exfalso; apply N; reflexivity]. } destruct P as (s & t & S & T). rewrite (T k), S."
        " unfold size. set (n := INR (length (y :: ys))) in *. assert (N : n <> 0) by (apply not_0_INR; discriminate)."
        " clearbody n. assert (I : inv (Some n) = Some (/ n)) by (unfold inv, one_of; destruct (Req_EM_T n 0);"
        " [contradiction | reflexivity])."
        " rewrite I. change (neg (mul (Some s) (Some (/ n)))) with (Some (- (s * / n))). rewrite T."
        " cbn [add mul two_of]. f_equal. field. exact N."
    ),
    # The sums under a mask are those over the lanes that it leaves, and a sum of ones is how many these are.
    "squares-about-where": (
        "intros there known. assert (F : forall f : X -> val, Sum xs (fun x => choice (c x) (f x) (Some 0)) = Sum"
        " (filter c xs) f). { intro f. clear. unfold Sum, reduce. induction xs as [| x xs IH]; [reflexivity |]."
        " cbn [map fold_right filter]. rewrite IH. destruct (c x); [reflexivity | apply add_0]. } rewrite !F."
        " assert (L : forall ys : list X, Sum ys (fun _ => Some 1) = size ys). { induction ys as [| y ys IH];"
        " [reflexivity |]. change (add (Some 1) (Sum ys (fun _ => Some 1)) = size (y :: ys)). rewrite IH. unfold size."
        " cbn [length]. rewrite S_INR. cbn [add two_of]. f_equal. ring. } rewrite L. apply squares_about;"
        " [intros x lane; apply there, (proj1 (filter_In c x xs) lane) | exact known]."
    ),
    "join-stretches": (
        "intros once. symmetry. apply (reduce_split add (Some 0) add_0 add_comm add_assoc _ _ _ _ c (fun _ => a))."
        " intros x lane. apply eq_true, once, lane."
    ),
    "rebase": (
        "intros. apply (sum_relative _ _ (fun x => choice (c p x) (a p x) absent) (b p)). intros x lane none. exact"
        " (max_none _ _ _ x none lane)."
    ),
    "rebase-bare": (
        "intros. apply (sum_relative_bare _ _ (fun x => choice (c p x) (a p x) absent)). intros x lane none. exact"
        " (max_none _ _ _ x none lane)."
    ),
    "sum-where": "intros. destruct c; [reflexivity | exact (reduce_neutral add (Some 0) add_0 _ xs)].",
    **{
        f"{fold.lower()}-masked": (
            f"intros. unfold {fold}, reduce. induction xs as [| x xs IH]; [reflexivity |]. cbn [map fold_right filter]."
            f" rewrite IH. destruct (c x); [reflexivity | apply {op}_{unit}]."
        )
        for fold, op, _, unit in FOLDS
        if fold != "Max"  # no law
    },
    "in-stretch": "intros once x lane. apply eq_true, once, lane.",
    "distribute": "intros. apply sum_factor. assumption.",
    "distribute-present": "intros there. destruct a as [k |]; [apply sum_scaled | discriminate].",
    "sum-add": "intros. apply sum_both.",
    "sum-neg": "intros. apply sum_neg_out.",
    "sum-constant": "intros. apply sum_of_equals. assumption.",
    "sum-constant-present": (
        "intros there. destruct xs as [| y ys]; [| apply sum_of_equals; discriminate]. "
        "destruct a as [k |]; [cbv [Sum reduce map fold_right size length INR]; pointwise | discriminate]."
    ),
    "max-shift": "intros. apply (max_moved _ _ (add a)); pointwise.",
    "max-scale": "intros. apply (max_moved _ _ (mul a)); pointwise.",
    "finite-left": (
        "intros _ there left. destruct (one_left _ _ _ left) as (x & lane & held). specialize (there x lane). rewrite"
        " held in there. pose proof (max_above _ xs (fun x => a x) x lane) as above. cbv beta in above. revert there"
        " above. generalize (a x) (Max xs (fun x => a x)). clear. pointwise."
    ),
    "pos-left": (
        "intros _ there left. destruct (one_left _ _ _ left) as (x & lane & held). apply (sum_above _ _ _ x); [intros y"
        " _; generalize (a y); pointwise | exact lane |]. specialize (there x lane). rewrite held in there. revert"
        " there. generalize (a x). pointwise."
    ),
    **{
        f"leaves-or{side}": (
            "intros _ left. destruct (one_left _ _ _ left) as (x & lane & held). apply (sum_above _ _ _ x); [intros y"
            f" _; destruct (c y), (e y); pointwise | exact lane |]. rewrite held. {rest}pointwise."
        )
        for side, rest in (("", ""), ("-right", "destruct (c x); "))
    },
    "le-max": "intros _ x lane. apply (max_above _ _ _ x lane).",
    "scales-exp": "intros _ above. apply scales_relative. exact above.",
    "scales-inv": "intros _ some. apply (scales_ratio _ _ (fun now => Sum now b)); [exact some | reflexivity].",
    "scales-local": "intros _ one. apply scales_times. exact one.",
    "scales-both": "intros _ one other. apply scales_product; assumption.",
    "le-prev": "intros. rewrite max_app. generalize (Max seen (fun x => b x)) (Max block (fun x => b x)). pointwise.",
    "le-prev-larger": (
        "intros. rewrite max_app. generalize (Max seen (fun x => b x)) (Max block (fun x => b x)). pointwise."
    ),
    "rescale": "intros <- full factor. apply rescaled; assumption.",
    "settled-sum": (
        "intros _ each now rest whole. apply sum_finite. intros x lane. "
        "apply (each now rest whole); [| exact lane]. intros ->. contradiction."
    ),
    "settled-over": (
        "intros _ _ one now rest whole. apply sum_finite. intros y lane. specialize (one y lane now rest whole). "
        "destruct (a now y); [reflexivity | contradiction]."
    ),
    "settled-size": "intros _ now rest _. discriminate.",
    "settled-local": (
        "intros lanes each now rest _ none. destruct xs as [|x xs]; [contradiction |]. "
        "specialize (each [x] xs eq_refl ltac:(discriminate)). rewrite none in each. discriminate."
    ),
    **{
        f"settled-{op}": (
            "intros _ one other now rest whole. specialize (one now rest whole). "
            "specialize (other now rest whole). destruct (a now), (b now); try contradiction. discriminate."
        )
        for op in ("mul", "add")
    },
    "settled-inv": (
        "intros _ one now rest whole. specialize (one now rest whole). "
        "destruct (a now); [discriminate | contradiction]."
    ),
    "moves-bare": "intros _ stay full. apply moves_by_lanes; assumption.",
    "moves-weighted": "intros _ stay full fullw. apply moves_by_weights; assumption.",
    "moves-more": "intros _ stay full fulla once again. apply moves_times_bare; assumption.",
    "moves-more-weighted": "intros _ stay full fulla fullw once again. apply moves_times; assumption.",
    "carry": "intros <- full step present. apply carried_bare; assumption.",
    "carry-weighted": "intros <- full step fulla fullw. apply carried_weighted; assumption.",
    "carry-scaled": "intros <- full step factor fulla fullw. apply carried_scaled; assumption.",
    "skip-online": "intros <- full zero. apply kept; assumption.",
    **{
        f"{word}-{monoid}": proof.format(
            f"{op} {neutral} {op}_{unit} {op}_comm {op}_assoc", f"{op} {neutral} {op}_{unit} {op}_comm"
        )
        for monoid, op, neutral, unit in (
            ("sum", "add", "(Some 0)", "0"),
            ("max", "max", "absent", "absent"),
            ("prod", "mul", "(Some 1)", "1"),
        )
        for word, proof in (
            ("fubini", "intros. apply (reduce_swap {0})."),
            ("stream", "intros <- _. symmetry. apply (fold_is_reduce {0})."),
            (
                "finite-reduce",
                (
                    "intros lanes each. apply (reduce_every {1} _ _ _ (fun v => lt absent v = true)); [pointwise |"
                    " exact lanes | exact each]."
                ),
            ),
        )
    },
    **{
        name: (
            f"intros lanes each. apply (reduce_every add (Some 0) add_0 add_comm _ _ _ (fun v => {good})); [pointwise |"
            " exact lanes | exact each]."
        )
        for name, good in (
            ("pos-sum", "lt (Some 0) v = true"),
            ("nonneg-sum", "le (Some 0) v = true"),
            ("zero-sum", "orb c (eq v (Some 0)) = true"),
        )
    },
}
