"""Statements as laws of Rocq's checker, each with the proof that it is true in frames, for proofs/rocq/DeepLaws.v.

Here a law is data, a statement over the embedded terms of Language.v; true_law says what it claims of every frame and
every renaming of its axes. A certificate's laws are compared with these. The statement is printed by
napkin_eq/prove/rocq_text.py, as a certificate's laws are; the proof is the one listed for the name here, else, of a
statement that names no axis, the theorem of Laws.v at one place. The tactics are those of Deep.v. Whether a proof is
one is for Rocq's kernel to say.
"""

from __future__ import annotations

from napkin_eq.certify.certificate import stated
from napkin_eq.lang.axis import Axis
from napkin_eq.lang.operators import EDGES, FUNCTIONS
from napkin_eq.lang.term import subterms
from napkin_eq.laws.claim import NotUnderstood
from napkin_eq.laws.law import Item, Statement
from napkin_eq.laws.obligation import judgments_of, terms_of
from napkin_eq.prove.rocq import embedder, is_theorem
from napkin_eq.prove.rocq_text import SORTS, LawText, Unwritten

# The axes that a law needs lanes of: where one has none, an absent factor, a bound or a present value is lost.
LANES: dict[str, tuple[str, ...]] = {
    name: ("x",)
    for name in (
        *"distribute sum-constant le-max pos-sum pos-size finite-reduce-max".split(),
        *"leaves-to leaves-below".split(),
    )
}
# Of what is read along an axis without lanes nothing is said
LANES |= {"scan-in-runs-sum": ("p", "x"), "scan-in-runs-prod": ("p", "x"), "recur-in-runs": ("p", "r", "x")}
LANES |= {"read-before": ("x",), "read-back": ("p", "r", "x")}
LANES |= {"read-sum": ("x",)}
LANES |= {f"read-{way}-{op}": ("x",) for way in ("both", "second") for op in ("add", "mul", "max", "min")}
IDENTITY = "stated. intros f p B V. reflexivity."
LOCAL = "local_parts."


@embedder
def embedded(statement: Statement) -> str:
    """Return a statement as a law of Rocq's checker, with the proof of its truth;
      raises NotUnderstood where none is known."""
    name = statement.name.replace("-", "_")
    if statement.name not in PROOFS and (_axes(statement) or not is_theorem(statement)):
        raise NotUnderstood(f"{statement.name} has no proof over the embedded terms")
    proof = PROOFS.get(statement.name, f"here. apply Laws.{name}; known.")
    try:
        law = LawText(stated(statement), LANES.get(statement.name, ()), f"{name}_law").text
    except Unwritten as problem:
        raise NotUnderstood(f"{statement.name}: {problem}") from None
    return f"{law}\nLemma {name}_true : true_law {name}_law.\nProof. {proof} Qed.\n"


def _axes(statement: Statement) -> bool:
    fields = (field for term in subterms(*terms_of(statement)) for field in term.fields)
    parts = [*fields, *(arg for judgment in judgments_of(statement) for arg in judgment.args)]
    return any(isinstance(part, Axis) for part in parts)


MONOIDS = {"sum": ("add", "(Some 0%R)", "0"), "max": ("max", "absent", "absent"), "prod": ("mul", "(Some 1%R)", "1")}
PRESENT = "here. specialize (P1 f p B V). simpl in P1. destruct (eta 0 f p); [reflexivity | discriminate]."
# Of a mask that leaves a lane the lane, and what is present there.
LEFT = """specialize (P2 f p B V). apply one_left in P2. destruct P2 as (i & Hi & E).
  specialize (P1 f (upd p (r 0) i) B (valid_in f p (r 0) i V Hi)). cbv beta in P1. rewrite E in P1."""
PROOFS: dict[str, str] = {
    **{
        f"{word}{kind}": IDENTITY for word in ("level", "group", "walk") for kind in ("", "-mask", "-whole", "-several")
    },
    "fuse-online": IDENTITY,
    **{f"fuse-{monoid}": IDENTITY for monoid in MONOIDS},
    **{f"local-unary-{op}": LOCAL for op in EDGES},
    **{f"local-binary-{op}": LOCAL for op in "add mul max min".split()},
    **{f"local-{op}": LOCAL for op in "where real not lt le eq and or".split()},
    **{
        f"projection-{item}": f"stated. intros f q B V. refine (scalar_item {SORTS[item.own]} _ _ _ _ f 0 q); "
        "[apply Hsort; auto 9 | discriminate | discriminate]."
        for item in Item.every()
    },
    **{f"finite-{op}": PRESENT for op in FUNCTIONS},
    "shift": "here. apply Laws.shift.",
    "shift-weighted": "here. apply Laws.shift_weighted.",
    "nonneg-size": "here. pose proof (pos_INR (ends f (r 0))) as L. unfold le. destruct Rle_dec; [reflexivity | lra].",
    "pos-size": """here. pose proof (proj1 (proj2 B) (r 0) (Hlanes _ (or_introl eq_refl))) as L. apply lt_INR in L.
      simpl in L. unfold lt, le. destruct Rle_dec; simpl; [lra | reflexivity].""",
    "pos-sum": "here. apply Laws.pos_sum; [some | lanes].",
    "nonneg-sum": "here. apply nonneg_total. lanes.",
    "le-max": """here. rewrite <- (upd_own p (r 0)) at 1. apply (max_above _ _ (fun i => eta 0 f (upd p (r 0) i))).
      apply in_seq. pose proof (proj1 (proj2 B) (r 0) (Hlanes _ (or_introl eq_refl))). specialize (V (r 0)). lia.""",
    **dict.fromkeys(
        ("finite-read", "pos-read", "nonneg-read"),
        "here. apply (P1 f (upd p (r 0) _) B), valid_low; [exact V |]. unfold place. destruct (eta 1 f p); lia.",
    ),
    **dict.fromkeys(
        ("leaves-to", "leaves-below"),
        """here. assert (L : seq 0 (ends f (r 0)) <> []) by some.
  assert (Z : In 0 (seq 0 (ends f (r 0)))) by (destruct (ends f (r 0)); [contradiction | left; reflexivity]).
  specialize (P1 f (upd p (r 0) 0) B (valid_in f p (r 0) 0 V Z)). cbv beta in P1.
  apply (sum_above _ _ _ 0); [intros j _; destruct (truth _); pointwise | exact Z |].
  rewrite truth_bool, upd_same. revert P1. generalize (eta 0 f (upd p (r 0) 0)). clear. pointwise.""",
    ),
    **{
        f"leaves-or{side}": f"""here. specialize (P1 f p B V). apply one_left in P1. destruct P1 as (i & Hi & E).
  apply (sum_above _ _ _ i); [intros j _; destruct (truth (of_bool _)); pointwise | exact Hi |].
  rewrite truth_bool, E{more}. pointwise."""
        for side, more in (("", ""), ("-right", ", orb_true_r"))
    },
    "nonneg-offset": "here. apply Laws.nonneg_add; known.",
    "pos-offset": "here. apply Laws.pos_add_right; known.",
    "finite-left": f"""here. {LEFT}
  pose proof (max_above _ _ (fun i => eta 0 f (upd p (r 0) i)) i Hi) as above. cbv beta in above. unfold Max in above.
  revert P1 above. generalize (eta 0 f (upd p (r 0) i)).
  generalize (reduce max absent (seq 0 (ends f (r 0))) (fun i => eta 0 f (upd p (r 0) i))). clear. pointwise.""",
    "pos-left": f"""here. {LEFT}
  apply (sum_above _ _ _ i); [intros j _; generalize (eta 0 f (upd p (r 0) j)); pointwise | exact Hi |].
  revert P1. generalize (eta 0 f (upd p (r 0) i)). clear. pointwise.""",
    "safe-difference": "here. apply Laws.safe_difference; [apply good | known].",
    "zero-sum": """here. apply zero_total. intros i Hi. rewrite <- (free_upd _ _ f p i P2).
      exact (P1 f _ B (valid_in f p _ i V Hi)).""",
    "skip-max": "here. apply Laws.skip_max. lanes.",
    "skip-sum": "here. apply Laws.skip_sum. lanes.",
    "sum-add": "here. apply Laws.sum_add.",
    "sum-neg": "here. apply Laws.sum_neg.",
    "squares-about": """here. freed P1. etransitivity; [apply Laws.squares_about |].
  - intros i Hi. exact (P2 f (upd p (r 0) i) B (valid_in f p _ i V Hi)).
  - exact (P3 f p B V).
  - unfold size. rewrite seq_length. reflexivity.""",
    "squares-about-where": """here. freed P1.
  apply (Laws.squares_about_where _ _ _ (fun i => truth (eta 1 f (upd p (r 0) i)))).
  - intros i Hi. exact (P2 f (upd p (r 0) i) B (valid_in f p _ i V Hi)).
  - exact (P3 f p B V).""",
    "distribute": "here. freed P1. apply Laws.distribute. some.",
    "distribute-present": "here. freed P1. apply Laws.distribute_present. known.",
    "sum-constant": """here. freed P1. etransitivity; [apply Laws.sum_constant; some |]. unfold size.
      rewrite seq_length. reflexivity.""",
    "sum-constant-present": """here. freed P1. etransitivity; [apply Laws.sum_constant_present; known |]. unfold size.
      rewrite seq_length. reflexivity.""",
    "max-shift": "here. freed P1. apply Laws.max_shift.",
    "max-scale": "here. freed P1. apply Laws.max_scale. known.",
    "where-not-lt": "here. unfold lt. rewrite negb_involutive. reflexivity.",
    "where-not-le": "here. reflexivity.",
    "sum-where": "here. freed P1. apply Laws.sum_where.",
    **{
        f"{fold}-masked": f"here. apply (Laws.{fold}_masked _ _ _ (fun i => truth (eta 1 f (upd p (r 0) i))))."
        for fold in ("sum", "prod")
    },
    **dict.fromkeys(
        ("run-at-most", "run-below"),
        "here. there 1 f p. there 2 f p. there 3 f p. there 4 f p. destruct (eta 0 f p); pointwise.",
    ),
    "sum-runs": """here. freed P1. freed P2. specialize (P3 f p B V). revert P3. there 1 f p. there 2 f p. intro P3.
  repeat setoid_rewrite (@upd_same nat). repeat setoid_rewrite truth_bool. prefixed. exact (sum_before _ _ _ _ P3).""",
    "where-after": "here. there 2 f p. there 3 f p. destruct (eta 0 f p), (eta 1 f p); pointwise.",
    "in-stretch": "here. exact (P1 f p B V).",
    "in-runs": """here. freed P2. freed P3. specialize (P4 f p B V). specialize (P5 f p B V). cbv beta in P4. revert P5.
      there 1 f p. there 2 f p. intro P5.
  repeat setoid_rewrite (@upd_same nat). repeat setoid_rewrite truth_bool.
  match goal with |- choice ?c _ _ = _ => destruct c eqn:J; [| reflexivity] end. cbn [choice].
  etransitivity; [apply f_equal, (sum_beyond _ _ _ P5 J) |].
  destruct (eta 0 f p); [simpl; f_equal; lra | discriminate].""",
    "join-stretches": """here. freed P2. freed P3. destruct (Nat.eq_dec (r 0) (r 1)) as [E | D].
  - rewrite E in *. setoid_rewrite (@upd_twice nat). apply reduce_ext. intros i _.
    apply (reduce_one add (Some 0%R) add_0 add_comm nat _ (fun j => truth (eta 1 f (upd p (r 1) j)))).
    exact (P1 f p B V).
  - setoid_rewrite (fun i j => upd_swap p (r 0) (r 1) i j D). symmetry.
    apply (reduce_split add (Some 0%R) add_0 add_comm add_assoc nat nat _ _
      (fun j i => truth (eta 1 f (upd (upd p (r 1) i) (r 0) j))) (fun _ => eta 0 f p)).
    intros i Hi. exact (P1 f (upd p (r 1) i) B (valid_in f p _ i V Hi)).""",
    "rebase": """here. freed P2.
  apply (sum_relative _ _ (fun i => choice (truth (eta 2 f (upd p (r 1) i))) (eta 0 f (upd p (r 1) i)) absent)
    (fun i => eta 1 f (upd p (r 1) i))). intros i Hi none. exact (max_none _ _ _ i none Hi).""",
    "rebase-bare": """here. freed P2.
  apply (sum_relative_bare _ _ (fun i => choice (truth (eta 1 f (upd p (r 1) i))) (eta 0 f (upd p (r 1) i)) absent)).
  intros i Hi none. exact (max_none _ _ _ i none Hi).""",
    "skip-online": """streaming. intros f p B V. simpl. destruct good as (_ & concats & filled & _).
  rewrite (run_same _ (eta 0) (eta 0) _ (eta 1) (eta 2) f (ends f (r 0))); auto; [apply concats |].
  intros k l q Vq K In_. plain. symmetry. apply (reduce_filter add (Some 0%R) add_0). intros i Hi. apply or_eq.
  apply (P1 (cut f (r 0) k) (upd q (r 0) i)); [apply base_cut; auto; apply Hstreamed; auto | apply valid_cut; auto].""",
    "rescale": """streaming. intros f p B V. simpl. plain. symmetry. apply carried_along; auto. intros q Vq.
  destruct (P1 (Hstreamed _ (or_introl eq_refl)) f q (base_drop m b f _ B) Vq) as [S1 S2].
  assert (Fi : ends f (r 0) <= full m (r 0)) by apply B. split.
  - intros k A K Z. simpl. rewrite Z. specialize (S1 k A ltac:(lia)). simpl in S1.
    destruct (eta 1 _ _); [simpl; f_equal; lra | contradiction].
  - intros n k A K L Z. simpl. rewrite Z, mul_comm, <- sum_factor by (apply seq_some; lia). apply sum_same. intros i Hi.
    apply in_seq in Hi. rewrite mul_comm. symmetry. apply S2; lia.""",
    "scales-local": """streaming. intros nF f p B V. destruct (P1 nF f p B V) as [S1 S2]. split; [exact S1 |].
      intros n k A i Hk L Hi. simpl in *.
  rewrite (S2 n k A i Hk L Hi). rewrite (local_cut _ _ f p k n i P2) by lia. rewrite <- !mul_assoc. f_equal.
    apply mul_comm.""",
    "scales-both": """streaming. intros nF f p B V. destruct (P1 nF f p B V) as [S1 S2].
      destruct (P2 nF f p B V) as [T1 T2]. simpl in *. split.
  - intros k A K. specialize (S1 k A K). specialize (T1 k A K). destruct (eta 2 _ _), (eta 3 _ _); simpl; congruence.
  - intros n k A i Hk L Hi. rewrite (S2 n k A i Hk L Hi), (T2 n k A i Hk L Hi).
      generalize (eta 0 (cut f (r 0) n) (upd p (r 0) i))
      (eta 1 (cut f (r 0) n) (upd p (r 0) i)) (eta 2 (moved f (r 0) n k A) (upd p (r 0) 0)) (eta 3 (moved f (r 0) n k
        A) (upd p (r 0) 0)). pointwise.""",
    "scales-exp": """streaming. intros nF f p B V. assert (Cl := Hshut 1 ltac:(vm_compute; tauto)). split.
  - intros k A K. simpl. destruct (add _ _); discriminate.
  - intros n k A i Hk L Hi. simpl. rewrite (local_cut _ _ f p k n i P1) by lia.
    rewrite (P3 (cut f (r 0) k) (upd p (r 0) i) (upd p (r 0) 0)) by (intros y Hy; rewrite !upd_other by exact Hy;
      reflexivity).
    rewrite (Cl (moved f (r 0) n k A) (cut f (r 0) k)) by reflexivity.
    rewrite (Cl (back (moved f (r 0) n k A)) (cut f (r 0) n)) by reflexivity. rewrite clamp_moved by exact V.
    assert (Le_ := P2 (cut f (r 0) n) (upd p (r 0) i) (base_without m b f (r 0) n B nF O ltac:(lia)) (valid_cut _ _ _
      _ _ V Hi)). simpl in Le_.
    rewrite (P3 (cut f (r 0) n) (upd p (r 0) i) (upd p (r 0) 0)) in * by (intros y Hy; rewrite !upd_other by exact Hy;
      reflexivity).
    revert Le_. generalize (eta 0 (cut f (r 0) n) (upd p (r 0) i)) (eta 1 (cut f (r 0) n) (upd p (r 0) 0)) (eta 1 (cut
      f (r 0) k) (upd p (r 0) 0)).
    pointwise; rewrite <- ?exp_plus; try f_equal; try f_equal; try ring.""",
    "scales-inv": """streaming. intros nF f p B V. set (x := r 0) in *.
  assert (Su : forall n, 0 < n <= full m x -> andb (lt absent (Sum (seq 0 n) (fun j => eta 0 (cut f x n) (upd p x j))))
    (negb (eq (Sum (seq 0 n) (fun j => eta 0 (cut f x n) (upd p x j))) (Some 0%R))) = true).
  { intros n K. assert (E := P2 (cut f x n) (upd p x 0) (base_without m b f x n B nF O K) (valid_cut _ _ _ _ _ V
    (proj1 K))). simpl in E.
    revert E. plain. rewrite upd_same. auto. }
  assert (Be : forall n k A, Sum (seq 0 (upd (ends f) x n x)) (fun j => eta 0 (back (moved f x n k A)) (upd (clamp
    (upd (ends f) x n) (upd p x 0)) x j))
    = Sum (seq 0 n) (fun j => eta 0 (cut f x n) (upd p x j))).
  { intros n k A. rewrite upd_same, clamp_moved by exact V. apply sum_same. intros j Hj. apply in_seq in Hj.
    rewrite upd_twice.
    apply P1; simpl; auto; [intros y _; reflexivity | |]; rewrite !upd_same; lia. }
  assert (No : forall n k A, Sum (seq 0 k) (fun j => eta 0 (moved f x n k A) (upd p x j)) = Sum (seq 0 k) (fun j =>
    eta 0 (cut f x k) (upd p x j))).
  { intros n k A. apply sum_same. intros j Hj. apply in_seq in Hj.
    apply P1; simpl; auto; [intros y _; reflexivity | |]; rewrite !upd_same; lia. }
  unfold Sum in Be, No, Su. split.
  - intros k A K. simpl. plain. rewrite Be, upd_same, No. specialize (Su k K). revert Su. simpl.
    generalize (reduce add (Some 0%R) (seq 0 k) (fun j => eta 0 (cut f x k) (upd p x j))).
      intros []; simpl; discriminate.
  - intros n k A i Hk L Hi. simpl. plain. rewrite Be, !upd_same, No. assert (Sn := Su n ltac:(lia)).
      assert (Sk := Su k ltac:(lia)).
    revert Sn Sk. generalize (reduce add (Some 0%R) (seq 0 k) (fun j => eta 0 (cut f x k) (upd p x j)))
      (reduce add (Some 0%R) (seq 0 n) (fun j => eta 0 (cut f x n) (upd p x j))). pointwise.""",
    "le-prev": """stated. intros f p B V. simpl. plain. assert (U : updating (r 0) f) by (apply B, Hwithin; simpl;
      auto).
  rewrite (reduce_ext _ _ (seq 0 (prev f (r 0))) _ (fun i => eta 0 f (upd p (r 0) i))); [apply max_longer; destruct U;
    lia |].
  intros i Hi. apply in_seq in Hi. rewrite clamp_updating by assumption. apply (local_before (r 0) _ f p i U P1).
    lia.""",
    "le-prev-larger": """stated. intros f p B V. simpl. plain.
      assert (U : updating (r 0) f) by (apply B, Hwithin; simpl; auto).
  rewrite (reduce_ext _ _ (seq 0 (prev f (r 0))) _ (fun i => eta 1 f (upd p (r 0) i))).
  2: { intros i Hi. apply in_seq in Hi. rewrite clamp_updating by assumption. apply (local_before (r 0) _ f p i U P1).
      lia. }
  assert (E : eta 0 (back f) (clamp (prev f) p) = eta 0 f p).
  { rewrite (P2 (back f) f (clamp (prev f) p)); [| | reflexivity | |].
    - apply P3. intros y N. unfold clamp. rewrite (proj1 U) by exact N. specialize (V y). lia.
    - intros y N. apply U. intro E. apply N. left. congruence.
    - unfold clamp. simpl. lia.
    - unfold clamp. destruct U. lia. }
  rewrite E. assert (L := max_longer (prev f (r 0)) (ends f (r 0)) (fun i => eta 1 f (upd p (r 0) i)) ltac:(destruct
    U; lia)).
  revert L. unfold Max. generalize (reduce max absent (seq 0 (prev f (r 0))) (fun i => eta 1 f (upd p (r 0) i)))
    (reduce max absent (seq 0 (ends f (r 0))) (fun i => eta 1 f (upd p (r 0) i))) (eta 0 f p). pointwise.""",
    "settled-size": "stated. intros nF f p B V k i K I_. reflexivity.",
    "settled-sum": """streaming. intros nF f p B V k i K I_. simpl. plain. rewrite upd_same.
  apply finite_total; [reflexivity | pointwise |]. intros j Hj. apply lane_in in Hj.
  apply P1; [apply base_without; auto; lia | apply valid_cut; auto].""",
    "settled-over": """streaming. intros nF f p B V k i K I_. simpl. plain. rewrite upd_other by congruence.
  apply finite_total; [reflexivity | pointwise |]. intros j Hj. rewrite (upd_swap p (r 0) (r 1) i j) by exact P3.
  apply (P1 nF f (upd p (r 1) j) B (valid_in f p _ j V Hj)); assumption.""",
    "settled-local": """streaming. intros nF f p B V k i K I_. assert (F1 : 0 < full m (r 0)) by apply good.
  rewrite (P2 (cut f (r 0) k) (upd p (r 0) i) (upd p (r 0) 0)) by (intros y Hy; rewrite !upd_other by exact Hy;
    reflexivity).
  simpl. rewrite (P1 (cut f (r 0) k) (cut f (r 0) 1)); [| apply near_cut | reflexivity | |]; try (rewrite upd_same;
    lia).
  apply P3; [apply base_without; auto; lia | apply valid_cut; auto].""",
    **{
        f"settled-{op}": """streaming. intros nF f p B V k i K I_. assert (A1 := P1 nF f p B V k i K I_).
  assert (A2 := P2 nF f p B V k i K I_). simpl in *. revert A1 A2.
  generalize (eta 0 (cut f (r 0) k) (upd p (r 0) i)) (eta 1 (cut f (r 0) k) (upd p (r 0) i)). pointwise."""
        for op in ("mul", "add")
    },
    "settled-inv": """streaming. intros nF f p B V k i K I_. assert (A1 := P1 nF f p B V k i K I_). simpl in *.
      revert A1.
  generalize (eta 0 (cut f (r 0) k) (upd p (r 0) i)). pointwise.""",
    "carry": """streaming. assert (nF := Hstreamed _ (or_introl eq_refl)). intros f p B V. simpl. plain. symmetry.
  apply carried_along; auto. intros q Vq. assert (Fi : ends f (r 0) <= full m (r 0)) by apply B.
  assert (M := P1 nF f q (base_drop m b f _ B) Vq). revert M. plain. intro M. setoid_rewrite one_right in M.
    simpl in M. split.
  - intros k A K Z. simpl. rewrite Z, M by lia. unfold Sum, reduce. simpl. f_equal. lra.
  - intros n k A K L Z. simpl. rewrite Z, M by lia.
    assert (S := present_sum m b f (r 0) n q (eta 0) B nF O ltac:(lia) Vq P3). revert S.
    generalize (Sum (seq 0 n) (fun i => eta 0 (cut f (r 0) n) (upd q (r 0) i))) (Sum (seq 0 n) (fun i => eta 0 (cut f
      (r 0) k) (upd q (r 0) i))).
    pointwise.""",
    "carry-weighted": """streaming. assert (nF := Hstreamed _ (or_introl eq_refl)). intros f p B V. simpl. plain.
      symmetry.
  apply (carried_along m good (r 0) (fun f p => mul (eta 0 f p) (eta 2 f p))); auto. intros q Vq.
  assert (Fi : ends f (r 0) <= full m (r 0)) by apply B. assert (M := P1 nF f q (base_drop m b f _ B) Vq). simpl in M.
    split.
  - intros k A K Z. simpl. rewrite Z, M by lia. unfold Sum, reduce. simpl. f_equal. lra.
  - intros n k A K L Z. simpl. rewrite Z, M by lia.
    rewrite (sum_same nat (seq 0 n) (fun i => mul (eta 0 (cut f (r 0) k) (upd q (r 0) i)) (eta 2 (cut f (r 0) k) (upd
      q (r 0) i)))
      (fun i => mul (eta 0 (cut f (r 0) k) (upd q (r 0) i)) (eta 2 (cut f (r 0) n) (upd q (r 0) i)))).
    2: { intros i Hi. apply lane_in in Hi. f_equal. apply (local_cut (r 0) _ f q k n i P3); lia. }
    assert (S := present_sum m b f (r 0) n q _ B nF O ltac:(lia) Vq (present_product m b _ _ P4 P5)). cbv beta in S.
      revert S.
    generalize (Sum (seq 0 n) (fun i => mul (eta 0 (cut f (r 0) n) (upd q (r 0) i)) (eta 2 (cut f (r 0) n) (upd q (r
      0) i))))
      (Sum (seq 0 n) (fun i => mul (eta 0 (cut f (r 0) k) (upd q (r 0) i)) (eta 2 (cut f (r 0) n) (upd q (r 0) i)))).
        pointwise.""",
    "carry-scaled": """streaming. assert (nF := Hstreamed _ (or_introl eq_refl)). intros f p B V. simpl. plain.
      symmetry.
  apply (carried_along m good (r 0) (fun f p => mul (eta 0 f p) (eta 3 f p))); auto. intros q Vq.
  assert (Fi : ends f (r 0) <= full m (r 0)) by apply B. assert (M := P1 nF f q (base_drop m b f _ B) Vq). simpl in M.
  destruct (P2 nF f q (base_drop m b f _ B) Vq) as [S1 S2]. simpl in S1, S2. split.
  - intros k A K Z. simpl. rewrite Z, M by lia. specialize (S1 k A ltac:(lia)). destruct (eta 1 _ _); [|contradiction].
    unfold Sum, reduce. simpl. f_equal. lra.
  - intros n k A K L Z. simpl. rewrite Z, M by lia.
    rewrite (sum_same nat (seq 0 n) (fun i => mul (eta 0 (cut f (r 0) k) (upd q (r 0) i)) (eta 3 (cut f (r 0) k) (upd
      q (r 0) i)))
      (fun i => mul (eta 1 (moved f (r 0) n k A) (upd q (r 0) 0))
        (mul (eta 0 (cut f (r 0) k) (upd q (r 0) i)) (eta 3 (cut f (r 0) n) (upd q (r 0) i))))).
    2: { intros i Hi. apply lane_in in Hi. rewrite (S2 n k A i K ltac:(lia) Hi).
      generalize (eta 0 (cut f (r 0) k) (upd q (r 0) i)) (eta 3 (cut f (r 0) n) (upd q (r 0) i)) (eta 1 (moved f (r 0)
        n k A) (upd q (r 0) 0)).
      pointwise. }
    rewrite sum_factor by (apply seq_some; lia).
    assert (S := present_sum m b f (r 0) n q _ B nF O ltac:(lia) Vq (present_product m b _ _ P5 P6)). cbv beta in S.
      revert S.
    generalize (Sum (seq 0 n) (fun i => mul (eta 0 (cut f (r 0) n) (upd q (r 0) i)) (eta 3 (cut f (r 0) n) (upd q (r
      0) i))))
      (Sum (seq 0 n) (fun i => mul (eta 0 (cut f (r 0) k) (upd q (r 0) i)) (eta 3 (cut f (r 0) n) (upd q (r 0) i))))
      (eta 1 (moved f (r 0) n k A) (upd q (r 0) 0)). pointwise.""",
}
for _monoid, (_op, _neutral, _unit) in MONOIDS.items():
    _commutative = f"{_op} {_neutral} {_op}_{_unit} {_op}_comm"
    PROOFS[f"local-reduce-{_monoid}"] = """stated. intros f f' p N I_ A A'. simpl. plain.
  rewrite (N (r 1)) by (intros [E | []]; congruence). apply reduce_ext. intros i _.
  apply P1; auto; rewrite upd_other by congruence; assumption."""
    PROOFS[f"fubini-{_monoid}"] = f"""here. setoid_rewrite (fun i j => upd_swap p (r 0) (r 1) i j P1).
  apply (reduce_swap {_commutative} {_op}_assoc)."""
    PROOFS[f"stream-{_monoid}"] = f"""here. rewrite <- (proj1 (proj2 good) (r 0) (ends f (r 0))).
  apply Laws.stream_{_monoid}; [reflexivity | apply good]."""
    PROOFS[f"split-{_monoid}"] = f"""here. destruct (Nat.eq_dec (r 0) (r 1)) as [E | D].
  - rewrite E in *. setoid_rewrite (@upd_twice nat). freed P2. apply reduce_ext. intros i _. symmetry.
    apply (reduce_one {_commutative} nat _ (fun i => truth (eta 1 f (upd p (r 1) i)))). exact (P1 f p B V).
  - setoid_rewrite (fun i j => upd_swap p (r 0) (r 1) i j D). freed P2.
    apply (reduce_split {_commutative} {_op}_assoc nat nat _ _
      (fun j i => truth (eta 1 f (upd (upd p (r 1) i) (r 0) j))) (fun i => eta 0 f (upd p (r 1) i))).
    intros i Hi. exact (P1 f (upd p (r 1) i) B (valid_in f p _ i V Hi))."""
    if _monoid != "max":
        PROOFS[f"finite-reduce-{_monoid}"] = "here. apply finite_total; [reflexivity | pointwise | lanes]."
    if _monoid != "max":
        PROOFS[f"scan-in-runs-{_monoid}"] = """here. prefixed.
  apply (scan_in_runs f p (r 2) (r 0) (r 1) ltac:(filled_axis) P5 (V _)); pointwise || assumption."""
    PROOFS[f"finite-scan-{_monoid}"] = "here. prefixed. apply finite_total; [reflexivity | pointwise | prefix]."
PROOFS["finite-scan-max"] = "here. prefixed. apply Laws.finite_reduce_max; [discriminate | prefix]."
PROOFS["nonneg-scan"] = "here. prefixed. apply nonneg_total. prefix."
for _sign in ("finite", "nonneg"):
    PROOFS[f"{_sign}-recur"] = """here. apply recur_every; [pointwise |]. intros h i Hh Hi.
  assert (W : valid f (upd p (r 0) i)) by (apply valid_low; [exact V | pose proof (V (r 0)); lia]).
  generalize (P1 f _ B W) (P2 f _ B W). revert Hh. simpl.
  generalize (eta 0 f (upd p (r 0) i)) (eta 1 f (upd p (r 0) i)). pointwise."""
PROOFS["recur-sum"] = "here. prefixed. apply recur_ones."
PROOFS["recur-factor"] = """here. etransitivity; [apply recur_ext; [reflexivity |] | apply recur_scaled]. intros i _.
  cbv beta. rewrite (free_upd _ _ f p i P1). reflexivity."""
PROOFS[
    "sum-scan"
] = """here. prefixed. transitivity (Sum (seq 0 (ends f (r 1))) (fun j => Sum (seq 0 (Datatypes.S (p (r 0)))) (fun i =>
    eta 0 f (upd (upd p (r 0) i) (r 1) j)))).
  - apply reduce_ext. intros j _. rewrite upd_other by congruence. prefixed. apply reduce_ext. intros i _.
    rewrite (upd_swap p (r 1) (r 0) j i) by congruence. reflexivity.
  - apply (reduce_swap add (Some 0%R) add_0 add_comm add_assoc)."""
PROOFS[
    "sum-recur"
] = """here. transitivity (Sum (seq 0 (ends f (r 1))) (fun j => recur (fun i => eta 0 f (upd p (r 0) i))
    (fun i => eta 1 f (upd (upd p (r 0) i) (r 1) j)) (Datatypes.S (p (r 0))))).
  - apply reduce_ext. intros j _. rewrite upd_other by congruence.
    apply recur_ext; intros i _; rewrite (upd_swap p (r 1) (r 0) j i) by congruence;
      [apply (free_upd _ _ f _ j P1) | reflexivity].
  - apply (sum_of_recur (seq 0 (ends f (r 1))) _ (fun j i => eta 1 f (upd (upd p (r 0) i) (r 1) j))). intros i Hi.
    apply (P2 f _ B). apply valid_low; [exact V | pose proof (V (r 0)); lia]."""
PROOFS["finite-reduce-max"] = "here. apply Laws.finite_reduce_max; [some | lanes]."
PROOFS["recur-in-runs"] = """here. prefixed.
  apply (recurs_in_runs f p (r 2) (r 0) (r 1) ltac:(filled_axis) P7 (V _)); [filled_axis | assumption ..]."""
for _op in ("add", "mul", "max", "min"):
    PROOFS[f"read-both-{_op}"] = "here. reflexivity."
    PROOFS[f"read-second-{_op}"] = "here. freed P1. reflexivity."
PROOFS["read-before"] = """here. freed P1. assert (N : 0 < ends f (r 0)) by filled_axis.
  rewrite (nearest _ _ (proj1 (Hsort Int 2 ltac:(vm_compute; tauto)) f p) N), upd_same. reflexivity."""
PROOFS["read-back"] = """here. assert (K : 0 < ends f (r 2)) by filled_axis.
  assert (N : 0 < ends f (r 1)) by filled_axis.
  repeat rewrite ?(upd_other _ (r 1) (r 2)), ?upd_same by exact P3.
  rewrite <- mult_INR, <- plus_INR, lt_of_INR, whole_INR.
  destruct (Nat.ltb_spec (p (r 0) * ends f (r 1) + p (r 1)) (ends f (r 2))) as [L | L]; [| reflexivity]. cbn [choice].
  rewrite Nat.min_l, (whole_div _ _ N), (whole_mod _ _ N), !whole_INR by lia.
  pose proof (V (r 0)). pose proof (V (r 1)).
  rewrite Nat.div_add_l, Nat.div_small, Nat.add_0_r, (Nat.add_comm (_ * _)), Nat.mod_add, Nat.mod_small by lia.
  rewrite !Nat.min_l by lia. apply P1. intros y Y. unfold upd.
  destruct (Nat.eqb_spec y (r 0)), (Nat.eqb_spec y (r 1)), (Nat.eqb_spec y (r 2)); congruence."""
PROOFS["read-sum"] = """here. freed P1. apply reduce_ext. intros j _.
  rewrite (upd_swap p (r 0) (r 1)) by congruence. reflexivity."""
