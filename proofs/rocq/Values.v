(* The language's values and operators in Rocq, and what reductions and streams over them obey.

   A value is a real number or absent (None, written -inf elsewhere): napkin_eq/lang/term.py and docs/design.md say the same in
   words. An axis is a list of lanes; the streams of Laws.v walk it in blocks, a list of lists. Laws.v, which
   `napkin-eq prove --write` makes from the laws, states each law over these definitions. *)

Require Import Reals List Lra Lia.
Import ListNotations.
Open Scope R_scope.

Definition val := option R.
Notation absent := (@None R).

(* Operators: absence absorbs, but for max, exp and comparisons, where it is least. *)

Definition one_of (f : R -> R) (a : val) : val := match a with None => None | Some x => Some (f x) end.
Definition two_of (f : R -> R -> R) (a b : val) : val := match a, b with Some x, Some y => Some (f x y) | _, _ => None end.

Definition add := two_of Rplus.
Definition mul := two_of Rmult.
Definition neg := one_of Ropp.
Definition abs := one_of Rabs.
Definition inv := one_of (fun x => if Req_EM_T x 0 then 0 else / x).
Definition sqrt := one_of (fun x => if Rlt_dec x 0 then 0 else R_sqrt.sqrt x).
Definition exp (a : val) : val := match a with None => Some 0 | Some x => Some (Rtrigo_def.exp x) end.
Definition log (a : val) : val := match a with None => None | Some x => if Rlt_dec 0 x then Some (ln x) else None end.
Definition sin := one_of Rtrigo_def.sin.
Definition cos := one_of Rtrigo_def.cos.
Definition floor := one_of (fun x => IZR (Int_part x)).
Definition tanh (a : val) : val := match a with None => Some (-1) | Some x => Some (Rtrigo_def.tanh x) end.
Definition sigmoid (a : val) : val := match a with None => Some 0 | Some x => Some (/ (1 + Rtrigo_def.exp (- x))) end.
Definition max (a b : val) : val := match a, b with None, _ => b | _, None => a | Some x, Some y => Some (Rmax x y) end.
Definition min (a b : val) : val := match a, b with Some x, Some y => Some (Rmin x y) | _, _ => None end.
Definition choice (c : bool) (a b : val) : val := if c then a else b.

Definition le (a b : val) : bool :=
  match a, b with None, _ => true | _, None => false | Some x, Some y => if Rle_dec x y then true else false end.
Definition lt (a b : val) : bool := negb (le b a).
Definition eq (a b : val) : bool := andb (le a b) (le b a).

(* Reductions of the lanes of an axis, and of those where a mask holds. *)

Section Reductions.

Variable X : Type.

Definition reduce (op : val -> val -> val) (e : val) (xs : list X) (a : X -> val) : val := fold_right op e (map a xs).
Definition Sum := reduce add (Some 0).
Definition Max := reduce max absent.
Definition Prod := reduce mul (Some 1).
Definition size (xs : list X) : val := Some (INR (length xs)).

(* The same, block after block: what is resident is combined with each block's own result. *)
Definition fold (op : val -> val -> val) (e : val) (blocks : list (list X)) (c : X -> bool) (a : X -> val) : val :=
  fold_left (fun acc block => op acc (reduce op e (filter c block) a)) blocks e.
Definition FoldSum := fold add (Some 0).
Definition FoldMax := fold max absent.
Definition FoldProd := fold mul (Some 1).

(* A stream: acc = update(acc before) + the sum of the body over the block, where body and update are those of the lanes
   seen, before the block (seen) and with it (now). *)
Fixpoint stream (blocks : list (list X)) (seen : list X) (acc : val) (c : list X -> X -> bool) (a : list X -> X -> val)
  (update : list X -> list X -> val -> val) : val :=
  match blocks with
  | [] => acc
  | block :: rest =>
      let now := seen ++ block in
      stream rest now (add (update seen now acc) (Sum (filter (c now) block) (a now))) c a update
  end.
Definition Online blocks := stream blocks [] (Some 0).

(* As a stream goes on over an axis, a changes by the factor r. *)
Definition scales (xs : list X) (a : list X -> X -> val) (r : list X -> list X -> val) : Prop :=
  (forall block rest, xs = block ++ rest -> block <> [] -> r [] block <> absent) /\
  (forall seen block rest x, xs = seen ++ block ++ rest -> seen <> [] -> block <> [] -> In x seen ->
    a (seen ++ block) x = mul (a seen x) (r seen (seen ++ block))).

(* Over the lanes seen so far, none of them included, a is present. *)
Definition settled (xs : list X) (a : list X -> val) : Prop := forall now rest, xs = now ++ rest -> a now <> absent.

(* As a stream goes on, the sum of a over the lanes seen, weighted by w as it was, changes by s, and at first by 0. *)
Definition moves (xs : list X) (a w : list X -> X -> val) (s : list X -> list X -> val) : Prop :=
  (forall block rest, xs = block ++ rest -> block <> [] -> s [] block = Some 0) /\
  (forall seen block rest, xs = seen ++ block ++ rest -> seen <> [] -> block <> [] ->
    s seen (seen ++ block) = add (Sum seen (fun x => mul (a (seen ++ block) x) (w seen x))) (neg (Sum seen (fun x => mul (a seen x) (w seen x))))).

End Reductions.

Arguments Sum {X}. Arguments Max {X}. Arguments Prod {X}. Arguments size {X}. Arguments reduce {X}.
Arguments FoldSum {X}. Arguments FoldMax {X}. Arguments FoldProd {X}. Arguments fold {X}.
Arguments stream {X}. Arguments Online {X}. Arguments scales {X}. Arguments settled {X}. Arguments moves {X}.

(* Here ends what is to be read to understand the laws' statements; what follows is proof. *)

Ltac opened := unfold lt, eq, choice, add, mul, neg, abs, inv, sqrt, exp, log, sin, cos, floor, tanh, sigmoid, max, min, le, one_of, two_of in *; simpl in *.

Ltac cases := repeat
  match goal with
  | H : context [match ?a with None => _ | Some _ => _ end] |- _ => is_var a; destruct a
  | |- context [match ?a with None => _ | Some _ => _ end] => is_var a; destruct a
  | H : context [if ?c then _ else _] |- _ => is_var c; destruct c
  | |- context [if ?c then _ else _] => is_var c; destruct c
  | H : context [orb ?c _] |- _ => is_var c; destruct c
  end; simpl in *.

Ltac signs := repeat
  match goal with
  | H : context [Rle_dec ?a ?b] |- _ => destruct (Rle_dec a b); simpl in *
  | H : context [Rlt_dec ?a ?b] |- _ => destruct (Rlt_dec a b); simpl in *
  | |- context [Rle_dec ?a ?b] => destruct (Rle_dec a b); simpl in *
  | |- context [Rlt_dec ?a ?b] => destruct (Rlt_dec a b); simpl in *
  | H : context [Req_EM_T ?a ?b] |- _ => destruct (Req_EM_T a b); simpl in *
  | |- context [Req_EM_T ?a ?b] => destruct (Req_EM_T a b); simpl in *
  end.

(* Facts of the functions that occur, for the arithmetic that follows. *)
Ltac fact_of p := let T := type of p in lazymatch goal with _ : T |- _ => fail | _ => pose proof p end.

Ltac facts := repeat
  match goal with
  | H : ?x <= ?y, H' : ?y <= ?x |- _ => apply (Rle_antisym _ _ H) in H'; clear H; subst
  | |- context [Rtrigo_def.exp ?x] => fact_of (exp_pos x)
  | _ : context [Rtrigo_def.exp ?x] |- _ => fact_of (exp_pos x)
  | |- context [Rabs ?x] => fact_of (Rabs_pos x)
  | _ : context [Rabs ?x] |- _ => fact_of (Rabs_pos x)
  | _ : context [R_sqrt.sqrt ?x], H : ~ ?x <= 0 |- _ => fact_of (sqrt_lt_R0 x (Rnot_le_lt _ _ H))
  | _ : context [/ ?x], H : ?x <> 0 |- _ => fact_of (Rinv_neq_0_compat x H)
  | _ : context [/ ?x] |- _ => let pos := fresh in assert (pos : 0 < x) by (assumption || lra); fact_of (Rinv_0_lt_compat x pos); clear pos
  end.

(* What holds of one lane: every case of absence, every mask, every comparison. *)
Ltac pointwise :=
  intros; opened; unfold Rmax, Rmin in *; cases; signs;
  try discriminate; try congruence; try reflexivity; facts; try (exfalso; nra); try (f_equal; first [ring | lra | nra | field; lra]).

Lemma add_0 a : add (Some 0) a = a.
Proof. pointwise. Qed.
Lemma add_comm a b : add a b = add b a.
Proof. pointwise. Qed.
Lemma add_assoc a b c : add a (add b c) = add (add a b) c.
Proof. pointwise. Qed.
Lemma mul_1 a : mul (Some 1) a = a.
Proof. pointwise. Qed.
Lemma mul_comm a b : mul a b = mul b a.
Proof. pointwise. Qed.
Lemma mul_assoc a b c : mul a (mul b c) = mul (mul a b) c.
Proof. pointwise. Qed.
Lemma max_absent a : max absent a = a.
Proof. reflexivity. Qed.
Lemma max_comm a b : max a b = max b a.
Proof. pointwise. Qed.
Lemma max_assoc a b c : max a (max b c) = max (max a b) c.
Proof. pointwise. Qed.

Lemma eq_true a b : eq a b = true -> a = b.
Proof. pointwise. Qed.

Lemma or_eq (c : bool) a b : orb c (eq a b) = true -> c = true \/ a = b.
Proof. destruct c; [auto | intro same; right; apply eq_true; exact same]. Qed.

(* Reductions by any commutative monoid. *)

Section AnyMonoid.

Variable op : val -> val -> val.
Variable e : val.
Hypothesis neutral : forall a, op e a = a.
Hypothesis comm : forall a b, op a b = op b a.
Hypothesis assoc : forall a b c, op a (op b c) = op (op a b) c.

Lemma reduce_same (X : Type) (xs : list X) a b : (forall x, In x xs -> a x = b x) -> reduce op e xs a = reduce op e xs b.
Proof. unfold reduce. induction xs; simpl; intro same; [reflexivity | rewrite same, IHxs; auto]. Qed.

Lemma reduce_app (X : Type) (xs ys : list X) a : reduce op e (xs ++ ys) a = op (reduce op e xs a) (reduce op e ys a).
Proof. unfold reduce. induction xs; simpl; [symmetry; apply neutral | rewrite IHxs; apply assoc]. Qed.

Lemma reduce_both (X : Type) (xs : list X) a b : reduce op e xs (fun x => op (a x) (b x)) = op (reduce op e xs a) (reduce op e xs b).
Proof.
  unfold reduce. induction xs as [|x xs IH]; simpl; [symmetry; apply neutral | rewrite IH].
  rewrite <- !assoc. f_equal. rewrite !assoc. f_equal. apply comm.
Qed.

Lemma reduce_neutral (X : Type) (xs : list X) : reduce op e xs (fun _ => e) = e.
Proof. unfold reduce. induction xs; simpl; [reflexivity | rewrite IHxs; apply neutral]. Qed.

(* What holds of every lane, and passes on to what two are combined to, holds of the result. *)
Lemma reduce_every (X : Type) (xs : list X) a (good : val -> Prop) :
  (forall a b, good a -> good b -> good (op a b)) -> xs <> [] -> (forall x, In x xs -> good (a x)) -> good (reduce op e xs a).
Proof.
  intros both some each. unfold reduce. induction xs as [|x xs IH]; [contradiction |]. simpl in *.
  destruct xs as [|y xs]; [simpl; rewrite comm, neutral; auto |].
  apply both; [auto | apply IH; [discriminate | auto]].
Qed.

Lemma reduce_swap (X Y : Type) (xs : list X) (ys : list Y) a :
  reduce op e xs (fun x => reduce op e ys (fun y => a x y)) = reduce op e ys (fun y => reduce op e xs (fun x => a x y)).
Proof.
  induction xs as [|x xs IH]; [symmetry; apply reduce_neutral |].
  transitivity (op (reduce op e ys (a x)) (reduce op e ys (fun y => reduce op e xs (fun x => a x y)))).
  - exact (f_equal (op _) IH).
  - symmetry. apply reduce_both.
Qed.

Lemma reduce_filter (X : Type) (xs : list X) (c : X -> bool) a :
  (forall x, In x xs -> c x = true \/ a x = e) -> reduce op e (filter c xs) a = reduce op e xs a.
Proof.
  unfold reduce. induction xs as [|x xs IH]; simpl; intro out; [reflexivity |].
  rewrite <- IH by auto. destruct (c x) eqn:kept; simpl; [reflexivity |].
  destruct (out x) as [|zero]; [auto | congruence | rewrite zero, neutral; reflexivity].
Qed.

Lemma fold_is_reduce (X : Type) (blocks : list (list X)) c a : fold op e blocks c a = reduce op e (filter c (concat blocks)) a.
Proof.
  unfold fold. assert (from : forall s, fold_left (fun acc block => op acc (reduce op e (filter c block) a)) blocks s
    = op s (reduce op e (filter c (concat blocks)) a)).
  { induction blocks as [|b bs IH]; intro s; simpl; [rewrite comm; symmetry; apply neutral |].
    rewrite IH, filter_app, reduce_app. symmetry. apply assoc. }
  rewrite from. apply neutral.
Qed.

(* A value that a mask chooses in exactly one lane is the result. *)
Lemma counted (X : Type) (xs : list X) (c : X -> bool) :
  Sum xs (fun x => choice (c x) (Some 1) (Some 0)) = Some (INR (length (filter c xs))).
Proof.
  unfold Sum, reduce. induction xs as [|x xs IH]; [reflexivity |].
  cbn [map fold_right filter]. rewrite IH. destruct (c x); cbn [choice length].
  - rewrite S_INR. simpl. f_equal. ring.
  - simpl. f_equal. ring.
Qed.

Lemma reduce_one (X : Type) (xs : list X) (c : X -> bool) a :
  Sum xs (fun x => choice (c x) (Some 1) (Some 0)) = Some 1 -> reduce op e xs (fun x => choice (c x) a e) = a.
Proof.
  rewrite counted. intro one. assert (single : length (filter c xs) = 1%nat) by (apply INR_eq; injection one; intros ->; reflexivity).
  clear one. unfold reduce. induction xs as [|x xs IH]; simpl in *; [discriminate |].
  destruct (c x); simpl in *; [|rewrite IH by assumption; apply neutral].
  injection single as none. apply length_zero_iff_nil in none.
  replace (fold_right op e (map (fun y => choice (c y) a e) xs)) with e; [rewrite comm; apply neutral |].
  clear IH. induction xs as [|y xs IH]; simpl in *; [reflexivity |].
  destruct (c y); [discriminate |]. simpl. rewrite neutral. auto.
Qed.

Lemma reduce_split (X P : Type) (xs : list X) (ps : list P) (c : P -> X -> bool) a :
  (forall x, In x xs -> Sum ps (fun p => choice (c p x) (Some 1) (Some 0)) = Some 1) ->
  reduce op e xs a = reduce op e ps (fun p => reduce op e xs (fun x => choice (c p x) (a x) e)).
Proof.
  intro once. rewrite reduce_swap. apply reduce_same. intros x known. symmetry. apply (reduce_one _ _ (fun p => c p x)). auto.
Qed.

End AnyMonoid.

Lemma sum_same (X : Type) (xs : list X) a b : (forall x, In x xs -> a x = b x) -> Sum xs a = Sum xs b.
Proof. apply reduce_same. Qed.

Lemma sum_app (X : Type) (xs ys : list X) a : Sum (xs ++ ys) a = add (Sum xs a) (Sum ys a).
Proof. apply reduce_app; [apply add_0 | apply add_assoc]. Qed.

Lemma sum_both (X : Type) (xs : list X) a b : Sum xs (fun x => add (a x) (b x)) = add (Sum xs a) (Sum xs b).
Proof. apply reduce_both; [apply add_0 | apply add_comm | apply add_assoc]. Qed.

(* Sums of present factors, and what is absent. *)

Lemma sum_cons (X : Type) (x : X) xs a : Sum (x :: xs) a = add (a x) (Sum xs a).
Proof. reflexivity. Qed.

Lemma max_cons (X : Type) (x : X) xs a : Max (x :: xs) a = max (a x) (Max xs a).
Proof. reflexivity. Qed.

Lemma sum_scaled (X : Type) (xs : list X) k a : Sum xs (fun x => mul (Some k) (a x)) = mul (Some k) (Sum xs a).
Proof.
  induction xs as [|x xs IH]; [cbv [Sum reduce map fold_right mul two_of]; f_equal; ring |].
  rewrite !sum_cons, IH. generalize (a x) (Sum xs a). pointwise.
Qed.

Lemma sum_factor (X : Type) (xs : list X) k a : xs <> [] -> Sum xs (fun x => mul k (a x)) = mul k (Sum xs a).
Proof.
  destruct k as [k|]; intro lanes; [apply sum_scaled |].
  destruct xs as [|x xs]; [contradiction | reflexivity].
Qed.

Lemma sum_neg_out (X : Type) (xs : list X) a : Sum xs (fun x => neg (a x)) = neg (Sum xs a).
Proof.
  induction xs as [|x xs IH]; [cbv [Sum reduce map fold_right neg one_of]; f_equal; ring |].
  rewrite !sum_cons, IH. generalize (a x) (Sum xs a). pointwise.
Qed.

Lemma sum_of_equals (X : Type) (xs : list X) a : xs <> [] -> Sum xs (fun _ => a) = mul a (size xs).
Proof.
  induction xs as [|x xs IH]; [contradiction |]. intros _. rewrite sum_cons.
  destruct xs as [|y xs]; [cbv [Sum reduce map fold_right size length INR]; pointwise |].
  rewrite IH by discriminate. unfold size. cbn [length]. rewrite !S_INR. generalize (INR (length xs)). pointwise.
Qed.

Lemma max_app (X : Type) (xs ys : list X) a : Max (xs ++ ys) a = max (Max xs a) (Max ys a).
Proof. apply reduce_app; [apply max_absent | apply max_assoc]. Qed.

Lemma max_moved (X : Type) (xs : list X) f a :
  f absent = absent -> (forall x y, f (max x y) = max (f x) (f y)) -> Max xs (fun x => f (a x)) = f (Max xs a).
Proof. intros none both. induction xs as [|x xs IH]; [symmetry; exact none | rewrite !max_cons, IH, both; reflexivity]. Qed.

Lemma max_above (X : Type) (xs : list X) a x : In x xs -> le (a x) (Max xs a) = true.
Proof.
  induction xs as [|y xs IH]; [contradiction |]. rewrite max_cons.
  intros [-> | later]; [generalize (a x) (Max xs a); pointwise |].
  specialize (IH later). revert IH. generalize (a x) (a y) (Max xs a). pointwise.
Qed.

Lemma max_none (X : Type) (xs : list X) a x : Max xs a = absent -> In x xs -> a x = absent.
Proof.
  induction xs as [|y xs IH]; [contradiction |].
  rewrite max_cons. intros none [<- | later]; destruct (a y) eqn:first, (Max xs a); try discriminate; auto.
Qed.

(* Exponentials relative to any reference that is absent only where every lane is. *)
(* Sums of what is not negative, of which something is left. *)

Lemma one_left (X : Type) (xs : list X) (c : X -> bool) :
  lt (Some 0) (Sum xs (fun x => choice (c x) (Some 1) (Some 0))) = true -> exists x, In x xs /\ c x = true.
Proof.
  induction xs as [|x xs IH]; [cbv [Sum reduce map fold_right]; pointwise |].
  rewrite sum_cons. destruct (c x) eqn:held; [exists x; simpl; auto |].
  cbn [choice]. rewrite add_0. intro left. destruct (IH left) as (y & lane & true_there). exists y. simpl. auto.
Qed.

Lemma sum_above (X : Type) (xs : list X) a x :
  (forall y, In y xs -> le (Some 0) (a y) = true) -> In x xs -> lt (Some 0) (a x) = true -> lt (Some 0) (Sum xs a) = true.
Proof.
  intros each lane above. assert (rest : forall ys, incl ys xs -> le (Some 0) (Sum ys a) = true).
  { induction ys as [|y ys IH]; intro within; [cbv [Sum reduce map fold_right]; pointwise |].
    rewrite sum_cons. specialize (each y (within y (or_introl eq_refl))).
    specialize (IH (fun z h => within z (or_intror h))). revert each IH. generalize (a y) (Sum ys a). pointwise. }
  destruct (in_split x xs lane) as (before & after & ->). rewrite sum_app, sum_cons.
  pose proof (rest before ltac:(intros z h; apply in_or_app; auto)) as first.
  pose proof (rest after ltac:(intros z h; apply in_or_app; simpl; auto)) as last.
  revert above first last. generalize (a x) (Sum before a) (Sum after a). pointwise.
Qed.

Lemma sum_relative (X : Type) (xs : list X) a b m r :
  (forall x, In x xs -> r = absent -> a x = absent) ->
  Sum xs (fun x => mul (exp (add (a x) (neg m))) (b x))
  = mul (exp (add r (neg m))) (Sum xs (fun x => mul (exp (add (a x) (neg r))) (b x))).
Proof.
  intro least. assert (present : exists k, exp (add r (neg m)) = Some k) by (destruct r, m; simpl; eauto).
  destruct present as [k known]. rewrite known, <- sum_scaled, <- known. apply sum_same. intros x lane.
  specialize (least x lane). destruct r as [r|]; [|rewrite least by reflexivity; destruct m, (b x); opened; f_equal; ring].
  destruct (a x) as [y|], m as [m|], (b x) as [z|]; simpl; try reflexivity; f_equal; try ring.
  rewrite <- Rmult_assoc, <- exp_plus. do 2 f_equal. ring.
Qed.

Lemma exp_minus_0 a : exp a = exp (add a (neg (Some 0))).
Proof. destruct a; simpl; [do 2 f_equal; ring | reflexivity]. Qed.

Lemma sum_shifted (X : Type) (xs : list X) a b r :
  (forall x, In x xs -> r = absent -> a x = absent) ->
  Sum xs (fun x => mul (exp (a x)) (b x)) = mul (exp r) (Sum xs (fun x => mul (exp (add (a x) (neg r))) (b x))).
Proof.
  intro least. rewrite (exp_minus_0 r), <- (sum_relative X xs a b (Some 0) r least).
  apply sum_same. intros. rewrite <- exp_minus_0. reflexivity.
Qed.

Lemma sum_bare (X : Type) (xs : list X) a : Sum xs a = Sum xs (fun x => mul (a x) (Some 1)).
Proof. apply sum_same. intros. rewrite mul_comm, mul_1. reflexivity. Qed.

Lemma sum_relative_bare (X : Type) (xs : list X) a m r :
  (forall x, In x xs -> r = absent -> a x = absent) ->
  Sum xs (fun x => exp (add (a x) (neg m))) = mul (exp (add r (neg m))) (Sum xs (fun x => exp (add (a x) (neg r)))).
Proof. intro least. rewrite !(sum_bare X xs (fun x => exp _)). apply sum_relative. exact least. Qed.

Lemma sum_shifted_bare (X : Type) (xs : list X) a r :
  (forall x, In x xs -> r = absent -> a x = absent) ->
  Sum xs (fun x => exp (a x)) = mul (exp r) (Sum xs (fun x => exp (add (a x) (neg r)))).
Proof. intro least. rewrite !(sum_bare X xs (fun x => exp _)). apply sum_shifted. exact least. Qed.

Lemma filter_all (X : Type) (xs : list X) : filter (fun _ => true) xs = xs.
Proof. induction xs; simpl; congruence. Qed.

(* The fold theorem with absent values: what a stream carries is the sum, if each update turns the sum of the lanes seen,
   as they were, into that of the same lanes as they are now. *)
Lemma carried (X : Type) (blocks : list (list X)) (a : list X -> X -> val) update :
  Forall (fun block => block <> []) blocks ->
  (forall block rest, concat blocks = block ++ rest -> block <> [] -> add (update [] block (Some 0)) (Sum block (a block)) = Sum block (a block)) ->
  (forall seen block rest, concat blocks = seen ++ block ++ rest -> seen <> [] -> block <> [] ->
    update seen (seen ++ block) (Sum seen (a seen)) = Sum seen (a (seen ++ block))) ->
  Online blocks (fun _ _ => true) a update = Sum (concat blocks) (a (concat blocks)).
Proof.
  intros filled first next. unfold Online.
  assert (from : forall rest seen, seen <> [] -> seen ++ concat rest = concat blocks -> Forall (fun block => block <> []) rest ->
    stream rest seen (Sum seen (a seen)) (fun _ _ => true) a update = Sum (concat blocks) (a (concat blocks))).
  { induction rest as [|block rest IH]; intros seen some whole full; simpl in *.
    - rewrite <- whole, app_nil_r. reflexivity.
    - inversion full; subst. rewrite filter_all.
      rewrite next with (rest := concat rest) by auto. rewrite <- sum_app.
      apply IH; [intro none; apply app_eq_nil in none; tauto | rewrite <- app_assoc; assumption | assumption]. }
  destruct blocks as [|block rest]; simpl in *; [reflexivity |].
  inversion filled; subst. rewrite filter_all.
  rewrite first with (rest := concat rest) by auto. apply from; auto.
Qed.

(* Of a sum whose body changes by a factor, the factor is the update. *)
Lemma rescaled (X : Type) (blocks : list (list X)) a r :
  Forall (fun block => block <> []) blocks -> scales (concat blocks) a r ->
  Sum (concat blocks) (a (concat blocks)) = Online blocks (fun _ _ => true) a (fun seen now acc => mul acc (r seen now)).
Proof.
  intros full [first next]. symmetry. apply carried; [exact full | |].
  - intros block rest whole some. specialize (first block rest whole some). destruct (r [] block) as [k|]; [|contradiction].
    generalize (Sum block (a block)). pointwise.
  - intros seen block rest whole lanes some. rewrite mul_comm, <- sum_factor by exact lanes. apply sum_same. intros x lane.
    rewrite (next seen block rest x) by assumption. apply mul_comm.
Qed.

Lemma kept (X : Type) (blocks : list (list X)) c a u :
  Forall (fun block => block <> []) blocks ->
  (forall now rest, concat blocks = now ++ rest -> now <> [] -> forall x, In x now -> orb (c now x) (eq (a now x) (Some 0)) = true) ->
  Online blocks (fun _ _ => true) a u = Online blocks c a u.
Proof.
  intros full zero. unfold Online. assert (from : forall rest seen acc, seen ++ concat rest = concat blocks ->
    Forall (fun block => block <> []) rest -> stream rest seen acc (fun _ _ => true) a u = stream rest seen acc c a u).
  { induction rest as [|block rest IH]; intros seen acc whole some; simpl in *; [reflexivity |].
    inversion some; subst. rewrite IH by (rewrite <- ?app_assoc; assumption). do 2 f_equal.
    rewrite filter_all. symmetry. apply (reduce_filter add (Some 0) add_0). intros x lane. apply or_eq.
    apply (zero _ (concat rest)); [rewrite <- app_assoc; auto | | apply in_or_app; auto].
    intro none. apply app_eq_nil in none. tauto. }
  apply from; auto.
Qed.

(* The factors of streams. *)

Lemma prefix_some (X : Type) (seen block : list X) : block <> [] -> seen ++ block <> [].
Proof. intros some none. apply app_eq_nil in none. tauto. Qed.

Lemma scales_relative (X : Type) (xs : list X) (a : X -> val) r :
  (forall now rest, xs = now ++ rest -> now <> [] -> forall x, In x now -> le (a x) (r now) = true) ->
  scales xs (fun now x => exp (add (a x) (neg (r now)))) (fun seen now => exp (add (r seen) (neg (r now)))).
Proof.
  intro above. split.
  - intros block rest _ _. destruct (r []), (r block); discriminate.
  - intros seen block rest x whole lanes some lane.
    assert (old := above seen (block ++ rest) whole lanes x lane).
    assert (new := above (seen ++ block) rest ltac:(rewrite <- app_assoc; exact whole) (prefix_some _ seen block some) x ltac:(apply in_or_app; auto)).
    revert old new. destruct (a x) as [y|], (r seen) as [s|], (r (seen ++ block)) as [t|]; opened; try discriminate; intros; f_equal; try ring.
    rewrite <- exp_plus. f_equal. ring.
Qed.

Lemma scales_ratio (X : Type) (xs : list X) (b : list X -> val) :
  (forall now rest, xs = now ++ rest -> now <> [] -> andb (lt absent (b now)) (negb (eq (b now) (Some 0))) = true) ->
  b [] = Some 0 -> scales xs (fun now x => inv (b now)) (fun seen now => mul (b seen) (inv (b now))).
Proof.
  intros present empty. split.
  - intros block rest whole some. specialize (present block rest whole some). rewrite empty. revert present.
    destruct (b block); opened; discriminate.
  - intros seen block rest x whole lanes some _.
    assert (old := present seen (block ++ rest) whole lanes).
    assert (new := present (seen ++ block) rest ltac:(rewrite <- app_assoc; exact whole) (prefix_some _ seen block some)).
    revert old new. generalize (b seen) (b (seen ++ block)). pointwise.
Qed.

Lemma scales_times (X : Type) (xs : list X) a (b : X -> val) r :
  scales xs a r -> scales xs (fun now x => mul (a now x) (b x)) r.
Proof.
  intros [first next]. split; [exact first |]. intros seen block rest x whole lanes some lane.
  rewrite (next seen block rest x) by assumption. rewrite <- !mul_assoc. f_equal. apply mul_comm.
Qed.

Lemma scales_product (X : Type) (xs : list X) a b r s :
  scales xs a r -> scales xs b s -> scales xs (fun now x => mul (a now x) (b now x)) (fun seen now => mul (r seen now) (s seen now)).
Proof.
  intros [first next] [first' next']. split.
  - intros block rest whole some. specialize (first block rest whole some). specialize (first' block rest whole some).
    destruct (r [] block), (s [] block); simpl; congruence.
  - intros seen block rest x whole lanes some lane.
    rewrite (next seen block rest x), (next' seen block rest x) by assumption.
    generalize (a seen x) (b seen x) (r seen (seen ++ block)) (s seen (seen ++ block)). pointwise.
Qed.

(* Sums that move by a step. *)

Lemma one_right a : mul a (Some 1) = a.
Proof. pointwise. Qed.

Lemma sum_of_ones (X : Type) (xs : list X) : Sum xs (fun _ => Some 1) = size xs.
Proof.
  induction xs as [|x xs IH]; [reflexivity |]. rewrite sum_cons, IH. unfold size. cbn [length]. rewrite S_INR. simpl. f_equal. ring.
Qed.

Lemma sum_finite (X : Type) (xs : list X) a : (forall x, In x xs -> lt absent (a x) = true) -> Sum xs a <> absent.
Proof.
  induction xs as [|x xs IH]; intro each; [discriminate |]. rewrite sum_cons.
  assert (here := each x ltac:(simpl; auto)). assert (rest := IH ltac:(intros; apply each; simpl; auto)).
  destruct (a x), (Sum xs a); opened; congruence.
Qed.

Lemma sum_of_products (X : Type) (xs : list X) a b :
  (forall x, In x xs -> lt absent (a x) = true) -> (forall x, In x xs -> lt absent (b x) = true) -> Sum xs (fun x => mul (a x) (b x)) <> absent.
Proof.
  intros one other. apply sum_finite. intros x lane. specialize (one x lane). specialize (other x lane). destruct (a x), (b x); opened; congruence.
Qed.

(* Lanes are present at every prefix of the axis. *)
Definition lanes_present (X : Type) (xs : list X) (a : list X -> X -> val) : Prop :=
  forall now rest, xs = now ++ rest -> now <> [] -> forall x, In x now -> lt absent (a now x) = true.

Lemma present_before (X : Type) (xs seen block rest : list X) a :
  lanes_present X xs a -> xs = seen ++ block ++ rest -> seen <> [] -> forall x, In x seen -> lt absent (a seen x) = true.
Proof. intros each whole some. exact (each seen (block ++ rest) whole some). Qed.

Lemma present_after (X : Type) (xs seen block rest : list X) a :
  lanes_present X xs a -> xs = seen ++ block ++ rest -> seen <> [] -> forall x, In x seen -> lt absent (a (seen ++ block) x) = true.
Proof.
  intros each whole some x lane. apply (each (seen ++ block) rest); [rewrite <- app_assoc; exact whole | | apply in_or_app; auto].
  intro none. apply app_eq_nil in none. tauto.
Qed.

Lemma moves_same (X : Type) (xs : list X) a w s a' w' s' :
  moves xs a w s -> (forall now x, a' now x = a now x) -> (forall now x, w' now x = w now x) ->
  (forall seen block rest, xs = seen ++ block ++ rest -> block <> [] -> s' seen (seen ++ block) = s seen (seen ++ block)) -> moves xs a' w' s'.
Proof.
  intros [first next] one other step. split.
  - intros block rest whole some. rewrite <- (first block rest whole some). exact (step [] block rest whole some).
  - intros seen block rest whole lanes some. rewrite (step seen block rest whole some), (next seen block rest whole lanes some).
    f_equal; [| f_equal]; apply sum_same; intros x _; rewrite one, other; reflexivity.
Qed.

Lemma moves_still (X : Type) (xs : list X) w : lanes_present X xs w -> moves xs (fun _ _ => Some 1) w (fun _ _ => Some 0).
Proof.
  intro each. split; [reflexivity |]. intros seen block rest whole lanes some.
  assert (total := sum_of_products X seen (fun _ => Some 1) (w seen) ltac:(intros; opened; cases; signs; auto) ltac:(eapply present_before; eauto)).
  destruct (Sum seen (fun x => mul (Some 1) (w seen x))); [| contradiction]. simpl. f_equal. lra.
Qed.

(* A further factor b - r: what the other factors moved by, and the step of r times their sum. *)
Lemma moves_times (X : Type) (xs : list X) (b : X -> val) (r : list X -> val) a w s t :
  settled xs r -> lanes_present X xs (fun _ => b) -> lanes_present X xs a -> lanes_present X xs w ->
  moves xs a w t -> moves xs a (fun now x => mul (add (b x) (neg (r now))) (w now x)) s ->
  moves xs (fun now x => mul (add (b x) (neg (r now))) (a now x)) w
    (fun seen now => add (mul (add (r seen) (neg (r now))) (add (Sum seen (fun x => mul (a seen x) (w seen x))) (t seen now))) (s seen now)).
Proof.
  intros stay full_b full_a full_w [first next] [first' next']. split.
  - intros block rest whole some. rewrite (first block rest whole some), (first' block rest whole some).
    assert (before := stay [] xs eq_refl). assert (after := stay block rest whole).
    destruct (r []), (r block); try contradiction. simpl. f_equal. lra.
  - intros seen block rest whole lanes some.
    rewrite (next seen block rest whole lanes some), (next' seen block rest whole lanes some).
    assert (old := stay seen (block ++ rest) whole). assert (new := stay (seen ++ block) rest ltac:(rewrite <- app_assoc; exact whole)).
    assert (was := present_before X xs seen block rest a full_a whole lanes). assert (is := present_after X xs seen block rest a full_a whole lanes).
    assert (at_b := present_before X xs seen block rest _ full_b whole lanes). assert (at_w := present_before X xs seen block rest w full_w whole lanes).
    destruct (r seen) as [p|], (r (seen ++ block)) as [q|]; try contradiction.
    assert (by_b : forall k x, In x seen -> lt absent (mul (add (b x) (neg (Some k))) (w seen x)) = true).
    { intros k x lane. specialize (at_b x lane). specialize (at_w x lane). destruct (b x), (w seen x); opened; auto. }
    assert (before : Sum seen (fun x => mul (mul (add (b x) (neg (Some p))) (a seen x)) (w seen x))
      = Sum seen (fun x => mul (a seen x) (mul (add (b x) (neg (Some p))) (w seen x)))).
    { apply sum_same. intros x _. generalize (b x) (a seen x) (w seen x). pointwise. }
    assert (after : Sum seen (fun x => mul (mul (add (b x) (neg (Some q))) (a (seen ++ block) x)) (w seen x))
      = add (Sum seen (fun x => mul (a (seen ++ block) x) (mul (add (b x) (neg (Some p))) (w seen x))))
          (mul (add (Some p) (neg (Some q))) (Sum seen (fun x => mul (a (seen ++ block) x) (w seen x))))).
    { rewrite <- sum_factor by exact lanes. rewrite <- sum_both. apply sum_same. intros x _. generalize (b x) (a (seen ++ block) x) (w seen x). pointwise. }
    rewrite before, after.
    assert (one := sum_of_products X seen (a seen) (w seen) was at_w). assert (two := sum_of_products X seen (a (seen ++ block)) (w seen) is at_w).
    assert (three := sum_of_products X seen (a seen) _ was (by_b p)). assert (four := sum_of_products X seen (a (seen ++ block)) _ is (by_b p)).
    destruct (Sum seen (fun x => mul (a seen x) (w seen x))), (Sum seen (fun x => mul (a (seen ++ block) x) (w seen x))),
      (Sum seen (fun x => mul (a seen x) (mul (add (b x) (neg (Some p))) (w seen x)))),
      (Sum seen (fun x => mul (a (seen ++ block) x) (mul (add (b x) (neg (Some p))) (w seen x)))); try contradiction.
    simpl. f_equal. ring.
Qed.

Definition sums_to_none (X : Type) (xs : list X) (a : list X -> X -> val) : Prop :=
  forall now rest, xs = now ++ rest -> now <> [] -> eq (Sum now (fun x => a now x)) (Some 0) = true.

Lemma none_before (X : Type) (xs seen block rest : list X) a :
  sums_to_none X xs a -> xs = seen ++ block ++ rest -> Sum seen (fun x => a seen x) = Some 0.
Proof. intros none whole. destruct seen as [|x seen]; [reflexivity |]. apply eq_true, (none (x :: seen) (block ++ rest) whole). discriminate. Qed.

Lemma present_ones (X : Type) (xs : list X) : lanes_present X xs (fun _ _ => Some 1).
Proof. intros now rest _ _ x _. opened. signs; auto. Qed.

Lemma moves_by_weights (X : Type) (xs : list X) (b : X -> val) (r : list X -> val) w :
  settled xs r -> lanes_present X xs (fun _ => b) -> lanes_present X xs w ->
  moves xs (fun now x => add (b x) (neg (r now))) w (fun seen now => mul (add (r seen) (neg (r now))) (Sum seen (fun x => w seen x))).
Proof.
  intros stay full_b full_w.
  assert (weights : lanes_present X xs (fun now x => mul (add (b x) (neg (r now))) (w now x))).
  { intros now rest whole some x lane. assert (at_b := full_b now rest whole some x lane). assert (at_w := full_w now rest whole some x lane).
    assert (at_r := stay now rest whole). destruct (b x), (w now x), (r now); opened; auto. }
  eapply moves_same; [apply (moves_times X xs b r (fun _ _ => Some 1) w (fun _ _ => Some 0) (fun _ _ => Some 0)) | | |];
    auto using present_ones, moves_still.
  - intros. symmetry. apply one_right.
  - intros seen block rest whole some. cbv beta.
    rewrite (sum_same X seen (fun x => mul (Some 1) (w seen x)) (fun x => w seen x)) by (intros; rewrite mul_comm; apply one_right).
    generalize (Sum seen (fun x => w seen x)) (r seen) (r (seen ++ block)). pointwise.
Qed.

Lemma moves_by_lanes (X : Type) (xs : list X) (b : X -> val) (r : list X -> val) :
  settled xs r -> lanes_present X xs (fun _ => b) ->
  moves xs (fun now x => add (b x) (neg (r now))) (fun _ _ => Some 1) (fun seen now => mul (add (r seen) (neg (r now))) (size seen)).
Proof.
  intros stay full_b. eapply moves_same; [apply (moves_by_weights X xs b r (fun _ _ => Some 1)); auto using present_ones | reflexivity | reflexivity |].
  intros. f_equal. symmetry. rewrite (sum_of_ones X seen). reflexivity.
Qed.

Lemma moves_by_none (X : Type) (xs : list X) (b : X -> val) (r : list X -> val) w :
  settled xs r -> lanes_present X xs (fun _ => b) -> lanes_present X xs w -> sums_to_none X xs w ->
  moves xs (fun now x => add (b x) (neg (r now))) w (fun _ _ => Some 0).
Proof.
  intros stay full_b full_w none. eapply moves_same; [apply (moves_by_weights X xs b r w); auto | reflexivity | reflexivity |].
  intros seen block rest whole some. cbv beta. rewrite (none_before X xs seen block rest w none whole).
  assert (old := stay seen (block ++ rest) whole). assert (new := stay (seen ++ block) rest ltac:(rewrite <- app_assoc; exact whole)).
  destruct (r seen), (r (seen ++ block)); try contradiction. simpl. f_equal. lra.
Qed.

Lemma moves_times_none (X : Type) (xs : list X) (b : X -> val) (r : list X -> val) a w s t :
  settled xs r -> lanes_present X xs (fun _ => b) -> lanes_present X xs a -> lanes_present X xs w ->
  moves xs a w t -> moves xs a (fun now x => mul (add (b x) (neg (r now))) (w now x)) s -> sums_to_none X xs (fun now x => mul (a now x) (w now x)) ->
  moves xs (fun now x => mul (add (b x) (neg (r now))) (a now x)) w
    (fun seen now => add (mul (add (r seen) (neg (r now))) (t seen now)) (s seen now)).
Proof.
  intros stay full_b full_a full_w once again none.
  eapply moves_same; [apply (moves_times X xs b r a w s t); assumption | reflexivity | reflexivity |].
  intros seen block rest whole some. cbv beta. rewrite (none_before X xs seen block rest _ none whole).
  generalize (r seen) (r (seen ++ block)) (t seen (seen ++ block)) (s seen (seen ++ block)). pointwise.
Qed.

(* The same without weights. *)
Lemma moves_times_bare (X : Type) (xs : list X) (b : X -> val) (r : list X -> val) a s t :
  settled xs r -> lanes_present X xs (fun _ => b) -> lanes_present X xs a ->
  moves xs a (fun _ _ => Some 1) t -> moves xs a (fun now x => add (b x) (neg (r now))) s ->
  moves xs (fun now x => mul (add (b x) (neg (r now))) (a now x)) (fun _ _ => Some 1)
    (fun seen now => add (mul (add (r seen) (neg (r now))) (add (Sum seen (fun x => a seen x)) (t seen now))) (s seen now)).
Proof.
  intros stay full_b full_a once again.
  eapply moves_same; [apply (moves_times X xs b r a (fun _ _ => Some 1) s t); auto using present_ones | reflexivity | reflexivity |].
  - eapply moves_same; [exact again | reflexivity | intros; apply one_right | reflexivity].
  - intros seen block rest whole some. cbv beta. do 3 f_equal. apply sum_same. intros. symmetry. apply one_right.
Qed.

Lemma moves_times_bare_none (X : Type) (xs : list X) (b : X -> val) (r : list X -> val) a s t :
  settled xs r -> lanes_present X xs (fun _ => b) -> lanes_present X xs a ->
  moves xs a (fun _ _ => Some 1) t -> moves xs a (fun now x => add (b x) (neg (r now))) s -> sums_to_none X xs a ->
  moves xs (fun now x => mul (add (b x) (neg (r now))) (a now x)) (fun _ _ => Some 1)
    (fun seen now => add (mul (add (r seen) (neg (r now))) (t seen now)) (s seen now)).
Proof.
  intros stay full_b full_a once again none.
  eapply moves_same; [apply (moves_times_bare X xs b r a s t); assumption | reflexivity | reflexivity |].
  intros seen block rest whole some. cbv beta. rewrite (none_before X xs seen block rest a none whole).
  generalize (r seen) (r (seen ++ block)) (t seen (seen ++ block)) (s seen (seen ++ block)). pointwise.
Qed.

(* What a stream carries of such a sum: plus the step, times the factor of the weights. *)
Lemma carried_scaled (X : Type) (blocks : list (list X)) a r s w :
  Forall (fun block => block <> []) blocks -> lanes_present X (concat blocks) a -> lanes_present X (concat blocks) w ->
  moves (concat blocks) a w s -> scales (concat blocks) w r ->
  Sum (concat blocks) (fun x => mul (a (concat blocks) x) (w (concat blocks) x))
  = Online blocks (fun _ _ => true) (fun now x => mul (a now x) (w now x)) (fun seen now acc => mul (add acc (s seen now)) (r seen now)).
Proof.
  intros full full_a full_w [first next] [first' next']. symmetry. apply (carried X blocks (fun now x => mul (a now x) (w now x))); [exact full | |].
  - intros block rest whole some. rewrite (first block rest whole some). specialize (first' block rest whole some).
    destruct (r [] block); [| contradiction]. generalize (Sum block (fun x => mul (a block x) (w block x))). pointwise.
  - intros seen block rest whole lanes some. rewrite (next seen block rest whole lanes some).
    transitivity (mul (Sum seen (fun x => mul (a (seen ++ block) x) (w seen x))) (r seen (seen ++ block))).
    + assert (one := sum_of_products X seen (a seen) (w seen) (present_before X _ seen block rest a full_a whole lanes) (present_before X _ seen block rest w full_w whole lanes)).
      assert (two := sum_of_products X seen (a (seen ++ block)) (w seen) (present_after X _ seen block rest a full_a whole lanes) (present_before X _ seen block rest w full_w whole lanes)).
      destruct (Sum seen (fun x => mul (a seen x) (w seen x))), (Sum seen (fun x => mul (a (seen ++ block) x) (w seen x))); try contradiction.
      generalize (r seen (seen ++ block)). pointwise.
    + rewrite mul_comm, <- sum_factor by exact lanes. apply sum_same. intros x lane. rewrite (next' seen block rest x) by assumption.
      generalize (a (seen ++ block) x) (w seen x) (r seen (seen ++ block)). pointwise.
Qed.

Lemma online_same (X : Type) (blocks : list (list X)) a u a' u' :
  (forall now x, a now x = a' now x) -> (forall seen now acc, u seen now acc = u' seen now acc) ->
  Online blocks (fun _ _ => true) a u = Online blocks (fun _ _ => true) a' u'.
Proof.
  intros one other. unfold Online. generalize (@nil X) (Some 0). induction blocks as [|block blocks IH]; intros seen acc; simpl; [reflexivity |].
  rewrite IH, other. do 2 f_equal. apply sum_same. intros. apply one.
Qed.

Lemma scales_still (X : Type) (xs : list X) (w : X -> val) : scales xs (fun _ x => w x) (fun _ _ => Some 1).
Proof. split; [discriminate |]. intros. symmetry. apply one_right. Qed.

Lemma carried_weighted (X : Type) (blocks : list (list X)) a s (w : X -> val) :
  Forall (fun block => block <> []) blocks -> lanes_present X (concat blocks) a -> lanes_present X (concat blocks) (fun _ => w) ->
  moves (concat blocks) a (fun _ x => w x) s ->
  Sum (concat blocks) (fun x => mul (a (concat blocks) x) (w x))
  = Online blocks (fun _ _ => true) (fun now x => mul (a now x) (w x)) (fun seen now acc => add acc (s seen now)).
Proof.
  intros full full_a full_w step. rewrite (carried_scaled X blocks a (fun _ _ => Some 1) s (fun _ x => w x)) by auto using scales_still.
  apply online_same; [reflexivity | intros; apply one_right].
Qed.

Lemma carried_bare (X : Type) (blocks : list (list X)) a s :
  Forall (fun block => block <> []) blocks -> lanes_present X (concat blocks) a -> moves (concat blocks) a (fun _ _ => Some 1) s ->
  Sum (concat blocks) (fun x => a (concat blocks) x)
  = Online blocks (fun _ _ => true) (fun now x => a now x) (fun seen now acc => add acc (s seen now)).
Proof.
  intros full full_a step. rewrite (sum_same X _ _ (fun x => mul (a (concat blocks) x) (Some 1))) by (intros; symmetry; apply one_right).
  rewrite (carried_weighted X blocks a s (fun _ => Some 1)) by auto using present_ones.
  apply online_same; [intros; apply one_right | reflexivity].
Qed.

(* Sums that are 0. *)

Lemma sum_of_differences (X : Type) (xs : list X) a m w :
  xs <> [] -> Sum xs (fun x => mul (add (a x) (neg m)) (w x)) = add (Sum xs (fun x => mul (a x) (w x))) (neg (mul m (Sum xs w))).
Proof.
  intro lanes. rewrite <- sum_factor by exact lanes. rewrite <- sum_neg_out, <- sum_both. apply sum_same. intros x _.
  generalize (a x) (w x). pointwise.
Qed.

Lemma eq_same a b : a = b -> eq a b = true.
Proof. intros ->. destruct b; opened; signs; auto; lra. Qed.

Lemma mean_none (X : Type) (xs : list X) a :
  xs <> [] -> (forall x, In x xs -> lt absent (a x) = true) ->
  eq (Sum xs (fun x => add (a x) (neg (mul (Sum xs (fun x => a x)) (inv (size xs)))))) (Some 0) = true.
Proof.
  intros lanes each. apply eq_same.
  rewrite (sum_same X xs _ (fun x => mul (add (a x) (neg (mul (Sum xs (fun x => a x)) (inv (size xs))))) (Some 1))) by (intros; symmetry; apply one_right).
  rewrite sum_of_differences by exact lanes. rewrite (sum_of_ones X xs), (sum_same X xs (fun x => mul (a x) (Some 1)) a) by (intros; apply one_right).
  assert (total := sum_finite X xs a each). change (fun x => a x) with a in *. destruct (Sum xs a); [| contradiction]. unfold size. simpl.
  assert (INR (length xs) <> 0) by (apply not_0_INR; intro zero; apply lanes, length_zero_iff_nil, zero).
  destruct Req_EM_T; [contradiction |]. simpl. f_equal. field. assumption.
Qed.

Lemma weights_none (X : Type) (xs : list X) w :
  (forall x, In x xs -> le (Some 0) (w x) = true) -> exists total, Sum xs w = Some total /\ 0 <= total /\ (total = 0 -> forall x, In x xs -> w x = Some 0).
Proof.
  induction xs as [|x xs IH]; intro each.
  - exists 0. split; [reflexivity |]. split; [lra | intros _ x none; contradiction].
  - destruct IH as [total [known [least zeros]]]; [intros; apply each; simpl; auto |]. assert (here := each x ltac:(simpl; auto)).
    rewrite sum_cons, known. destruct (w x) as [k|] eqn:at_x; [| discriminate]. assert (0 <= k) by (revert here; opened; signs; intros; auto; discriminate).
    exists (k + total). split; [reflexivity |]. split; [lra |]. intros none y [<- | later].
    + rewrite at_x. f_equal. lra.
    + apply zeros; [lra | assumption].
Qed.

Lemma weighted_none (X : Type) (xs : list X) a w :
  xs <> [] -> (forall x, In x xs -> lt absent (a x) = true) -> (forall x, In x xs -> le (Some 0) (w x) = true) ->
  eq (Sum xs (fun x => mul (add (a x) (neg (mul (Sum xs (fun x => mul (a x) (w x))) (inv (Sum xs (fun x => w x)))))) (w x))) (Some 0) = true.
Proof.
  intros lanes each weights. apply eq_same. rewrite sum_of_differences by exact lanes.
  destruct (weights_none X xs w weights) as [total [known [least zeros]]]. change (fun x => w x) with w. rewrite known. simpl.
  assert (some : Sum xs (fun x => mul (a x) (w x)) <> absent).
  { apply sum_of_products; [exact each |]. intros x lane. specialize (weights x lane). destruct (w x); [reflexivity | discriminate]. }
  destruct (Req_EM_T total 0) as [none | more].
  - rewrite (sum_same X xs (fun x => mul (a x) (w x)) (fun x => mul (Some 0) (a x))) in * by
      (intros x lane; rewrite (zeros none x lane); apply mul_comm).
    rewrite sum_factor in * by exact lanes. destruct (Sum xs a) as [y|] eqn:all; rewrite ?all in *; simpl in *; [f_equal; lra | congruence].
  - destruct (Sum xs (fun x => mul (a x) (w x))); [| contradiction]. simpl. f_equal. field. assumption.
Qed.
