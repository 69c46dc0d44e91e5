(* The core fold theorem, for every rescaling: a sum whose lanes are weighed relative to a reference that moves can be
   computed in any tiles, in any order of merging, over any length, masked lanes included.

   A lane is None where it is masked, else its own reference k and its weight w; relative to r it counts w * rho k r.
   Of rho is asked that it composes: rho a a = 1, rho a b * rho b c = rho a c. The last section takes rho k r = exp (k - r).
   Checked by `make rocq` (coqc, then coqchk); the last lines print what it rests on. *)

Require Import Reals List Permutation Lra.
Import ListNotations.
Open Scope R_scope.

Section AnyRescaling.

Variable Ref : Type.
Variable join : Ref -> Ref -> Ref.
Variable rho : Ref -> Ref -> R.
Hypothesis join_assoc : forall a b c, join a (join b c) = join (join a b) c.
Hypothesis join_comm : forall a b, join a b = join b a.
Hypothesis rho_same : forall a, rho a a = 1.
Hypothesis rho_cocycle : forall a b c, rho a b * rho b c = rho a c.

Definition lane := option (Ref * R).
Definition state := option (Ref * R).  (* None: nothing seen, or masked lanes only *)

Definition merge (s t : state) : state :=
  match s, t with
  | None, _ => t
  | _, None => s
  | Some (a, x), Some (b, y) => let m := join a b in Some (m, x * rho a m + y * rho b m)
  end.

(* Online states are a commutative monoid. *)

Theorem merge_none_l s : merge None s = s.
Proof. reflexivity. Qed.

Theorem merge_none_r s : merge s None = s.
Proof. destruct s as [[a x]|]; reflexivity. Qed.

Theorem merge_comm s t : merge s t = merge t s.
Proof.
  destruct s as [[a x]|], t as [[b y]|]; simpl; try reflexivity.
  rewrite (join_comm b a). do 2 f_equal. ring.
Qed.

Theorem merge_assoc s t u : merge s (merge t u) = merge (merge s t) u.
Proof.
  destruct s as [[a x]|], t as [[b y]|], u as [[c z]|]; simpl; try reflexivity.
  rewrite <- join_assoc. set (m := join a (join b c)).
  do 2 f_equal.
  rewrite !Rmult_plus_distr_r, !Rmult_assoc, !rho_cocycle. ring.
Qed.

(* What the state is meant to be: the reference of all lanes, and their sum relative to it. *)

Fixpoint reference (l : list lane) : option Ref :=
  match l with
  | [] => None
  | None :: l' => reference l'
  | Some (k, _) :: l' => Some match reference l' with None => k | Some m => join k m end
  end.

Definition term (r : Ref) (x : lane) : R := match x with None => 0 | Some (k, w) => w * rho k r end.

Definition weighted (r : Ref) (l : list lane) : R := fold_right Rplus 0 (map (term r) l).

Lemma weighted_app r l l' : weighted r (l ++ l') = weighted r l + weighted r l'.
Proof. unfold weighted. induction l as [|x l IH]; simpl; [ring | rewrite IH; ring]. Qed.

(* A sum relative to one reference, times rho, is the sum relative to another. *)
Theorem weighted_rescaled r r' l : weighted r l * rho r r' = weighted r' l.
Proof.
  unfold weighted. induction l as [|x l IH]; simpl; [ring |].
  rewrite Rmult_plus_distr_r, IH. f_equal.
  destruct x as [[k w]|]; simpl; [rewrite Rmult_assoc, rho_cocycle; reflexivity | ring].
Qed.

Lemma weighted_masked r l : reference l = None -> weighted r l = 0.
Proof.
  unfold weighted. induction l as [|[[k w]|] l IH]; simpl; intro none; [reflexivity | discriminate |].
  rewrite IH by exact none. ring.
Qed.

Definition online (l : list lane) : state := fold_right merge None l.

(* The online state is the reference of the lanes seen, and their sum relative to it. *)
Theorem online_is_weighted l :
  online l = match reference l with None => None | Some m => Some (m, weighted m l) end.
Proof.
  induction l as [|[[k w]|] l IH]; simpl; [reflexivity | | ].
  - rewrite IH. destruct (reference l) as [m|] eqn:known; simpl; do 2 f_equal; unfold weighted; simpl.
    + f_equal. apply weighted_rescaled.
    + pose proof (weighted_masked k l known) as none. unfold weighted in none. rewrite none, rho_same. ring.
  - rewrite IH. destruct (reference l) as [m|]; [|reflexivity].
    do 2 f_equal. unfold weighted. simpl. ring.
Qed.

Corollary masked_online l : reference l = None <-> online l = None.
Proof. rewrite online_is_weighted. destruct (reference l); split; intro H; congruence. Qed.

(* Any tiling: tiles of any number and any sizes, empty and fully masked ones included, merged from either end. *)

Theorem online_app l l' : online (l ++ l') = merge (online l) (online l').
Proof.
  induction l as [|x l IH]; simpl; [reflexivity |].
  rewrite IH. apply merge_assoc.
Qed.

Theorem any_tiles tiles : fold_right merge None (map online tiles) = online (concat tiles).
Proof.
  induction tiles as [|l tiles IH]; simpl; [reflexivity |].
  rewrite IH, online_app. reflexivity.
Qed.

Theorem any_tiles_in_order tiles : fold_left (fun s l => merge s (online l)) tiles None = online (concat tiles).
Proof.
  assert (from : forall s, fold_left (fun s l => merge s (online l)) tiles s = merge s (online (concat tiles))).
  { induction tiles as [|l tiles IH]; intro s; simpl; [symmetry; apply merge_none_r |].
    rewrite IH, online_app. symmetry. apply merge_assoc. }
  apply from.
Qed.

(* Any tree of merges, as split and cluster reductions make them. *)

Inductive tree := Leaf (l : list lane) | Node (left right : tree).

Fixpoint lanes (t : tree) : list lane := match t with Leaf l => l | Node a b => lanes a ++ lanes b end.
Fixpoint merged (t : tree) : state := match t with Leaf l => online l | Node a b => merge (merged a) (merged b) end.

Theorem any_tree t : merged t = online (lanes t).
Proof. induction t as [l | a IHa b IHb]; simpl; [reflexivity | rewrite IHa, IHb, online_app; reflexivity]. Qed.

(* Any order of the lanes. *)
Theorem any_order l l' : Permutation l l' -> online l = online l'.
Proof.
  induction 1 as [| x l l' _ IH | x y l | l l' l'' _ IH _ IH']; simpl.
  - reflexivity.
  - rewrite IH. reflexivity.
  - rewrite !merge_assoc, (merge_comm y x). reflexivity.
  - congruence.
Qed.

(* The loop of a kernel: what was summed is rescaled to the new reference, then the tile's lanes are added relative to it. *)

Definition moved (old : option Ref) (tile : list lane) : option Ref :=
  match old, reference tile with None, new => new | _, None => old | Some a, Some b => Some (join a b) end.

Definition step (s : option Ref * R) (tile : list lane) : option Ref * R :=
  match moved (fst s) tile with
  | None => s
  | Some m => (Some m, snd s * (match fst s with None => 0 | Some a => rho a m end) + weighted m tile)
  end.

Definition as_pair (s : state) : option Ref * R := match s with None => (None, 0) | Some (m, x) => (Some m, x) end.

Lemma step_is_merge s tile : step (as_pair s) tile = as_pair (merge s (online tile)).
Proof.
  rewrite online_is_weighted. unfold step, moved.
  destruct s as [[a x]|]; destruct (reference tile) as [b|] eqn:known; simpl; try reflexivity.
  - do 2 f_equal. symmetry. apply weighted_rescaled.
  - rewrite rho_same, weighted_masked by exact known. f_equal. ring.
  - f_equal. ring.
Qed.

Theorem loop_is_online tiles : fold_left step tiles (None, 0) = as_pair (online (concat tiles)).
Proof.
  rewrite <- any_tiles_in_order. change (None, 0) with (as_pair None). generalize (@None (Ref * R)) as s.
  induction tiles as [|tile tiles IH]; intro s; simpl; [reflexivity |].
  rewrite step_is_merge. apply IH.
Qed.

End AnyRescaling.

(* A sum whose body changes from block to block by a factor: what is carried is the sum of the last body over all lanes.
   body t j is lane j's body when blocks 0..t are known, r t the factor from block t-1 to t. (Law `rescale`, where
   every value is present: an absent one, -inf, is not a number of R.) *)

Section AnyFactor.

Variable L : Type.
Variable body : nat -> L -> R.
Variable r : nat -> R.
Variable block : nat -> list L.

Definition total (f : L -> R) (l : list L) : R := fold_right Rplus 0 (map f l).
Fixpoint seen (t : nat) : list L := match t with O => block O | S t' => seen t' ++ block t end.
Fixpoint carried (t : nat) : R :=
  match t with O => 0 * r O + total (body O) (block O) | S t' => carried t' * r t + total (body t) (block t) end.

Hypothesis scales : forall t j, In j (seen t) -> body (S t) j = body t j * r (S t).

Theorem carried_is_the_sum t : carried t = total (body t) (seen t).
Proof.
  assert (app : forall f l l', total f (l ++ l') = total f l + total f l').
  { intros f l l'. unfold total. induction l as [|j l IH]; simpl; [ring | rewrite IH; ring]. }
  assert (factor : forall f g c l, (forall j, In j l -> g j = f j * c) -> total g l = total f l * c).
  { intros f g c l. unfold total. induction l as [|j l IH]; simpl; intro eq; [ring |].
    rewrite eq, IH by auto. ring. }
  induction t as [|t IH]; simpl; [ring |].
  rewrite app, IH. f_equal. symmetry. apply factor. apply scales.
Qed.

End AnyFactor.

(* Exponentials relative to the running maximum: the weighted mean of any rows, in any tiles. *)

Section Exponentials.

Definition rho_exp (a b : R) := exp (a - b).

Lemma rho_exp_same a : rho_exp a a = 1.
Proof. unfold rho_exp. rewrite Rminus_diag_eq by reflexivity. apply exp_0. Qed.

Lemma rho_exp_cocycle a b c : rho_exp a b * rho_exp b c = rho_exp a c.
Proof. unfold rho_exp. rewrite <- exp_plus. f_equal. ring. Qed.

Definition row := list (option (R * R)).  (* None: masked; else a logit s and a value v *)

Definition masses (l : row) : list (lane R) := map (option_map (fun sv => (fst sv, 1))) l.
Definition values (l : row) : list (lane R) := map (option_map (fun sv => (fst sv, snd sv))) l.
Definition mass (l : row) : R := fold_right Rplus 0 (map (fun x => match x with None => 0 | Some (s, _) => exp s end) l).
Definition moment (l : row) : R := fold_right Rplus 0 (map (fun x => match x with None => 0 | Some (s, v) => exp s * v end) l).

Lemma mass_at r l : weighted R rho_exp r (masses l) = mass l * exp (- r).
Proof.
  unfold weighted, masses, mass. induction l as [|[[s v]|] l IH]; simpl; [ring | |]; rewrite IH; unfold rho_exp; simpl;
  [unfold Rminus; rewrite exp_plus |]; ring.
Qed.

Lemma moment_at r l : weighted R rho_exp r (values l) = moment l * exp (- r).
Proof.
  unfold weighted, values, moment. induction l as [|[[s v]|] l IH]; simpl; [ring | |]; rewrite IH; unfold rho_exp; simpl;
  [unfold Rminus; rewrite exp_plus |]; ring.
Qed.

Lemma same_reference l : reference R Rmax (masses l) = reference R Rmax (values l).
Proof. induction l as [|[[s v]|] l IH]; simpl; rewrite ?IH; reflexivity. Qed.

Lemma mass_nonneg l : 0 <= mass l.
Proof.
  unfold mass. induction l as [|[[s v]|] l IH]; simpl; [lra | | lra].
  pose proof (exp_pos s). lra.
Qed.

Lemma mass_pos l m : reference R Rmax (masses l) = Some m -> 0 < mass l.
Proof.
  unfold mass. induction l as [|[[s v]|] l IH]; simpl; intro some; [discriminate | |].
  - pose proof (exp_pos s). pose proof (mass_nonneg l) as rest. unfold mass in rest. lra.
  - specialize (IH some). lra.
Qed.

(* What a kernel stores: o / z after any tiles is the exponentially weighted mean; a row that is masked throughout has no state. *)
Theorem streamed_mean (tiles : list row) :
  match fold_right (merge R Rmax rho_exp) None (map (online R Rmax rho_exp) (map masses tiles)),
        fold_right (merge R Rmax rho_exp) None (map (online R Rmax rho_exp) (map values tiles)) with
  | Some (m, z), Some (m', o) => m = m' /\ 0 < z /\ o / z = moment (concat tiles) / mass (concat tiles)
  | None, None => Forall (fun x => x = None) (concat tiles)
  | _, _ => False
  end.
Proof.
  rewrite !(any_tiles R Rmax rho_exp Rmax_assoc rho_exp_cocycle).
  rewrite !(online_is_weighted R Rmax rho_exp rho_exp_same rho_exp_cocycle).
  assert (heads : concat (map masses tiles) = masses (concat tiles)) by (symmetry; apply concat_map).
  assert (bodies : concat (map values tiles) = values (concat tiles)) by (symmetry; apply concat_map).
  rewrite heads, bodies, <- same_reference. set (l := concat tiles). clearbody l.
  destruct (reference R Rmax (masses l)) as [m|] eqn:known.
  - rewrite mass_at, moment_at. pose proof (mass_pos l m known). pose proof (exp_pos (- m)).
    repeat split; [apply Rmult_lt_0_compat; assumption |].
    field. split; lra.
  - induction l as [|[[s v]|] l IH]; simpl in known; [constructor | discriminate |].
    constructor; [reflexivity | apply IH; exact known].
Qed.

End Exponentials.

Definition theorems := (merge_assoc, any_tiles, any_tree, any_order, loop_is_online, carried_is_the_sum, streamed_mean).
Print Assumptions theorems.
