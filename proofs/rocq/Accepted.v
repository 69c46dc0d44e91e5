(* A certificate whose laws stand in DeepLaws.v rests on nothing but this development. *)

Require Import List Bool.
Require Import Language Terms Frames Checker Sound DeepLaws.
Import ListNotations.

(* A law that needs lanes of more axes is true where one is that needs them of fewer. *)
Definition stands_for (l l' : law) : bool :=
  claim_same (conclusion l') (conclusion l) && claims_same (premises l') (premises l)
  && forallb (fun x => mem x (lanes l)) (lanes l').
Definition proved (l : law) : bool := existsb (stands_for l) all.

Lemma proved_true g m l : possible m -> proved l = true -> true_law g m l.
Proof.
  intros G H. apply existsb_exists in H. destruct H as [l' [I H]]. apply (all_true g m G) in I.
  unfold stands_for in H. apply andb_prop in H. destruct H as [H L]. apply andb_prop in H. destruct H as [C P].
  apply claim_same_eq in C. apply claims_same_eq in P. destruct l as [c ps ls], l' as [c' ps' ls']. simpl in *. subst.
  intros r eta b A1 A2 A3. apply I; [exact A1 | exact A2 |].
  intros x Hx. apply A3. apply in_map_iff in Hx. destruct Hx as [y [<- Hy]]. apply in_map.
  rewrite forallb_forall in L. apply mem_In, L, Hy.
Qed.

Theorem accepted c m : check c = true -> forallb proved (laws c) = true -> meets (declared c) m ->
  forall k p, valid (top m k) p ->
  eval (declared c) m nothing (source c) (top m k) p = eval (declared c) m nothing (destination c) (top m k) p.
Proof.
  intros C L M. apply check_sound; [exact C | exact M |]. intros l H. apply proved_true; [apply M |].
  rewrite forallb_forall in L. apply L, H.
Qed.
Print Assumptions accepted.
