(* What the functions of Terms.v guarantee in frames: congruence under every operator,
  independence of axes and of streams,
   sorts, substitution. *)

Require Import Reals List Lia Bool Arith ZArith QArith Qreals FunctionalExtensionality.
Require Import Values Language Terms.
Import ListNotations.
Open Scope nat_scope.

(* Two points that differ in x at most; ends that differ in xs at most. *)
Definition apart (x : axis) (p q : point) : Prop := forall y, y <> x -> p y = q y.
Definition near (xs : list axis) (e e' : axis -> nat) : Prop := forall y, ~ In y xs -> e y = e' y.

Definition closed (a : meaning) : Prop := forall f f' p, ends f = ends f' -> item f = item f' -> a f p = a f' p.
Definition free_in (x : axis) (a : meaning) : Prop := forall f p q, apart x p q -> a f p = a f q.
Definition local_in (x : axis) (a : meaning) : Prop := forall f f' p,
  near [x] (ends f) (ends f') -> item f = item f' -> p x <= ends f x - 1 -> p x <= ends f' x - 1 -> a f p = a f' p.

Definition in_sort (s : sort) (v : val) : Prop :=
  match s with
  | Real | Several => True
  | Number => exists q, v = Some (Q2R q)
  | Int => exists z, v = Some (IZR z)
  | Bool => exists b, v = of_bool b
  end.
Definition of_sort (s : sort) (a : meaning) : Prop :=
  match s with
  | Number => exists q, forall f p, a f p = Some (Q2R q)
  | s => (forall f p, in_sort s (a f p)) /\ (s <> Several -> forall f k p, a (at_item f k) p = a f p)
  end.

Section Sound.

Variable g : context.
Variable m : model.
Hypothesis good : possible m.
Notation eval := (eval g m).

Definition updating (x : axis) (f : frame) : Prop := (forall y, y <> x -> prev f y = ends f y) /\ prev f x < ends f x.
Definition fits (f : frame) : Prop := forall x, ends f x <= full m x /\ prev f x <= full m x.
Definition base (b : bar) (f : frame) : Prop :=
  fits f /\ (forall x, In x (lanes_in b) -> 0 < ends f x) /\ (forall x, In x (full_in b) -> ends f x = full m x) /\
  (forall x, In x (over b) -> updating x f).
Definition holds eta (b : bar) l r : Prop := forall f p, base b f -> valid f p -> eval eta l f p = eval eta r f p.

(* Where put stands: besides, what is known of the frame one block before. *)
Record ok (b : bar) (S : list axis) (V : option axis) (f : frame) : Prop := {
  ok_fits : fits f;
  ok_lanes : forall x, In x (lanes_in b) -> 0 < ends f x;
  ok_full : forall x, In x (full_in b) -> ends f x = full m x;
  ok_before : forall x, In x (lanes_in b) -> ~ In x S -> 0 < prev f x;
  ok_filled : forall x, In x (full_in b) -> prev f x = full m x;
  ok_over : forall x, V = Some x -> updating x f }.

Lemma valid_upd f p x i : valid f p -> i < ends f x -> valid f (upd p x i).
Proof. intros V H y. unfold upd. specialize (V y). destruct (Nat.eqb_spec y x); subst; lia. Qed.
Lemma valid_cut f p x k i : valid f p -> i < k -> valid (cut f x k) (upd p x i).
Proof. intros V H y. simpl in *. specialize (V y). unfold upd in *. destruct (Nat.eqb_spec y x); subst; lia. Qed.
Lemma valid_moved f p x k j a : valid f p -> valid (moved f x k j a) (upd p x 0).
Proof. intros V y. simpl in *. specialize (V y). unfold upd in *. destruct (Nat.eqb_spec y x); subst; lia. Qed.
Lemma valid_back f p : valid (back f) (clamp (prev f) p).
Proof. intros y. simpl in *. unfold clamp. lia. Qed.
Lemma valid_low f p x i : valid f p -> i <= ends f x - 1 -> valid f (upd p x i).
Proof. intros V H y. unfold upd. specialize (V y). destruct (Nat.eqb_spec y x); subst; lia. Qed.
Lemma fits_cut f x k : fits f -> k <= ends f x -> fits (cut f x k).
Proof. intros H K y. specialize (H y). simpl. unfold upd. destruct (Nat.eqb_spec y x); subst; lia. Qed.
Lemma fits_moved f x k j a : fits f -> k < j -> j <= ends f x -> fits (moved f x k j a).
Proof. intros H K L y. specialize (H y). simpl. unfold upd. destruct (Nat.eqb_spec y x); subst; lia. Qed.
Lemma moved_updating f x k j a : k < j -> updating x (moved f x k j a).
Proof. intro H. split; simpl; [intros y n; rewrite !upd_other by exact n; reflexivity | rewrite !upd_same; exact H].
  Qed.

Lemma ok_cut b S V f x k : ok b S V f -> ~ In x (full_in b) -> 0 < k <= ends f x -> ok b S None (cut f x k).
Proof.
  intros [A B C D E F] H K. constructor; simpl; auto; try discriminate; [apply fits_cut; [exact A | apply K] | |];
    intros y Hy; unfold upd; destruct (Nat.eqb_spec y x); subst; auto; [lia | contradiction].
Qed.
Lemma ok_moved b S V f x k j a : ok b S V f -> ~ In x (full_in b) -> k < j <= ends f x ->
  ok b [x] (Some x) (moved f x k j a).
Proof.
  intros [A B C D E F] H K. constructor; simpl.
  - apply fits_moved; [exact A | apply K | apply K].
  - intros y Hy; unfold upd; destruct (Nat.eqb_spec y x); subst; auto; lia.
  - intros y Hy; unfold upd; destruct (Nat.eqb_spec y x); subst; auto; contradiction.
  - intros y Hy n; unfold upd; destruct (Nat.eqb_spec y x); subst; auto. exfalso. apply n. left. reflexivity.
  - intros y Hy; unfold upd; destruct (Nat.eqb_spec y x); subst; auto; contradiction.
  - intros y [= <-]. apply moved_updating, K.
Qed.
Lemma ok_item b S V f k : ok b S V f -> ok b S V (at_item f k).
Proof. intros [A B C D E F]. constructor; auto. Qed.

(* Congruence: an equation, put into a term at a path, gives an equation. *)
Theorem put_sound eta b l r : holds eta b l r -> forall t S V path t', put b S V t path l r = Some t' ->
  forall f p, ok b S V f -> valid f p -> eval eta t f p = eval eta t' f p.
Proof.
  intro H.
  assert (Top : forall S V t t' f p,
    (if same t l && forallb (fun x => match V with Some y => Nat.eqb x y
      | None => false end) (over b) then Some r else None) = Some t' ->
    ok b S V f -> valid f p -> eval eta t f p = eval eta t' f p).
  { intros S V t t' f p E O W. destruct (same t l && _)%bool eqn:M; [|discriminate]. apply andb_prop in M.
    destruct M as [M Ov].
    apply same_eq in M. injection E as <-. subst. apply H; [|exact W]. destruct O as [A B C D F G].
    split; [exact A |]. split; [exact B |]. split; [exact C |]. intros x Hx. rewrite forallb_forall in Ov.
      specialize (Ov x Hx).
    destruct V; [|discriminate]. apply Nat.eqb_eq in Ov. subst. auto. }
  Ltac into := match goal with E : option_map _ ?q = Some _ |- _ => destruct q eqn:?;
    [injection E as <- | discriminate] end.
  induction t; intros S V path t' E f p O W; (destruct path as [|here path]; [exact (Top _ _ _ _ _ _ E O W) |]);
    try discriminate E; simpl in E; try (destruct here as [|[|[|here]]]; try discriminate E); try discriminate E.
  - into. simpl. f_equal. eauto.
  - into. simpl. f_equal. eauto.
  - into. simpl. f_equal. eauto.
  - into. simpl. f_equal. f_equal. eauto.
  - into. simpl. f_equal. eauto.
  - into. simpl. f_equal. eauto.
  - into. simpl. apply masked_ext; intros i Hi; [reflexivity |]. apply in_seq in Hi. eapply IHt1; eauto.
      apply valid_upd; [exact W | lia].
  - into. simpl. apply masked_ext; intros i Hi; [| reflexivity]. apply in_seq in Hi. f_equal. eapply IHt2; eauto.
      apply valid_upd; [exact W | lia].
  - into. simpl. apply fold_ext; intros i Hi; [reflexivity |]. rewrite (proj1 (proj2 good)) in Hi. apply in_seq in Hi.
    eapply IHt1; eauto. apply valid_upd; [exact W | lia].
  - into. simpl. apply fold_ext; intros i Hi; [| reflexivity]. rewrite (proj1 (proj2 good)) in Hi. apply in_seq in Hi.
    f_equal. eapply IHt2; eauto. apply valid_upd; [exact W | lia].
  - destruct (mem x (full_in b)) eqn:M; [discriminate |]. apply mem_not in M. into. simpl.
    apply (online_related m good x (fun q q' => q = q')); auto.
    + intros q q' ->. reflexivity.
    + intros k i q q' <- Vq _ Hk Hi. eapply IHt1; eauto. eapply ok_cut; eauto. apply valid_cut; auto.
    + intros k i q q' <- Vq _ Hk Hi. reflexivity.
    + intros k j a a' q q' <- Vq _ Hk Ha. assert (a = a') as -> by (apply functional_extensionality; intro; apply Ha;
        reflexivity). reflexivity.
  - destruct (mem x (full_in b)) eqn:M; [discriminate |]. apply mem_not in M. into. simpl.
    apply (online_related m good x (fun q q' => q = q')); auto.
    + intros q q' ->. reflexivity.
    + intros k i q q' <- Vq _ Hk Hi. reflexivity.
    + intros k i q q' <- Vq _ Hk Hi. f_equal. eapply IHt2; eauto. eapply ok_cut; eauto. apply valid_cut; auto.
    + intros k j a a' q q' <- Vq _ Hk Ha. assert (a = a') as -> by (apply functional_extensionality; intro; apply Ha;
        reflexivity). reflexivity.
  - destruct (mem x (full_in b)) eqn:M; [discriminate |]. apply mem_not in M. into. simpl.
    apply (online_related m good x (fun q q' => q = q')); auto.
    + intros q q' ->. reflexivity.
    + intros k i q q' <- Vq _ Hk Hi. reflexivity.
    + intros k i q q' <- Vq _ Hk Hi. reflexivity.
    + intros k j a a' q q' <- Vq _ Hk Ha. assert (a = a') as -> by (apply functional_extensionality; intro; apply Ha;
        reflexivity).
      eapply IHt3; eauto. eapply ok_moved; eauto. apply valid_moved; auto.
  - into. simpl. apply (reduce_ext _ _ (seq 0 (Datatypes.S (p x)))). intros i Hi. apply in_seq in Hi. eapply IHt; eauto.
    apply valid_low; [exact W |]. specialize (W x). lia.
  - into. simpl. apply recur_ext; intros i Hi; [| reflexivity]. eapply IHt1; eauto.
    apply valid_low; [exact W |]. specialize (W x). lia.
  - into. simpl. apply recur_ext; intros i Hi; [reflexivity |]. eapply IHt2; eauto.
    apply valid_low; [exact W |]. specialize (W x). lia.
  - into. simpl. eapply IHt1; eauto. apply valid_low; [exact W |]. unfold place. destruct (eval eta t2 f p); lia.
  - into. simpl. f_equal. f_equal. f_equal. eauto.
  - destruct (existsb (fun x => mem x (lanes_in b)) S) eqn:M; [discriminate |]. into. simpl.
    assert (Out : forall y, In y (lanes_in b) -> ~ In y S).
    { intros y Hy B. enough (existsb (fun x => mem x (lanes_in b)) S = true) by congruence.
      apply existsb_exists. exists y. split; [exact B | apply mem_In; exact Hy]. }
    destruct O as [A B C D F G]. eapply IHt; eauto; [| apply valid_back].
    constructor; simpl; auto; try discriminate. intro y. split; apply A.
  - into. simpl. eauto.
  - into. simpl. eauto.
  - into. simpl. eauto.
  - into. simpl. eapply IHt; eauto using ok_item.
  - into. simpl. destruct (item f); [eauto | reflexivity].
  - into. simpl. destruct (item f); [reflexivity | eapply IHt2; eauto using ok_item].
  - into. simpl. destruct (item f); [reflexivity | eapply IHt2; eauto using ok_item].
  - into. simpl. destruct (item f); [reflexivity | eapply IHt2; eauto using ok_item].
Qed.


(* The same of an equation that is put wherever its one side stands, and that is bound to no stream's update. *)
Theorem everywhere_sound eta b l r : over b = [] -> holds eta b l r -> forall t S V t', everywhere b S l r t = Some t' ->
  forall f p, ok b S V f -> valid f p -> eval eta t f p = eval eta t' f p.
Proof.
  intros Ov H.
  assert (Top : forall S V t f p, same t l = true -> ok b S V f -> valid f p -> eval eta t f p = eval eta r f p).
  { intros S V t f p E O W. apply same_eq in E. subst. apply H; [|exact W]. destruct O as [A B C D F G].
    split; [exact A |]. split; [exact B |]. split; [exact C |]. rewrite Ov. intros x []. }
  Ltac inner := repeat match goal with
    | E : option_map _ (everywhere ?b ?S ?l ?r ?t) = Some _ |- _ => destruct (everywhere b S l r t) eqn:?;
        cbn [option_map] in E; [| discriminate E]
    | E : match everywhere ?b ?S ?l ?r ?t with Some _ => _ | None => None end = Some _ |- _ =>
        destruct (everywhere b S l r t) eqn:?; [| discriminate E]
    | E : Some _ = Some _ |- _ => injection E as <-
    end.
  induction t; intros S V t' E f p O W; cbn [everywhere] in E;
    (match type of E with (if same ?t l then _ else _) = _ => destruct (same t l) eqn:M end;
      [injection E as <-; exact (Top _ _ _ _ _ M O W) | clear M]);
    inner; try reflexivity; simpl.
  - f_equal. eauto.
  - f_equal; eauto.
  - f_equal; [f_equal | |]; eauto.
  - apply masked_ext; intros i Hi; apply in_seq in Hi; [f_equal; eapply IHt2 | eapply IHt1]; eauto; apply valid_upd;
      (exact W || lia).
  - apply fold_ext; intros i Hi; rewrite (proj1 (proj2 good)) in Hi; apply in_seq in Hi;
      [f_equal; eapply IHt2 | eapply IHt1]; eauto; apply valid_upd; (exact W || lia).
  - destruct (same t1 t && same t2 t0 && same t3 t4)%bool eqn:M; [injection E as <-; reflexivity | clear M].
    destruct (mem x (full_in b)) eqn:M; [discriminate |]. apply mem_not in M. injection E as <-. simpl.
    apply (online_related m good x (fun q q' => q = q')); auto.
    + intros q q' ->. reflexivity.
    + intros k i q q' <- Vq _ Hk Hi. eapply IHt1; eauto; [eapply ok_cut; eauto | apply valid_cut; auto].
    + intros k i q q' <- Vq _ Hk Hi. f_equal. eapply IHt2; eauto; [eapply ok_cut; eauto | apply valid_cut; auto].
    + intros k j a a' q q' <- Vq _ Hk Ha. assert (a = a') as -> by (apply functional_extensionality; intro; apply Ha;
        reflexivity).
      eapply IHt3; eauto; [eapply ok_moved; eauto | apply valid_moved; auto].
  - apply (reduce_ext _ _ (seq 0 (Datatypes.S (p x)))). intros i Hi. apply in_seq in Hi. eapply IHt; eauto.
    apply valid_low; [exact W |]. specialize (W x). lia.
  - apply recur_ext; intros i Hi; [eapply IHt1 | eapply IHt2]; eauto; (apply valid_low; [exact W |]; specialize (W x); lia).
  - erewrite (IHt2 S V _ ltac:(eassumption) f p) by eauto. eapply IHt1; eauto. apply valid_low; [exact W |].
    unfold place. destruct (eval eta _ f p); lia.
  - destruct (same t t0) eqn:M; [injection E as <-; reflexivity | clear M].
    destruct (existsb (fun x => mem x (lanes_in b)) S) eqn:M; [discriminate |]. injection E as <-. simpl.
    assert (Out : forall y, In y (lanes_in b) -> ~ In y S).
    { intros y Hy B. enough (existsb (fun x => mem x (lanes_in b)) S = true) by congruence.
      apply existsb_exists. exists y. split; [exact B | apply mem_In; exact Hy]. }
    destruct O as [A B C D F G]. apply (IHt [] None); eauto; [| apply valid_back].
    constructor; simpl; auto; try discriminate. intro y. split; apply A.
  - eauto.
  - eauto.
  - eauto.
  - eapply IHt; eauto using ok_item.
  - destruct (item f); [eapply IHt1; eauto | eapply IHt2; eauto using ok_item].
Qed.

(* Independence. eta: what has no variables asks nothing of them. *)
Section Alone.
Variable eta : name -> meaning.
Hypothesis flat : forall v f f' p p', eta v f p = eta v f' p'.

Definition asked (k : option nat) (f : frame) : Prop := match k with Some j => item f = j | None => True end.
Lemma apart_upd x y i p q : apart x p q -> apart x (upd p y i) (upd q y i).
Proof. intros A z Hz. unfold upd. destruct (Nat.eqb z y); auto. Qed.
Lemma apart_own x i p q : apart x p q -> upd p x i = upd q x i.
Proof. intros A. apply functional_extensionality. intro z. unfold upd. destruct (Nat.eqb_spec z x); auto. Qed.
Lemma apart_clamp x e p q : apart x p q -> apart x (clamp e p) (clamp e q).
Proof. intros A z Hz. unfold clamp. rewrite (A z Hz). reflexivity. Qed.

Lemma or_given (a b : bool) (P : Prop) : ((a || b)%bool = true -> P) -> (a = true -> P) /\ (b = true -> P).
Proof. destruct a, b; simpl; tauto. Qed.
Ltac split_or := repeat match goal with
  | H : (_ || _)%bool = false |- _ => apply orb_false_elim in H; destruct H
  | H : (_ || _)%bool = true -> _ |- _ => apply or_given in H; destruct H
  end.
Ltac part := first [eassumption | exact I | reflexivity | solve [eauto using apart_upd, apart_clamp] | idtac].

Lemma varies_sound x t : forall k f p q, varies g x k t = false -> asked k f ->
  (open_acc t = true -> forall p q, apart x p q -> acc f p = acc f q) -> apart x p q -> eval eta t f p = eval eta t f q.
Proof.
  induction t; intros j f p q Hf Hj Ho A; simpl in *; split_or; try reflexivity;
    try (solve [eauto]).
  - f_equal. apply map_ext_in. intros y Hy. apply A. intro; subst. apply mem_In in Hy. congruence.
  - rewrite (A x0); [reflexivity |]. intro; subst. rewrite Nat.eqb_refl in Hf. discriminate.
  - f_equal. eapply IHt; part.
  - f_equal; [eapply IHt1 | eapply IHt2]; part.
  - f_equal; [f_equal; eapply IHt1 | eapply IHt2 | eapply IHt3]; part.
  - destruct (Nat.eqb_spec x x0); [subst x0 | simpl in Hf; split_or];
      (apply masked_ext; intros i _; [f_equal|]); try (rewrite (apart_own x i p q A); reflexivity);
      [eapply IHt2 | eapply IHt1]; part.
  - destruct (Nat.eqb_spec x x0); [subst x0 | simpl in Hf; split_or];
      (apply fold_ext; intros i _; [f_equal|]); try (rewrite (apart_own x i p q A); reflexivity);
      [eapply IHt2 | eapply IHt1]; part.
  - apply (online_related m good x0 (apart x)); auto.
    + intros; apply apart_clamp; assumption.
    + intros k i q1 q2 Aq _ _ Hk Hi. destruct (Nat.eqb_spec x x0); [subst x0; rewrite (apart_own x i q1 q2 Aq);
        reflexivity |].
      simpl in H; split_or. eapply IHt1; part.
    + intros k i q1 q2 Aq _ _ Hk Hi. f_equal. destruct (Nat.eqb_spec x x0); [subst x0;
        rewrite (apart_own x i q1 q2 Aq); reflexivity |].
      simpl in H; split_or. eapply IHt2; part.
    + intros k i a a' q1 q2 Aq _ _ Hk Ha. assert (Haa : a = a').
      { apply functional_extensionality. intro z. apply Ha. intros y _. reflexivity. } subst a'.
      eapply IHt3; part.
  - assert (Hx : x0 <> x) by (intro; subst; rewrite Nat.eqb_refl in H; discriminate). rewrite (A x0 Hx).
    apply (reduce_ext _ _ (seq 0 (Datatypes.S (q x0)))). intros i _. eapply IHt; part.
  - assert (Hx : x0 <> x) by (intro; subst; rewrite Nat.eqb_refl in *; discriminate). rewrite (A x0 Hx).
    apply recur_ext; intros i _; [eapply IHt1 | eapply IHt2]; part.
  - rewrite (IHt2 None f p q) by part. destruct (Nat.eqb_spec x x0).
    + subst. rewrite (apart_own x0 _ p q A). reflexivity.
    + simpl in H. eapply IHt1; part.
  - eapply IHt; part.
  - eapply IHt; part.
  - destruct j as [[|j]|]; simpl in Hj; rewrite ?Hj.
    + eapply IHt1; part.
    + eapply IHt2; part.
    + split_or. destruct (item f); [eapply IHt1 | eapply IHt2]; part.
Qed.

(* Of no prefix of xs, and of no stream outside. Frames that differ in how much of xs they have read, all more than n.
  *)
Definition under (xs : list axis) (n e : axis -> nat) : Prop := forall y, In y xs -> n y <= e y - 1.
Definition inside (xs : list axis) (n : axis -> nat) (p : point) : Prop := forall y, In y xs -> p y <= n y.
Definition alike_ends (xs : list axis) (n e e' : axis -> nat) : Prop := near xs e e' /\ under xs n e /\ under xs n e'.
Definition alike_outside (xs : list axis) (n : axis -> nat) (f f' : frame) : Prop :=
  alike_ends xs n (prev f) (prev f') /\ forall p, inside xs n p -> acc f p = acc f' p.

Lemma inside_upd xs n p y i : inside xs n p -> ~ In y xs -> inside xs n (upd p y i).
Proof. intros H k z Hz. unfold upd. destruct (Nat.eqb_spec z y); subst; [contradiction | auto]. Qed.
Lemma alike_upd xs n e e' y k : alike_ends xs n e e' -> ~ In y xs -> alike_ends xs n (upd e y k) (upd e' y k).
Proof.
  intros (A & B & C) H. repeat split; intros z Hz; unfold upd; destruct (Nat.eqb_spec z y); subst; auto; contradiction.
Qed.
Lemma clamp_inside xs n e e' p : alike_ends xs n e e' -> inside xs n p -> clamp e p = clamp e' p.
Proof.
  intros (A & U & U') W. apply functional_extensionality. intro y. unfold clamp.
    destruct (in_dec Nat.eq_dec y xs) as [i | k].
  - specialize (W y i); specialize (U y i); specialize (U' y i); lia.
  - rewrite (A y k). reflexivity.
Qed.
Lemma inside_clamp xs n e p : inside xs n p -> inside xs n (clamp e p).
Proof. intros W y Hy. specialize (W y Hy). unfold clamp. lia. Qed.
Lemma outside_moved xs n f f' y k j a a' : alike_ends xs n (ends f) (ends f') -> ~ In y xs ->
  (forall p, inside xs n p -> a p = a' p) -> alike_outside xs n (moved f y k j a) (moved f' y k j a').
Proof. intros A H Ha. split; simpl; auto using alike_upd. Qed.

Lemma walks_sound xs n t : forall f f' p, (forall y, In y xs -> walks y t = false) ->
  alike_ends xs n (ends f) (ends f') -> item f = item f' -> (open t = true -> alike_outside xs n f f') ->
    inside xs n p ->
  eval eta t f p = eval eta t f' p.
Proof.
  unfold open. induction t; simpl; intros f f' p Hw A I_ O W;
    try (assert (Hx : ~ In x xs) by (intro Hi; specialize (Hw x Hi); rewrite Nat.eqb_refl in Hw; discriminate);
         assert (E : ends f x = ends f' x) by (apply A; exact Hx); try rewrite E);
    try (assert (Hw1 : forall y, In y xs -> walks y t1 = false) by (intros y Hy; specialize (Hw y Hy); split_or; auto));
    try (assert (Hw2 : forall y, In y xs -> walks y t2 = false) by (intros y Hy; specialize (Hw y Hy); split_or; auto));
    try (assert (Hw3 : forall y, In y xs -> walks y t3 = false) by (intros y Hy; specialize (Hw y Hy); split_or; auto));
    try (assert (Hw0 : forall y, In y xs -> walks y t = false) by (intros y Hy; specialize (Hw y Hy); split_or; auto));
    try (assert (O1 : (open_acc t1 || open_prev t1)%bool = true -> alike_outside xs n f f')
          by (intro Ho; apply O; apply orb_prop in Ho; destruct Ho as [-> | ->]; rewrite ?orb_true_r; reflexivity));
    try (assert (O2 : (open_acc t2 || open_prev t2)%bool = true -> alike_outside xs n f f')
          by (intro Ho; apply O; apply orb_prop in Ho; destruct Ho as [-> | ->]; rewrite ?orb_true_r; reflexivity));
    try (assert (O3 : (open_acc t3 || open_prev t3)%bool = true -> alike_outside xs n f f')
          by (intro Ho; apply O; apply orb_prop in Ho; destruct Ho as [-> | ->]; rewrite ?orb_true_r; reflexivity));
    try reflexivity; try (solve [eauto]).
  - f_equal. eauto.
  - f_equal; eauto.
  - f_equal; [f_equal | |]; eauto.
  - apply masked_ext; intros i _; [f_equal |]; [eapply IHt2 | eapply IHt1]; eauto using inside_upd.
  - apply fold_ext; intros i _; [f_equal |]; [eapply IHt2 | eapply IHt1]; eauto using inside_upd.
  - apply (online_related m good x (fun p q => p = q /\ inside xs n p)); auto.
    + intros q q' [<- Wq]. split; [apply (clamp_inside xs n); auto; apply A | apply inside_clamp; exact Wq].
    + intros k i q q' [<- Wq] _ _ Hk Hi. eapply IHt1; simpl; eauto using inside_upd, alike_upd.
    + intros k i q q' [<- Wq] _ _ Hk Hi. f_equal. eapply IHt2; simpl; eauto using inside_upd, alike_upd.
    + intros k j a a' q q' [<- Wq] _ _ Hk Ha. eapply IHt3; simpl; eauto using inside_upd, alike_upd.
      intros _. apply outside_moved; auto.
  - apply reduce_ext. intros i _. eapply IHt; eauto using inside_upd.
  - apply recur_ext; intros i _; [eapply IHt1 | eapply IHt2]; eauto using inside_upd.
  - rewrite (IHt2 f f' p) by auto. eapply IHt1; eauto using inside_upd.
  - apply O; auto.
  - destruct (O (orb_true_r _)) as [B C]. rewrite (clamp_inside xs n (prev f) (prev f') p B W).
    eapply IHt; simpl; eauto using inside_clamp. split; simpl; auto.
  - destruct (item f) eqn:E, (item f') eqn:E'; try discriminate I_; [eapply IHt1 | eapply IHt2]; simpl; eauto;
      congruence.
Qed.

Lemma free_sound x t : varies g x None t = false -> open_acc t = false -> free_in x (eval eta t).
Proof. intros H O f p q A. apply (varies_sound x t None); simpl; auto. congruence. Qed.
Lemma closed_sound t : open t = false -> closed (eval eta t).
Proof.
  intros O f f' p E I_. apply (walks_sound [] (fun _ => 0)); auto; [intros y [] | | congruence | intros y []].
  split; [intros y _; rewrite E; reflexivity |]. split; intros y [].
Qed.
Lemma local_sound x t : walks x t = false -> open t = false -> local_in x (eval eta t).
Proof.
  intros H O f f' p A I_ B C. apply (walks_sound [x] p); auto; [intros y [<- | []];
    exact H | | congruence | intros y _; lia].
  split; [exact A |]. split; intros y [<- | []]; assumption.
Qed.
End Alone.

(* Sorts. What an input holds is of its sort, and present. *)
Definition describes : Prop := forall n ds s fs, nth_error (inputs g) n = Some (ds, s, fs) ->
  forall ps, in_sort s (data m n ps) /\ data m n ps <> None.

Lemma in_sort_un o s s' v : un_sort o s = Some s' -> in_sort s v -> in_sort s' (un_op m o v).
Proof.
  destruct o, s; simpl; intros [= <-] H; try exact I; try (destruct H as [z ->]; simpl; eauto).
  - exists (- z)%Z. rewrite opp_IZR. reflexivity.
Qed.
Lemma in_sort_bin o s s' t v w : bin_sort o s s' = Some t -> in_sort s v -> in_sort s' w -> in_sort t (bin_op o v w).
Proof.
  unfold bin_sort. destruct (sort_eqb s s') eqn:E; [|discriminate]. apply sort_eqb_eq in E. subst s'.
  destruct o, s; simpl; intros [= <-]; intros H H'; try exact I; try (eexists; reflexivity);
    destruct H as [z ->], H' as [z' ->]; simpl.
  - exists (z + z')%Z. rewrite plus_IZR. reflexivity.
  - exists (z * z')%Z. rewrite mult_IZR. reflexivity.
  - unfold Rmax. destruct Rle_dec; eauto.
  - unfold Rmin. destruct Rle_dec; eauto.
  - destruct Z.eqb; [exists 0%Z; reflexivity | eauto].
  - destruct Z.eqb; [exists 0%Z; reflexivity | eauto].
Qed.
Lemma in_sort_constant s q : constant s q = true -> in_sort s (option_map Q2R q).
Proof.
  destruct s, q as [[n d]|]; cbn [constant in_sort option_map Qnum Qden]; try discriminate; try (intros; exact I);
    intro H; split_and.
  - apply Pos.eqb_eq in H. subst. exists n. unfold Q2R. simpl. f_equal. field.
  - apply Pos.eqb_eq in H. subst. apply orb_prop in H0. unfold Q2R. simpl.
    destruct H0 as [H0 | H0]; apply Z.eqb_eq in H0; subst; [exists false | exists true]; simpl; f_equal; field.
Qed.

Section Sorted.
Variable eta : name -> meaning.

Ltac known := repeat match goal with
  | H : match sort_of g ?k ?a with _ => _ end = Some _ |- _ => destruct (sort_of g k a) eqn:?; [|discriminate H]
  | H : match ?s with Real => _ | _ => _ end = Some _ |- _ => is_var s; destruct s; try discriminate H
  | H : (if ?c then _ else _) = Some _ |- _ => destruct c eqn:?; try discriminate H
  | H : Some _ = Some _ |- _ => injection H as <-
  end.

Lemma sort_sound t : (forall s v, In (s, v) (vars t) -> of_sort (shape s) (eta v)) -> describes ->
  forall k s, sort_of g k t = Some s ->
  (forall f p, asked k f -> in_sort s (eval eta t f p)) /\
  (s <> Several -> k = None -> forall f j p, eval eta t (at_item f j) p = eval eta t f p).
Proof.
  intros Hv D. induction t; simpl in Hv; intros j s' Hs; (destruct j as [j|]; simpl in Hs; [try discriminate Hs |]);
    repeat match goal with
    | IH : (forall s v, In (s, v) (vars ?a) -> _) -> _ |- _ => specialize (IH ltac:(intros; apply Hv;
      rewrite ?in_app_iff; auto))
    end.
  - injection Hs as <-. assert (H := Hv s v (or_introl eq_refl)).
      destruct s; simpl in *; destruct H as [A B]; split; auto.
  - destruct (nth_error (inputs g) n) as [[[ds s] fs]|] eqn:E; [|discriminate]. known. split; [|reflexivity].
    intros f p _. apply (D _ _ _ _ E).
  - known. split; [|reflexivity]. intros f p _. apply in_sort_constant. assumption.
  - injection Hs as <-. split; [|reflexivity]. intros f p _. exists (Z.of_nat (p x)). simpl. rewrite INR_IZR_INZ.
      reflexivity.
  - injection Hs as <-. split; [|reflexivity]. intros f p _. exists (Z.of_nat (ends f x)). simpl. rewrite INR_IZR_INZ.
      reflexivity.
  - injection Hs as <-. split; [|reflexivity]. intros f p _. exists (Z.of_nat (full m x)). simpl. rewrite INR_IZR_INZ.
      reflexivity.
  - destruct (sort_of g None t) as [s|] eqn:E; [|discriminate]. destruct (IHt _ _ E) as [A B]. split.
    + intros f p _. simpl. eapply in_sort_un; [exact Hs | apply A; exact I].
    + intros _ _ f i p. simpl. rewrite B; auto. destruct s, o; discriminate.
  - destruct (sort_of g None t1) as [s|] eqn:E1; [|discriminate].
      destruct (sort_of g None t2) as [s2|] eqn:E2; [|discriminate].
    destruct (IHt1 _ _ E1) as [A1 B1], (IHt2 _ _ E2) as [A2 B2]. split.
    + intros f p _. simpl. eapply in_sort_bin; [exact Hs | apply A1; exact I | apply A2; exact I].
    + intros _ _ f i p. simpl. rewrite B1, B2; auto; unfold bin_sort in Hs; destruct s, s2, o; discriminate.
  - destruct (sort_of g None t1) as [s1|] eqn:E1; [|discriminate]. destruct s1; try discriminate.
    destruct (sort_of g None t2) as [s2|] eqn:E2; [|discriminate].
      destruct (sort_of g None t3) as [s3|] eqn:E3; [|discriminate].
    destruct (num s2 && sort_eqb s2 s3)%bool eqn:N; [|discriminate]. injection Hs as <-. split_and.
    match goal with H : sort_eqb _ _ = true |- _ => apply sort_eqb_eq in H; subst s3 end.
    destruct (IHt1 _ _ E1) as [A1 B1], (IHt2 _ _ E2) as [A2 B2], (IHt3 _ _ E3) as [A3 B3]. split.
    + intros f p _. simpl. destruct (truth _); [apply A2 | apply A3]; exact I.
    + intros n _ f i p. simpl. rewrite B1, B2, B3; auto; discriminate.
  - destruct (sort_of g None t1) as [[]|] eqn:E1; try discriminate.
      destruct (sort_of g None t2) as [[]|] eqn:E2; try discriminate.
    injection Hs as <-. destruct (IHt1 _ _ E1) as [A1 B1], (IHt2 _ _ E2) as [A2 B2]. split; [intros; exact I |].
    intros _ _ f i p. simpl. apply masked_ext; intros; [rewrite B2 | rewrite B1]; auto; discriminate.
  - destruct (sort_of g None t1) as [[]|] eqn:E1; try discriminate.
      destruct (sort_of g None t2) as [[]|] eqn:E2; try discriminate.
    injection Hs as <-. destruct (IHt1 _ _ E1) as [A1 B1], (IHt2 _ _ E2) as [A2 B2]. split; [intros; exact I |].
    intros _ _ f i p. simpl. apply fold_ext; intros; [rewrite B2 | rewrite B1]; auto; discriminate.
  - destruct (sort_of g None t1) as [[]|] eqn:E1; try discriminate.
      destruct (sort_of g None t2) as [[]|] eqn:E2; try discriminate.
    destruct (sort_of g None t3) as [[]|] eqn:E3; try discriminate. destruct (_ || _)%bool; [discriminate|].
    injection Hs as <-. destruct (IHt1 _ _ E1) as [A1 B1], (IHt2 _ _ E2) as [A2 B2], (IHt3 _ _ E3) as [A3 B3].
      split; [intros; exact I |].
    intros _ _ f i p. simpl. apply (online_related m good x (fun q q' => q = q')); auto.
    + intros q q' ->. reflexivity.
    + intros k l q q' <- _ _ _ _. apply (B1 ltac:(discriminate) eq_refl (cut f x k) i).
    + intros k l q q' <- _ _ _ _. f_equal. apply (B2 ltac:(discriminate) eq_refl (cut f x k) i).
    + intros k l a a' q q' <- _ _ _ Ha. assert (a = a') as -> by (apply functional_extensionality; intro; apply Ha;
        reflexivity).
      apply (B3 ltac:(discriminate) eq_refl (moved f x k l a') i).
  - destruct (sort_of g None t) as [[]|] eqn:E; try discriminate. injection Hs as <-. destruct (IHt _ _ E) as [A B].
    split; [intros; exact I |]. intros _ _ f i p. cbn [Language.eval]. apply reduce_ext. intros. rewrite B; auto.
      discriminate.
  - destruct (sort_of g None t1) as [[]|] eqn:E1; try discriminate.
      destruct (sort_of g None t2) as [[]|] eqn:E2; try discriminate.
    injection Hs as <-. destruct (IHt1 _ _ E1) as [A1 B1], (IHt2 _ _ E2) as [A2 B2]. split; [intros; exact I |].
    intros _ _ f i p. cbn [Language.eval]. apply recur_ext; intros; [rewrite B1 | rewrite B2]; auto; discriminate.
  - destruct (sort_of g None t1) as [s|] eqn:E1; [|discriminate].
      destruct (sort_of g None t2) as [[]|] eqn:E2; try discriminate.
    destruct (array s); [|discriminate]. injection Hs as <-.
      destruct (IHt1 _ _ E1) as [A1 B1], (IHt2 _ _ E2) as [A2 B2]. split.
    + intros f p _. simpl. apply A1. exact I.
    + intros n _ f i p. simpl. rewrite B2 by (auto; discriminate). apply B1; auto.
  - injection Hs as <-. split; [intros; exact I | reflexivity].
  - destruct (sort_of g None t) as [s|] eqn:E; [|discriminate]. destruct (_ && _)%bool; [|discriminate].
      injection Hs as <-.
    destruct (IHt _ _ E) as [A B]. split; [intros f p _; apply A; exact I |]. intros n _ f i p.
      apply (B n eq_refl (back f) i).
  - destruct (IHt _ _ Hs) as [A B]. split; [exact A | intros; discriminate].
  - destruct (IHt _ _ Hs) as [A B]. split; [exact A | exact B].
  - destruct (IHt _ _ Hs) as [A B]. split; [exact A | intros; discriminate].
  - destruct (IHt _ _ Hs) as [A B]. split; [exact A | exact B].
  - destruct (IHt _ _ Hs) as [A B]. split; [exact A | intros; discriminate].
  - destruct (IHt _ _ Hs) as [A B]. split; [exact A | exact B].
  - destruct (sort_of g None t) as [[]|] eqn:E; try discriminate. destruct (IHt _ _ Hs) as [A B]. split.
    + intros f p _. simpl. apply A. reflexivity.
    + intros _ _ f i p. reflexivity.
  - destruct j; [destruct (IHt1 _ _ Hs) as [A B] | destruct (IHt2 _ _ Hs) as [A B]]; (split; [|intros; discriminate]);
      intros f p Hf; simpl in *; rewrite Hf; apply A; simpl; auto.
  - destruct (sort_of g None t1) as [s|] eqn:E1; [|discriminate].
      destruct (sort_of g None t2) as [[]|] eqn:E2; try discriminate.
    destruct (array s); [|discriminate]. injection Hs as <-. split; [intros; exact I | congruence].
  - injection Hs as <-. split; [intros; exact I | congruence].
Qed.
End Sorted.

(* Substitution. *)
Lemma inst_eval eta s r t : eval eta (inst (fun _ => s) r t) = eval (fun v => eval eta (s v)) (inst Var r t).
Proof.
  induction t; apply functional_extensionality; intro f; apply functional_extensionality; intro p; simpl;
    rewrite ?IHt, ?IHt1, ?IHt2, ?IHt3; reflexivity.
Qed.
End Sound.
