(* Laws over embedded terms, each true in frames, written from their statements by
   `napkin-eq prove --write`:
   change nothing here. *)

Require Import Reals List Lia Lra Bool Arith ZArith QArith Qreals FunctionalExtensionality.
Require Import Values Language Terms Frames Checker Deep.
Require Laws.
Import ListNotations.
Open Scope nat_scope.

Section All.
Variable g : context.
Variable m : model.
Hypothesis good : possible m.
Notation true_law := (true_law g m).

Definition settled_sum_law : law := {|
  conclusion := (Settled 0 (Reduce MSum 0 (Var Real 0) (Const Bool (Some ((1)%Z # 1)))));
  premises := [(Finite (Var Real 0))];
  lanes := [] |}.
Lemma settled_sum_true : true_law settled_sum_law.
Proof. streaming. intros nF f p B V k i K I_. simpl. plain. rewrite upd_same.
  apply finite_total; [reflexivity | pointwise |]. intros j Hj. apply lane_in in Hj.
  apply P1; [apply base_without; auto; lia | apply valid_cut; auto]. Qed.

Definition settled_over_law : law := {|
  conclusion := (Settled 0 (Reduce MSum 1 (Var Real 0) (Const Bool (Some ((1)%Z # 1)))));
  premises := [(Settled 0 (Var Real 0)); (Free 0 (Var Real 0)); (Distinct 0 1)];
  lanes := [] |}.
Lemma settled_over_true : true_law settled_over_law.
Proof. streaming. intros nF f p B V k i K I_. simpl. plain. rewrite upd_other by congruence.
  apply finite_total; [reflexivity | pointwise |]. intros j Hj. rewrite (upd_swap p (r 0) (r 1) i j) by exact P3.
  apply (P1 nF f (upd p (r 1) j) B (valid_in f p _ j V Hj)); assumption. Qed.

Definition settled_size_law : law := {|
  conclusion := (Settled 0 (Un ToReal (Size 0)));
  premises := [];
  lanes := [] |}.
Lemma settled_size_true : true_law settled_size_law.
Proof. stated. intros nF f p B V k i K I_. reflexivity. Qed.

Definition settled_local_law : law := {|
  conclusion := (Settled 0 (Var Real 0));
  premises := [(Local 0 (Var Real 0)); (Free 0 (Var Real 0)); (Finite (Var Real 0))];
  lanes := [] |}.
Lemma settled_local_true : true_law settled_local_law.
Proof. streaming. intros nF f p B V k i K I_. assert (F1 : 0 < full m (r 0)) by apply good.
  rewrite (P2 (cut f (r 0) k) (upd p (r 0) i) (upd p (r 0) 0)) by (intros y Hy; rewrite !upd_other by exact Hy;
    reflexivity).
  simpl. rewrite (P1 (cut f (r 0) k) (cut f (r 0) 1)); [| apply near_cut | reflexivity | |]; try (rewrite upd_same;
    lia).
  apply P3; [apply base_without; auto; lia | apply valid_cut; auto]. Qed.

Definition settled_mul_law : law := {|
  conclusion := (Settled 0 (Bin Mul (Var Real 0) (Var Real 1)));
  premises := [(Settled 0 (Var Real 0)); (Settled 0 (Var Real 1)); (Free 0 (Var Real 0)); (Free 0 (Var Real 1))];
  lanes := [] |}.
Lemma settled_mul_true : true_law settled_mul_law.
Proof. streaming. intros nF f p B V k i K I_. assert (A1 := P1 nF f p B V k i K I_).
  assert (A2 := P2 nF f p B V k i K I_). simpl in *. revert A1 A2.
  generalize (eta 0 (cut f (r 0) k) (upd p (r 0) i)) (eta 1 (cut f (r 0) k) (upd p (r 0) i)). pointwise. Qed.

Definition settled_add_law : law := {|
  conclusion := (Settled 0 (Bin Add (Var Real 0) (Var Real 1)));
  premises := [(Settled 0 (Var Real 0)); (Settled 0 (Var Real 1)); (Free 0 (Var Real 0)); (Free 0 (Var Real 1))];
  lanes := [] |}.
Lemma settled_add_true : true_law settled_add_law.
Proof. streaming. intros nF f p B V k i K I_. assert (A1 := P1 nF f p B V k i K I_).
  assert (A2 := P2 nF f p B V k i K I_). simpl in *. revert A1 A2.
  generalize (eta 0 (cut f (r 0) k) (upd p (r 0) i)) (eta 1 (cut f (r 0) k) (upd p (r 0) i)). pointwise. Qed.

Definition settled_inv_law : law := {|
  conclusion := (Settled 0 (Un Inv (Var Real 0)));
  premises := [(Settled 0 (Var Real 0)); (Free 0 (Var Real 0))];
  lanes := [] |}.
Lemma settled_inv_true : true_law settled_inv_law.
Proof. streaming. intros nF f p B V k i K I_. assert (A1 := P1 nF f p B V k i K I_). simpl in *.
      revert A1.
  generalize (eta 0 (cut f (r 0) k) (upd p (r 0) i)). pointwise. Qed.

Definition carry_law : law := {|
  conclusion := (Equal (Reduce MSum 0 (Var Real 0) (Const Bool (Some ((1)%Z # 1)))) (Online false 0 (Var Real 0) (Const Bool (Some ((1)%Z # 1))) (Bin Add (Acc) (Var Real 1))));
  premises := [(Moves 0 (Var Real 0) (Const Real (Some ((10)%Z # 10))) (Var Real 1)); (Free 0 (Var Real 1)); (Finite (Var Real 0))];
  lanes := [] |}.
Lemma carry_true : true_law carry_law.
Proof. streaming. assert (nF := Hstreamed _ (or_introl eq_refl)). intros f p B V. simpl. plain. symmetry.
  apply carried_along; auto. intros q Vq. assert (Fi : ends f (r 0) <= full m (r 0)) by apply B.
  assert (M := P1 nF f q (base_drop m b f _ B) Vq). revert M. plain. intro M. setoid_rewrite one_right in M.
    simpl in M. split.
  - intros k A K Z. simpl. rewrite Z, M by lia. unfold Sum, reduce. simpl. f_equal. lra.
  - intros n k A K L Z. simpl. rewrite Z, M by lia.
    assert (S := present_sum m b f (r 0) n q (eta 0) B nF O ltac:(lia) Vq P3). revert S.
    generalize (Sum (seq 0 n) (fun i => eta 0 (cut f (r 0) n) (upd q (r 0) i))) (Sum (seq 0 n) (fun i => eta 0 (cut f
      (r 0) k) (upd q (r 0) i))).
    pointwise. Qed.

Definition carry_weighted_law : law := {|
  conclusion := (Equal (Reduce MSum 0 (Bin Mul (Var Real 0) (Var Real 2)) (Const Bool (Some ((1)%Z # 1)))) (Online false 0 (Bin Mul (Var Real 0) (Var Real 2)) (Const Bool (Some ((1)%Z # 1))) (Bin Add (Acc) (Var Real 1))));
  premises := [(Moves 0 (Var Real 0) (Var Real 2) (Var Real 1)); (Free 0 (Var Real 1)); (Local 0 (Var Real 2)); (Finite (Var Real 0)); (Finite (Var Real 2))];
  lanes := [] |}.
Lemma carry_weighted_true : true_law carry_weighted_law.
Proof. streaming. assert (nF := Hstreamed _ (or_introl eq_refl)). intros f p B V. simpl. plain.
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
        pointwise. Qed.

Definition carry_scaled_law : law := {|
  conclusion := (Equal (Reduce MSum 0 (Bin Mul (Var Real 0) (Var Real 3)) (Const Bool (Some ((1)%Z # 1)))) (Online false 0 (Bin Mul (Var Real 0) (Var Real 3)) (Const Bool (Some ((1)%Z # 1))) (Bin Mul (Bin Add (Acc) (Var Real 2)) (Var Real 1))));
  premises := [(Moves 0 (Var Real 0) (Var Real 3) (Var Real 2)); (Scales 0 (Var Real 3) (Var Real 1)); (Free 0 (Var Real 2)); (Free 0 (Var Real 1)); (Finite (Var Real 0)); (Finite (Var Real 3))];
  lanes := [] |}.
Lemma carry_scaled_true : true_law carry_scaled_law.
Proof. streaming. assert (nF := Hstreamed _ (or_introl eq_refl)). intros f p B V. simpl. plain.
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
      (eta 1 (moved f (r 0) n k A) (upd q (r 0) 0)). pointwise. Qed.

Definition exp_add_law : law := {|
  conclusion := (Equal (Un Exp (Bin Add (Var Real 0) (Var Real 1))) (Bin Mul (Un Exp (Var Real 0)) (Un Exp (Var Real 1))));
  premises := [];
  lanes := [] |}.
Lemma exp_add_true : true_law exp_add_law.
Proof. here. apply Laws.exp_add; known. Qed.

Definition exp_neg_law : law := {|
  conclusion := (Equal (Un Exp (Un Neg (Var Real 0))) (Un Inv (Un Exp (Var Real 0))));
  premises := [];
  lanes := [] |}.
Lemma exp_neg_true : true_law exp_neg_law.
Proof. here. apply Laws.exp_neg; known. Qed.

Definition log_mul_law : law := {|
  conclusion := (Equal (Un Log (Bin Mul (Var Real 0) (Var Real 1))) (Bin Add (Un Log (Var Real 0)) (Un Log (Var Real 1))));
  premises := [(Nonneg (Var Real 0)); (Nonneg (Var Real 1))];
  lanes := [] |}.
Lemma log_mul_true : true_law log_mul_law.
Proof. here. apply Laws.log_mul; known. Qed.

Definition log_inv_law : law := {|
  conclusion := (Equal (Un Log (Un Inv (Var Real 0))) (Un Neg (Un Log (Var Real 0))));
  premises := [(Nonneg (Var Real 0))];
  lanes := [] |}.
Lemma log_inv_true : true_law log_inv_law.
Proof. here. apply Laws.log_inv; known. Qed.

Definition log_exp_law : law := {|
  conclusion := (Equal (Un Log (Un Exp (Var Real 0))) (Var Real 0));
  premises := [];
  lanes := [] |}.
Lemma log_exp_true : true_law log_exp_law.
Proof. here. apply Laws.log_exp; known. Qed.

Definition exp_log_law : law := {|
  conclusion := (Equal (Un Exp (Un Log (Var Real 0))) (Var Real 0));
  premises := [(Nonneg (Var Real 0))];
  lanes := [] |}.
Lemma exp_log_true : true_law exp_log_law.
Proof. here. apply Laws.exp_log; known. Qed.

Definition root_squared_law : law := {|
  conclusion := (Equal (Bin Mul (Un Sqrt (Var Real 0)) (Un Sqrt (Var Real 0))) (Var Real 0));
  premises := [(Nonneg (Var Real 0))];
  lanes := [] |}.
Lemma root_squared_true : true_law root_squared_law.
Proof. here. apply Laws.root_squared; known. Qed.

Definition shift_law : law := {|
  conclusion := (Equal (Reduce MSum 0 (Un Exp (Var Real 0)) (Const Bool (Some ((1)%Z # 1)))) (Bin Mul (Un Exp (Reduce MMax 0 (Var Real 0) (Const Bool (Some ((1)%Z # 1))))) (Reduce MSum 0 (Un Exp (Bin Add (Var Real 0) (Un Neg (Reduce MMax 0 (Var Real 0) (Const Bool (Some ((1)%Z # 1))))))) (Const Bool (Some ((1)%Z # 1))))));
  premises := [];
  lanes := [] |}.
Lemma shift_true : true_law shift_law.
Proof. here. apply Laws.shift. Qed.

Definition shift_weighted_law : law := {|
  conclusion := (Equal (Reduce MSum 0 (Bin Mul (Un Exp (Var Real 0)) (Var Real 1)) (Const Bool (Some ((1)%Z # 1)))) (Bin Mul (Un Exp (Reduce MMax 0 (Var Real 0) (Const Bool (Some ((1)%Z # 1))))) (Reduce MSum 0 (Bin Mul (Un Exp (Bin Add (Var Real 0) (Un Neg (Reduce MMax 0 (Var Real 0) (Const Bool (Some ((1)%Z # 1))))))) (Var Real 1)) (Const Bool (Some ((1)%Z # 1))))));
  premises := [];
  lanes := [] |}.
Lemma shift_weighted_true : true_law shift_weighted_law.
Proof. here. apply Laws.shift_weighted. Qed.

Definition exp_over_law : law := {|
  conclusion := (Equal (Bin Mul (Un Exp (Var Real 0)) (Un Inv (Var Real 1))) (Un Exp (Bin Add (Var Real 0) (Un Neg (Un Log (Var Real 1))))));
  premises := [(Nonneg (Var Real 1))];
  lanes := [] |}.
Lemma exp_over_true : true_law exp_over_law.
Proof. here. apply Laws.exp_over; known. Qed.

Definition nonneg_exp_law : law := {|
  conclusion := (Nonneg (Un Exp (Var Real 0)));
  premises := [];
  lanes := [] |}.
Lemma nonneg_exp_true : true_law nonneg_exp_law.
Proof. here. apply Laws.nonneg_exp; known. Qed.

Definition pos_exp_law : law := {|
  conclusion := (Pos (Un Exp (Var Real 0)));
  premises := [(Finite (Var Real 0))];
  lanes := [] |}.
Lemma pos_exp_true : true_law pos_exp_law.
Proof. here. apply Laws.pos_exp; known. Qed.

Definition pos_size_law : law := {|
  conclusion := (Pos (Un ToReal (Size 0)));
  premises := [];
  lanes := [0] |}.
Lemma pos_size_true : true_law pos_size_law.
Proof. here. pose proof (proj1 (proj2 B) (r 0) (Hlanes _ (or_introl eq_refl))) as L. apply lt_INR in L.
      simpl in L. unfold lt, le. destruct Rle_dec; simpl; [lra | reflexivity]. Qed.

Definition nonneg_size_law : law := {|
  conclusion := (Nonneg (Un ToReal (Size 0)));
  premises := [];
  lanes := [] |}.
Lemma nonneg_size_true : true_law nonneg_size_law.
Proof. here. pose proof (pos_INR (ends f (r 0))) as L. unfold le. destruct Rle_dec; [reflexivity | lra]. Qed.

Definition nonneg_square_law : law := {|
  conclusion := (Nonneg (Bin Mul (Var Real 0) (Var Real 0)));
  premises := [(Finite (Var Real 0))];
  lanes := [] |}.
Lemma nonneg_square_true : true_law nonneg_square_law.
Proof. here. apply Laws.nonneg_square; known. Qed.

Definition nonneg_abs_law : law := {|
  conclusion := (Nonneg (Un Abs (Var Real 0)));
  premises := [(Finite (Var Real 0))];
  lanes := [] |}.
Lemma nonneg_abs_true : true_law nonneg_abs_law.
Proof. here. apply Laws.nonneg_abs; known. Qed.

Definition pos_sigmoid_law : law := {|
  conclusion := (Pos (Un Sigmoid (Var Real 0)));
  premises := [(Finite (Var Real 0))];
  lanes := [] |}.
Lemma pos_sigmoid_true : true_law pos_sigmoid_law.
Proof. here. apply Laws.pos_sigmoid; known. Qed.

Definition pos_mul_law : law := {|
  conclusion := (Pos (Bin Mul (Var Real 0) (Var Real 1)));
  premises := [(Pos (Var Real 0)); (Pos (Var Real 1))];
  lanes := [] |}.
Lemma pos_mul_true : true_law pos_mul_law.
Proof. here. apply Laws.pos_mul; known. Qed.

Definition nonneg_mul_law : law := {|
  conclusion := (Nonneg (Bin Mul (Var Real 0) (Var Real 1)));
  premises := [(Nonneg (Var Real 0)); (Nonneg (Var Real 1))];
  lanes := [] |}.
Lemma nonneg_mul_true : true_law nonneg_mul_law.
Proof. here. apply Laws.nonneg_mul; known. Qed.

Definition pos_add_law : law := {|
  conclusion := (Pos (Bin Add (Var Real 0) (Var Real 1)));
  premises := [(Pos (Var Real 0)); (Nonneg (Var Real 1))];
  lanes := [] |}.
Lemma pos_add_true : true_law pos_add_law.
Proof. here. apply Laws.pos_add; known. Qed.

Definition pos_add_right_law : law := {|
  conclusion := (Pos (Bin Add (Var Real 0) (Var Real 1)));
  premises := [(Nonneg (Var Real 0)); (Pos (Var Real 1))];
  lanes := [] |}.
Lemma pos_add_right_true : true_law pos_add_right_law.
Proof. here. apply Laws.pos_add_right; known. Qed.

Definition nonneg_add_law : law := {|
  conclusion := (Nonneg (Bin Add (Var Real 0) (Var Real 1)));
  premises := [(Nonneg (Var Real 0)); (Nonneg (Var Real 1))];
  lanes := [] |}.
Lemma nonneg_add_true : true_law nonneg_add_law.
Proof. here. apply Laws.nonneg_add; known. Qed.

Definition pos_inv_law : law := {|
  conclusion := (Pos (Un Inv (Var Real 0)));
  premises := [(Pos (Var Real 0))];
  lanes := [] |}.
Lemma pos_inv_true : true_law pos_inv_law.
Proof. here. apply Laws.pos_inv; known. Qed.

Definition nonneg_inv_law : law := {|
  conclusion := (Nonneg (Un Inv (Var Real 0)));
  premises := [(Nonneg (Var Real 0))];
  lanes := [] |}.
Lemma nonneg_inv_true : true_law nonneg_inv_law.
Proof. here. apply Laws.nonneg_inv; known. Qed.

Definition pos_sqrt_law : law := {|
  conclusion := (Pos (Un Sqrt (Var Real 0)));
  premises := [(Pos (Var Real 0))];
  lanes := [] |}.
Lemma pos_sqrt_true : true_law pos_sqrt_law.
Proof. here. apply Laws.pos_sqrt; known. Qed.

Definition pos_sum_law : law := {|
  conclusion := (Pos (Reduce MSum 0 (Var Real 0) (Const Bool (Some ((1)%Z # 1)))));
  premises := [(Pos (Var Real 0))];
  lanes := [0] |}.
Lemma pos_sum_true : true_law pos_sum_law.
Proof. here. apply Laws.pos_sum; [some | lanes]. Qed.

Definition nonneg_sum_law : law := {|
  conclusion := (Nonneg (Reduce MSum 0 (Var Real 0) (Const Bool (Some ((1)%Z # 1)))));
  premises := [(Nonneg (Var Real 0))];
  lanes := [] |}.
Lemma nonneg_sum_true : true_law nonneg_sum_law.
Proof. here. apply nonneg_total. lanes. Qed.

Definition finite_add_law : law := {|
  conclusion := (Finite (Bin Add (Var Real 0) (Var Real 1)));
  premises := [(Finite (Var Real 0)); (Finite (Var Real 1))];
  lanes := [] |}.
Lemma finite_add_true : true_law finite_add_law.
Proof. here. apply Laws.finite_add; known. Qed.

Definition finite_mul_law : law := {|
  conclusion := (Finite (Bin Mul (Var Real 0) (Var Real 1)));
  premises := [(Finite (Var Real 0)); (Finite (Var Real 1))];
  lanes := [] |}.
Lemma finite_mul_true : true_law finite_mul_law.
Proof. here. apply Laws.finite_mul; known. Qed.

Definition finite_max_law : law := {|
  conclusion := (Finite (Bin BMax (Var Real 0) (Var Real 1)));
  premises := [(Finite (Var Real 0))];
  lanes := [] |}.
Lemma finite_max_true : true_law finite_max_law.
Proof. here. apply Laws.finite_max; known. Qed.

Definition finite_max_right_law : law := {|
  conclusion := (Finite (Bin BMax (Var Real 0) (Var Real 1)));
  premises := [(Finite (Var Real 1))];
  lanes := [] |}.
Lemma finite_max_right_true : true_law finite_max_right_law.
Proof. here. apply Laws.finite_max_right; known. Qed.

Definition finite_min_law : law := {|
  conclusion := (Finite (Bin BMin (Var Real 0) (Var Real 1)));
  premises := [(Finite (Var Real 0)); (Finite (Var Real 1))];
  lanes := [] |}.
Lemma finite_min_true : true_law finite_min_law.
Proof. here. apply Laws.finite_min; known. Qed.

Definition finite_where_law : law := {|
  conclusion := (Finite (Where (Var Bool 2) (Var Real 0) (Var Real 1)));
  premises := [(Finite (Var Real 0)); (Finite (Var Real 1))];
  lanes := [] |}.
Lemma finite_where_true : true_law finite_where_law.
Proof. here. apply Laws.finite_where; known. Qed.

Definition finite_exp_law : law := {|
  conclusion := (Finite (Un Exp (Var Real 0)));
  premises := [];
  lanes := [] |}.
Lemma finite_exp_true : true_law finite_exp_law.
Proof. here. apply Laws.finite_exp; known. Qed.

Definition finite_log_law : law := {|
  conclusion := (Finite (Un Log (Var Real 0)));
  premises := [(Pos (Var Real 0))];
  lanes := [] |}.
Lemma finite_log_true : true_law finite_log_law.
Proof. here. apply Laws.finite_log; known. Qed.

Definition finite_reduce_sum_law : law := {|
  conclusion := (Finite (Reduce MSum 0 (Var Real 0) (Const Bool (Some ((1)%Z # 1)))));
  premises := [(Finite (Var Real 0))];
  lanes := [] |}.
Lemma finite_reduce_sum_true : true_law finite_reduce_sum_law.
Proof. here. apply finite_total; [reflexivity | pointwise | lanes]. Qed.

Definition finite_reduce_max_law : law := {|
  conclusion := (Finite (Reduce MMax 0 (Var Real 0) (Const Bool (Some ((1)%Z # 1)))));
  premises := [(Finite (Var Real 0))];
  lanes := [0] |}.
Lemma finite_reduce_max_true : true_law finite_reduce_max_law.
Proof. here. apply Laws.finite_reduce_max; [some | lanes]. Qed.

Definition finite_reduce_prod_law : law := {|
  conclusion := (Finite (Reduce MProd 0 (Var Real 0) (Const Bool (Some ((1)%Z # 1)))));
  premises := [(Finite (Var Real 0))];
  lanes := [] |}.
Lemma finite_reduce_prod_true : true_law finite_reduce_prod_law.
Proof. here. apply finite_total; [reflexivity | pointwise | lanes]. Qed.

Definition le_max_law : law := {|
  conclusion := (AtMost (Var Real 0) (Reduce MMax 0 (Var Real 0) (Const Bool (Some ((1)%Z # 1)))));
  premises := [];
  lanes := [0] |}.
Lemma le_max_true : true_law le_max_law.
Proof. here. rewrite <- (upd_own p (r 0)) at 1. apply (max_above _ _ (fun i => eta 0 f (upd p (r 0) i))).
      apply in_seq. pose proof (proj1 (proj2 B) (r 0) (Hlanes _ (or_introl eq_refl))). specialize (V (r 0)). lia. Qed.

Definition le_larger_law : law := {|
  conclusion := (AtMost (Var Real 0) (Bin BMax (Var Real 1) (Var Real 2)));
  premises := [(AtMost (Var Real 0) (Var Real 1))];
  lanes := [] |}.
Lemma le_larger_true : true_law le_larger_law.
Proof. here. apply Laws.le_larger; known. Qed.

Definition le_where_law : law := {|
  conclusion := (AtMost (Where (Var Bool 2) (Var Real 0) (Const Real None)) (Var Real 1));
  premises := [(AtMost (Var Real 0) (Var Real 1))];
  lanes := [] |}.
Lemma le_where_true : true_law le_where_law.
Proof. here. apply Laws.le_where; known. Qed.

Definition le_mul_law : law := {|
  conclusion := (AtMost (Bin Mul (Var Real 0) (Var Real 2)) (Bin Mul (Var Real 1) (Var Real 2)));
  premises := [(AtMost (Var Real 0) (Var Real 1)); (Pos (Var Real 2))];
  lanes := [] |}.
Lemma le_mul_true : true_law le_mul_law.
Proof. here. apply Laws.le_mul; known. Qed.

Definition safe_difference_law : law := {|
  conclusion := (Safe (Bin Add (Var Real 0) (Un Neg (Var Real 1))));
  premises := [(AtMost (Var Real 0) (Var Real 1))];
  lanes := [] |}.
Lemma safe_difference_true : true_law safe_difference_law.
Proof. here. apply Laws.safe_difference; [apply good | known]. Qed.

Definition finite_neg_law : law := {|
  conclusion := (Finite (Un Neg (Var Real 0)));
  premises := [(Finite (Var Real 0))];
  lanes := [] |}.
Lemma finite_neg_true : true_law finite_neg_law.
Proof. here. specialize (P1 f p B V). simpl in P1. destruct (eta 0 f p); [reflexivity | discriminate]. Qed.

Definition finite_inv_law : law := {|
  conclusion := (Finite (Un Inv (Var Real 0)));
  premises := [(Finite (Var Real 0))];
  lanes := [] |}.
Lemma finite_inv_true : true_law finite_inv_law.
Proof. here. specialize (P1 f p B V). simpl in P1. destruct (eta 0 f p); [reflexivity | discriminate]. Qed.

Definition finite_sqrt_law : law := {|
  conclusion := (Finite (Un Sqrt (Var Real 0)));
  premises := [(Finite (Var Real 0))];
  lanes := [] |}.
Lemma finite_sqrt_true : true_law finite_sqrt_law.
Proof. here. specialize (P1 f p B V). simpl in P1. destruct (eta 0 f p); [reflexivity | discriminate]. Qed.

Definition finite_tanh_law : law := {|
  conclusion := (Finite (Un Tanh (Var Real 0)));
  premises := [(Finite (Var Real 0))];
  lanes := [] |}.
Lemma finite_tanh_true : true_law finite_tanh_law.
Proof. here. specialize (P1 f p B V). simpl in P1. destruct (eta 0 f p); [reflexivity | discriminate]. Qed.

Definition finite_sigmoid_law : law := {|
  conclusion := (Finite (Un Sigmoid (Var Real 0)));
  premises := [(Finite (Var Real 0))];
  lanes := [] |}.
Lemma finite_sigmoid_true : true_law finite_sigmoid_law.
Proof. here. specialize (P1 f p B V). simpl in P1. destruct (eta 0 f p); [reflexivity | discriminate]. Qed.

Definition finite_erf_law : law := {|
  conclusion := (Finite (Un Erf (Var Real 0)));
  premises := [(Finite (Var Real 0))];
  lanes := [] |}.
Lemma finite_erf_true : true_law finite_erf_law.
Proof. here. specialize (P1 f p B V). simpl in P1. destruct (eta 0 f p); [reflexivity | discriminate]. Qed.

Definition finite_sin_law : law := {|
  conclusion := (Finite (Un Sin (Var Real 0)));
  premises := [(Finite (Var Real 0))];
  lanes := [] |}.
Lemma finite_sin_true : true_law finite_sin_law.
Proof. here. specialize (P1 f p B V). simpl in P1. destruct (eta 0 f p); [reflexivity | discriminate]. Qed.

Definition finite_cos_law : law := {|
  conclusion := (Finite (Un Cos (Var Real 0)));
  premises := [(Finite (Var Real 0))];
  lanes := [] |}.
Lemma finite_cos_true : true_law finite_cos_law.
Proof. here. specialize (P1 f p B V). simpl in P1. destruct (eta 0 f p); [reflexivity | discriminate]. Qed.

Definition finite_abs_law : law := {|
  conclusion := (Finite (Un Abs (Var Real 0)));
  premises := [(Finite (Var Real 0))];
  lanes := [] |}.
Lemma finite_abs_true : true_law finite_abs_law.
Proof. here. specialize (P1 f p B V). simpl in P1. destruct (eta 0 f p); [reflexivity | discriminate]. Qed.

Definition finite_floor_law : law := {|
  conclusion := (Finite (Un Floor (Var Real 0)));
  premises := [(Finite (Var Real 0))];
  lanes := [] |}.
Lemma finite_floor_true : true_law finite_floor_law.
Proof. here. specialize (P1 f p B V). simpl in P1. destruct (eta 0 f p); [reflexivity | discriminate]. Qed.

Definition finite_round_law : law := {|
  conclusion := (Finite (Un Round (Var Real 0)));
  premises := [(Finite (Var Real 0))];
  lanes := [] |}.
Lemma finite_round_true : true_law finite_round_law.
Proof. here. specialize (P1 f p B V). simpl in P1. destruct (eta 0 f p); [reflexivity | discriminate]. Qed.

Definition finite_expm1_law : law := {|
  conclusion := (Finite (Un Expm1 (Var Real 0)));
  premises := [(Finite (Var Real 0))];
  lanes := [] |}.
Lemma finite_expm1_true : true_law finite_expm1_law.
Proof. here. specialize (P1 f p B V). simpl in P1. destruct (eta 0 f p); [reflexivity | discriminate]. Qed.

Definition finite_atan_law : law := {|
  conclusion := (Finite (Un Atan (Var Real 0)));
  premises := [(Finite (Var Real 0))];
  lanes := [] |}.
Lemma finite_atan_true : true_law finite_atan_law.
Proof. here. specialize (P1 f p B V). simpl in P1. destruct (eta 0 f p); [reflexivity | discriminate]. Qed.

Definition pos_nonneg_law : law := {|
  conclusion := (Nonneg (Var Real 0));
  premises := [(Pos (Var Real 0))];
  lanes := [] |}.
Lemma pos_nonneg_true : true_law pos_nonneg_law.
Proof. here. apply Laws.pos_nonneg; known. Qed.

Definition pos_nonzero_law : law := {|
  conclusion := (Nonzero (Var Real 0));
  premises := [(Pos (Var Real 0))];
  lanes := [] |}.
Lemma pos_nonzero_true : true_law pos_nonzero_law.
Proof. here. apply Laws.pos_nonzero; known. Qed.

Definition nonneg_finite_law : law := {|
  conclusion := (Finite (Var Real 0));
  premises := [(Nonneg (Var Real 0))];
  lanes := [] |}.
Lemma nonneg_finite_true : true_law nonneg_finite_law.
Proof. here. apply Laws.nonneg_finite; known. Qed.

Definition nonzero_finite_law : law := {|
  conclusion := (Finite (Var Real 0));
  premises := [(Nonzero (Var Real 0))];
  lanes := [] |}.
Lemma nonzero_finite_true : true_law nonzero_finite_law.
Proof. here. apply Laws.nonzero_finite; known. Qed.

Definition level_law : law := {|
  conclusion := (Equal (Var Real 0) (Store (Var Real 0)));
  premises := [];
  lanes := [] |}.
Lemma level_true : true_law level_law.
Proof. stated. intros f p B V. reflexivity. Qed.

Definition group_law : law := {|
  conclusion := (Equal (Var Real 0) (Group 0 (Var Real 0)));
  premises := [(Along 0 (Var Real 0))];
  lanes := [] |}.
Lemma group_true : true_law group_law.
Proof. stated. intros f p B V. reflexivity. Qed.

Definition walk_law : law := {|
  conclusion := (Equal (Var Real 0) (Walk 0 (Var Real 0)));
  premises := [(Along 0 (Var Real 0))];
  lanes := [] |}.
Lemma walk_true : true_law walk_law.
Proof. stated. intros f p B V. reflexivity. Qed.

Definition level_mask_law : law := {|
  conclusion := (Equal (Var Bool 0) (Store (Var Bool 0)));
  premises := [];
  lanes := [] |}.
Lemma level_mask_true : true_law level_mask_law.
Proof. stated. intros f p B V. reflexivity. Qed.

Definition group_mask_law : law := {|
  conclusion := (Equal (Var Bool 0) (Group 0 (Var Bool 0)));
  premises := [(Along 0 (Var Bool 0))];
  lanes := [] |}.
Lemma group_mask_true : true_law group_mask_law.
Proof. stated. intros f p B V. reflexivity. Qed.

Definition walk_mask_law : law := {|
  conclusion := (Equal (Var Bool 0) (Walk 0 (Var Bool 0)));
  premises := [(Along 0 (Var Bool 0))];
  lanes := [] |}.
Lemma walk_mask_true : true_law walk_mask_law.
Proof. stated. intros f p B V. reflexivity. Qed.

Definition level_whole_law : law := {|
  conclusion := (Equal (Var Int 0) (Store (Var Int 0)));
  premises := [];
  lanes := [] |}.
Lemma level_whole_true : true_law level_whole_law.
Proof. stated. intros f p B V. reflexivity. Qed.

Definition group_whole_law : law := {|
  conclusion := (Equal (Var Int 0) (Group 0 (Var Int 0)));
  premises := [(Along 0 (Var Int 0))];
  lanes := [] |}.
Lemma group_whole_true : true_law group_whole_law.
Proof. stated. intros f p B V. reflexivity. Qed.

Definition walk_whole_law : law := {|
  conclusion := (Equal (Var Int 0) (Walk 0 (Var Int 0)));
  premises := [(Along 0 (Var Int 0))];
  lanes := [] |}.
Lemma walk_whole_true : true_law walk_whole_law.
Proof. stated. intros f p B V. reflexivity. Qed.

Definition level_several_law : law := {|
  conclusion := (Equal (Var Several 0) (Store (Var Several 0)));
  premises := [];
  lanes := [] |}.
Lemma level_several_true : true_law level_several_law.
Proof. stated. intros f p B V. reflexivity. Qed.

Definition group_several_law : law := {|
  conclusion := (Equal (Var Several 0) (Group 0 (Var Several 0)));
  premises := [(Along 0 (Var Several 0))];
  lanes := [] |}.
Lemma group_several_true : true_law group_several_law.
Proof. stated. intros f p B V. reflexivity. Qed.

Definition walk_several_law : law := {|
  conclusion := (Equal (Var Several 0) (Walk 0 (Var Several 0)));
  premises := [(Along 0 (Var Several 0))];
  lanes := [] |}.
Lemma walk_several_true : true_law walk_several_law.
Proof. stated. intros f p B V. reflexivity. Qed.

Definition projection_0_2_law : law := {|
  conclusion := (Equal (Proj 0 (Item (Var Real 0) (Item (Var Real 1) (Nothing)))) (Var Real 0));
  premises := [];
  lanes := [] |}.
Lemma projection_0_2_true : true_law projection_0_2_law.
Proof. stated. intros f q B V. refine (scalar_item Real _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_1_2_law : law := {|
  conclusion := (Equal (Proj 1 (Item (Var Real 0) (Item (Var Real 1) (Nothing)))) (Var Real 1));
  premises := [];
  lanes := [] |}.
Lemma projection_1_2_true : true_law projection_1_2_law.
Proof. stated. intros f q B V. refine (scalar_item Real _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_0_2_mask_1_law : law := {|
  conclusion := (Equal (Proj 0 (Item (Var Real 0) (Item (Var Bool 1) (Nothing)))) (Var Real 0));
  premises := [];
  lanes := [] |}.
Lemma projection_0_2_mask_1_true : true_law projection_0_2_mask_1_law.
Proof. stated. intros f q B V. refine (scalar_item Real _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_1_2_mask_1_law : law := {|
  conclusion := (Equal (Proj 1 (Item (Var Real 0) (Item (Var Bool 1) (Nothing)))) (Var Bool 1));
  premises := [];
  lanes := [] |}.
Lemma projection_1_2_mask_1_true : true_law projection_1_2_mask_1_law.
Proof. stated. intros f q B V. refine (scalar_item Bool _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_0_2_mask_2_law : law := {|
  conclusion := (Equal (Proj 0 (Item (Var Bool 0) (Item (Var Bool 1) (Nothing)))) (Var Bool 0));
  premises := [];
  lanes := [] |}.
Lemma projection_0_2_mask_2_true : true_law projection_0_2_mask_2_law.
Proof. stated. intros f q B V. refine (scalar_item Bool _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_1_2_mask_2_law : law := {|
  conclusion := (Equal (Proj 1 (Item (Var Bool 0) (Item (Var Bool 1) (Nothing)))) (Var Bool 1));
  premises := [];
  lanes := [] |}.
Lemma projection_1_2_mask_2_true : true_law projection_1_2_mask_2_law.
Proof. stated. intros f q B V. refine (scalar_item Bool _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_0_2_whole_1_law : law := {|
  conclusion := (Equal (Proj 0 (Item (Var Real 0) (Item (Var Int 1) (Nothing)))) (Var Real 0));
  premises := [];
  lanes := [] |}.
Lemma projection_0_2_whole_1_true : true_law projection_0_2_whole_1_law.
Proof. stated. intros f q B V. refine (scalar_item Real _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_1_2_whole_1_law : law := {|
  conclusion := (Equal (Proj 1 (Item (Var Real 0) (Item (Var Int 1) (Nothing)))) (Var Int 1));
  premises := [];
  lanes := [] |}.
Lemma projection_1_2_whole_1_true : true_law projection_1_2_whole_1_law.
Proof. stated. intros f q B V. refine (scalar_item Int _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_0_2_whole_2_law : law := {|
  conclusion := (Equal (Proj 0 (Item (Var Int 0) (Item (Var Int 1) (Nothing)))) (Var Int 0));
  premises := [];
  lanes := [] |}.
Lemma projection_0_2_whole_2_true : true_law projection_0_2_whole_2_law.
Proof. stated. intros f q B V. refine (scalar_item Int _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_1_2_whole_2_law : law := {|
  conclusion := (Equal (Proj 1 (Item (Var Int 0) (Item (Var Int 1) (Nothing)))) (Var Int 1));
  premises := [];
  lanes := [] |}.
Lemma projection_1_2_whole_2_true : true_law projection_1_2_whole_2_law.
Proof. stated. intros f q B V. refine (scalar_item Int _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_0_3_law : law := {|
  conclusion := (Equal (Proj 0 (Item (Var Real 0) (Item (Var Real 1) (Item (Var Real 2) (Nothing))))) (Var Real 0));
  premises := [];
  lanes := [] |}.
Lemma projection_0_3_true : true_law projection_0_3_law.
Proof. stated. intros f q B V. refine (scalar_item Real _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_1_3_law : law := {|
  conclusion := (Equal (Proj 1 (Item (Var Real 0) (Item (Var Real 1) (Item (Var Real 2) (Nothing))))) (Var Real 1));
  premises := [];
  lanes := [] |}.
Lemma projection_1_3_true : true_law projection_1_3_law.
Proof. stated. intros f q B V. refine (scalar_item Real _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_2_3_law : law := {|
  conclusion := (Equal (Proj 2 (Item (Var Real 0) (Item (Var Real 1) (Item (Var Real 2) (Nothing))))) (Var Real 2));
  premises := [];
  lanes := [] |}.
Lemma projection_2_3_true : true_law projection_2_3_law.
Proof. stated. intros f q B V. refine (scalar_item Real _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_0_3_mask_1_law : law := {|
  conclusion := (Equal (Proj 0 (Item (Var Real 0) (Item (Var Real 1) (Item (Var Bool 2) (Nothing))))) (Var Real 0));
  premises := [];
  lanes := [] |}.
Lemma projection_0_3_mask_1_true : true_law projection_0_3_mask_1_law.
Proof. stated. intros f q B V. refine (scalar_item Real _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_1_3_mask_1_law : law := {|
  conclusion := (Equal (Proj 1 (Item (Var Real 0) (Item (Var Real 1) (Item (Var Bool 2) (Nothing))))) (Var Real 1));
  premises := [];
  lanes := [] |}.
Lemma projection_1_3_mask_1_true : true_law projection_1_3_mask_1_law.
Proof. stated. intros f q B V. refine (scalar_item Real _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_2_3_mask_1_law : law := {|
  conclusion := (Equal (Proj 2 (Item (Var Real 0) (Item (Var Real 1) (Item (Var Bool 2) (Nothing))))) (Var Bool 2));
  premises := [];
  lanes := [] |}.
Lemma projection_2_3_mask_1_true : true_law projection_2_3_mask_1_law.
Proof. stated. intros f q B V. refine (scalar_item Bool _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_0_3_mask_2_law : law := {|
  conclusion := (Equal (Proj 0 (Item (Var Real 0) (Item (Var Bool 1) (Item (Var Bool 2) (Nothing))))) (Var Real 0));
  premises := [];
  lanes := [] |}.
Lemma projection_0_3_mask_2_true : true_law projection_0_3_mask_2_law.
Proof. stated. intros f q B V. refine (scalar_item Real _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_1_3_mask_2_law : law := {|
  conclusion := (Equal (Proj 1 (Item (Var Real 0) (Item (Var Bool 1) (Item (Var Bool 2) (Nothing))))) (Var Bool 1));
  premises := [];
  lanes := [] |}.
Lemma projection_1_3_mask_2_true : true_law projection_1_3_mask_2_law.
Proof. stated. intros f q B V. refine (scalar_item Bool _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_2_3_mask_2_law : law := {|
  conclusion := (Equal (Proj 2 (Item (Var Real 0) (Item (Var Bool 1) (Item (Var Bool 2) (Nothing))))) (Var Bool 2));
  premises := [];
  lanes := [] |}.
Lemma projection_2_3_mask_2_true : true_law projection_2_3_mask_2_law.
Proof. stated. intros f q B V. refine (scalar_item Bool _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_0_3_mask_3_law : law := {|
  conclusion := (Equal (Proj 0 (Item (Var Bool 0) (Item (Var Bool 1) (Item (Var Bool 2) (Nothing))))) (Var Bool 0));
  premises := [];
  lanes := [] |}.
Lemma projection_0_3_mask_3_true : true_law projection_0_3_mask_3_law.
Proof. stated. intros f q B V. refine (scalar_item Bool _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_1_3_mask_3_law : law := {|
  conclusion := (Equal (Proj 1 (Item (Var Bool 0) (Item (Var Bool 1) (Item (Var Bool 2) (Nothing))))) (Var Bool 1));
  premises := [];
  lanes := [] |}.
Lemma projection_1_3_mask_3_true : true_law projection_1_3_mask_3_law.
Proof. stated. intros f q B V. refine (scalar_item Bool _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_2_3_mask_3_law : law := {|
  conclusion := (Equal (Proj 2 (Item (Var Bool 0) (Item (Var Bool 1) (Item (Var Bool 2) (Nothing))))) (Var Bool 2));
  premises := [];
  lanes := [] |}.
Lemma projection_2_3_mask_3_true : true_law projection_2_3_mask_3_law.
Proof. stated. intros f q B V. refine (scalar_item Bool _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_0_3_whole_1_law : law := {|
  conclusion := (Equal (Proj 0 (Item (Var Real 0) (Item (Var Real 1) (Item (Var Int 2) (Nothing))))) (Var Real 0));
  premises := [];
  lanes := [] |}.
Lemma projection_0_3_whole_1_true : true_law projection_0_3_whole_1_law.
Proof. stated. intros f q B V. refine (scalar_item Real _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_1_3_whole_1_law : law := {|
  conclusion := (Equal (Proj 1 (Item (Var Real 0) (Item (Var Real 1) (Item (Var Int 2) (Nothing))))) (Var Real 1));
  premises := [];
  lanes := [] |}.
Lemma projection_1_3_whole_1_true : true_law projection_1_3_whole_1_law.
Proof. stated. intros f q B V. refine (scalar_item Real _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_2_3_whole_1_law : law := {|
  conclusion := (Equal (Proj 2 (Item (Var Real 0) (Item (Var Real 1) (Item (Var Int 2) (Nothing))))) (Var Int 2));
  premises := [];
  lanes := [] |}.
Lemma projection_2_3_whole_1_true : true_law projection_2_3_whole_1_law.
Proof. stated. intros f q B V. refine (scalar_item Int _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_0_3_whole_2_law : law := {|
  conclusion := (Equal (Proj 0 (Item (Var Real 0) (Item (Var Int 1) (Item (Var Int 2) (Nothing))))) (Var Real 0));
  premises := [];
  lanes := [] |}.
Lemma projection_0_3_whole_2_true : true_law projection_0_3_whole_2_law.
Proof. stated. intros f q B V. refine (scalar_item Real _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_1_3_whole_2_law : law := {|
  conclusion := (Equal (Proj 1 (Item (Var Real 0) (Item (Var Int 1) (Item (Var Int 2) (Nothing))))) (Var Int 1));
  premises := [];
  lanes := [] |}.
Lemma projection_1_3_whole_2_true : true_law projection_1_3_whole_2_law.
Proof. stated. intros f q B V. refine (scalar_item Int _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_2_3_whole_2_law : law := {|
  conclusion := (Equal (Proj 2 (Item (Var Real 0) (Item (Var Int 1) (Item (Var Int 2) (Nothing))))) (Var Int 2));
  premises := [];
  lanes := [] |}.
Lemma projection_2_3_whole_2_true : true_law projection_2_3_whole_2_law.
Proof. stated. intros f q B V. refine (scalar_item Int _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_0_3_whole_3_law : law := {|
  conclusion := (Equal (Proj 0 (Item (Var Int 0) (Item (Var Int 1) (Item (Var Int 2) (Nothing))))) (Var Int 0));
  premises := [];
  lanes := [] |}.
Lemma projection_0_3_whole_3_true : true_law projection_0_3_whole_3_law.
Proof. stated. intros f q B V. refine (scalar_item Int _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_1_3_whole_3_law : law := {|
  conclusion := (Equal (Proj 1 (Item (Var Int 0) (Item (Var Int 1) (Item (Var Int 2) (Nothing))))) (Var Int 1));
  premises := [];
  lanes := [] |}.
Lemma projection_1_3_whole_3_true : true_law projection_1_3_whole_3_law.
Proof. stated. intros f q B V. refine (scalar_item Int _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_2_3_whole_3_law : law := {|
  conclusion := (Equal (Proj 2 (Item (Var Int 0) (Item (Var Int 1) (Item (Var Int 2) (Nothing))))) (Var Int 2));
  premises := [];
  lanes := [] |}.
Lemma projection_2_3_whole_3_true : true_law projection_2_3_whole_3_law.
Proof. stated. intros f q B V. refine (scalar_item Int _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_0_4_law : law := {|
  conclusion := (Equal (Proj 0 (Item (Var Real 0) (Item (Var Real 1) (Item (Var Real 2) (Item (Var Real 3) (Nothing)))))) (Var Real 0));
  premises := [];
  lanes := [] |}.
Lemma projection_0_4_true : true_law projection_0_4_law.
Proof. stated. intros f q B V. refine (scalar_item Real _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_1_4_law : law := {|
  conclusion := (Equal (Proj 1 (Item (Var Real 0) (Item (Var Real 1) (Item (Var Real 2) (Item (Var Real 3) (Nothing)))))) (Var Real 1));
  premises := [];
  lanes := [] |}.
Lemma projection_1_4_true : true_law projection_1_4_law.
Proof. stated. intros f q B V. refine (scalar_item Real _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_2_4_law : law := {|
  conclusion := (Equal (Proj 2 (Item (Var Real 0) (Item (Var Real 1) (Item (Var Real 2) (Item (Var Real 3) (Nothing)))))) (Var Real 2));
  premises := [];
  lanes := [] |}.
Lemma projection_2_4_true : true_law projection_2_4_law.
Proof. stated. intros f q B V. refine (scalar_item Real _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_3_4_law : law := {|
  conclusion := (Equal (Proj 3 (Item (Var Real 0) (Item (Var Real 1) (Item (Var Real 2) (Item (Var Real 3) (Nothing)))))) (Var Real 3));
  premises := [];
  lanes := [] |}.
Lemma projection_3_4_true : true_law projection_3_4_law.
Proof. stated. intros f q B V. refine (scalar_item Real _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_0_4_mask_1_law : law := {|
  conclusion := (Equal (Proj 0 (Item (Var Real 0) (Item (Var Real 1) (Item (Var Real 2) (Item (Var Bool 3) (Nothing)))))) (Var Real 0));
  premises := [];
  lanes := [] |}.
Lemma projection_0_4_mask_1_true : true_law projection_0_4_mask_1_law.
Proof. stated. intros f q B V. refine (scalar_item Real _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_1_4_mask_1_law : law := {|
  conclusion := (Equal (Proj 1 (Item (Var Real 0) (Item (Var Real 1) (Item (Var Real 2) (Item (Var Bool 3) (Nothing)))))) (Var Real 1));
  premises := [];
  lanes := [] |}.
Lemma projection_1_4_mask_1_true : true_law projection_1_4_mask_1_law.
Proof. stated. intros f q B V. refine (scalar_item Real _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_2_4_mask_1_law : law := {|
  conclusion := (Equal (Proj 2 (Item (Var Real 0) (Item (Var Real 1) (Item (Var Real 2) (Item (Var Bool 3) (Nothing)))))) (Var Real 2));
  premises := [];
  lanes := [] |}.
Lemma projection_2_4_mask_1_true : true_law projection_2_4_mask_1_law.
Proof. stated. intros f q B V. refine (scalar_item Real _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_3_4_mask_1_law : law := {|
  conclusion := (Equal (Proj 3 (Item (Var Real 0) (Item (Var Real 1) (Item (Var Real 2) (Item (Var Bool 3) (Nothing)))))) (Var Bool 3));
  premises := [];
  lanes := [] |}.
Lemma projection_3_4_mask_1_true : true_law projection_3_4_mask_1_law.
Proof. stated. intros f q B V. refine (scalar_item Bool _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_0_4_mask_2_law : law := {|
  conclusion := (Equal (Proj 0 (Item (Var Real 0) (Item (Var Real 1) (Item (Var Bool 2) (Item (Var Bool 3) (Nothing)))))) (Var Real 0));
  premises := [];
  lanes := [] |}.
Lemma projection_0_4_mask_2_true : true_law projection_0_4_mask_2_law.
Proof. stated. intros f q B V. refine (scalar_item Real _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_1_4_mask_2_law : law := {|
  conclusion := (Equal (Proj 1 (Item (Var Real 0) (Item (Var Real 1) (Item (Var Bool 2) (Item (Var Bool 3) (Nothing)))))) (Var Real 1));
  premises := [];
  lanes := [] |}.
Lemma projection_1_4_mask_2_true : true_law projection_1_4_mask_2_law.
Proof. stated. intros f q B V. refine (scalar_item Real _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_2_4_mask_2_law : law := {|
  conclusion := (Equal (Proj 2 (Item (Var Real 0) (Item (Var Real 1) (Item (Var Bool 2) (Item (Var Bool 3) (Nothing)))))) (Var Bool 2));
  premises := [];
  lanes := [] |}.
Lemma projection_2_4_mask_2_true : true_law projection_2_4_mask_2_law.
Proof. stated. intros f q B V. refine (scalar_item Bool _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_3_4_mask_2_law : law := {|
  conclusion := (Equal (Proj 3 (Item (Var Real 0) (Item (Var Real 1) (Item (Var Bool 2) (Item (Var Bool 3) (Nothing)))))) (Var Bool 3));
  premises := [];
  lanes := [] |}.
Lemma projection_3_4_mask_2_true : true_law projection_3_4_mask_2_law.
Proof. stated. intros f q B V. refine (scalar_item Bool _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_0_4_mask_3_law : law := {|
  conclusion := (Equal (Proj 0 (Item (Var Real 0) (Item (Var Bool 1) (Item (Var Bool 2) (Item (Var Bool 3) (Nothing)))))) (Var Real 0));
  premises := [];
  lanes := [] |}.
Lemma projection_0_4_mask_3_true : true_law projection_0_4_mask_3_law.
Proof. stated. intros f q B V. refine (scalar_item Real _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_1_4_mask_3_law : law := {|
  conclusion := (Equal (Proj 1 (Item (Var Real 0) (Item (Var Bool 1) (Item (Var Bool 2) (Item (Var Bool 3) (Nothing)))))) (Var Bool 1));
  premises := [];
  lanes := [] |}.
Lemma projection_1_4_mask_3_true : true_law projection_1_4_mask_3_law.
Proof. stated. intros f q B V. refine (scalar_item Bool _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_2_4_mask_3_law : law := {|
  conclusion := (Equal (Proj 2 (Item (Var Real 0) (Item (Var Bool 1) (Item (Var Bool 2) (Item (Var Bool 3) (Nothing)))))) (Var Bool 2));
  premises := [];
  lanes := [] |}.
Lemma projection_2_4_mask_3_true : true_law projection_2_4_mask_3_law.
Proof. stated. intros f q B V. refine (scalar_item Bool _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_3_4_mask_3_law : law := {|
  conclusion := (Equal (Proj 3 (Item (Var Real 0) (Item (Var Bool 1) (Item (Var Bool 2) (Item (Var Bool 3) (Nothing)))))) (Var Bool 3));
  premises := [];
  lanes := [] |}.
Lemma projection_3_4_mask_3_true : true_law projection_3_4_mask_3_law.
Proof. stated. intros f q B V. refine (scalar_item Bool _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_0_4_mask_4_law : law := {|
  conclusion := (Equal (Proj 0 (Item (Var Bool 0) (Item (Var Bool 1) (Item (Var Bool 2) (Item (Var Bool 3) (Nothing)))))) (Var Bool 0));
  premises := [];
  lanes := [] |}.
Lemma projection_0_4_mask_4_true : true_law projection_0_4_mask_4_law.
Proof. stated. intros f q B V. refine (scalar_item Bool _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_1_4_mask_4_law : law := {|
  conclusion := (Equal (Proj 1 (Item (Var Bool 0) (Item (Var Bool 1) (Item (Var Bool 2) (Item (Var Bool 3) (Nothing)))))) (Var Bool 1));
  premises := [];
  lanes := [] |}.
Lemma projection_1_4_mask_4_true : true_law projection_1_4_mask_4_law.
Proof. stated. intros f q B V. refine (scalar_item Bool _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_2_4_mask_4_law : law := {|
  conclusion := (Equal (Proj 2 (Item (Var Bool 0) (Item (Var Bool 1) (Item (Var Bool 2) (Item (Var Bool 3) (Nothing)))))) (Var Bool 2));
  premises := [];
  lanes := [] |}.
Lemma projection_2_4_mask_4_true : true_law projection_2_4_mask_4_law.
Proof. stated. intros f q B V. refine (scalar_item Bool _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_3_4_mask_4_law : law := {|
  conclusion := (Equal (Proj 3 (Item (Var Bool 0) (Item (Var Bool 1) (Item (Var Bool 2) (Item (Var Bool 3) (Nothing)))))) (Var Bool 3));
  premises := [];
  lanes := [] |}.
Lemma projection_3_4_mask_4_true : true_law projection_3_4_mask_4_law.
Proof. stated. intros f q B V. refine (scalar_item Bool _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_0_4_whole_1_law : law := {|
  conclusion := (Equal (Proj 0 (Item (Var Real 0) (Item (Var Real 1) (Item (Var Real 2) (Item (Var Int 3) (Nothing)))))) (Var Real 0));
  premises := [];
  lanes := [] |}.
Lemma projection_0_4_whole_1_true : true_law projection_0_4_whole_1_law.
Proof. stated. intros f q B V. refine (scalar_item Real _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_1_4_whole_1_law : law := {|
  conclusion := (Equal (Proj 1 (Item (Var Real 0) (Item (Var Real 1) (Item (Var Real 2) (Item (Var Int 3) (Nothing)))))) (Var Real 1));
  premises := [];
  lanes := [] |}.
Lemma projection_1_4_whole_1_true : true_law projection_1_4_whole_1_law.
Proof. stated. intros f q B V. refine (scalar_item Real _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_2_4_whole_1_law : law := {|
  conclusion := (Equal (Proj 2 (Item (Var Real 0) (Item (Var Real 1) (Item (Var Real 2) (Item (Var Int 3) (Nothing)))))) (Var Real 2));
  premises := [];
  lanes := [] |}.
Lemma projection_2_4_whole_1_true : true_law projection_2_4_whole_1_law.
Proof. stated. intros f q B V. refine (scalar_item Real _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_3_4_whole_1_law : law := {|
  conclusion := (Equal (Proj 3 (Item (Var Real 0) (Item (Var Real 1) (Item (Var Real 2) (Item (Var Int 3) (Nothing)))))) (Var Int 3));
  premises := [];
  lanes := [] |}.
Lemma projection_3_4_whole_1_true : true_law projection_3_4_whole_1_law.
Proof. stated. intros f q B V. refine (scalar_item Int _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_0_4_whole_2_law : law := {|
  conclusion := (Equal (Proj 0 (Item (Var Real 0) (Item (Var Real 1) (Item (Var Int 2) (Item (Var Int 3) (Nothing)))))) (Var Real 0));
  premises := [];
  lanes := [] |}.
Lemma projection_0_4_whole_2_true : true_law projection_0_4_whole_2_law.
Proof. stated. intros f q B V. refine (scalar_item Real _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_1_4_whole_2_law : law := {|
  conclusion := (Equal (Proj 1 (Item (Var Real 0) (Item (Var Real 1) (Item (Var Int 2) (Item (Var Int 3) (Nothing)))))) (Var Real 1));
  premises := [];
  lanes := [] |}.
Lemma projection_1_4_whole_2_true : true_law projection_1_4_whole_2_law.
Proof. stated. intros f q B V. refine (scalar_item Real _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_2_4_whole_2_law : law := {|
  conclusion := (Equal (Proj 2 (Item (Var Real 0) (Item (Var Real 1) (Item (Var Int 2) (Item (Var Int 3) (Nothing)))))) (Var Int 2));
  premises := [];
  lanes := [] |}.
Lemma projection_2_4_whole_2_true : true_law projection_2_4_whole_2_law.
Proof. stated. intros f q B V. refine (scalar_item Int _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_3_4_whole_2_law : law := {|
  conclusion := (Equal (Proj 3 (Item (Var Real 0) (Item (Var Real 1) (Item (Var Int 2) (Item (Var Int 3) (Nothing)))))) (Var Int 3));
  premises := [];
  lanes := [] |}.
Lemma projection_3_4_whole_2_true : true_law projection_3_4_whole_2_law.
Proof. stated. intros f q B V. refine (scalar_item Int _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_0_4_whole_3_law : law := {|
  conclusion := (Equal (Proj 0 (Item (Var Real 0) (Item (Var Int 1) (Item (Var Int 2) (Item (Var Int 3) (Nothing)))))) (Var Real 0));
  premises := [];
  lanes := [] |}.
Lemma projection_0_4_whole_3_true : true_law projection_0_4_whole_3_law.
Proof. stated. intros f q B V. refine (scalar_item Real _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_1_4_whole_3_law : law := {|
  conclusion := (Equal (Proj 1 (Item (Var Real 0) (Item (Var Int 1) (Item (Var Int 2) (Item (Var Int 3) (Nothing)))))) (Var Int 1));
  premises := [];
  lanes := [] |}.
Lemma projection_1_4_whole_3_true : true_law projection_1_4_whole_3_law.
Proof. stated. intros f q B V. refine (scalar_item Int _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_2_4_whole_3_law : law := {|
  conclusion := (Equal (Proj 2 (Item (Var Real 0) (Item (Var Int 1) (Item (Var Int 2) (Item (Var Int 3) (Nothing)))))) (Var Int 2));
  premises := [];
  lanes := [] |}.
Lemma projection_2_4_whole_3_true : true_law projection_2_4_whole_3_law.
Proof. stated. intros f q B V. refine (scalar_item Int _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_3_4_whole_3_law : law := {|
  conclusion := (Equal (Proj 3 (Item (Var Real 0) (Item (Var Int 1) (Item (Var Int 2) (Item (Var Int 3) (Nothing)))))) (Var Int 3));
  premises := [];
  lanes := [] |}.
Lemma projection_3_4_whole_3_true : true_law projection_3_4_whole_3_law.
Proof. stated. intros f q B V. refine (scalar_item Int _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_0_4_whole_4_law : law := {|
  conclusion := (Equal (Proj 0 (Item (Var Int 0) (Item (Var Int 1) (Item (Var Int 2) (Item (Var Int 3) (Nothing)))))) (Var Int 0));
  premises := [];
  lanes := [] |}.
Lemma projection_0_4_whole_4_true : true_law projection_0_4_whole_4_law.
Proof. stated. intros f q B V. refine (scalar_item Int _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_1_4_whole_4_law : law := {|
  conclusion := (Equal (Proj 1 (Item (Var Int 0) (Item (Var Int 1) (Item (Var Int 2) (Item (Var Int 3) (Nothing)))))) (Var Int 1));
  premises := [];
  lanes := [] |}.
Lemma projection_1_4_whole_4_true : true_law projection_1_4_whole_4_law.
Proof. stated. intros f q B V. refine (scalar_item Int _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_2_4_whole_4_law : law := {|
  conclusion := (Equal (Proj 2 (Item (Var Int 0) (Item (Var Int 1) (Item (Var Int 2) (Item (Var Int 3) (Nothing)))))) (Var Int 2));
  premises := [];
  lanes := [] |}.
Lemma projection_2_4_whole_4_true : true_law projection_2_4_whole_4_law.
Proof. stated. intros f q B V. refine (scalar_item Int _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_3_4_whole_4_law : law := {|
  conclusion := (Equal (Proj 3 (Item (Var Int 0) (Item (Var Int 1) (Item (Var Int 2) (Item (Var Int 3) (Nothing)))))) (Var Int 3));
  premises := [];
  lanes := [] |}.
Lemma projection_3_4_whole_4_true : true_law projection_3_4_whole_4_law.
Proof. stated. intros f q B V. refine (scalar_item Int _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_0_5_law : law := {|
  conclusion := (Equal (Proj 0 (Item (Var Real 0) (Item (Var Real 1) (Item (Var Real 2) (Item (Var Real 3) (Item (Var Real 4) (Nothing))))))) (Var Real 0));
  premises := [];
  lanes := [] |}.
Lemma projection_0_5_true : true_law projection_0_5_law.
Proof. stated. intros f q B V. refine (scalar_item Real _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_1_5_law : law := {|
  conclusion := (Equal (Proj 1 (Item (Var Real 0) (Item (Var Real 1) (Item (Var Real 2) (Item (Var Real 3) (Item (Var Real 4) (Nothing))))))) (Var Real 1));
  premises := [];
  lanes := [] |}.
Lemma projection_1_5_true : true_law projection_1_5_law.
Proof. stated. intros f q B V. refine (scalar_item Real _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_2_5_law : law := {|
  conclusion := (Equal (Proj 2 (Item (Var Real 0) (Item (Var Real 1) (Item (Var Real 2) (Item (Var Real 3) (Item (Var Real 4) (Nothing))))))) (Var Real 2));
  premises := [];
  lanes := [] |}.
Lemma projection_2_5_true : true_law projection_2_5_law.
Proof. stated. intros f q B V. refine (scalar_item Real _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_3_5_law : law := {|
  conclusion := (Equal (Proj 3 (Item (Var Real 0) (Item (Var Real 1) (Item (Var Real 2) (Item (Var Real 3) (Item (Var Real 4) (Nothing))))))) (Var Real 3));
  premises := [];
  lanes := [] |}.
Lemma projection_3_5_true : true_law projection_3_5_law.
Proof. stated. intros f q B V. refine (scalar_item Real _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_4_5_law : law := {|
  conclusion := (Equal (Proj 4 (Item (Var Real 0) (Item (Var Real 1) (Item (Var Real 2) (Item (Var Real 3) (Item (Var Real 4) (Nothing))))))) (Var Real 4));
  premises := [];
  lanes := [] |}.
Lemma projection_4_5_true : true_law projection_4_5_law.
Proof. stated. intros f q B V. refine (scalar_item Real _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_0_5_mask_1_law : law := {|
  conclusion := (Equal (Proj 0 (Item (Var Real 0) (Item (Var Real 1) (Item (Var Real 2) (Item (Var Real 3) (Item (Var Bool 4) (Nothing))))))) (Var Real 0));
  premises := [];
  lanes := [] |}.
Lemma projection_0_5_mask_1_true : true_law projection_0_5_mask_1_law.
Proof. stated. intros f q B V. refine (scalar_item Real _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_1_5_mask_1_law : law := {|
  conclusion := (Equal (Proj 1 (Item (Var Real 0) (Item (Var Real 1) (Item (Var Real 2) (Item (Var Real 3) (Item (Var Bool 4) (Nothing))))))) (Var Real 1));
  premises := [];
  lanes := [] |}.
Lemma projection_1_5_mask_1_true : true_law projection_1_5_mask_1_law.
Proof. stated. intros f q B V. refine (scalar_item Real _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_2_5_mask_1_law : law := {|
  conclusion := (Equal (Proj 2 (Item (Var Real 0) (Item (Var Real 1) (Item (Var Real 2) (Item (Var Real 3) (Item (Var Bool 4) (Nothing))))))) (Var Real 2));
  premises := [];
  lanes := [] |}.
Lemma projection_2_5_mask_1_true : true_law projection_2_5_mask_1_law.
Proof. stated. intros f q B V. refine (scalar_item Real _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_3_5_mask_1_law : law := {|
  conclusion := (Equal (Proj 3 (Item (Var Real 0) (Item (Var Real 1) (Item (Var Real 2) (Item (Var Real 3) (Item (Var Bool 4) (Nothing))))))) (Var Real 3));
  premises := [];
  lanes := [] |}.
Lemma projection_3_5_mask_1_true : true_law projection_3_5_mask_1_law.
Proof. stated. intros f q B V. refine (scalar_item Real _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_4_5_mask_1_law : law := {|
  conclusion := (Equal (Proj 4 (Item (Var Real 0) (Item (Var Real 1) (Item (Var Real 2) (Item (Var Real 3) (Item (Var Bool 4) (Nothing))))))) (Var Bool 4));
  premises := [];
  lanes := [] |}.
Lemma projection_4_5_mask_1_true : true_law projection_4_5_mask_1_law.
Proof. stated. intros f q B V. refine (scalar_item Bool _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_0_5_mask_2_law : law := {|
  conclusion := (Equal (Proj 0 (Item (Var Real 0) (Item (Var Real 1) (Item (Var Real 2) (Item (Var Bool 3) (Item (Var Bool 4) (Nothing))))))) (Var Real 0));
  premises := [];
  lanes := [] |}.
Lemma projection_0_5_mask_2_true : true_law projection_0_5_mask_2_law.
Proof. stated. intros f q B V. refine (scalar_item Real _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_1_5_mask_2_law : law := {|
  conclusion := (Equal (Proj 1 (Item (Var Real 0) (Item (Var Real 1) (Item (Var Real 2) (Item (Var Bool 3) (Item (Var Bool 4) (Nothing))))))) (Var Real 1));
  premises := [];
  lanes := [] |}.
Lemma projection_1_5_mask_2_true : true_law projection_1_5_mask_2_law.
Proof. stated. intros f q B V. refine (scalar_item Real _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_2_5_mask_2_law : law := {|
  conclusion := (Equal (Proj 2 (Item (Var Real 0) (Item (Var Real 1) (Item (Var Real 2) (Item (Var Bool 3) (Item (Var Bool 4) (Nothing))))))) (Var Real 2));
  premises := [];
  lanes := [] |}.
Lemma projection_2_5_mask_2_true : true_law projection_2_5_mask_2_law.
Proof. stated. intros f q B V. refine (scalar_item Real _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_3_5_mask_2_law : law := {|
  conclusion := (Equal (Proj 3 (Item (Var Real 0) (Item (Var Real 1) (Item (Var Real 2) (Item (Var Bool 3) (Item (Var Bool 4) (Nothing))))))) (Var Bool 3));
  premises := [];
  lanes := [] |}.
Lemma projection_3_5_mask_2_true : true_law projection_3_5_mask_2_law.
Proof. stated. intros f q B V. refine (scalar_item Bool _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_4_5_mask_2_law : law := {|
  conclusion := (Equal (Proj 4 (Item (Var Real 0) (Item (Var Real 1) (Item (Var Real 2) (Item (Var Bool 3) (Item (Var Bool 4) (Nothing))))))) (Var Bool 4));
  premises := [];
  lanes := [] |}.
Lemma projection_4_5_mask_2_true : true_law projection_4_5_mask_2_law.
Proof. stated. intros f q B V. refine (scalar_item Bool _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_0_5_mask_3_law : law := {|
  conclusion := (Equal (Proj 0 (Item (Var Real 0) (Item (Var Real 1) (Item (Var Bool 2) (Item (Var Bool 3) (Item (Var Bool 4) (Nothing))))))) (Var Real 0));
  premises := [];
  lanes := [] |}.
Lemma projection_0_5_mask_3_true : true_law projection_0_5_mask_3_law.
Proof. stated. intros f q B V. refine (scalar_item Real _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_1_5_mask_3_law : law := {|
  conclusion := (Equal (Proj 1 (Item (Var Real 0) (Item (Var Real 1) (Item (Var Bool 2) (Item (Var Bool 3) (Item (Var Bool 4) (Nothing))))))) (Var Real 1));
  premises := [];
  lanes := [] |}.
Lemma projection_1_5_mask_3_true : true_law projection_1_5_mask_3_law.
Proof. stated. intros f q B V. refine (scalar_item Real _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_2_5_mask_3_law : law := {|
  conclusion := (Equal (Proj 2 (Item (Var Real 0) (Item (Var Real 1) (Item (Var Bool 2) (Item (Var Bool 3) (Item (Var Bool 4) (Nothing))))))) (Var Bool 2));
  premises := [];
  lanes := [] |}.
Lemma projection_2_5_mask_3_true : true_law projection_2_5_mask_3_law.
Proof. stated. intros f q B V. refine (scalar_item Bool _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_3_5_mask_3_law : law := {|
  conclusion := (Equal (Proj 3 (Item (Var Real 0) (Item (Var Real 1) (Item (Var Bool 2) (Item (Var Bool 3) (Item (Var Bool 4) (Nothing))))))) (Var Bool 3));
  premises := [];
  lanes := [] |}.
Lemma projection_3_5_mask_3_true : true_law projection_3_5_mask_3_law.
Proof. stated. intros f q B V. refine (scalar_item Bool _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_4_5_mask_3_law : law := {|
  conclusion := (Equal (Proj 4 (Item (Var Real 0) (Item (Var Real 1) (Item (Var Bool 2) (Item (Var Bool 3) (Item (Var Bool 4) (Nothing))))))) (Var Bool 4));
  premises := [];
  lanes := [] |}.
Lemma projection_4_5_mask_3_true : true_law projection_4_5_mask_3_law.
Proof. stated. intros f q B V. refine (scalar_item Bool _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_0_5_mask_4_law : law := {|
  conclusion := (Equal (Proj 0 (Item (Var Real 0) (Item (Var Bool 1) (Item (Var Bool 2) (Item (Var Bool 3) (Item (Var Bool 4) (Nothing))))))) (Var Real 0));
  premises := [];
  lanes := [] |}.
Lemma projection_0_5_mask_4_true : true_law projection_0_5_mask_4_law.
Proof. stated. intros f q B V. refine (scalar_item Real _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_1_5_mask_4_law : law := {|
  conclusion := (Equal (Proj 1 (Item (Var Real 0) (Item (Var Bool 1) (Item (Var Bool 2) (Item (Var Bool 3) (Item (Var Bool 4) (Nothing))))))) (Var Bool 1));
  premises := [];
  lanes := [] |}.
Lemma projection_1_5_mask_4_true : true_law projection_1_5_mask_4_law.
Proof. stated. intros f q B V. refine (scalar_item Bool _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_2_5_mask_4_law : law := {|
  conclusion := (Equal (Proj 2 (Item (Var Real 0) (Item (Var Bool 1) (Item (Var Bool 2) (Item (Var Bool 3) (Item (Var Bool 4) (Nothing))))))) (Var Bool 2));
  premises := [];
  lanes := [] |}.
Lemma projection_2_5_mask_4_true : true_law projection_2_5_mask_4_law.
Proof. stated. intros f q B V. refine (scalar_item Bool _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_3_5_mask_4_law : law := {|
  conclusion := (Equal (Proj 3 (Item (Var Real 0) (Item (Var Bool 1) (Item (Var Bool 2) (Item (Var Bool 3) (Item (Var Bool 4) (Nothing))))))) (Var Bool 3));
  premises := [];
  lanes := [] |}.
Lemma projection_3_5_mask_4_true : true_law projection_3_5_mask_4_law.
Proof. stated. intros f q B V. refine (scalar_item Bool _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_4_5_mask_4_law : law := {|
  conclusion := (Equal (Proj 4 (Item (Var Real 0) (Item (Var Bool 1) (Item (Var Bool 2) (Item (Var Bool 3) (Item (Var Bool 4) (Nothing))))))) (Var Bool 4));
  premises := [];
  lanes := [] |}.
Lemma projection_4_5_mask_4_true : true_law projection_4_5_mask_4_law.
Proof. stated. intros f q B V. refine (scalar_item Bool _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_0_5_mask_5_law : law := {|
  conclusion := (Equal (Proj 0 (Item (Var Bool 0) (Item (Var Bool 1) (Item (Var Bool 2) (Item (Var Bool 3) (Item (Var Bool 4) (Nothing))))))) (Var Bool 0));
  premises := [];
  lanes := [] |}.
Lemma projection_0_5_mask_5_true : true_law projection_0_5_mask_5_law.
Proof. stated. intros f q B V. refine (scalar_item Bool _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_1_5_mask_5_law : law := {|
  conclusion := (Equal (Proj 1 (Item (Var Bool 0) (Item (Var Bool 1) (Item (Var Bool 2) (Item (Var Bool 3) (Item (Var Bool 4) (Nothing))))))) (Var Bool 1));
  premises := [];
  lanes := [] |}.
Lemma projection_1_5_mask_5_true : true_law projection_1_5_mask_5_law.
Proof. stated. intros f q B V. refine (scalar_item Bool _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_2_5_mask_5_law : law := {|
  conclusion := (Equal (Proj 2 (Item (Var Bool 0) (Item (Var Bool 1) (Item (Var Bool 2) (Item (Var Bool 3) (Item (Var Bool 4) (Nothing))))))) (Var Bool 2));
  premises := [];
  lanes := [] |}.
Lemma projection_2_5_mask_5_true : true_law projection_2_5_mask_5_law.
Proof. stated. intros f q B V. refine (scalar_item Bool _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_3_5_mask_5_law : law := {|
  conclusion := (Equal (Proj 3 (Item (Var Bool 0) (Item (Var Bool 1) (Item (Var Bool 2) (Item (Var Bool 3) (Item (Var Bool 4) (Nothing))))))) (Var Bool 3));
  premises := [];
  lanes := [] |}.
Lemma projection_3_5_mask_5_true : true_law projection_3_5_mask_5_law.
Proof. stated. intros f q B V. refine (scalar_item Bool _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_4_5_mask_5_law : law := {|
  conclusion := (Equal (Proj 4 (Item (Var Bool 0) (Item (Var Bool 1) (Item (Var Bool 2) (Item (Var Bool 3) (Item (Var Bool 4) (Nothing))))))) (Var Bool 4));
  premises := [];
  lanes := [] |}.
Lemma projection_4_5_mask_5_true : true_law projection_4_5_mask_5_law.
Proof. stated. intros f q B V. refine (scalar_item Bool _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_0_5_whole_1_law : law := {|
  conclusion := (Equal (Proj 0 (Item (Var Real 0) (Item (Var Real 1) (Item (Var Real 2) (Item (Var Real 3) (Item (Var Int 4) (Nothing))))))) (Var Real 0));
  premises := [];
  lanes := [] |}.
Lemma projection_0_5_whole_1_true : true_law projection_0_5_whole_1_law.
Proof. stated. intros f q B V. refine (scalar_item Real _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_1_5_whole_1_law : law := {|
  conclusion := (Equal (Proj 1 (Item (Var Real 0) (Item (Var Real 1) (Item (Var Real 2) (Item (Var Real 3) (Item (Var Int 4) (Nothing))))))) (Var Real 1));
  premises := [];
  lanes := [] |}.
Lemma projection_1_5_whole_1_true : true_law projection_1_5_whole_1_law.
Proof. stated. intros f q B V. refine (scalar_item Real _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_2_5_whole_1_law : law := {|
  conclusion := (Equal (Proj 2 (Item (Var Real 0) (Item (Var Real 1) (Item (Var Real 2) (Item (Var Real 3) (Item (Var Int 4) (Nothing))))))) (Var Real 2));
  premises := [];
  lanes := [] |}.
Lemma projection_2_5_whole_1_true : true_law projection_2_5_whole_1_law.
Proof. stated. intros f q B V. refine (scalar_item Real _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_3_5_whole_1_law : law := {|
  conclusion := (Equal (Proj 3 (Item (Var Real 0) (Item (Var Real 1) (Item (Var Real 2) (Item (Var Real 3) (Item (Var Int 4) (Nothing))))))) (Var Real 3));
  premises := [];
  lanes := [] |}.
Lemma projection_3_5_whole_1_true : true_law projection_3_5_whole_1_law.
Proof. stated. intros f q B V. refine (scalar_item Real _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_4_5_whole_1_law : law := {|
  conclusion := (Equal (Proj 4 (Item (Var Real 0) (Item (Var Real 1) (Item (Var Real 2) (Item (Var Real 3) (Item (Var Int 4) (Nothing))))))) (Var Int 4));
  premises := [];
  lanes := [] |}.
Lemma projection_4_5_whole_1_true : true_law projection_4_5_whole_1_law.
Proof. stated. intros f q B V. refine (scalar_item Int _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_0_5_whole_2_law : law := {|
  conclusion := (Equal (Proj 0 (Item (Var Real 0) (Item (Var Real 1) (Item (Var Real 2) (Item (Var Int 3) (Item (Var Int 4) (Nothing))))))) (Var Real 0));
  premises := [];
  lanes := [] |}.
Lemma projection_0_5_whole_2_true : true_law projection_0_5_whole_2_law.
Proof. stated. intros f q B V. refine (scalar_item Real _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_1_5_whole_2_law : law := {|
  conclusion := (Equal (Proj 1 (Item (Var Real 0) (Item (Var Real 1) (Item (Var Real 2) (Item (Var Int 3) (Item (Var Int 4) (Nothing))))))) (Var Real 1));
  premises := [];
  lanes := [] |}.
Lemma projection_1_5_whole_2_true : true_law projection_1_5_whole_2_law.
Proof. stated. intros f q B V. refine (scalar_item Real _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_2_5_whole_2_law : law := {|
  conclusion := (Equal (Proj 2 (Item (Var Real 0) (Item (Var Real 1) (Item (Var Real 2) (Item (Var Int 3) (Item (Var Int 4) (Nothing))))))) (Var Real 2));
  premises := [];
  lanes := [] |}.
Lemma projection_2_5_whole_2_true : true_law projection_2_5_whole_2_law.
Proof. stated. intros f q B V. refine (scalar_item Real _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_3_5_whole_2_law : law := {|
  conclusion := (Equal (Proj 3 (Item (Var Real 0) (Item (Var Real 1) (Item (Var Real 2) (Item (Var Int 3) (Item (Var Int 4) (Nothing))))))) (Var Int 3));
  premises := [];
  lanes := [] |}.
Lemma projection_3_5_whole_2_true : true_law projection_3_5_whole_2_law.
Proof. stated. intros f q B V. refine (scalar_item Int _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_4_5_whole_2_law : law := {|
  conclusion := (Equal (Proj 4 (Item (Var Real 0) (Item (Var Real 1) (Item (Var Real 2) (Item (Var Int 3) (Item (Var Int 4) (Nothing))))))) (Var Int 4));
  premises := [];
  lanes := [] |}.
Lemma projection_4_5_whole_2_true : true_law projection_4_5_whole_2_law.
Proof. stated. intros f q B V. refine (scalar_item Int _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_0_5_whole_3_law : law := {|
  conclusion := (Equal (Proj 0 (Item (Var Real 0) (Item (Var Real 1) (Item (Var Int 2) (Item (Var Int 3) (Item (Var Int 4) (Nothing))))))) (Var Real 0));
  premises := [];
  lanes := [] |}.
Lemma projection_0_5_whole_3_true : true_law projection_0_5_whole_3_law.
Proof. stated. intros f q B V. refine (scalar_item Real _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_1_5_whole_3_law : law := {|
  conclusion := (Equal (Proj 1 (Item (Var Real 0) (Item (Var Real 1) (Item (Var Int 2) (Item (Var Int 3) (Item (Var Int 4) (Nothing))))))) (Var Real 1));
  premises := [];
  lanes := [] |}.
Lemma projection_1_5_whole_3_true : true_law projection_1_5_whole_3_law.
Proof. stated. intros f q B V. refine (scalar_item Real _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_2_5_whole_3_law : law := {|
  conclusion := (Equal (Proj 2 (Item (Var Real 0) (Item (Var Real 1) (Item (Var Int 2) (Item (Var Int 3) (Item (Var Int 4) (Nothing))))))) (Var Int 2));
  premises := [];
  lanes := [] |}.
Lemma projection_2_5_whole_3_true : true_law projection_2_5_whole_3_law.
Proof. stated. intros f q B V. refine (scalar_item Int _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_3_5_whole_3_law : law := {|
  conclusion := (Equal (Proj 3 (Item (Var Real 0) (Item (Var Real 1) (Item (Var Int 2) (Item (Var Int 3) (Item (Var Int 4) (Nothing))))))) (Var Int 3));
  premises := [];
  lanes := [] |}.
Lemma projection_3_5_whole_3_true : true_law projection_3_5_whole_3_law.
Proof. stated. intros f q B V. refine (scalar_item Int _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_4_5_whole_3_law : law := {|
  conclusion := (Equal (Proj 4 (Item (Var Real 0) (Item (Var Real 1) (Item (Var Int 2) (Item (Var Int 3) (Item (Var Int 4) (Nothing))))))) (Var Int 4));
  premises := [];
  lanes := [] |}.
Lemma projection_4_5_whole_3_true : true_law projection_4_5_whole_3_law.
Proof. stated. intros f q B V. refine (scalar_item Int _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_0_5_whole_4_law : law := {|
  conclusion := (Equal (Proj 0 (Item (Var Real 0) (Item (Var Int 1) (Item (Var Int 2) (Item (Var Int 3) (Item (Var Int 4) (Nothing))))))) (Var Real 0));
  premises := [];
  lanes := [] |}.
Lemma projection_0_5_whole_4_true : true_law projection_0_5_whole_4_law.
Proof. stated. intros f q B V. refine (scalar_item Real _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_1_5_whole_4_law : law := {|
  conclusion := (Equal (Proj 1 (Item (Var Real 0) (Item (Var Int 1) (Item (Var Int 2) (Item (Var Int 3) (Item (Var Int 4) (Nothing))))))) (Var Int 1));
  premises := [];
  lanes := [] |}.
Lemma projection_1_5_whole_4_true : true_law projection_1_5_whole_4_law.
Proof. stated. intros f q B V. refine (scalar_item Int _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_2_5_whole_4_law : law := {|
  conclusion := (Equal (Proj 2 (Item (Var Real 0) (Item (Var Int 1) (Item (Var Int 2) (Item (Var Int 3) (Item (Var Int 4) (Nothing))))))) (Var Int 2));
  premises := [];
  lanes := [] |}.
Lemma projection_2_5_whole_4_true : true_law projection_2_5_whole_4_law.
Proof. stated. intros f q B V. refine (scalar_item Int _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_3_5_whole_4_law : law := {|
  conclusion := (Equal (Proj 3 (Item (Var Real 0) (Item (Var Int 1) (Item (Var Int 2) (Item (Var Int 3) (Item (Var Int 4) (Nothing))))))) (Var Int 3));
  premises := [];
  lanes := [] |}.
Lemma projection_3_5_whole_4_true : true_law projection_3_5_whole_4_law.
Proof. stated. intros f q B V. refine (scalar_item Int _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_4_5_whole_4_law : law := {|
  conclusion := (Equal (Proj 4 (Item (Var Real 0) (Item (Var Int 1) (Item (Var Int 2) (Item (Var Int 3) (Item (Var Int 4) (Nothing))))))) (Var Int 4));
  premises := [];
  lanes := [] |}.
Lemma projection_4_5_whole_4_true : true_law projection_4_5_whole_4_law.
Proof. stated. intros f q B V. refine (scalar_item Int _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_0_5_whole_5_law : law := {|
  conclusion := (Equal (Proj 0 (Item (Var Int 0) (Item (Var Int 1) (Item (Var Int 2) (Item (Var Int 3) (Item (Var Int 4) (Nothing))))))) (Var Int 0));
  premises := [];
  lanes := [] |}.
Lemma projection_0_5_whole_5_true : true_law projection_0_5_whole_5_law.
Proof. stated. intros f q B V. refine (scalar_item Int _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_1_5_whole_5_law : law := {|
  conclusion := (Equal (Proj 1 (Item (Var Int 0) (Item (Var Int 1) (Item (Var Int 2) (Item (Var Int 3) (Item (Var Int 4) (Nothing))))))) (Var Int 1));
  premises := [];
  lanes := [] |}.
Lemma projection_1_5_whole_5_true : true_law projection_1_5_whole_5_law.
Proof. stated. intros f q B V. refine (scalar_item Int _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_2_5_whole_5_law : law := {|
  conclusion := (Equal (Proj 2 (Item (Var Int 0) (Item (Var Int 1) (Item (Var Int 2) (Item (Var Int 3) (Item (Var Int 4) (Nothing))))))) (Var Int 2));
  premises := [];
  lanes := [] |}.
Lemma projection_2_5_whole_5_true : true_law projection_2_5_whole_5_law.
Proof. stated. intros f q B V. refine (scalar_item Int _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_3_5_whole_5_law : law := {|
  conclusion := (Equal (Proj 3 (Item (Var Int 0) (Item (Var Int 1) (Item (Var Int 2) (Item (Var Int 3) (Item (Var Int 4) (Nothing))))))) (Var Int 3));
  premises := [];
  lanes := [] |}.
Lemma projection_3_5_whole_5_true : true_law projection_3_5_whole_5_law.
Proof. stated. intros f q B V. refine (scalar_item Int _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition projection_4_5_whole_5_law : law := {|
  conclusion := (Equal (Proj 4 (Item (Var Int 0) (Item (Var Int 1) (Item (Var Int 2) (Item (Var Int 3) (Item (Var Int 4) (Nothing))))))) (Var Int 4));
  premises := [];
  lanes := [] |}.
Lemma projection_4_5_whole_5_true : true_law projection_4_5_whole_5_law.
Proof. stated. intros f q B V. refine (scalar_item Int _ _ _ _ f 0 q); [apply Hsort; auto 9 | discriminate | discriminate]. Qed.

Definition where_and_law : law := {|
  conclusion := (Equal (Where (Var Bool 2) (Where (Var Bool 3) (Var Real 0) (Var Real 1)) (Var Real 1)) (Where (Bin And (Var Bool 2) (Var Bool 3)) (Var Real 0) (Var Real 1)));
  premises := [];
  lanes := [] |}.
Lemma where_and_true : true_law where_and_law.
Proof. here. apply Laws.where_and; known. Qed.

Definition where_same_law : law := {|
  conclusion := (Equal (Where (Var Bool 1) (Var Real 0) (Var Real 0)) (Var Real 0));
  premises := [];
  lanes := [] |}.
Lemma where_same_true : true_law where_same_law.
Proof. here. apply Laws.where_same; known. Qed.

Definition where_larger_law : law := {|
  conclusion := (Equal (Where (Bin Le (Var Real 0) (Var Real 1)) (Var Real 1) (Var Real 0)) (Bin BMax (Var Real 0) (Var Real 1)));
  premises := [];
  lanes := [] |}.
Lemma where_larger_true : true_law where_larger_law.
Proof. here. apply Laws.where_larger; known. Qed.

Definition where_smaller_law : law := {|
  conclusion := (Equal (Where (Bin Le (Var Real 0) (Var Real 1)) (Var Real 0) (Var Real 1)) (Bin BMin (Var Real 0) (Var Real 1)));
  premises := [];
  lanes := [] |}.
Lemma where_smaller_true : true_law where_smaller_law.
Proof. here. apply Laws.where_smaller; known. Qed.

Definition where_exp_law : law := {|
  conclusion := (Equal (Where (Var Bool 1) (Un Exp (Var Real 0)) (Const Real (Some ((0)%Z # 10)))) (Un Exp (Where (Var Bool 1) (Var Real 0) (Const Real None))));
  premises := [];
  lanes := [] |}.
Lemma where_exp_true : true_law where_exp_law.
Proof. here. apply Laws.where_exp; known. Qed.

Definition where_mul_law : law := {|
  conclusion := (Equal (Where (Var Bool 2) (Bin Mul (Var Real 0) (Var Real 1)) (Const Real (Some ((0)%Z # 10)))) (Bin Mul (Where (Var Bool 2) (Var Real 0) (Const Real (Some ((0)%Z # 10)))) (Var Real 1)));
  premises := [(Finite (Var Real 1))];
  lanes := [] |}.
Lemma where_mul_true : true_law where_mul_law.
Proof. here. apply Laws.where_mul; known. Qed.

Definition where_add_law : law := {|
  conclusion := (Equal (Where (Var Bool 2) (Bin Add (Var Real 0) (Var Real 1)) (Const Real None)) (Bin Add (Where (Var Bool 2) (Var Real 0) (Const Real None)) (Var Real 1)));
  premises := [];
  lanes := [] |}.
Lemma where_add_true : true_law where_add_law.
Proof. here. apply Laws.where_add; known. Qed.

Definition where_add_zero_law : law := {|
  conclusion := (Equal (Where (Var Bool 2) (Bin Add (Var Real 0) (Var Real 1)) (Const Real (Some ((0)%Z # 10)))) (Bin Add (Where (Var Bool 2) (Var Real 0) (Const Real (Some ((0)%Z # 10)))) (Where (Var Bool 2) (Var Real 1) (Const Real (Some ((0)%Z # 10))))));
  premises := [];
  lanes := [] |}.
Lemma where_add_zero_true : true_law where_add_zero_law.
Proof. here. apply Laws.where_add_zero; known. Qed.

Definition where_added_law : law := {|
  conclusion := (Equal (Where (Var Bool 2) (Bin Add (Var Real 0) (Var Real 1)) (Var Real 0)) (Bin Add (Var Real 0) (Where (Var Bool 2) (Var Real 1) (Const Real (Some ((0)%Z # 10))))));
  premises := [];
  lanes := [] |}.
Lemma where_added_true : true_law where_added_law.
Proof. here. apply Laws.where_added; known. Qed.

Definition absent_where_law : law := {|
  conclusion := (Absent (Var Bool 1) (Where (Var Bool 1) (Var Real 0) (Const Real None)));
  premises := [];
  lanes := [] |}.
Lemma absent_where_true : true_law absent_where_law.
Proof. here. apply Laws.absent_where; known. Qed.

Definition zero_where_law : law := {|
  conclusion := (Zero (Var Bool 1) (Where (Var Bool 1) (Var Real 0) (Const Real (Some ((0)%Z # 10)))));
  premises := [];
  lanes := [] |}.
Lemma zero_where_true : true_law zero_where_law.
Proof. here. apply Laws.zero_where; known. Qed.

Definition absent_add_law : law := {|
  conclusion := (Absent (Var Bool 2) (Bin Add (Var Real 0) (Var Real 1)));
  premises := [(Absent (Var Bool 2) (Var Real 0))];
  lanes := [] |}.
Lemma absent_add_true : true_law absent_add_law.
Proof. here. apply Laws.absent_add; known. Qed.

Definition absent_mul_law : law := {|
  conclusion := (Absent (Var Bool 2) (Bin Mul (Var Real 0) (Var Real 1)));
  premises := [(Absent (Var Bool 2) (Var Real 0))];
  lanes := [] |}.
Lemma absent_mul_true : true_law absent_mul_law.
Proof. here. apply Laws.absent_mul; known. Qed.

Definition absent_add_right_law : law := {|
  conclusion := (Absent (Var Bool 2) (Bin Add (Var Real 0) (Var Real 1)));
  premises := [(Absent (Var Bool 2) (Var Real 1))];
  lanes := [] |}.
Lemma absent_add_right_true : true_law absent_add_right_law.
Proof. here. apply Laws.absent_add_right; known. Qed.

Definition absent_mul_right_law : law := {|
  conclusion := (Absent (Var Bool 2) (Bin Mul (Var Real 0) (Var Real 1)));
  premises := [(Absent (Var Bool 2) (Var Real 1))];
  lanes := [] |}.
Lemma absent_mul_right_true : true_law absent_mul_right_law.
Proof. here. apply Laws.absent_mul_right; known. Qed.

Definition zero_exp_law : law := {|
  conclusion := (Zero (Var Bool 1) (Un Exp (Var Real 0)));
  premises := [(Absent (Var Bool 1) (Var Real 0))];
  lanes := [] |}.
Lemma zero_exp_true : true_law zero_exp_law.
Proof. here. apply Laws.zero_exp; known. Qed.

Definition zero_mul_law : law := {|
  conclusion := (Zero (Var Bool 2) (Bin Mul (Var Real 0) (Var Real 1)));
  premises := [(Zero (Var Bool 2) (Var Real 0)); (Finite (Var Real 1))];
  lanes := [] |}.
Lemma zero_mul_true : true_law zero_mul_law.
Proof. here. apply Laws.zero_mul; known. Qed.

Definition zero_mul_right_law : law := {|
  conclusion := (Zero (Var Bool 2) (Bin Mul (Var Real 0) (Var Real 1)));
  premises := [(Finite (Var Real 0)); (Zero (Var Bool 2) (Var Real 1))];
  lanes := [] |}.
Lemma zero_mul_right_true : true_law zero_mul_right_law.
Proof. here. apply Laws.zero_mul_right; known. Qed.

Definition zero_sum_law : law := {|
  conclusion := (Zero (Var Bool 1) (Reduce MSum 0 (Var Real 0) (Const Bool (Some ((1)%Z # 1)))));
  premises := [(Zero (Var Bool 1) (Var Real 0)); (Free 0 (Var Bool 1))];
  lanes := [] |}.
Lemma zero_sum_true : true_law zero_sum_law.
Proof. here. apply zero_total. intros i Hi. rewrite <- (free_upd _ _ f p i P2).
      exact (P1 f _ B (valid_in f p _ i V Hi)). Qed.

Definition present_where_law : law := {|
  conclusion := (Present (Var Bool 2) (Where (Var Bool 2) (Var Real 0) (Var Real 1)));
  premises := [(Finite (Var Real 0))];
  lanes := [] |}.
Lemma present_where_true : true_law present_where_law.
Proof. here. apply Laws.present_where; known. Qed.

Definition present_add_law : law := {|
  conclusion := (Present (Var Bool 2) (Bin Add (Var Real 0) (Var Real 1)));
  premises := [(Present (Var Bool 2) (Var Real 0)); (Finite (Var Real 1))];
  lanes := [] |}.
Lemma present_add_true : true_law present_add_law.
Proof. here. apply Laws.present_add; known. Qed.

Definition present_add_right_law : law := {|
  conclusion := (Present (Var Bool 2) (Bin Add (Var Real 0) (Var Real 1)));
  premises := [(Finite (Var Real 0)); (Present (Var Bool 2) (Var Real 1))];
  lanes := [] |}.
Lemma present_add_right_true : true_law present_add_right_law.
Proof. here. apply Laws.present_add_right; known. Qed.

Definition present_mul_law : law := {|
  conclusion := (Present (Var Bool 2) (Bin Mul (Var Real 0) (Var Real 1)));
  premises := [(Present (Var Bool 2) (Var Real 0)); (Finite (Var Real 1))];
  lanes := [] |}.
Lemma present_mul_true : true_law present_mul_law.
Proof. here. apply Laws.present_mul; known. Qed.

Definition present_mul_right_law : law := {|
  conclusion := (Present (Var Bool 2) (Bin Mul (Var Real 0) (Var Real 1)));
  premises := [(Finite (Var Real 0)); (Present (Var Bool 2) (Var Real 1))];
  lanes := [] |}.
Lemma present_mul_right_true : true_law present_mul_right_law.
Proof. here. apply Laws.present_mul_right; known. Qed.

Definition leaves_to_law : law := {|
  conclusion := (Leaves 0 (Bin Le (Index 0) (Var Int 0)));
  premises := [(Nonneg (Var Int 0))];
  lanes := [0] |}.
Lemma leaves_to_true : true_law leaves_to_law.
Proof. here. assert (L : seq 0 (ends f (r 0)) <> []) by some.
  assert (Z : In 0 (seq 0 (ends f (r 0)))) by (destruct (ends f (r 0)); [contradiction | left; reflexivity]).
  specialize (P1 f (upd p (r 0) 0) B (valid_in f p (r 0) 0 V Z)). cbv beta in P1.
  apply (sum_above _ _ _ 0); [intros j _; destruct (truth _); pointwise | exact Z |].
  rewrite truth_bool, upd_same. revert P1. generalize (eta 0 f (upd p (r 0) 0)). clear. pointwise. Qed.

Definition leaves_below_law : law := {|
  conclusion := (Leaves 0 (Bin Lt (Index 0) (Var Int 0)));
  premises := [(Pos (Var Int 0))];
  lanes := [0] |}.
Lemma leaves_below_true : true_law leaves_below_law.
Proof. here. assert (L : seq 0 (ends f (r 0)) <> []) by some.
  assert (Z : In 0 (seq 0 (ends f (r 0)))) by (destruct (ends f (r 0)); [contradiction | left; reflexivity]).
  specialize (P1 f (upd p (r 0) 0) B (valid_in f p (r 0) 0 V Z)). cbv beta in P1.
  apply (sum_above _ _ _ 0); [intros j _; destruct (truth _); pointwise | exact Z |].
  rewrite truth_bool, upd_same. revert P1. generalize (eta 0 f (upd p (r 0) 0)). clear. pointwise. Qed.

Definition nonneg_offset_law : law := {|
  conclusion := (Nonneg (Bin Add (Var Int 0) (Var Int 1)));
  premises := [(Nonneg (Var Int 0)); (Nonneg (Var Int 1))];
  lanes := [] |}.
Lemma nonneg_offset_true : true_law nonneg_offset_law.
Proof. here. apply Laws.nonneg_add; known. Qed.

Definition pos_offset_law : law := {|
  conclusion := (Pos (Bin Add (Var Int 0) (Var Int 1)));
  premises := [(Nonneg (Var Int 0)); (Pos (Var Int 1))];
  lanes := [] |}.
Lemma pos_offset_true : true_law pos_offset_law.
Proof. here. apply Laws.pos_add_right; known. Qed.

Definition leaves_or_law : law := {|
  conclusion := (Leaves 0 (Bin Or (Var Bool 0) (Var Bool 1)));
  premises := [(Leaves 0 (Var Bool 0))];
  lanes := [] |}.
Lemma leaves_or_true : true_law leaves_or_law.
Proof. here. specialize (P1 f p B V). apply one_left in P1. destruct P1 as (i & Hi & E).
  apply (sum_above _ _ _ i); [intros j _; destruct (truth (of_bool _)); pointwise | exact Hi |].
  rewrite truth_bool, E. pointwise. Qed.

Definition leaves_or_right_law : law := {|
  conclusion := (Leaves 0 (Bin Or (Var Bool 0) (Var Bool 1)));
  premises := [(Leaves 0 (Var Bool 1))];
  lanes := [] |}.
Lemma leaves_or_right_true : true_law leaves_or_right_law.
Proof. here. specialize (P1 f p B V). apply one_left in P1. destruct P1 as (i & Hi & E).
  apply (sum_above _ _ _ i); [intros j _; destruct (truth (of_bool _)); pointwise | exact Hi |].
  rewrite truth_bool, E, orb_true_r. pointwise. Qed.

Definition finite_left_law : law := {|
  conclusion := (Finite (Reduce MMax 0 (Var Real 0) (Const Bool (Some ((1)%Z # 1)))));
  premises := [(Present (Var Bool 1) (Var Real 0)); (Leaves 0 (Var Bool 1))];
  lanes := [] |}.
Lemma finite_left_true : true_law finite_left_law.
Proof. here. specialize (P2 f p B V). apply one_left in P2. destruct P2 as (i & Hi & E).
  specialize (P1 f (upd p (r 0) i) B (valid_in f p (r 0) i V Hi)). cbv beta in P1. rewrite E in P1.
  pose proof (max_above _ _ (fun i => eta 0 f (upd p (r 0) i)) i Hi) as above. cbv beta in above. unfold Max in above.
  revert P1 above. generalize (eta 0 f (upd p (r 0) i)).
  generalize (reduce max absent (seq 0 (ends f (r 0))) (fun i => eta 0 f (upd p (r 0) i))). clear. pointwise. Qed.

Definition pos_left_law : law := {|
  conclusion := (Pos (Reduce MSum 0 (Un Exp (Var Real 0)) (Const Bool (Some ((1)%Z # 1)))));
  premises := [(Present (Var Bool 1) (Var Real 0)); (Leaves 0 (Var Bool 1))];
  lanes := [] |}.
Lemma pos_left_true : true_law pos_left_law.
Proof. here. specialize (P2 f p B V). apply one_left in P2. destruct P2 as (i & Hi & E).
  specialize (P1 f (upd p (r 0) i) B (valid_in f p (r 0) i V Hi)). cbv beta in P1. rewrite E in P1.
  apply (sum_above _ _ _ i); [intros j _; generalize (eta 0 f (upd p (r 0) j)); pointwise | exact Hi |].
  revert P1. generalize (eta 0 f (upd p (r 0) i)). clear. pointwise. Qed.

Definition skip_max_law : law := {|
  conclusion := (Equal (Reduce MMax 0 (Var Real 0) (Const Bool (Some ((1)%Z # 1)))) (Reduce MMax 0 (Var Real 0) (Var Bool 1)));
  premises := [(Absent (Var Bool 1) (Var Real 0))];
  lanes := [] |}.
Lemma skip_max_true : true_law skip_max_law.
Proof. here. apply Laws.skip_max. lanes. Qed.

Definition prod_masked_law : law := {|
  conclusion := (Equal (Reduce MProd 0 (Where (Var Bool 1) (Var Real 0) (Const Real (Some ((10)%Z # 10)))) (Const Bool (Some ((1)%Z # 1)))) (Reduce MProd 0 (Var Real 0) (Var Bool 1)));
  premises := [];
  lanes := [] |}.
Lemma prod_masked_true : true_law prod_masked_law.
Proof. here. apply (Laws.prod_masked _ _ _ (fun i => truth (eta 1 f (upd p (r 0) i)))). Qed.

Definition skip_sum_law : law := {|
  conclusion := (Equal (Reduce MSum 0 (Var Real 0) (Const Bool (Some ((1)%Z # 1)))) (Reduce MSum 0 (Var Real 0) (Var Bool 1)));
  premises := [(Zero (Var Bool 1) (Var Real 0))];
  lanes := [] |}.
Lemma skip_sum_true : true_law skip_sum_law.
Proof. here. apply Laws.skip_sum. lanes. Qed.

Definition squares_about_law : law := {|
  conclusion := (Equal (Reduce MSum 0 (Bin Mul (Bin Add (Var Real 0) (Var Real 1)) (Bin Add (Var Real 0) (Var Real 1))) (Const Bool (Some ((1)%Z # 1)))) (Bin Add (Reduce MSum 0 (Bin Mul (Bin Add (Var Real 0) (Un Neg (Bin Mul (Reduce MSum 0 (Var Real 0) (Const Bool (Some ((1)%Z # 1)))) (Un Inv (Un ToReal (Size 0)))))) (Bin Add (Var Real 0) (Un Neg (Bin Mul (Reduce MSum 0 (Var Real 0) (Const Bool (Some ((1)%Z # 1)))) (Un Inv (Un ToReal (Size 0))))))) (Const Bool (Some ((1)%Z # 1)))) (Bin Mul (Un ToReal (Size 0)) (Bin Mul (Bin Add (Bin Mul (Reduce MSum 0 (Var Real 0) (Const Bool (Some ((1)%Z # 1)))) (Un Inv (Un ToReal (Size 0)))) (Var Real 1)) (Bin Add (Bin Mul (Reduce MSum 0 (Var Real 0) (Const Bool (Some ((1)%Z # 1)))) (Un Inv (Un ToReal (Size 0)))) (Var Real 1))))));
  premises := [(Free 0 (Var Real 1)); (Finite (Var Real 0)); (Finite (Var Real 1))];
  lanes := [] |}.
Lemma squares_about_true : true_law squares_about_law.
Proof. here. freed P1. etransitivity; [apply Laws.squares_about |].
  - intros i Hi. exact (P2 f (upd p (r 0) i) B (valid_in f p _ i V Hi)).
  - exact (P3 f p B V).
  - unfold size. rewrite seq_length. reflexivity. Qed.

Definition squares_about_where_law : law := {|
  conclusion := (Equal (Reduce MSum 0 (Where (Var Bool 1) (Bin Mul (Bin Add (Var Real 0) (Var Real 2)) (Bin Add (Var Real 0) (Var Real 2))) (Const Real (Some ((0)%Z # 10)))) (Const Bool (Some ((1)%Z # 1)))) (Bin Add (Reduce MSum 0 (Where (Var Bool 1) (Bin Mul (Bin Add (Var Real 0) (Un Neg (Bin Mul (Reduce MSum 0 (Where (Var Bool 1) (Var Real 0) (Const Real (Some ((0)%Z # 10)))) (Const Bool (Some ((1)%Z # 1)))) (Un Inv (Reduce MSum 0 (Where (Var Bool 1) (Const Real (Some ((10)%Z # 10))) (Const Real (Some ((0)%Z # 10)))) (Const Bool (Some ((1)%Z # 1)))))))) (Bin Add (Var Real 0) (Un Neg (Bin Mul (Reduce MSum 0 (Where (Var Bool 1) (Var Real 0) (Const Real (Some ((0)%Z # 10)))) (Const Bool (Some ((1)%Z # 1)))) (Un Inv (Reduce MSum 0 (Where (Var Bool 1) (Const Real (Some ((10)%Z # 10))) (Const Real (Some ((0)%Z # 10)))) (Const Bool (Some ((1)%Z # 1))))))))) (Const Real (Some ((0)%Z # 10)))) (Const Bool (Some ((1)%Z # 1)))) (Bin Mul (Reduce MSum 0 (Where (Var Bool 1) (Const Real (Some ((10)%Z # 10))) (Const Real (Some ((0)%Z # 10)))) (Const Bool (Some ((1)%Z # 1)))) (Bin Mul (Bin Add (Bin Mul (Reduce MSum 0 (Where (Var Bool 1) (Var Real 0) (Const Real (Some ((0)%Z # 10)))) (Const Bool (Some ((1)%Z # 1)))) (Un Inv (Reduce MSum 0 (Where (Var Bool 1) (Const Real (Some ((10)%Z # 10))) (Const Real (Some ((0)%Z # 10)))) (Const Bool (Some ((1)%Z # 1)))))) (Var Real 2)) (Bin Add (Bin Mul (Reduce MSum 0 (Where (Var Bool 1) (Var Real 0) (Const Real (Some ((0)%Z # 10)))) (Const Bool (Some ((1)%Z # 1)))) (Un Inv (Reduce MSum 0 (Where (Var Bool 1) (Const Real (Some ((10)%Z # 10))) (Const Real (Some ((0)%Z # 10)))) (Const Bool (Some ((1)%Z # 1)))))) (Var Real 2))))));
  premises := [(Free 0 (Var Real 2)); (Finite (Var Real 0)); (Finite (Var Real 2))];
  lanes := [] |}.
Lemma squares_about_where_true : true_law squares_about_where_law.
Proof. here. freed P1.
  apply (Laws.squares_about_where _ _ _ (fun i => truth (eta 1 f (upd p (r 0) i)))).
  - intros i Hi. exact (P2 f (upd p (r 0) i) B (valid_in f p _ i V Hi)).
  - exact (P3 f p B V). Qed.

Definition split_sum_law : law := {|
  conclusion := (Equal (Reduce MSum 1 (Var Real 0) (Const Bool (Some ((1)%Z # 1)))) (Reduce MSum 0 (Reduce MSum 1 (Where (Var Bool 1) (Var Real 0) (Const Real (Some ((0)%Z # 10)))) (Const Bool (Some ((1)%Z # 1)))) (Const Bool (Some ((1)%Z # 1)))));
  premises := [(Stretch 0 1 (Var Bool 1)); (Free 0 (Var Real 0))];
  lanes := [] |}.
Lemma split_sum_true : true_law split_sum_law.
Proof. here. destruct (Nat.eq_dec (r 0) (r 1)) as [E | D].
  - rewrite E in *. setoid_rewrite (@upd_twice nat). freed P2. apply reduce_ext. intros i _. symmetry.
    apply (reduce_one add (Some 0%R) add_0 add_comm nat _ (fun i => truth (eta 1 f (upd p (r 1) i)))). exact (P1 f p B V).
  - setoid_rewrite (fun i j => upd_swap p (r 0) (r 1) i j D). freed P2.
    apply (reduce_split add (Some 0%R) add_0 add_comm add_assoc nat nat _ _
      (fun j i => truth (eta 1 f (upd (upd p (r 1) i) (r 0) j))) (fun i => eta 0 f (upd p (r 1) i))).
    intros i Hi. exact (P1 f (upd p (r 1) i) B (valid_in f p _ i V Hi)). Qed.

Definition split_max_law : law := {|
  conclusion := (Equal (Reduce MMax 1 (Var Real 0) (Const Bool (Some ((1)%Z # 1)))) (Reduce MMax 0 (Reduce MMax 1 (Where (Var Bool 1) (Var Real 0) (Const Real None)) (Const Bool (Some ((1)%Z # 1)))) (Const Bool (Some ((1)%Z # 1)))));
  premises := [(Stretch 0 1 (Var Bool 1)); (Free 0 (Var Real 0))];
  lanes := [] |}.
Lemma split_max_true : true_law split_max_law.
Proof. here. destruct (Nat.eq_dec (r 0) (r 1)) as [E | D].
  - rewrite E in *. setoid_rewrite (@upd_twice nat). freed P2. apply reduce_ext. intros i _. symmetry.
    apply (reduce_one max absent max_absent max_comm nat _ (fun i => truth (eta 1 f (upd p (r 1) i)))). exact (P1 f p B V).
  - setoid_rewrite (fun i j => upd_swap p (r 0) (r 1) i j D). freed P2.
    apply (reduce_split max absent max_absent max_comm max_assoc nat nat _ _
      (fun j i => truth (eta 1 f (upd (upd p (r 1) i) (r 0) j))) (fun i => eta 0 f (upd p (r 1) i))).
    intros i Hi. exact (P1 f (upd p (r 1) i) B (valid_in f p _ i V Hi)). Qed.

Definition split_prod_law : law := {|
  conclusion := (Equal (Reduce MProd 1 (Var Real 0) (Const Bool (Some ((1)%Z # 1)))) (Reduce MProd 0 (Reduce MProd 1 (Where (Var Bool 1) (Var Real 0) (Const Real (Some ((10)%Z # 10)))) (Const Bool (Some ((1)%Z # 1)))) (Const Bool (Some ((1)%Z # 1)))));
  premises := [(Stretch 0 1 (Var Bool 1)); (Free 0 (Var Real 0))];
  lanes := [] |}.
Lemma split_prod_true : true_law split_prod_law.
Proof. here. destruct (Nat.eq_dec (r 0) (r 1)) as [E | D].
  - rewrite E in *. setoid_rewrite (@upd_twice nat). freed P2. apply reduce_ext. intros i _. symmetry.
    apply (reduce_one mul (Some 1%R) mul_1 mul_comm nat _ (fun i => truth (eta 1 f (upd p (r 1) i)))). exact (P1 f p B V).
  - setoid_rewrite (fun i j => upd_swap p (r 0) (r 1) i j D). freed P2.
    apply (reduce_split mul (Some 1%R) mul_1 mul_comm mul_assoc nat nat _ _
      (fun j i => truth (eta 1 f (upd (upd p (r 1) i) (r 0) j))) (fun i => eta 0 f (upd p (r 1) i))).
    intros i Hi. exact (P1 f (upd p (r 1) i) B (valid_in f p _ i V Hi)). Qed.

Definition join_stretches_law : law := {|
  conclusion := (Equal (Reduce MSum 0 (Reduce MSum 1 (Where (Var Bool 1) (Var Real 0) (Const Real (Some ((0)%Z # 10)))) (Const Bool (Some ((1)%Z # 1)))) (Const Bool (Some ((1)%Z # 1)))) (Reduce MSum 1 (Var Real 0) (Const Bool (Some ((1)%Z # 1)))));
  premises := [(Stretch 0 1 (Var Bool 1)); (Free 1 (Var Real 0)); (Free 0 (Var Real 0))];
  lanes := [] |}.
Lemma join_stretches_true : true_law join_stretches_law.
Proof. here. freed P2. freed P3. destruct (Nat.eq_dec (r 0) (r 1)) as [E | D].
  - rewrite E in *. setoid_rewrite (@upd_twice nat). apply reduce_ext. intros i _.
    apply (reduce_one add (Some 0%R) add_0 add_comm nat _ (fun j => truth (eta 1 f (upd p (r 1) j)))).
    exact (P1 f p B V).
  - setoid_rewrite (fun i j => upd_swap p (r 0) (r 1) i j D). symmetry.
    apply (reduce_split add (Some 0%R) add_0 add_comm add_assoc nat nat _ _
      (fun j i => truth (eta 1 f (upd (upd p (r 1) i) (r 0) j))) (fun _ => eta 0 f p)).
    intros i Hi. exact (P1 f (upd p (r 1) i) B (valid_in f p _ i V Hi)). Qed.

Definition rebase_law : law := {|
  conclusion := (Equal (Reduce MSum 1 (Bin Mul (Un Exp (Bin Add (Where (Var Bool 2) (Var Real 0) (Const Real None)) (Un Neg (Var Real 3)))) (Var Real 1)) (Const Bool (Some ((1)%Z # 1)))) (Bin Mul (Un Exp (Bin Add (Reduce MMax 1 (Where (Var Bool 2) (Var Real 0) (Const Real None)) (Const Bool (Some ((1)%Z # 1)))) (Un Neg (Var Real 3)))) (Reduce MSum 1 (Bin Mul (Un Exp (Bin Add (Where (Var Bool 2) (Var Real 0) (Const Real None)) (Un Neg (Reduce MMax 1 (Where (Var Bool 2) (Var Real 0) (Const Real None)) (Const Bool (Some ((1)%Z # 1))))))) (Var Real 1)) (Const Bool (Some ((1)%Z # 1))))));
  premises := [(Stretch 0 1 (Var Bool 2)); (Free 1 (Var Real 3))];
  lanes := [] |}.
Lemma rebase_true : true_law rebase_law.
Proof. here. freed P2.
  apply (sum_relative _ _ (fun i => choice (truth (eta 2 f (upd p (r 1) i))) (eta 0 f (upd p (r 1) i)) absent)
    (fun i => eta 1 f (upd p (r 1) i))). intros i Hi none. exact (max_none _ _ _ i none Hi). Qed.

Definition rebase_bare_law : law := {|
  conclusion := (Equal (Reduce MSum 1 (Un Exp (Bin Add (Where (Var Bool 1) (Var Real 0) (Const Real None)) (Un Neg (Var Real 2)))) (Const Bool (Some ((1)%Z # 1)))) (Bin Mul (Un Exp (Bin Add (Reduce MMax 1 (Where (Var Bool 1) (Var Real 0) (Const Real None)) (Const Bool (Some ((1)%Z # 1)))) (Un Neg (Var Real 2)))) (Reduce MSum 1 (Un Exp (Bin Add (Where (Var Bool 1) (Var Real 0) (Const Real None)) (Un Neg (Reduce MMax 1 (Where (Var Bool 1) (Var Real 0) (Const Real None)) (Const Bool (Some ((1)%Z # 1))))))) (Const Bool (Some ((1)%Z # 1))))));
  premises := [(Stretch 0 1 (Var Bool 1)); (Free 1 (Var Real 2))];
  lanes := [] |}.
Lemma rebase_bare_true : true_law rebase_bare_law.
Proof. here. freed P2.
  apply (sum_relative_bare _ _ (fun i => choice (truth (eta 1 f (upd p (r 1) i))) (eta 0 f (upd p (r 1) i)) absent)).
  intros i Hi none. exact (max_none _ _ _ i none Hi). Qed.

Definition where_turned_law : law := {|
  conclusion := (Equal (Where (Var Bool 2) (Var Real 0) (Var Real 1)) (Where (Un Not (Var Bool 2)) (Var Real 1) (Var Real 0)));
  premises := [];
  lanes := [] |}.
Lemma where_turned_true : true_law where_turned_law.
Proof. here. apply Laws.where_turned; known. Qed.

Definition where_not_lt_law : law := {|
  conclusion := (Equal (Where (Un Not (Bin Lt (Var Int 2) (Var Int 3))) (Var Real 0) (Var Real 1)) (Where (Bin Le (Var Int 3) (Var Int 2)) (Var Real 0) (Var Real 1)));
  premises := [];
  lanes := [] |}.
Lemma where_not_lt_true : true_law where_not_lt_law.
Proof. here. unfold lt. rewrite negb_involutive. reflexivity. Qed.

Definition where_not_le_law : law := {|
  conclusion := (Equal (Where (Un Not (Bin Le (Var Int 2) (Var Int 3))) (Var Real 0) (Var Real 1)) (Where (Bin Lt (Var Int 3) (Var Int 2)) (Var Real 0) (Var Real 1)));
  premises := [];
  lanes := [] |}.
Lemma where_not_le_true : true_law where_not_le_law.
Proof. here. reflexivity. Qed.

Definition sum_where_law : law := {|
  conclusion := (Equal (Reduce MSum 0 (Where (Var Bool 1) (Var Real 0) (Const Real (Some ((0)%Z # 10)))) (Const Bool (Some ((1)%Z # 1)))) (Where (Var Bool 1) (Reduce MSum 0 (Var Real 0) (Const Bool (Some ((1)%Z # 1)))) (Const Real (Some ((0)%Z # 10)))));
  premises := [(Free 0 (Var Bool 1))];
  lanes := [] |}.
Lemma sum_where_true : true_law sum_where_law.
Proof. here. freed P1. apply Laws.sum_where. Qed.

Definition sum_masked_law : law := {|
  conclusion := (Equal (Reduce MSum 0 (Where (Var Bool 1) (Var Real 0) (Const Real (Some ((0)%Z # 10)))) (Const Bool (Some ((1)%Z # 1)))) (Reduce MSum 0 (Var Real 0) (Var Bool 1)));
  premises := [];
  lanes := [] |}.
Lemma sum_masked_true : true_law sum_masked_law.
Proof. here. apply (Laws.sum_masked _ _ _ (fun i => truth (eta 1 f (upd p (r 0) i)))). Qed.

Definition run_at_most_law : law := {|
  conclusion := (Equal (Where (Bin And (Bin Le (Var Int 4) (Var Int 1)) (Bin Lt (Var Int 1) (Bin Add (Var Int 4) (Var Int 3)))) (Where (Bin Le (Var Int 1) (Var Int 2)) (Var Real 0) (Const Real (Some ((0)%Z # 10)))) (Const Real (Some ((0)%Z # 10)))) (Bin Add (Where (Bin Le (Bin Add (Var Int 4) (Var Int 3)) (Var Int 2)) (Where (Bin And (Bin Le (Var Int 4) (Var Int 1)) (Bin Lt (Var Int 1) (Bin Add (Var Int 4) (Var Int 3)))) (Var Real 0) (Const Real (Some ((0)%Z # 10)))) (Const Real (Some ((0)%Z # 10)))) (Where (Bin And (Bin Le (Var Int 4) (Var Int 2)) (Bin Lt (Var Int 2) (Bin Add (Var Int 4) (Var Int 3)))) (Where (Bin And (Bin Le (Var Int 4) (Var Int 1)) (Bin Lt (Var Int 1) (Bin Add (Var Int 4) (Var Int 3)))) (Where (Bin Le (Var Int 1) (Var Int 2)) (Var Real 0) (Const Real (Some ((0)%Z # 10)))) (Const Real (Some ((0)%Z # 10)))) (Const Real (Some ((0)%Z # 10))))));
  premises := [];
  lanes := [] |}.
Lemma run_at_most_true : true_law run_at_most_law.
Proof. here. there 1 f p. there 2 f p. there 3 f p. there 4 f p. destruct (eta 0 f p); pointwise. Qed.

Definition run_below_law : law := {|
  conclusion := (Equal (Where (Bin And (Bin Le (Var Int 4) (Var Int 1)) (Bin Lt (Var Int 1) (Bin Add (Var Int 4) (Var Int 3)))) (Where (Bin Lt (Var Int 1) (Var Int 2)) (Var Real 0) (Const Real (Some ((0)%Z # 10)))) (Const Real (Some ((0)%Z # 10)))) (Bin Add (Where (Bin Le (Bin Add (Var Int 4) (Var Int 3)) (Var Int 2)) (Where (Bin And (Bin Le (Var Int 4) (Var Int 1)) (Bin Lt (Var Int 1) (Bin Add (Var Int 4) (Var Int 3)))) (Var Real 0) (Const Real (Some ((0)%Z # 10)))) (Const Real (Some ((0)%Z # 10)))) (Where (Bin And (Bin Le (Var Int 4) (Var Int 2)) (Bin Lt (Var Int 2) (Bin Add (Var Int 4) (Var Int 3)))) (Where (Bin And (Bin Le (Var Int 4) (Var Int 1)) (Bin Lt (Var Int 1) (Bin Add (Var Int 4) (Var Int 3)))) (Where (Bin Lt (Var Int 1) (Var Int 2)) (Var Real 0) (Const Real (Some ((0)%Z # 10)))) (Const Real (Some ((0)%Z # 10)))) (Const Real (Some ((0)%Z # 10))))));
  premises := [];
  lanes := [] |}.
Lemma run_below_true : true_law run_below_law.
Proof. here. there 1 f p. there 2 f p. there 3 f p. there 4 f p. destruct (eta 0 f p); pointwise. Qed.

Definition sum_runs_law : law := {|
  conclusion := (Equal (Reduce MSum 0 (Where (Bin Le (Bin Add (Bin Mul (Index 0) (Var Int 2)) (Var Int 2)) (Var Int 1)) (Var Real 0) (Const Real (Some ((0)%Z # 10)))) (Const Bool (Some ((1)%Z # 1)))) (Bin Add (Reduce MSum 0 (Where (Bin And (Bin Le (Bin Add (Bin Mul (Index 0) (Var Int 2)) (Var Int 2)) (Var Int 1)) (Bin Lt (Var Int 1) (Bin Add (Bin Add (Bin Mul (Index 0) (Var Int 2)) (Var Int 2)) (Var Int 2)))) (Scan MSum 0 (Var Real 0)) (Const Real (Some ((0)%Z # 10)))) (Const Bool (Some ((1)%Z # 1)))) (Where (Bin Le (Bin Add (Bin Mul (Size 0) (Var Int 2)) (Var Int 2)) (Var Int 1)) (Reduce MSum 0 (Var Real 0) (Const Bool (Some ((1)%Z # 1)))) (Const Real (Some ((0)%Z # 10))))));
  premises := [(Free 0 (Var Int 1)); (Free 0 (Var Int 2)); (Nonneg (Un ToReal (Var Int 2)))];
  lanes := [] |}.
Lemma sum_runs_true : true_law sum_runs_law.
Proof. here. freed P1. freed P2. specialize (P3 f p B V). revert P3. there 1 f p. there 2 f p. intro P3.
  repeat setoid_rewrite (@upd_same nat). repeat setoid_rewrite truth_bool. prefixed. exact (sum_before _ _ _ _ P3). Qed.

Definition where_after_law : law := {|
  conclusion := (Equal (Where (Bin Le (Bin Add (Bin Mul (Var Int 2) (Const Int (Some ((1)%Z # 1)))) (Const Int (Some ((1)%Z # 1)))) (Bin Add (Var Int 3) (Const Int (Some ((1)%Z # 1))))) (Var Real 0) (Var Real 1)) (Where (Bin Le (Var Int 2) (Var Int 3)) (Var Real 0) (Var Real 1)));
  premises := [];
  lanes := [] |}.
Lemma where_after_true : true_law where_after_law.
Proof. here. there 2 f p. there 3 f p. destruct (eta 0 f p), (eta 1 f p); pointwise. Qed.

Definition in_stretch_law : law := {|
  conclusion := (Equal (Reduce MSum 0 (Where (Var Bool 0) (Const Real (Some ((10)%Z # 10))) (Const Real (Some ((0)%Z # 10)))) (Const Bool (Some ((1)%Z # 1)))) (Const Real (Some ((10)%Z # 10))));
  premises := [(Stretch 0 1 (Var Bool 0))];
  lanes := [] |}.
Lemma in_stretch_true : true_law in_stretch_law.
Proof. here. exact (P1 f p B V). Qed.

Definition in_runs_law : law := {|
  conclusion := (Equal (Where (Bin Le (Bin Add (Bin Mul (Size 0) (Var Int 2)) (Var Int 2)) (Var Int 1)) (Bin Mul (Var Real 0) (Reduce MSum 0 (Where (Bin And (Bin Le (Bin Mul (Index 0) (Var Int 2)) (Var Int 1)) (Bin Lt (Var Int 1) (Bin Add (Bin Mul (Index 0) (Var Int 2)) (Var Int 2)))) (Const Real (Some ((10)%Z # 10))) (Const Real (Some ((0)%Z # 10)))) (Const Bool (Some ((1)%Z # 1))))) (Const Real (Some ((0)%Z # 10)))) (Const Real (Some ((0)%Z # 10))));
  premises := [(Free 0 (Var Real 0)); (Free 0 (Var Int 1)); (Free 0 (Var Int 2)); (Finite (Var Real 0)); (Nonneg (Un ToReal (Var Int 2)))];
  lanes := [] |}.
Lemma in_runs_true : true_law in_runs_law.
Proof. here. freed P2. freed P3. specialize (P4 f p B V). specialize (P5 f p B V). cbv beta in P4. revert P5.
      there 1 f p. there 2 f p. intro P5.
  repeat setoid_rewrite (@upd_same nat). repeat setoid_rewrite truth_bool.
  match goal with |- choice ?c _ _ = _ => destruct c eqn:J; [| reflexivity] end. cbn [choice].
  etransitivity; [apply f_equal, (sum_beyond _ _ _ P5 J) |].
  destruct (eta 0 f p); [simpl; f_equal; lra | discriminate]. Qed.

Definition scan_in_runs_sum_law : law := {|
  conclusion := (Equal (Read 2 (Scan MSum 2 (Var Real 0)) (Bin Add (Bin Mul (Index 0) (Size 1)) (Index 1))) (Bin Add (Where (Bin Lt (Const Int (Some ((0)%Z # 1))) (Index 0)) (Read 0 (Scan MSum 0 (Reduce MSum 1 (Where (Bin Lt (Bin Add (Bin Mul (Index 0) (Size 1)) (Index 1)) (Size 2)) (Read 2 (Var Real 0) (Bin Add (Bin Mul (Index 0) (Size 1)) (Index 1))) (Const Real (Some ((0)%Z # 10)))) (Const Bool (Some ((1)%Z # 1))))) (Bin Add (Index 0) (Const Int (Some ((-1)%Z # 1))))) (Const Real (Some ((0)%Z # 10)))) (Scan MSum 1 (Where (Bin Lt (Bin Add (Bin Mul (Index 0) (Size 1)) (Index 1)) (Size 2)) (Read 2 (Var Real 0) (Bin Add (Bin Mul (Index 0) (Size 1)) (Index 1))) (Const Real (Some ((0)%Z # 10)))))));
  premises := [(Free 0 (Var Real 0)); (Free 1 (Var Real 0)); (Distinct 2 0); (Distinct 2 1); (Distinct 0 1)];
  lanes := [0; 2] |}.
Lemma scan_in_runs_sum_true : true_law scan_in_runs_sum_law.
Proof. here. prefixed.
  apply (scan_in_runs f p (r 2) (r 0) (r 1) ltac:(filled_axis) P5 (V _)); pointwise || assumption. Qed.

Definition scan_in_runs_prod_law : law := {|
  conclusion := (Equal (Read 2 (Scan MProd 2 (Var Real 0)) (Bin Add (Bin Mul (Index 0) (Size 1)) (Index 1))) (Bin Mul (Where (Bin Lt (Const Int (Some ((0)%Z # 1))) (Index 0)) (Read 0 (Scan MProd 0 (Reduce MProd 1 (Where (Bin Lt (Bin Add (Bin Mul (Index 0) (Size 1)) (Index 1)) (Size 2)) (Read 2 (Var Real 0) (Bin Add (Bin Mul (Index 0) (Size 1)) (Index 1))) (Const Real (Some ((10)%Z # 10)))) (Const Bool (Some ((1)%Z # 1))))) (Bin Add (Index 0) (Const Int (Some ((-1)%Z # 1))))) (Const Real (Some ((10)%Z # 10)))) (Scan MProd 1 (Where (Bin Lt (Bin Add (Bin Mul (Index 0) (Size 1)) (Index 1)) (Size 2)) (Read 2 (Var Real 0) (Bin Add (Bin Mul (Index 0) (Size 1)) (Index 1))) (Const Real (Some ((10)%Z # 10)))))));
  premises := [(Free 0 (Var Real 0)); (Free 1 (Var Real 0)); (Distinct 2 0); (Distinct 2 1); (Distinct 0 1)];
  lanes := [0; 2] |}.
Lemma scan_in_runs_prod_true : true_law scan_in_runs_prod_law.
Proof. here. prefixed.
  apply (scan_in_runs f p (r 2) (r 0) (r 1) ltac:(filled_axis) P5 (V _)); pointwise || assumption. Qed.

Definition recur_in_runs_law : law := {|
  conclusion := (Equal (Read 2 (Recur 2 (Var Real 0) (Var Real 1)) (Bin Add (Bin Mul (Index 0) (Size 1)) (Index 1))) (Bin Add (Bin Mul (Where (Bin Lt (Const Int (Some ((0)%Z # 1))) (Index 0)) (Read 0 (Recur 0 (Reduce MProd 1 (Where (Bin Lt (Bin Add (Bin Mul (Index 0) (Size 1)) (Index 1)) (Size 2)) (Read 2 (Var Real 0) (Bin Add (Bin Mul (Index 0) (Size 1)) (Index 1))) (Const Real (Some ((10)%Z # 10)))) (Const Bool (Some ((1)%Z # 1)))) (Read 1 (Recur 1 (Where (Bin Lt (Bin Add (Bin Mul (Index 0) (Size 1)) (Index 1)) (Size 2)) (Read 2 (Var Real 0) (Bin Add (Bin Mul (Index 0) (Size 1)) (Index 1))) (Const Real (Some ((10)%Z # 10)))) (Where (Bin Lt (Bin Add (Bin Mul (Index 0) (Size 1)) (Index 1)) (Size 2)) (Read 2 (Var Real 1) (Bin Add (Bin Mul (Index 0) (Size 1)) (Index 1))) (Const Real (Some ((0)%Z # 10))))) (Bin Add (Size 1) (Const Int (Some ((-1)%Z # 1)))))) (Bin Add (Index 0) (Const Int (Some ((-1)%Z # 1))))) (Const Real (Some ((0)%Z # 10)))) (Scan MProd 1 (Where (Bin Lt (Bin Add (Bin Mul (Index 0) (Size 1)) (Index 1)) (Size 2)) (Read 2 (Var Real 0) (Bin Add (Bin Mul (Index 0) (Size 1)) (Index 1))) (Const Real (Some ((10)%Z # 10)))))) (Recur 1 (Where (Bin Lt (Bin Add (Bin Mul (Index 0) (Size 1)) (Index 1)) (Size 2)) (Read 2 (Var Real 0) (Bin Add (Bin Mul (Index 0) (Size 1)) (Index 1))) (Const Real (Some ((10)%Z # 10)))) (Where (Bin Lt (Bin Add (Bin Mul (Index 0) (Size 1)) (Index 1)) (Size 2)) (Read 2 (Var Real 1) (Bin Add (Bin Mul (Index 0) (Size 1)) (Index 1))) (Const Real (Some ((0)%Z # 10)))))));
  premises := [(Free 0 (Var Real 0)); (Free 1 (Var Real 0)); (Free 0 (Var Real 1)); (Free 1 (Var Real 1)); (Distinct 2 0); (Distinct 2 1); (Distinct 0 1)];
  lanes := [0; 1; 2] |}.
Lemma recur_in_runs_true : true_law recur_in_runs_law.
Proof. here. prefixed.
  apply (recurs_in_runs f p (r 2) (r 0) (r 1) ltac:(filled_axis) P7 (V _)); [filled_axis | assumption ..]. Qed.

Definition finite_read_law : law := {|
  conclusion := (Finite (Read 0 (Var Real 0) (Var Int 1)));
  premises := [(Finite (Var Real 0))];
  lanes := [] |}.
Lemma finite_read_true : true_law finite_read_law.
Proof. here. apply (P1 f (upd p (r 0) _) B), valid_low; [exact V |]. unfold place. destruct (eta 1 f p); lia. Qed.

Definition pos_read_law : law := {|
  conclusion := (Pos (Read 0 (Var Real 0) (Var Int 1)));
  premises := [(Pos (Var Real 0))];
  lanes := [] |}.
Lemma pos_read_true : true_law pos_read_law.
Proof. here. apply (P1 f (upd p (r 0) _) B), valid_low; [exact V |]. unfold place. destruct (eta 1 f p); lia. Qed.

Definition nonneg_read_law : law := {|
  conclusion := (Nonneg (Read 0 (Var Real 0) (Var Int 1)));
  premises := [(Nonneg (Var Real 0))];
  lanes := [] |}.
Lemma nonneg_read_true : true_law nonneg_read_law.
Proof. here. apply (P1 f (upd p (r 0) _) B), valid_low; [exact V |]. unfold place. destruct (eta 1 f p); lia. Qed.

Definition read_both_add_law : law := {|
  conclusion := (Equal (Read 0 (Bin Add (Var Real 0) (Var Real 1)) (Var Int 2)) (Bin Add (Read 0 (Var Real 0) (Var Int 2)) (Read 0 (Var Real 1) (Var Int 2))));
  premises := [];
  lanes := [0] |}.
Lemma read_both_add_true : true_law read_both_add_law.
Proof. here. reflexivity. Qed.

Definition read_both_mul_law : law := {|
  conclusion := (Equal (Read 0 (Bin Mul (Var Real 0) (Var Real 1)) (Var Int 2)) (Bin Mul (Read 0 (Var Real 0) (Var Int 2)) (Read 0 (Var Real 1) (Var Int 2))));
  premises := [];
  lanes := [0] |}.
Lemma read_both_mul_true : true_law read_both_mul_law.
Proof. here. reflexivity. Qed.

Definition read_both_max_law : law := {|
  conclusion := (Equal (Read 0 (Bin BMax (Var Real 0) (Var Real 1)) (Var Int 2)) (Bin BMax (Read 0 (Var Real 0) (Var Int 2)) (Read 0 (Var Real 1) (Var Int 2))));
  premises := [];
  lanes := [0] |}.
Lemma read_both_max_true : true_law read_both_max_law.
Proof. here. reflexivity. Qed.

Definition read_both_min_law : law := {|
  conclusion := (Equal (Read 0 (Bin BMin (Var Real 0) (Var Real 1)) (Var Int 2)) (Bin BMin (Read 0 (Var Real 0) (Var Int 2)) (Read 0 (Var Real 1) (Var Int 2))));
  premises := [];
  lanes := [0] |}.
Lemma read_both_min_true : true_law read_both_min_law.
Proof. here. reflexivity. Qed.

Definition read_second_add_law : law := {|
  conclusion := (Equal (Read 0 (Bin Add (Var Real 0) (Var Real 1)) (Var Int 2)) (Bin Add (Var Real 0) (Read 0 (Var Real 1) (Var Int 2))));
  premises := [(Free 0 (Var Real 0))];
  lanes := [0] |}.
Lemma read_second_add_true : true_law read_second_add_law.
Proof. here. freed P1. reflexivity. Qed.

Definition read_second_mul_law : law := {|
  conclusion := (Equal (Read 0 (Bin Mul (Var Real 0) (Var Real 1)) (Var Int 2)) (Bin Mul (Var Real 0) (Read 0 (Var Real 1) (Var Int 2))));
  premises := [(Free 0 (Var Real 0))];
  lanes := [0] |}.
Lemma read_second_mul_true : true_law read_second_mul_law.
Proof. here. freed P1. reflexivity. Qed.

Definition read_second_max_law : law := {|
  conclusion := (Equal (Read 0 (Bin BMax (Var Real 0) (Var Real 1)) (Var Int 2)) (Bin BMax (Var Real 0) (Read 0 (Var Real 1) (Var Int 2))));
  premises := [(Free 0 (Var Real 0))];
  lanes := [0] |}.
Lemma read_second_max_true : true_law read_second_max_law.
Proof. here. freed P1. reflexivity. Qed.

Definition read_second_min_law : law := {|
  conclusion := (Equal (Read 0 (Bin BMin (Var Real 0) (Var Real 1)) (Var Int 2)) (Bin BMin (Var Real 0) (Read 0 (Var Real 1) (Var Int 2))));
  premises := [(Free 0 (Var Real 0))];
  lanes := [0] |}.
Lemma read_second_min_true : true_law read_second_min_law.
Proof. here. freed P1. reflexivity. Qed.

Definition read_sum_law : law := {|
  conclusion := (Equal (Read 0 (Reduce MSum 1 (Var Real 0) (Const Bool (Some ((1)%Z # 1)))) (Var Int 1)) (Reduce MSum 1 (Read 0 (Var Real 0) (Var Int 1)) (Const Bool (Some ((1)%Z # 1)))));
  premises := [(Free 1 (Var Int 1)); (Distinct 0 1)];
  lanes := [0] |}.
Lemma read_sum_true : true_law read_sum_law.
Proof. here. freed P1. apply reduce_ext. intros j _.
  rewrite (upd_swap p (r 0) (r 1)) by congruence. reflexivity. Qed.

Definition read_before_law : law := {|
  conclusion := (Equal (Read 0 (Where (Bin Lt (Const Int (Some ((0)%Z # 1))) (Index 0)) (Read 0 (Var Real 0) (Bin Add (Index 0) (Const Int (Some ((-1)%Z # 1))))) (Var Real 1)) (Var Int 2)) (Where (Bin Lt (Const Int (Some ((0)%Z # 1))) (Bin BMin (Bin BMax (Var Int 2) (Const Int (Some ((0)%Z # 1)))) (Bin Add (Size 0) (Const Int (Some ((-1)%Z # 1)))))) (Read 0 (Var Real 0) (Bin Add (Bin BMin (Bin BMax (Var Int 2) (Const Int (Some ((0)%Z # 1)))) (Bin Add (Size 0) (Const Int (Some ((-1)%Z # 1))))) (Const Int (Some ((-1)%Z # 1))))) (Var Real 1)));
  premises := [(Free 0 (Var Real 1))];
  lanes := [0] |}.
Lemma read_before_true : true_law read_before_law.
Proof. here. freed P1. assert (N : 0 < ends f (r 0)) by filled_axis.
  rewrite (nearest _ _ (proj1 (Hsort Int 2 ltac:(vm_compute; tauto)) f p) N), upd_same. reflexivity. Qed.

Definition read_back_law : law := {|
  conclusion := (Equal (Where (Bin Lt (Bin Add (Bin Mul (Index 0) (Size 1)) (Index 1)) (Size 2)) (Read 2 (Read 1 (Read 0 (Var Real 0) (Bin FloorDiv (Index 2) (Size 1))) (Bin Mod (Index 2) (Size 1))) (Bin Add (Bin Mul (Index 0) (Size 1)) (Index 1))) (Var Real 1)) (Where (Bin Lt (Bin Add (Bin Mul (Index 0) (Size 1)) (Index 1)) (Size 2)) (Var Real 0) (Var Real 1)));
  premises := [(Free 2 (Var Real 0)); (Distinct 2 0); (Distinct 2 1); (Distinct 0 1)];
  lanes := [0; 1; 2] |}.
Lemma read_back_true : true_law read_back_law.
Proof. here. assert (K : 0 < ends f (r 2)) by filled_axis.
  assert (N : 0 < ends f (r 1)) by filled_axis.
  repeat rewrite ?(upd_other _ (r 1) (r 2)), ?upd_same by exact P3.
  rewrite <- mult_INR, <- plus_INR, lt_of_INR, whole_INR.
  destruct (Nat.ltb_spec (p (r 0) * ends f (r 1) + p (r 1)) (ends f (r 2))) as [L | L]; [| reflexivity]. cbn [choice].
  rewrite Nat.min_l, (whole_div _ _ N), (whole_mod _ _ N), !whole_INR by lia.
  pose proof (V (r 0)). pose proof (V (r 1)).
  rewrite Nat.div_add_l, Nat.div_small, Nat.add_0_r, (Nat.add_comm (_ * _)), Nat.mod_add, Nat.mod_small by lia.
  rewrite !Nat.min_l by lia. apply P1. intros y Y. unfold upd.
  destruct (Nat.eqb_spec y (r 0)), (Nat.eqb_spec y (r 1)), (Nat.eqb_spec y (r 2)); congruence. Qed.

Definition finite_scan_sum_law : law := {|
  conclusion := (Finite (Scan MSum 0 (Var Real 0)));
  premises := [(Finite (Var Real 0))];
  lanes := [] |}.
Lemma finite_scan_sum_true : true_law finite_scan_sum_law.
Proof. here. prefixed. apply finite_total; [reflexivity | pointwise | prefix]. Qed.

Definition finite_scan_max_law : law := {|
  conclusion := (Finite (Scan MMax 0 (Var Real 0)));
  premises := [(Finite (Var Real 0))];
  lanes := [] |}.
Lemma finite_scan_max_true : true_law finite_scan_max_law.
Proof. here. prefixed. apply Laws.finite_reduce_max; [discriminate | prefix]. Qed.

Definition finite_scan_prod_law : law := {|
  conclusion := (Finite (Scan MProd 0 (Var Real 0)));
  premises := [(Finite (Var Real 0))];
  lanes := [] |}.
Lemma finite_scan_prod_true : true_law finite_scan_prod_law.
Proof. here. prefixed. apply finite_total; [reflexivity | pointwise | prefix]. Qed.

Definition finite_recur_law : law := {|
  conclusion := (Finite (Recur 0 (Var Real 0) (Var Real 1)));
  premises := [(Finite (Var Real 0)); (Finite (Var Real 1))];
  lanes := [] |}.
Lemma finite_recur_true : true_law finite_recur_law.
Proof. here. apply recur_every; [pointwise |]. intros h i Hh Hi.
  assert (W : valid f (upd p (r 0) i)) by (apply valid_low; [exact V | pose proof (V (r 0)); lia]).
  generalize (P1 f _ B W) (P2 f _ B W). revert Hh. simpl.
  generalize (eta 0 f (upd p (r 0) i)) (eta 1 f (upd p (r 0) i)). pointwise. Qed.

Definition nonneg_scan_law : law := {|
  conclusion := (Nonneg (Scan MSum 0 (Var Real 0)));
  premises := [(Nonneg (Var Real 0))];
  lanes := [] |}.
Lemma nonneg_scan_true : true_law nonneg_scan_law.
Proof. here. prefixed. apply nonneg_total. prefix. Qed.

Definition nonneg_recur_law : law := {|
  conclusion := (Nonneg (Recur 0 (Var Real 0) (Var Real 1)));
  premises := [(Nonneg (Var Real 0)); (Nonneg (Var Real 1))];
  lanes := [] |}.
Lemma nonneg_recur_true : true_law nonneg_recur_law.
Proof. here. apply recur_every; [pointwise |]. intros h i Hh Hi.
  assert (W : valid f (upd p (r 0) i)) by (apply valid_low; [exact V | pose proof (V (r 0)); lia]).
  generalize (P1 f _ B W) (P2 f _ B W). revert Hh. simpl.
  generalize (eta 0 f (upd p (r 0) i)) (eta 1 f (upd p (r 0) i)). pointwise. Qed.

Definition recur_sum_law : law := {|
  conclusion := (Equal (Recur 0 (Const Real (Some ((10)%Z # 10))) (Var Real 0)) (Scan MSum 0 (Var Real 0)));
  premises := [];
  lanes := [] |}.
Lemma recur_sum_true : true_law recur_sum_law.
Proof. here. prefixed. apply recur_ones. Qed.

Definition recur_factor_law : law := {|
  conclusion := (Equal (Recur 0 (Var Real 0) (Bin Mul (Var Real 2) (Var Real 1))) (Bin Mul (Var Real 2) (Recur 0 (Var Real 0) (Var Real 1))));
  premises := [(Free 0 (Var Real 2))];
  lanes := [] |}.
Lemma recur_factor_true : true_law recur_factor_law.
Proof. here. etransitivity; [apply recur_ext; [reflexivity |] | apply recur_scaled]. intros i _.
  cbv beta. rewrite (free_upd _ _ f p i P1). reflexivity. Qed.

Definition sum_scan_law : law := {|
  conclusion := (Equal (Reduce MSum 1 (Scan MSum 0 (Var Real 0)) (Const Bool (Some ((1)%Z # 1)))) (Scan MSum 0 (Reduce MSum 1 (Var Real 0) (Const Bool (Some ((1)%Z # 1))))));
  premises := [(Distinct 0 1)];
  lanes := [] |}.
Lemma sum_scan_true : true_law sum_scan_law.
Proof. here. prefixed. transitivity (Sum (seq 0 (ends f (r 1))) (fun j => Sum (seq 0 (Datatypes.S (p (r 0)))) (fun i =>
    eta 0 f (upd (upd p (r 0) i) (r 1) j)))).
  - apply reduce_ext. intros j _. rewrite upd_other by congruence. prefixed. apply reduce_ext. intros i _.
    rewrite (upd_swap p (r 1) (r 0) j i) by congruence. reflexivity.
  - apply (reduce_swap add (Some 0%R) add_0 add_comm add_assoc). Qed.

Definition sum_recur_law : law := {|
  conclusion := (Equal (Reduce MSum 1 (Recur 0 (Var Real 0) (Var Real 1)) (Const Bool (Some ((1)%Z # 1)))) (Recur 0 (Var Real 0) (Reduce MSum 1 (Var Real 1) (Const Bool (Some ((1)%Z # 1))))));
  premises := [(Free 1 (Var Real 0)); (Finite (Var Real 0)); (Distinct 0 1)];
  lanes := [] |}.
Lemma sum_recur_true : true_law sum_recur_law.
Proof. here. transitivity (Sum (seq 0 (ends f (r 1))) (fun j => recur (fun i => eta 0 f (upd p (r 0) i))
    (fun i => eta 1 f (upd (upd p (r 0) i) (r 1) j)) (Datatypes.S (p (r 0))))).
  - apply reduce_ext. intros j _. rewrite upd_other by congruence.
    apply recur_ext; intros i _; rewrite (upd_swap p (r 1) (r 0) j i) by congruence;
      [apply (free_upd _ _ f _ j P1) | reflexivity].
  - apply (sum_of_recur (seq 0 (ends f (r 1))) _ (fun j i => eta 1 f (upd (upd p (r 0) i) (r 1) j))). intros i Hi.
    apply (P2 f _ B). apply valid_low; [exact V | pose proof (V (r 0)); lia]. Qed.

Definition distribute_law : law := {|
  conclusion := (Equal (Reduce MSum 0 (Bin Mul (Var Real 0) (Var Real 1)) (Const Bool (Some ((1)%Z # 1)))) (Bin Mul (Var Real 0) (Reduce MSum 0 (Var Real 1) (Const Bool (Some ((1)%Z # 1))))));
  premises := [(Free 0 (Var Real 0))];
  lanes := [0] |}.
Lemma distribute_true : true_law distribute_law.
Proof. here. freed P1. apply Laws.distribute. some. Qed.

Definition distribute_present_law : law := {|
  conclusion := (Equal (Reduce MSum 0 (Bin Mul (Var Real 0) (Var Real 1)) (Const Bool (Some ((1)%Z # 1)))) (Bin Mul (Var Real 0) (Reduce MSum 0 (Var Real 1) (Const Bool (Some ((1)%Z # 1))))));
  premises := [(Free 0 (Var Real 0)); (Finite (Var Real 0))];
  lanes := [] |}.
Lemma distribute_present_true : true_law distribute_present_law.
Proof. here. freed P1. apply Laws.distribute_present. known. Qed.

Definition sum_add_law : law := {|
  conclusion := (Equal (Reduce MSum 0 (Bin Add (Var Real 0) (Var Real 1)) (Const Bool (Some ((1)%Z # 1)))) (Bin Add (Reduce MSum 0 (Var Real 0) (Const Bool (Some ((1)%Z # 1)))) (Reduce MSum 0 (Var Real 1) (Const Bool (Some ((1)%Z # 1))))));
  premises := [];
  lanes := [] |}.
Lemma sum_add_true : true_law sum_add_law.
Proof. here. apply Laws.sum_add. Qed.

Definition sum_neg_law : law := {|
  conclusion := (Equal (Reduce MSum 0 (Un Neg (Var Real 0)) (Const Bool (Some ((1)%Z # 1)))) (Un Neg (Reduce MSum 0 (Var Real 0) (Const Bool (Some ((1)%Z # 1))))));
  premises := [];
  lanes := [] |}.
Lemma sum_neg_true : true_law sum_neg_law.
Proof. here. apply Laws.sum_neg. Qed.

Definition sum_constant_law : law := {|
  conclusion := (Equal (Reduce MSum 0 (Var Real 0) (Const Bool (Some ((1)%Z # 1)))) (Bin Mul (Var Real 0) (Un ToReal (Size 0))));
  premises := [(Free 0 (Var Real 0))];
  lanes := [0] |}.
Lemma sum_constant_true : true_law sum_constant_law.
Proof. here. freed P1. etransitivity; [apply Laws.sum_constant; some |]. unfold size.
      rewrite seq_length. reflexivity. Qed.

Definition sum_constant_present_law : law := {|
  conclusion := (Equal (Reduce MSum 0 (Var Real 0) (Const Bool (Some ((1)%Z # 1)))) (Bin Mul (Var Real 0) (Un ToReal (Size 0))));
  premises := [(Free 0 (Var Real 0)); (Finite (Var Real 0))];
  lanes := [] |}.
Lemma sum_constant_present_true : true_law sum_constant_present_law.
Proof. here. freed P1. etransitivity; [apply Laws.sum_constant_present; known |]. unfold size.
      rewrite seq_length. reflexivity. Qed.

Definition fubini_sum_law : law := {|
  conclusion := (Equal (Reduce MSum 0 (Reduce MSum 1 (Var Real 0) (Const Bool (Some ((1)%Z # 1)))) (Const Bool (Some ((1)%Z # 1)))) (Reduce MSum 1 (Reduce MSum 0 (Var Real 0) (Const Bool (Some ((1)%Z # 1)))) (Const Bool (Some ((1)%Z # 1)))));
  premises := [(Distinct 0 1)];
  lanes := [] |}.
Lemma fubini_sum_true : true_law fubini_sum_law.
Proof. here. setoid_rewrite (fun i j => upd_swap p (r 0) (r 1) i j P1).
  apply (reduce_swap add (Some 0%R) add_0 add_comm add_assoc). Qed.

Definition fubini_max_law : law := {|
  conclusion := (Equal (Reduce MMax 0 (Reduce MMax 1 (Var Real 0) (Const Bool (Some ((1)%Z # 1)))) (Const Bool (Some ((1)%Z # 1)))) (Reduce MMax 1 (Reduce MMax 0 (Var Real 0) (Const Bool (Some ((1)%Z # 1)))) (Const Bool (Some ((1)%Z # 1)))));
  premises := [(Distinct 0 1)];
  lanes := [] |}.
Lemma fubini_max_true : true_law fubini_max_law.
Proof. here. setoid_rewrite (fun i j => upd_swap p (r 0) (r 1) i j P1).
  apply (reduce_swap max absent max_absent max_comm max_assoc). Qed.

Definition fubini_prod_law : law := {|
  conclusion := (Equal (Reduce MProd 0 (Reduce MProd 1 (Var Real 0) (Const Bool (Some ((1)%Z # 1)))) (Const Bool (Some ((1)%Z # 1)))) (Reduce MProd 1 (Reduce MProd 0 (Var Real 0) (Const Bool (Some ((1)%Z # 1)))) (Const Bool (Some ((1)%Z # 1)))));
  premises := [(Distinct 0 1)];
  lanes := [] |}.
Lemma fubini_prod_true : true_law fubini_prod_law.
Proof. here. setoid_rewrite (fun i j => upd_swap p (r 0) (r 1) i j P1).
  apply (reduce_swap mul (Some 1%R) mul_1 mul_comm mul_assoc). Qed.

Definition max_shift_law : law := {|
  conclusion := (Equal (Reduce MMax 0 (Bin Add (Var Real 0) (Var Real 1)) (Const Bool (Some ((1)%Z # 1)))) (Bin Add (Var Real 0) (Reduce MMax 0 (Var Real 1) (Const Bool (Some ((1)%Z # 1))))));
  premises := [(Free 0 (Var Real 0))];
  lanes := [] |}.
Lemma max_shift_true : true_law max_shift_law.
Proof. here. freed P1. apply Laws.max_shift. Qed.

Definition max_scale_law : law := {|
  conclusion := (Equal (Reduce MMax 0 (Bin Mul (Var Real 0) (Var Real 1)) (Const Bool (Some ((1)%Z # 1)))) (Bin Mul (Var Real 0) (Reduce MMax 0 (Var Real 1) (Const Bool (Some ((1)%Z # 1))))));
  premises := [(Free 0 (Var Real 0)); (Pos (Var Real 0))];
  lanes := [] |}.
Lemma max_scale_true : true_law max_scale_law.
Proof. here. freed P1. apply Laws.max_scale. known. Qed.

Definition local_unary_neg_law : law := {|
  conclusion := (Local 0 (Un Neg (Var Real 0)));
  premises := [(Local 0 (Var Real 0))];
  lanes := [] |}.
Lemma local_unary_neg_true : true_law local_unary_neg_law.
Proof. local_parts. Qed.

Definition local_unary_inv_law : law := {|
  conclusion := (Local 0 (Un Inv (Var Real 0)));
  premises := [(Local 0 (Var Real 0))];
  lanes := [] |}.
Lemma local_unary_inv_true : true_law local_unary_inv_law.
Proof. local_parts. Qed.

Definition local_unary_exp_law : law := {|
  conclusion := (Local 0 (Un Exp (Var Real 0)));
  premises := [(Local 0 (Var Real 0))];
  lanes := [] |}.
Lemma local_unary_exp_true : true_law local_unary_exp_law.
Proof. local_parts. Qed.

Definition local_unary_log_law : law := {|
  conclusion := (Local 0 (Un Log (Var Real 0)));
  premises := [(Local 0 (Var Real 0))];
  lanes := [] |}.
Lemma local_unary_log_true : true_law local_unary_log_law.
Proof. local_parts. Qed.

Definition local_unary_sqrt_law : law := {|
  conclusion := (Local 0 (Un Sqrt (Var Real 0)));
  premises := [(Local 0 (Var Real 0))];
  lanes := [] |}.
Lemma local_unary_sqrt_true : true_law local_unary_sqrt_law.
Proof. local_parts. Qed.

Definition local_unary_tanh_law : law := {|
  conclusion := (Local 0 (Un Tanh (Var Real 0)));
  premises := [(Local 0 (Var Real 0))];
  lanes := [] |}.
Lemma local_unary_tanh_true : true_law local_unary_tanh_law.
Proof. local_parts. Qed.

Definition local_unary_sigmoid_law : law := {|
  conclusion := (Local 0 (Un Sigmoid (Var Real 0)));
  premises := [(Local 0 (Var Real 0))];
  lanes := [] |}.
Lemma local_unary_sigmoid_true : true_law local_unary_sigmoid_law.
Proof. local_parts. Qed.

Definition local_unary_erf_law : law := {|
  conclusion := (Local 0 (Un Erf (Var Real 0)));
  premises := [(Local 0 (Var Real 0))];
  lanes := [] |}.
Lemma local_unary_erf_true : true_law local_unary_erf_law.
Proof. local_parts. Qed.

Definition local_unary_sin_law : law := {|
  conclusion := (Local 0 (Un Sin (Var Real 0)));
  premises := [(Local 0 (Var Real 0))];
  lanes := [] |}.
Lemma local_unary_sin_true : true_law local_unary_sin_law.
Proof. local_parts. Qed.

Definition local_unary_cos_law : law := {|
  conclusion := (Local 0 (Un Cos (Var Real 0)));
  premises := [(Local 0 (Var Real 0))];
  lanes := [] |}.
Lemma local_unary_cos_true : true_law local_unary_cos_law.
Proof. local_parts. Qed.

Definition local_unary_abs_law : law := {|
  conclusion := (Local 0 (Un Abs (Var Real 0)));
  premises := [(Local 0 (Var Real 0))];
  lanes := [] |}.
Lemma local_unary_abs_true : true_law local_unary_abs_law.
Proof. local_parts. Qed.

Definition local_unary_floor_law : law := {|
  conclusion := (Local 0 (Un Floor (Var Real 0)));
  premises := [(Local 0 (Var Real 0))];
  lanes := [] |}.
Lemma local_unary_floor_true : true_law local_unary_floor_law.
Proof. local_parts. Qed.

Definition local_unary_round_law : law := {|
  conclusion := (Local 0 (Un Round (Var Real 0)));
  premises := [(Local 0 (Var Real 0))];
  lanes := [] |}.
Lemma local_unary_round_true : true_law local_unary_round_law.
Proof. local_parts. Qed.

Definition local_unary_expm1_law : law := {|
  conclusion := (Local 0 (Un Expm1 (Var Real 0)));
  premises := [(Local 0 (Var Real 0))];
  lanes := [] |}.
Lemma local_unary_expm1_true : true_law local_unary_expm1_law.
Proof. local_parts. Qed.

Definition local_unary_atan_law : law := {|
  conclusion := (Local 0 (Un Atan (Var Real 0)));
  premises := [(Local 0 (Var Real 0))];
  lanes := [] |}.
Lemma local_unary_atan_true : true_law local_unary_atan_law.
Proof. local_parts. Qed.

Definition local_binary_add_law : law := {|
  conclusion := (Local 0 (Bin Add (Var Real 0) (Var Real 1)));
  premises := [(Local 0 (Var Real 0)); (Local 0 (Var Real 1))];
  lanes := [] |}.
Lemma local_binary_add_true : true_law local_binary_add_law.
Proof. local_parts. Qed.

Definition local_binary_mul_law : law := {|
  conclusion := (Local 0 (Bin Mul (Var Real 0) (Var Real 1)));
  premises := [(Local 0 (Var Real 0)); (Local 0 (Var Real 1))];
  lanes := [] |}.
Lemma local_binary_mul_true : true_law local_binary_mul_law.
Proof. local_parts. Qed.

Definition local_binary_max_law : law := {|
  conclusion := (Local 0 (Bin BMax (Var Real 0) (Var Real 1)));
  premises := [(Local 0 (Var Real 0)); (Local 0 (Var Real 1))];
  lanes := [] |}.
Lemma local_binary_max_true : true_law local_binary_max_law.
Proof. local_parts. Qed.

Definition local_binary_min_law : law := {|
  conclusion := (Local 0 (Bin BMin (Var Real 0) (Var Real 1)));
  premises := [(Local 0 (Var Real 0)); (Local 0 (Var Real 1))];
  lanes := [] |}.
Lemma local_binary_min_true : true_law local_binary_min_law.
Proof. local_parts. Qed.

Definition local_where_law : law := {|
  conclusion := (Local 0 (Where (Var Bool 2) (Var Real 0) (Var Real 1)));
  premises := [(Local 0 (Var Real 0)); (Local 0 (Var Real 1)); (Local 0 (Var Bool 2))];
  lanes := [] |}.
Lemma local_where_true : true_law local_where_law.
Proof. local_parts. Qed.

Definition local_real_law : law := {|
  conclusion := (Local 0 (Un ToReal (Var Int 0)));
  premises := [(Local 0 (Var Int 0))];
  lanes := [] |}.
Lemma local_real_true : true_law local_real_law.
Proof. local_parts. Qed.

Definition local_not_law : law := {|
  conclusion := (Local 0 (Un Not (Var Bool 0)));
  premises := [(Local 0 (Var Bool 0))];
  lanes := [] |}.
Lemma local_not_true : true_law local_not_law.
Proof. local_parts. Qed.

Definition local_lt_law : law := {|
  conclusion := (Local 0 (Bin Lt (Var Real 0) (Var Real 1)));
  premises := [(Local 0 (Var Real 0)); (Local 0 (Var Real 1))];
  lanes := [] |}.
Lemma local_lt_true : true_law local_lt_law.
Proof. local_parts. Qed.

Definition local_le_law : law := {|
  conclusion := (Local 0 (Bin Le (Var Real 0) (Var Real 1)));
  premises := [(Local 0 (Var Real 0)); (Local 0 (Var Real 1))];
  lanes := [] |}.
Lemma local_le_true : true_law local_le_law.
Proof. local_parts. Qed.

Definition local_eq_law : law := {|
  conclusion := (Local 0 (Bin Eqb (Var Real 0) (Var Real 1)));
  premises := [(Local 0 (Var Real 0)); (Local 0 (Var Real 1))];
  lanes := [] |}.
Lemma local_eq_true : true_law local_eq_law.
Proof. local_parts. Qed.

Definition local_and_law : law := {|
  conclusion := (Local 0 (Bin And (Var Bool 0) (Var Bool 1)));
  premises := [(Local 0 (Var Bool 0)); (Local 0 (Var Bool 1))];
  lanes := [] |}.
Lemma local_and_true : true_law local_and_law.
Proof. local_parts. Qed.

Definition local_or_law : law := {|
  conclusion := (Local 0 (Bin Or (Var Bool 0) (Var Bool 1)));
  premises := [(Local 0 (Var Bool 0)); (Local 0 (Var Bool 1))];
  lanes := [] |}.
Lemma local_or_true : true_law local_or_law.
Proof. local_parts. Qed.

Definition local_reduce_sum_law : law := {|
  conclusion := (Local 0 (Reduce MSum 1 (Var Real 0) (Const Bool (Some ((1)%Z # 1)))));
  premises := [(Local 0 (Var Real 0)); (Distinct 0 1)];
  lanes := [] |}.
Lemma local_reduce_sum_true : true_law local_reduce_sum_law.
Proof. stated. intros f f' p N I_ A A'. simpl. plain.
  rewrite (N (r 1)) by (intros [E | []]; congruence). apply reduce_ext. intros i _.
  apply P1; auto; rewrite upd_other by congruence; assumption. Qed.

Definition local_reduce_max_law : law := {|
  conclusion := (Local 0 (Reduce MMax 1 (Var Real 0) (Const Bool (Some ((1)%Z # 1)))));
  premises := [(Local 0 (Var Real 0)); (Distinct 0 1)];
  lanes := [] |}.
Lemma local_reduce_max_true : true_law local_reduce_max_law.
Proof. stated. intros f f' p N I_ A A'. simpl. plain.
  rewrite (N (r 1)) by (intros [E | []]; congruence). apply reduce_ext. intros i _.
  apply P1; auto; rewrite upd_other by congruence; assumption. Qed.

Definition local_reduce_prod_law : law := {|
  conclusion := (Local 0 (Reduce MProd 1 (Var Real 0) (Const Bool (Some ((1)%Z # 1)))));
  premises := [(Local 0 (Var Real 0)); (Distinct 0 1)];
  lanes := [] |}.
Lemma local_reduce_prod_true : true_law local_reduce_prod_law.
Proof. stated. intros f f' p N I_ A A'. simpl. plain.
  rewrite (N (r 1)) by (intros [E | []]; congruence). apply reduce_ext. intros i _.
  apply P1; auto; rewrite upd_other by congruence; assumption. Qed.

Definition scales_exp_law : law := {|
  conclusion := (Scales 0 (Un Exp (Bin Add (Var Real 0) (Un Neg (Var Real 1)))) (Un Exp (Bin Add (Prev (Var Real 1)) (Un Neg (Var Real 1)))));
  premises := [(Local 0 (Var Real 0)); (AtMost (Var Real 0) (Var Real 1)); (Free 0 (Var Real 1))];
  lanes := [] |}.
Lemma scales_exp_true : true_law scales_exp_law.
Proof. streaming. intros nF f p B V. assert (Cl := Hshut 1 ltac:(vm_compute; tauto)). split.
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
    pointwise; rewrite <- ?exp_plus; try f_equal; try f_equal; try ring. Qed.

Definition le_prev_law : law := {|
  conclusion := (AtMost (Prev (Reduce MMax 0 (Var Real 0) (Const Bool (Some ((1)%Z # 1))))) (Reduce MMax 0 (Var Real 0) (Const Bool (Some ((1)%Z # 1)))));
  premises := [(Local 0 (Var Real 0))];
  lanes := [] |}.
Lemma le_prev_true : true_law le_prev_law.
Proof. stated. intros f p B V. simpl. plain. assert (U : updating (r 0) f) by (apply B, Hwithin; simpl;
      auto).
  rewrite (reduce_ext _ _ (seq 0 (prev f (r 0))) _ (fun i => eta 0 f (upd p (r 0) i))); [apply max_longer; destruct U;
    lia |].
  intros i Hi. apply in_seq in Hi. rewrite clamp_updating by assumption. apply (local_before (r 0) _ f p i U P1).
    lia. Qed.

Definition le_prev_larger_law : law := {|
  conclusion := (AtMost (Prev (Bin BMax (Reduce MMax 0 (Var Real 1) (Const Bool (Some ((1)%Z # 1)))) (Var Real 0))) (Bin BMax (Reduce MMax 0 (Var Real 1) (Const Bool (Some ((1)%Z # 1)))) (Var Real 0)));
  premises := [(Local 0 (Var Real 1)); (Local 0 (Var Real 0)); (Free 0 (Var Real 0))];
  lanes := [] |}.
Lemma le_prev_larger_true : true_law le_prev_larger_law.
Proof. stated. intros f p B V. simpl. plain.
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
    (reduce max absent (seq 0 (ends f (r 0))) (fun i => eta 1 f (upd p (r 0) i))) (eta 0 f p). pointwise. Qed.

Definition scales_inv_law : law := {|
  conclusion := (Scales 0 (Un Inv (Reduce MSum 0 (Var Real 0) (Const Bool (Some ((1)%Z # 1))))) (Bin Mul (Prev (Reduce MSum 0 (Var Real 0) (Const Bool (Some ((1)%Z # 1))))) (Un Inv (Reduce MSum 0 (Var Real 0) (Const Bool (Some ((1)%Z # 1)))))));
  premises := [(Local 0 (Var Real 0)); (Nonzero (Reduce MSum 0 (Var Real 0) (Const Bool (Some ((1)%Z # 1)))))];
  lanes := [] |}.
Lemma scales_inv_true : true_law scales_inv_law.
Proof. streaming. intros nF f p B V. set (x := r 0) in *.
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
      (reduce add (Some 0%R) (seq 0 n) (fun j => eta 0 (cut f x n) (upd p x j))). pointwise. Qed.

Definition scales_local_law : law := {|
  conclusion := (Scales 0 (Bin Mul (Var Real 0) (Var Real 1)) (Var Real 2));
  premises := [(Scales 0 (Var Real 0) (Var Real 2)); (Local 0 (Var Real 1))];
  lanes := [] |}.
Lemma scales_local_true : true_law scales_local_law.
Proof. streaming. intros nF f p B V. destruct (P1 nF f p B V) as [S1 S2]. split; [exact S1 |].
      intros n k A i Hk L Hi. simpl in *.
  rewrite (S2 n k A i Hk L Hi). rewrite (local_cut _ _ f p k n i P2) by lia. rewrite <- !mul_assoc. f_equal.
    apply mul_comm. Qed.

Definition scales_both_law : law := {|
  conclusion := (Scales 0 (Bin Mul (Var Real 0) (Var Real 1)) (Bin Mul (Var Real 2) (Var Real 3)));
  premises := [(Scales 0 (Var Real 0) (Var Real 2)); (Scales 0 (Var Real 1) (Var Real 3))];
  lanes := [] |}.
Lemma scales_both_true : true_law scales_both_law.
Proof. streaming. intros nF f p B V. destruct (P1 nF f p B V) as [S1 S2].
      destruct (P2 nF f p B V) as [T1 T2]. simpl in *. split.
  - intros k A K. specialize (S1 k A K). specialize (T1 k A K). destruct (eta 2 _ _), (eta 3 _ _); simpl; congruence.
  - intros n k A i Hk L Hi. rewrite (S2 n k A i Hk L Hi), (T2 n k A i Hk L Hi).
      generalize (eta 0 (cut f (r 0) n) (upd p (r 0) i))
      (eta 1 (cut f (r 0) n) (upd p (r 0) i)) (eta 2 (moved f (r 0) n k A) (upd p (r 0) 0)) (eta 3 (moved f (r 0) n k
        A) (upd p (r 0) 0)). pointwise. Qed.

Definition rescale_law : law := {|
  conclusion := (Equal (Reduce MSum 0 (Var Real 0) (Const Bool (Some ((1)%Z # 1)))) (Online false 0 (Var Real 0) (Const Bool (Some ((1)%Z # 1))) (Bin Mul (Acc) (Var Real 1))));
  premises := [(Scales 0 (Var Real 0) (Var Real 1)); (Free 0 (Var Real 1))];
  lanes := [] |}.
Lemma rescale_true : true_law rescale_law.
Proof. streaming. intros f p B V. simpl. plain. symmetry. apply carried_along; auto. intros q Vq.
  destruct (P1 (Hstreamed _ (or_introl eq_refl)) f q (base_drop m b f _ B) Vq) as [S1 S2].
  assert (Fi : ends f (r 0) <= full m (r 0)) by apply B. split.
  - intros k A K Z. simpl. rewrite Z. specialize (S1 k A ltac:(lia)). simpl in S1.
    destruct (eta 1 _ _); [simpl; f_equal; lra | contradiction].
  - intros n k A K L Z. simpl. rewrite Z, mul_comm, <- sum_factor by (apply seq_some; lia). apply sum_same. intros i Hi.
    apply in_seq in Hi. rewrite mul_comm. symmetry. apply S2; lia. Qed.

Definition add_commutes_law : law := {|
  conclusion := (Equal (Bin Add (Var Real 0) (Var Real 1)) (Bin Add (Var Real 1) (Var Real 0)));
  premises := [];
  lanes := [] |}.
Lemma add_commutes_true : true_law add_commutes_law.
Proof. here. apply Laws.add_commutes; known. Qed.

Definition mul_commutes_law : law := {|
  conclusion := (Equal (Bin Mul (Var Real 0) (Var Real 1)) (Bin Mul (Var Real 1) (Var Real 0)));
  premises := [];
  lanes := [] |}.
Lemma mul_commutes_true : true_law mul_commutes_law.
Proof. here. apply Laws.mul_commutes; known. Qed.

Definition add_associates_law : law := {|
  conclusion := (Equal (Bin Add (Bin Add (Var Real 0) (Var Real 1)) (Var Real 2)) (Bin Add (Var Real 0) (Bin Add (Var Real 1) (Var Real 2))));
  premises := [];
  lanes := [] |}.
Lemma add_associates_true : true_law add_associates_law.
Proof. here. apply Laws.add_associates; known. Qed.

Definition mul_associates_law : law := {|
  conclusion := (Equal (Bin Mul (Bin Mul (Var Real 0) (Var Real 1)) (Var Real 2)) (Bin Mul (Var Real 0) (Bin Mul (Var Real 1) (Var Real 2))));
  premises := [];
  lanes := [] |}.
Lemma mul_associates_true : true_law mul_associates_law.
Proof. here. apply Laws.mul_associates; known. Qed.

Definition factor_law : law := {|
  conclusion := (Equal (Bin Mul (Var Real 0) (Bin Add (Var Real 1) (Var Real 2))) (Bin Add (Bin Mul (Var Real 0) (Var Real 1)) (Bin Mul (Var Real 0) (Var Real 2))));
  premises := [];
  lanes := [] |}.
Lemma factor_true : true_law factor_law.
Proof. here. apply Laws.factor; known. Qed.

Definition mul_one_law : law := {|
  conclusion := (Equal (Bin Mul (Var Real 0) (Const Real (Some ((10)%Z # 10)))) (Var Real 0));
  premises := [];
  lanes := [] |}.
Lemma mul_one_true : true_law mul_one_law.
Proof. here. apply Laws.mul_one; known. Qed.

Definition add_zero_law : law := {|
  conclusion := (Equal (Bin Add (Var Real 0) (Const Real (Some ((0)%Z # 10)))) (Var Real 0));
  premises := [];
  lanes := [] |}.
Lemma add_zero_true : true_law add_zero_law.
Proof. here. apply Laws.add_zero; known. Qed.

Definition neg_mul_law : law := {|
  conclusion := (Equal (Bin Mul (Un Neg (Var Real 0)) (Var Real 1)) (Un Neg (Bin Mul (Var Real 0) (Var Real 1))));
  premises := [];
  lanes := [] |}.
Lemma neg_mul_true : true_law neg_mul_law.
Proof. here. apply Laws.neg_mul; known. Qed.

Definition neg_add_law : law := {|
  conclusion := (Equal (Un Neg (Bin Add (Var Real 0) (Var Real 1))) (Bin Add (Un Neg (Var Real 0)) (Un Neg (Var Real 1))));
  premises := [];
  lanes := [] |}.
Lemma neg_add_true : true_law neg_add_law.
Proof. here. apply Laws.neg_add; known. Qed.

Definition neg_neg_law : law := {|
  conclusion := (Equal (Un Neg (Un Neg (Var Real 0))) (Var Real 0));
  premises := [];
  lanes := [] |}.
Lemma neg_neg_true : true_law neg_neg_law.
Proof. here. apply Laws.neg_neg; known. Qed.

Definition inv_mul_law : law := {|
  conclusion := (Equal (Un Inv (Bin Mul (Var Real 0) (Var Real 1))) (Bin Mul (Un Inv (Var Real 0)) (Un Inv (Var Real 1))));
  premises := [];
  lanes := [] |}.
Lemma inv_mul_true : true_law inv_mul_law.
Proof. here. apply Laws.inv_mul; known. Qed.

Definition inv_inv_law : law := {|
  conclusion := (Equal (Un Inv (Un Inv (Var Real 0))) (Var Real 0));
  premises := [];
  lanes := [] |}.
Lemma inv_inv_true : true_law inv_inv_law.
Proof. here. apply Laws.inv_inv; known. Qed.

Definition cancel_law : law := {|
  conclusion := (Equal (Bin Mul (Var Real 0) (Un Inv (Var Real 0))) (Const Real (Some ((10)%Z # 10))));
  premises := [(Nonzero (Var Real 0))];
  lanes := [] |}.
Lemma cancel_true : true_law cancel_law.
Proof. here. apply Laws.cancel; known. Qed.

Definition stream_sum_law : law := {|
  conclusion := (Equal (Reduce MSum 0 (Var Real 0) (Var Bool 1)) (Fold false MSum 0 (Var Real 0) (Var Bool 1)));
  premises := [];
  lanes := [] |}.
Lemma stream_sum_true : true_law stream_sum_law.
Proof. here. rewrite <- (proj1 (proj2 good) (r 0) (ends f (r 0))).
  apply Laws.stream_sum; [reflexivity | apply good]. Qed.

Definition stream_max_law : law := {|
  conclusion := (Equal (Reduce MMax 0 (Var Real 0) (Var Bool 1)) (Fold false MMax 0 (Var Real 0) (Var Bool 1)));
  premises := [];
  lanes := [] |}.
Lemma stream_max_true : true_law stream_max_law.
Proof. here. rewrite <- (proj1 (proj2 good) (r 0) (ends f (r 0))).
  apply Laws.stream_max; [reflexivity | apply good]. Qed.

Definition stream_prod_law : law := {|
  conclusion := (Equal (Reduce MProd 0 (Var Real 0) (Var Bool 1)) (Fold false MProd 0 (Var Real 0) (Var Bool 1)));
  premises := [];
  lanes := [] |}.
Lemma stream_prod_true : true_law stream_prod_law.
Proof. here. rewrite <- (proj1 (proj2 good) (r 0) (ends f (r 0))).
  apply Laws.stream_prod; [reflexivity | apply good]. Qed.

Definition fuse_sum_law : law := {|
  conclusion := (Equal (Fold false MSum 0 (Var Real 0) (Var Bool 1)) (Fold true MSum 0 (Var Real 0) (Var Bool 1)));
  premises := [];
  lanes := [] |}.
Lemma fuse_sum_true : true_law fuse_sum_law.
Proof. stated. intros f p B V. reflexivity. Qed.

Definition fuse_max_law : law := {|
  conclusion := (Equal (Fold false MMax 0 (Var Real 0) (Var Bool 1)) (Fold true MMax 0 (Var Real 0) (Var Bool 1)));
  premises := [];
  lanes := [] |}.
Lemma fuse_max_true : true_law fuse_max_law.
Proof. stated. intros f p B V. reflexivity. Qed.

Definition fuse_prod_law : law := {|
  conclusion := (Equal (Fold false MProd 0 (Var Real 0) (Var Bool 1)) (Fold true MProd 0 (Var Real 0) (Var Bool 1)));
  premises := [];
  lanes := [] |}.
Lemma fuse_prod_true : true_law fuse_prod_law.
Proof. stated. intros f p B V. reflexivity. Qed.

Definition fuse_online_law : law := {|
  conclusion := (Equal (Online false 0 (Var Real 0) (Var Bool 1) (Var Real 2)) (Online true 0 (Var Real 0) (Var Bool 1) (Var Real 2)));
  premises := [];
  lanes := [] |}.
Lemma fuse_online_true : true_law fuse_online_law.
Proof. stated. intros f p B V. reflexivity. Qed.

Definition skip_online_law : law := {|
  conclusion := (Equal (Online false 0 (Var Real 0) (Const Bool (Some ((1)%Z # 1))) (Var Real 2)) (Online false 0 (Var Real 0) (Var Bool 1) (Var Real 2)));
  premises := [(Zero (Var Bool 1) (Var Real 0))];
  lanes := [] |}.
Lemma skip_online_true : true_law skip_online_law.
Proof. streaming. intros f p B V. simpl. destruct good as (_ & concats & filled & _).
  rewrite (run_same _ (eta 0) (eta 0) _ (eta 1) (eta 2) f (ends f (r 0))); auto; [apply concats |].
  intros k l q Vq K In_. plain. symmetry. apply (reduce_filter add (Some 0%R) add_0). intros i Hi. apply or_eq.
  apply (P1 (cut f (r 0) k) (upd q (r 0) i)); [apply base_cut; auto; apply Hstreamed; auto | apply valid_cut; auto]. Qed.

Definition all : list law := [settled_sum_law; settled_over_law; settled_size_law; settled_local_law; settled_mul_law; settled_add_law; settled_inv_law; carry_law; carry_weighted_law; carry_scaled_law; exp_add_law; exp_neg_law; log_mul_law; log_inv_law; log_exp_law; exp_log_law; root_squared_law; shift_law; shift_weighted_law; exp_over_law; nonneg_exp_law; pos_exp_law; pos_size_law; nonneg_size_law; nonneg_square_law; nonneg_abs_law; pos_sigmoid_law; pos_mul_law; nonneg_mul_law; pos_add_law; pos_add_right_law; nonneg_add_law; pos_inv_law; nonneg_inv_law; pos_sqrt_law; pos_sum_law; nonneg_sum_law; finite_add_law; finite_mul_law; finite_max_law; finite_max_right_law; finite_min_law; finite_where_law; finite_exp_law; finite_log_law; finite_reduce_sum_law; finite_reduce_max_law; finite_reduce_prod_law; le_max_law; le_larger_law; le_where_law; le_mul_law; safe_difference_law; finite_neg_law; finite_inv_law; finite_sqrt_law; finite_tanh_law; finite_sigmoid_law; finite_erf_law; finite_sin_law; finite_cos_law; finite_abs_law; finite_floor_law; finite_round_law; finite_expm1_law; finite_atan_law; pos_nonneg_law; pos_nonzero_law; nonneg_finite_law; nonzero_finite_law; level_law; group_law; walk_law; level_mask_law; group_mask_law; walk_mask_law; level_whole_law; group_whole_law; walk_whole_law; level_several_law; group_several_law; walk_several_law; projection_0_2_law; projection_1_2_law; projection_0_2_mask_1_law; projection_1_2_mask_1_law; projection_0_2_mask_2_law; projection_1_2_mask_2_law; projection_0_2_whole_1_law; projection_1_2_whole_1_law; projection_0_2_whole_2_law; projection_1_2_whole_2_law; projection_0_3_law; projection_1_3_law; projection_2_3_law; projection_0_3_mask_1_law; projection_1_3_mask_1_law; projection_2_3_mask_1_law; projection_0_3_mask_2_law; projection_1_3_mask_2_law; projection_2_3_mask_2_law; projection_0_3_mask_3_law; projection_1_3_mask_3_law; projection_2_3_mask_3_law; projection_0_3_whole_1_law; projection_1_3_whole_1_law; projection_2_3_whole_1_law; projection_0_3_whole_2_law; projection_1_3_whole_2_law; projection_2_3_whole_2_law; projection_0_3_whole_3_law; projection_1_3_whole_3_law; projection_2_3_whole_3_law; projection_0_4_law; projection_1_4_law; projection_2_4_law; projection_3_4_law; projection_0_4_mask_1_law; projection_1_4_mask_1_law; projection_2_4_mask_1_law; projection_3_4_mask_1_law; projection_0_4_mask_2_law; projection_1_4_mask_2_law; projection_2_4_mask_2_law; projection_3_4_mask_2_law; projection_0_4_mask_3_law; projection_1_4_mask_3_law; projection_2_4_mask_3_law; projection_3_4_mask_3_law; projection_0_4_mask_4_law; projection_1_4_mask_4_law; projection_2_4_mask_4_law; projection_3_4_mask_4_law; projection_0_4_whole_1_law; projection_1_4_whole_1_law; projection_2_4_whole_1_law; projection_3_4_whole_1_law; projection_0_4_whole_2_law; projection_1_4_whole_2_law; projection_2_4_whole_2_law; projection_3_4_whole_2_law; projection_0_4_whole_3_law; projection_1_4_whole_3_law; projection_2_4_whole_3_law; projection_3_4_whole_3_law; projection_0_4_whole_4_law; projection_1_4_whole_4_law; projection_2_4_whole_4_law; projection_3_4_whole_4_law; projection_0_5_law; projection_1_5_law; projection_2_5_law; projection_3_5_law; projection_4_5_law; projection_0_5_mask_1_law; projection_1_5_mask_1_law; projection_2_5_mask_1_law; projection_3_5_mask_1_law; projection_4_5_mask_1_law; projection_0_5_mask_2_law; projection_1_5_mask_2_law; projection_2_5_mask_2_law; projection_3_5_mask_2_law; projection_4_5_mask_2_law; projection_0_5_mask_3_law; projection_1_5_mask_3_law; projection_2_5_mask_3_law; projection_3_5_mask_3_law; projection_4_5_mask_3_law; projection_0_5_mask_4_law; projection_1_5_mask_4_law; projection_2_5_mask_4_law; projection_3_5_mask_4_law; projection_4_5_mask_4_law; projection_0_5_mask_5_law; projection_1_5_mask_5_law; projection_2_5_mask_5_law; projection_3_5_mask_5_law; projection_4_5_mask_5_law; projection_0_5_whole_1_law; projection_1_5_whole_1_law; projection_2_5_whole_1_law; projection_3_5_whole_1_law; projection_4_5_whole_1_law; projection_0_5_whole_2_law; projection_1_5_whole_2_law; projection_2_5_whole_2_law; projection_3_5_whole_2_law; projection_4_5_whole_2_law; projection_0_5_whole_3_law; projection_1_5_whole_3_law; projection_2_5_whole_3_law; projection_3_5_whole_3_law; projection_4_5_whole_3_law; projection_0_5_whole_4_law; projection_1_5_whole_4_law; projection_2_5_whole_4_law; projection_3_5_whole_4_law; projection_4_5_whole_4_law; projection_0_5_whole_5_law; projection_1_5_whole_5_law; projection_2_5_whole_5_law; projection_3_5_whole_5_law; projection_4_5_whole_5_law; where_and_law; where_same_law; where_larger_law; where_smaller_law; where_exp_law; where_mul_law; where_add_law; where_add_zero_law; where_added_law; absent_where_law; zero_where_law; absent_add_law; absent_mul_law; absent_add_right_law; absent_mul_right_law; zero_exp_law; zero_mul_law; zero_mul_right_law; zero_sum_law; present_where_law; present_add_law; present_add_right_law; present_mul_law; present_mul_right_law; leaves_to_law; leaves_below_law; nonneg_offset_law; pos_offset_law; leaves_or_law; leaves_or_right_law; finite_left_law; pos_left_law; skip_max_law; prod_masked_law; skip_sum_law; squares_about_law; squares_about_where_law; split_sum_law; split_max_law; split_prod_law; join_stretches_law; rebase_law; rebase_bare_law; where_turned_law; where_not_lt_law; where_not_le_law; sum_where_law; sum_masked_law; run_at_most_law; run_below_law; sum_runs_law; where_after_law; in_stretch_law; in_runs_law; scan_in_runs_sum_law; scan_in_runs_prod_law; recur_in_runs_law; finite_read_law; pos_read_law; nonneg_read_law; read_both_add_law; read_both_mul_law; read_both_max_law; read_both_min_law; read_second_add_law; read_second_mul_law; read_second_max_law; read_second_min_law; read_sum_law; read_before_law; read_back_law; finite_scan_sum_law; finite_scan_max_law; finite_scan_prod_law; finite_recur_law; nonneg_scan_law; nonneg_recur_law; recur_sum_law; recur_factor_law; sum_scan_law; sum_recur_law; distribute_law; distribute_present_law; sum_add_law; sum_neg_law; sum_constant_law; sum_constant_present_law; fubini_sum_law; fubini_max_law; fubini_prod_law; max_shift_law; max_scale_law; local_unary_neg_law; local_unary_inv_law; local_unary_exp_law; local_unary_log_law; local_unary_sqrt_law; local_unary_tanh_law; local_unary_sigmoid_law; local_unary_erf_law; local_unary_sin_law; local_unary_cos_law; local_unary_abs_law; local_unary_floor_law; local_unary_round_law; local_unary_expm1_law; local_unary_atan_law; local_binary_add_law; local_binary_mul_law; local_binary_max_law; local_binary_min_law; local_where_law; local_real_law; local_not_law; local_lt_law; local_le_law; local_eq_law; local_and_law; local_or_law; local_reduce_sum_law; local_reduce_max_law; local_reduce_prod_law; scales_exp_law; le_prev_law; le_prev_larger_law; scales_inv_law; scales_local_law; scales_both_law; rescale_law; add_commutes_law; mul_commutes_law; add_associates_law; mul_associates_law; factor_law; mul_one_law; add_zero_law; neg_mul_law; neg_add_law; neg_neg_law; inv_mul_law; inv_inv_law; cancel_law; stream_sum_law; stream_max_law; stream_prod_law; fuse_sum_law; fuse_max_law; fuse_prod_law; fuse_online_law; skip_online_law].
Theorem all_true : forall l, In l all -> true_law l.
Proof. apply Forall_forall. exact
  (Forall_cons _ settled_sum_true
  (Forall_cons _ settled_over_true
  (Forall_cons _ settled_size_true
  (Forall_cons _ settled_local_true
  (Forall_cons _ settled_mul_true
  (Forall_cons _ settled_add_true
  (Forall_cons _ settled_inv_true
  (Forall_cons _ carry_true
  (Forall_cons _ carry_weighted_true
  (Forall_cons _ carry_scaled_true
  (Forall_cons _ exp_add_true
  (Forall_cons _ exp_neg_true
  (Forall_cons _ log_mul_true
  (Forall_cons _ log_inv_true
  (Forall_cons _ log_exp_true
  (Forall_cons _ exp_log_true
  (Forall_cons _ root_squared_true
  (Forall_cons _ shift_true
  (Forall_cons _ shift_weighted_true
  (Forall_cons _ exp_over_true
  (Forall_cons _ nonneg_exp_true
  (Forall_cons _ pos_exp_true
  (Forall_cons _ pos_size_true
  (Forall_cons _ nonneg_size_true
  (Forall_cons _ nonneg_square_true
  (Forall_cons _ nonneg_abs_true
  (Forall_cons _ pos_sigmoid_true
  (Forall_cons _ pos_mul_true
  (Forall_cons _ nonneg_mul_true
  (Forall_cons _ pos_add_true
  (Forall_cons _ pos_add_right_true
  (Forall_cons _ nonneg_add_true
  (Forall_cons _ pos_inv_true
  (Forall_cons _ nonneg_inv_true
  (Forall_cons _ pos_sqrt_true
  (Forall_cons _ pos_sum_true
  (Forall_cons _ nonneg_sum_true
  (Forall_cons _ finite_add_true
  (Forall_cons _ finite_mul_true
  (Forall_cons _ finite_max_true
  (Forall_cons _ finite_max_right_true
  (Forall_cons _ finite_min_true
  (Forall_cons _ finite_where_true
  (Forall_cons _ finite_exp_true
  (Forall_cons _ finite_log_true
  (Forall_cons _ finite_reduce_sum_true
  (Forall_cons _ finite_reduce_max_true
  (Forall_cons _ finite_reduce_prod_true
  (Forall_cons _ le_max_true
  (Forall_cons _ le_larger_true
  (Forall_cons _ le_where_true
  (Forall_cons _ le_mul_true
  (Forall_cons _ safe_difference_true
  (Forall_cons _ finite_neg_true
  (Forall_cons _ finite_inv_true
  (Forall_cons _ finite_sqrt_true
  (Forall_cons _ finite_tanh_true
  (Forall_cons _ finite_sigmoid_true
  (Forall_cons _ finite_erf_true
  (Forall_cons _ finite_sin_true
  (Forall_cons _ finite_cos_true
  (Forall_cons _ finite_abs_true
  (Forall_cons _ finite_floor_true
  (Forall_cons _ finite_round_true
  (Forall_cons _ finite_expm1_true
  (Forall_cons _ finite_atan_true
  (Forall_cons _ pos_nonneg_true
  (Forall_cons _ pos_nonzero_true
  (Forall_cons _ nonneg_finite_true
  (Forall_cons _ nonzero_finite_true
  (Forall_cons _ level_true
  (Forall_cons _ group_true
  (Forall_cons _ walk_true
  (Forall_cons _ level_mask_true
  (Forall_cons _ group_mask_true
  (Forall_cons _ walk_mask_true
  (Forall_cons _ level_whole_true
  (Forall_cons _ group_whole_true
  (Forall_cons _ walk_whole_true
  (Forall_cons _ level_several_true
  (Forall_cons _ group_several_true
  (Forall_cons _ walk_several_true
  (Forall_cons _ projection_0_2_true
  (Forall_cons _ projection_1_2_true
  (Forall_cons _ projection_0_2_mask_1_true
  (Forall_cons _ projection_1_2_mask_1_true
  (Forall_cons _ projection_0_2_mask_2_true
  (Forall_cons _ projection_1_2_mask_2_true
  (Forall_cons _ projection_0_2_whole_1_true
  (Forall_cons _ projection_1_2_whole_1_true
  (Forall_cons _ projection_0_2_whole_2_true
  (Forall_cons _ projection_1_2_whole_2_true
  (Forall_cons _ projection_0_3_true
  (Forall_cons _ projection_1_3_true
  (Forall_cons _ projection_2_3_true
  (Forall_cons _ projection_0_3_mask_1_true
  (Forall_cons _ projection_1_3_mask_1_true
  (Forall_cons _ projection_2_3_mask_1_true
  (Forall_cons _ projection_0_3_mask_2_true
  (Forall_cons _ projection_1_3_mask_2_true
  (Forall_cons _ projection_2_3_mask_2_true
  (Forall_cons _ projection_0_3_mask_3_true
  (Forall_cons _ projection_1_3_mask_3_true
  (Forall_cons _ projection_2_3_mask_3_true
  (Forall_cons _ projection_0_3_whole_1_true
  (Forall_cons _ projection_1_3_whole_1_true
  (Forall_cons _ projection_2_3_whole_1_true
  (Forall_cons _ projection_0_3_whole_2_true
  (Forall_cons _ projection_1_3_whole_2_true
  (Forall_cons _ projection_2_3_whole_2_true
  (Forall_cons _ projection_0_3_whole_3_true
  (Forall_cons _ projection_1_3_whole_3_true
  (Forall_cons _ projection_2_3_whole_3_true
  (Forall_cons _ projection_0_4_true
  (Forall_cons _ projection_1_4_true
  (Forall_cons _ projection_2_4_true
  (Forall_cons _ projection_3_4_true
  (Forall_cons _ projection_0_4_mask_1_true
  (Forall_cons _ projection_1_4_mask_1_true
  (Forall_cons _ projection_2_4_mask_1_true
  (Forall_cons _ projection_3_4_mask_1_true
  (Forall_cons _ projection_0_4_mask_2_true
  (Forall_cons _ projection_1_4_mask_2_true
  (Forall_cons _ projection_2_4_mask_2_true
  (Forall_cons _ projection_3_4_mask_2_true
  (Forall_cons _ projection_0_4_mask_3_true
  (Forall_cons _ projection_1_4_mask_3_true
  (Forall_cons _ projection_2_4_mask_3_true
  (Forall_cons _ projection_3_4_mask_3_true
  (Forall_cons _ projection_0_4_mask_4_true
  (Forall_cons _ projection_1_4_mask_4_true
  (Forall_cons _ projection_2_4_mask_4_true
  (Forall_cons _ projection_3_4_mask_4_true
  (Forall_cons _ projection_0_4_whole_1_true
  (Forall_cons _ projection_1_4_whole_1_true
  (Forall_cons _ projection_2_4_whole_1_true
  (Forall_cons _ projection_3_4_whole_1_true
  (Forall_cons _ projection_0_4_whole_2_true
  (Forall_cons _ projection_1_4_whole_2_true
  (Forall_cons _ projection_2_4_whole_2_true
  (Forall_cons _ projection_3_4_whole_2_true
  (Forall_cons _ projection_0_4_whole_3_true
  (Forall_cons _ projection_1_4_whole_3_true
  (Forall_cons _ projection_2_4_whole_3_true
  (Forall_cons _ projection_3_4_whole_3_true
  (Forall_cons _ projection_0_4_whole_4_true
  (Forall_cons _ projection_1_4_whole_4_true
  (Forall_cons _ projection_2_4_whole_4_true
  (Forall_cons _ projection_3_4_whole_4_true
  (Forall_cons _ projection_0_5_true
  (Forall_cons _ projection_1_5_true
  (Forall_cons _ projection_2_5_true
  (Forall_cons _ projection_3_5_true
  (Forall_cons _ projection_4_5_true
  (Forall_cons _ projection_0_5_mask_1_true
  (Forall_cons _ projection_1_5_mask_1_true
  (Forall_cons _ projection_2_5_mask_1_true
  (Forall_cons _ projection_3_5_mask_1_true
  (Forall_cons _ projection_4_5_mask_1_true
  (Forall_cons _ projection_0_5_mask_2_true
  (Forall_cons _ projection_1_5_mask_2_true
  (Forall_cons _ projection_2_5_mask_2_true
  (Forall_cons _ projection_3_5_mask_2_true
  (Forall_cons _ projection_4_5_mask_2_true
  (Forall_cons _ projection_0_5_mask_3_true
  (Forall_cons _ projection_1_5_mask_3_true
  (Forall_cons _ projection_2_5_mask_3_true
  (Forall_cons _ projection_3_5_mask_3_true
  (Forall_cons _ projection_4_5_mask_3_true
  (Forall_cons _ projection_0_5_mask_4_true
  (Forall_cons _ projection_1_5_mask_4_true
  (Forall_cons _ projection_2_5_mask_4_true
  (Forall_cons _ projection_3_5_mask_4_true
  (Forall_cons _ projection_4_5_mask_4_true
  (Forall_cons _ projection_0_5_mask_5_true
  (Forall_cons _ projection_1_5_mask_5_true
  (Forall_cons _ projection_2_5_mask_5_true
  (Forall_cons _ projection_3_5_mask_5_true
  (Forall_cons _ projection_4_5_mask_5_true
  (Forall_cons _ projection_0_5_whole_1_true
  (Forall_cons _ projection_1_5_whole_1_true
  (Forall_cons _ projection_2_5_whole_1_true
  (Forall_cons _ projection_3_5_whole_1_true
  (Forall_cons _ projection_4_5_whole_1_true
  (Forall_cons _ projection_0_5_whole_2_true
  (Forall_cons _ projection_1_5_whole_2_true
  (Forall_cons _ projection_2_5_whole_2_true
  (Forall_cons _ projection_3_5_whole_2_true
  (Forall_cons _ projection_4_5_whole_2_true
  (Forall_cons _ projection_0_5_whole_3_true
  (Forall_cons _ projection_1_5_whole_3_true
  (Forall_cons _ projection_2_5_whole_3_true
  (Forall_cons _ projection_3_5_whole_3_true
  (Forall_cons _ projection_4_5_whole_3_true
  (Forall_cons _ projection_0_5_whole_4_true
  (Forall_cons _ projection_1_5_whole_4_true
  (Forall_cons _ projection_2_5_whole_4_true
  (Forall_cons _ projection_3_5_whole_4_true
  (Forall_cons _ projection_4_5_whole_4_true
  (Forall_cons _ projection_0_5_whole_5_true
  (Forall_cons _ projection_1_5_whole_5_true
  (Forall_cons _ projection_2_5_whole_5_true
  (Forall_cons _ projection_3_5_whole_5_true
  (Forall_cons _ projection_4_5_whole_5_true
  (Forall_cons _ where_and_true
  (Forall_cons _ where_same_true
  (Forall_cons _ where_larger_true
  (Forall_cons _ where_smaller_true
  (Forall_cons _ where_exp_true
  (Forall_cons _ where_mul_true
  (Forall_cons _ where_add_true
  (Forall_cons _ where_add_zero_true
  (Forall_cons _ where_added_true
  (Forall_cons _ absent_where_true
  (Forall_cons _ zero_where_true
  (Forall_cons _ absent_add_true
  (Forall_cons _ absent_mul_true
  (Forall_cons _ absent_add_right_true
  (Forall_cons _ absent_mul_right_true
  (Forall_cons _ zero_exp_true
  (Forall_cons _ zero_mul_true
  (Forall_cons _ zero_mul_right_true
  (Forall_cons _ zero_sum_true
  (Forall_cons _ present_where_true
  (Forall_cons _ present_add_true
  (Forall_cons _ present_add_right_true
  (Forall_cons _ present_mul_true
  (Forall_cons _ present_mul_right_true
  (Forall_cons _ leaves_to_true
  (Forall_cons _ leaves_below_true
  (Forall_cons _ nonneg_offset_true
  (Forall_cons _ pos_offset_true
  (Forall_cons _ leaves_or_true
  (Forall_cons _ leaves_or_right_true
  (Forall_cons _ finite_left_true
  (Forall_cons _ pos_left_true
  (Forall_cons _ skip_max_true
  (Forall_cons _ prod_masked_true
  (Forall_cons _ skip_sum_true
  (Forall_cons _ squares_about_true
  (Forall_cons _ squares_about_where_true
  (Forall_cons _ split_sum_true
  (Forall_cons _ split_max_true
  (Forall_cons _ split_prod_true
  (Forall_cons _ join_stretches_true
  (Forall_cons _ rebase_true
  (Forall_cons _ rebase_bare_true
  (Forall_cons _ where_turned_true
  (Forall_cons _ where_not_lt_true
  (Forall_cons _ where_not_le_true
  (Forall_cons _ sum_where_true
  (Forall_cons _ sum_masked_true
  (Forall_cons _ run_at_most_true
  (Forall_cons _ run_below_true
  (Forall_cons _ sum_runs_true
  (Forall_cons _ where_after_true
  (Forall_cons _ in_stretch_true
  (Forall_cons _ in_runs_true
  (Forall_cons _ scan_in_runs_sum_true
  (Forall_cons _ scan_in_runs_prod_true
  (Forall_cons _ recur_in_runs_true
  (Forall_cons _ finite_read_true
  (Forall_cons _ pos_read_true
  (Forall_cons _ nonneg_read_true
  (Forall_cons _ read_both_add_true
  (Forall_cons _ read_both_mul_true
  (Forall_cons _ read_both_max_true
  (Forall_cons _ read_both_min_true
  (Forall_cons _ read_second_add_true
  (Forall_cons _ read_second_mul_true
  (Forall_cons _ read_second_max_true
  (Forall_cons _ read_second_min_true
  (Forall_cons _ read_sum_true
  (Forall_cons _ read_before_true
  (Forall_cons _ read_back_true
  (Forall_cons _ finite_scan_sum_true
  (Forall_cons _ finite_scan_max_true
  (Forall_cons _ finite_scan_prod_true
  (Forall_cons _ finite_recur_true
  (Forall_cons _ nonneg_scan_true
  (Forall_cons _ nonneg_recur_true
  (Forall_cons _ recur_sum_true
  (Forall_cons _ recur_factor_true
  (Forall_cons _ sum_scan_true
  (Forall_cons _ sum_recur_true
  (Forall_cons _ distribute_true
  (Forall_cons _ distribute_present_true
  (Forall_cons _ sum_add_true
  (Forall_cons _ sum_neg_true
  (Forall_cons _ sum_constant_true
  (Forall_cons _ sum_constant_present_true
  (Forall_cons _ fubini_sum_true
  (Forall_cons _ fubini_max_true
  (Forall_cons _ fubini_prod_true
  (Forall_cons _ max_shift_true
  (Forall_cons _ max_scale_true
  (Forall_cons _ local_unary_neg_true
  (Forall_cons _ local_unary_inv_true
  (Forall_cons _ local_unary_exp_true
  (Forall_cons _ local_unary_log_true
  (Forall_cons _ local_unary_sqrt_true
  (Forall_cons _ local_unary_tanh_true
  (Forall_cons _ local_unary_sigmoid_true
  (Forall_cons _ local_unary_erf_true
  (Forall_cons _ local_unary_sin_true
  (Forall_cons _ local_unary_cos_true
  (Forall_cons _ local_unary_abs_true
  (Forall_cons _ local_unary_floor_true
  (Forall_cons _ local_unary_round_true
  (Forall_cons _ local_unary_expm1_true
  (Forall_cons _ local_unary_atan_true
  (Forall_cons _ local_binary_add_true
  (Forall_cons _ local_binary_mul_true
  (Forall_cons _ local_binary_max_true
  (Forall_cons _ local_binary_min_true
  (Forall_cons _ local_where_true
  (Forall_cons _ local_real_true
  (Forall_cons _ local_not_true
  (Forall_cons _ local_lt_true
  (Forall_cons _ local_le_true
  (Forall_cons _ local_eq_true
  (Forall_cons _ local_and_true
  (Forall_cons _ local_or_true
  (Forall_cons _ local_reduce_sum_true
  (Forall_cons _ local_reduce_max_true
  (Forall_cons _ local_reduce_prod_true
  (Forall_cons _ scales_exp_true
  (Forall_cons _ le_prev_true
  (Forall_cons _ le_prev_larger_true
  (Forall_cons _ scales_inv_true
  (Forall_cons _ scales_local_true
  (Forall_cons _ scales_both_true
  (Forall_cons _ rescale_true
  (Forall_cons _ add_commutes_true
  (Forall_cons _ mul_commutes_true
  (Forall_cons _ add_associates_true
  (Forall_cons _ mul_associates_true
  (Forall_cons _ factor_true
  (Forall_cons _ mul_one_true
  (Forall_cons _ add_zero_true
  (Forall_cons _ neg_mul_true
  (Forall_cons _ neg_add_true
  (Forall_cons _ neg_neg_true
  (Forall_cons _ inv_mul_true
  (Forall_cons _ inv_inv_true
  (Forall_cons _ cancel_true
  (Forall_cons _ stream_sum_true
  (Forall_cons _ stream_max_true
  (Forall_cons _ stream_prod_true
  (Forall_cons _ fuse_sum_true
  (Forall_cons _ fuse_max_true
  (Forall_cons _ fuse_prod_true
  (Forall_cons _ fuse_online_true
  (Forall_cons _ skip_online_true (Forall_nil _))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))). Qed.
End All.
Print Assumptions all_true.
