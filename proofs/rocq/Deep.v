(* Tactics and lemmas by which the laws of DeepLaws.v are true in frames: how a law's statement,
  over the embedded terms, becomes
   one over values and reductions, which Values.v proves. *)

Require Import Reals List Lia Lra Bool Arith ZArith QArith Qreals FunctionalExtensionality.
Require Import Morphisms Setoid.
Require Import Values Language Terms Frames Checker.
Import ListNotations.
Open Scope nat_scope.

(* A law's premises, one by one. *)
Ltac pick H k :=
  match k with
  | O => constr:(or_introl eq_refl)
  | Datatypes.S ?k => let t := pick H k in constr:(or_intror t)
  end.
Ltac each H :=
  try (pose proof (H _ (or_introl eq_refl)) as P1);
  try (pose proof (H _ (or_intror (or_introl eq_refl))) as P2);
  try (pose proof (H _ (or_intror (or_intror (or_introl eq_refl)))) as P3);
  try (pose proof (H _ (or_intror (or_intror (or_intror (or_introl eq_refl))))) as P4);
  try (pose proof (H _ (or_intror (or_intror (or_intror (or_intror (or_introl eq_refl)))))) as P5);
  clear H.
(* Constants of the statement as numbers of the reals. *)
Ltac numbers := repeat match goal with
  | |- context [Q2R ?q] =>
      let v := eval vm_compute in (Qred q) in
      match v with (?n # 1)%Q => replace (Q2R q) with (IZR n) by (unfold Q2R; simpl; lra) end
  end.
Lemma truth_0 : truth (Some 0%R) = false.
Proof. unfold truth, eq, le. destruct Rle_dec; simpl; [reflexivity | lra]. Qed.
Lemma truth_1 : truth (Some 1%R) = true.
Proof. unfold truth, eq, le. repeat destruct Rle_dec; simpl; try reflexivity; lra. Qed.
Lemma truth_bool b : truth (of_bool b) = b.
Proof. destruct b; [apply truth_1 | apply truth_0]. Qed.
(* Rewriting goes into the bodies of reductions. *)
Global Instance reduce_lanes (X : Type) op e (xs : list X) : Proper (pointwise_relation X Logic.eq ==> Logic.eq)
  (reduce op e xs).
Proof. intros a a' E. apply reduce_ext. intros x _. apply E. Qed.
Ltac plain := numbers; rewrite ?truth_1, ?truth_0, ?truth_bool, ?filter_all; repeat setoid_rewrite (@upd_twice nat).
Ltac stated :=
  intros r eta b Hshut Hsort Hlanes Hstreamed Hwithin Hover Hp;
    simpl in Hshut, Hsort, Hlanes, Hstreamed, Hwithin, Hover, Hp;
  each Hp; simpl in *.
(* Of one place. *)
Ltac here := stated; intros f p B V; simpl; plain.
Ltac known := first
  [ match goal with H : everywhere _ _ _, B : base _ _ ?f, V : valid ?f ?p |- _ => exact (H f p B V) end
  | assumption ].
Lemma valid_in f p x i : valid f p -> In i (seq 0 (ends f x)) -> valid f (upd p x i).
Proof. intros V H. apply in_seq in H. apply valid_upd; [exact V | lia]. Qed.
(* In every lane of an axis. *)
Ltac lanes := match goal with
  | H : everywhere _ _ _, B : base _ _ ?f, V : valid ?f ?p |- forall i, In i (seq 0 (ends ?f ?x)) -> _ =>
      let i := fresh in let Hi := fresh in intros i Hi; exact (H f (upd p x i) B (valid_in f p x i V Hi))
  end.
Lemma some_lanes m b f x : base m b f -> In x (lanes_in b) -> seq 0 (ends f x) <> [].
Proof. intros (_ & L & _) H. specialize (L x H). destruct (ends f x); [lia | discriminate]. Qed.
Ltac some := match goal with
  | B : base _ ?b ?f, H : incl _ (lanes_in ?b) |- seq 0 (ends ?f ?x) <> [] => apply (some_lanes _ b f x B), H; simpl;
    auto
  end.
Lemma apart_upd' x i p : apart x (upd p x i) p.
Proof. intros y H. apply upd_other, H. Qed.
Lemma free_upd x a f p i : free_in x a -> a f (upd p x i) = a f p.
Proof. intro H. apply H, apart_upd'. Qed.

(* Independence of a stream, by parts. *)
Ltac local_parts :=
  stated; intros f f' p N I_ A A'; simpl;
  repeat match goal with
    | H : local_in _ _ |- _ => let E := fresh in assert (E := H f f' p N I_ A A'); simpl in E; clear H; try rewrite E
    end; reflexivity.

Section Streams.
Variable m : model.
Hypothesis good : possible m.

Lemma near_cut f x k n : near [x] (ends (cut f x k)) (ends (cut f x n)).
Proof. intros y H. simpl. unfold upd. destruct (Nat.eqb_spec y x); [exfalso; apply H; left; congruence | reflexivity].
  Qed.
Lemma local_cut x a f p k n i : local_in x a -> i < k -> i < n -> a (cut f x k) (upd p x i) = a (cut f x n) (upd p x i).
Proof. intros H K N. apply H; [apply near_cut | reflexivity | |]; unfold cut; cbn [ends]; rewrite !upd_same; lia. Qed.
Lemma cut_own f x : cut f x (ends f x) = f.
Proof. destruct f as [e pr a k]. unfold cut. simpl. rewrite upd_own. reflexivity. Qed.
Lemma base_without b f x k : base m (without x b) f -> ~ In x (full_in b) -> over b = [] -> 0 < k <= full m x ->
  base m b (cut f x k).
Proof.
  intros (A & B & C & D) H O K. split; [|split; [|split]].
  - intro y. specialize (A y). simpl. unfold upd. destruct (Nat.eqb_spec y x); subst; lia.
  - intros y Hy. simpl. unfold upd. destruct (Nat.eqb_spec y x); [lia |]. apply B. apply filter_In. split; [exact Hy |].
    destruct (Nat.eqb_spec y x); [contradiction | reflexivity].
  - intros y Hy. simpl. unfold upd. destruct (Nat.eqb_spec y x); [subst; contradiction | auto].
  - rewrite O. intros y [].
Qed.
Lemma base_cut b f x k : base m b f -> ~ In x (full_in b) -> over b = [] -> 0 < k <= ends f x -> base m b (cut f x k).
Proof.
  intros B H O K. apply base_without; auto; [| destruct B as [F _]; specialize (F x); lia].
  destruct B as (A & L & C & D). split; [exact A |]. split; [|split; auto]. intros y Hy. apply filter_In in Hy.
    apply L, Hy.
Qed.
Lemma base_drop b f x : base m b f -> base m (without x b) f.
Proof. intros (A & L & C & D). split; [exact A |]. split; [|split; auto]. intros y Hy. apply filter_In in Hy.
  apply L, Hy. Qed.
Lemma clamp_moved f x n p : valid f p -> clamp (upd (ends f) x n) (upd p x 0) = upd p x 0.
Proof.
  intro V. apply functional_extensionality. intro y. unfold clamp, upd. destruct (Nat.eqb_spec y x); [reflexivity |].
    specialize (V y). lia.
Qed.
Lemma no_over b (s w : list axis) : s <> [] -> (s <> [] -> incl (over b) w) -> w = [] -> over b = [].
Proof. intros N H ->. specialize (H N). destruct (over b) as [|x l];
  [reflexivity | destruct (H x (or_introl eq_refl))]. Qed.

(* Two streams whose blocks add up to the same. *)
Lemma run_same x ba ba' bc bc' bu f n bs : forall seen a, seen ++ concat bs = seq 0 n -> Forall (fun b => b <> []) bs ->
  (forall k b q, valid f q -> 0 < k <= n -> (forall i, In i b -> i < k) ->
    reduce add (Some 0%R) (filter (fun i => truth (bc (cut f x k) (upd q x i))) b) (fun i => ba (cut f x k) (upd q x i))
    = reduce add (Some 0%R) (filter (fun i => truth (bc' (cut f x k) (upd q x i))) b) (fun i => ba' (cut f x k) (upd q
      x i))) ->
  run x ba bc bu f bs seen a = run x ba' bc' bu f bs seen a.
Proof.
  induction bs as [|b bs IH]; simpl; intros seen a E Fu H; [reflexivity |].
  inversion Fu as [|? ? nb F']; subst. assert (E' : (seen ++ b) ++ concat bs = seq 0 n) by (rewrite <- app_assoc;
    exact E).
  assert (L : length (seen ++ b) <= n) by (apply (f_equal (@length nat)) in E'; rewrite app_length, seq_length in E';
    lia).
  rewrite IH by assumption. f_equal. apply functional_extensionality. intro q. f_equal.
    apply H; [apply clamp_valid | |].
  - rewrite app_length in *. destruct b; [contradiction | simpl in *; lia].
  - intros i Hi. assert (In i (seen ++ b)) as Hs by (apply in_or_app; right; exact Hi).
    rewrite (lanes_prefix _ _ _ E') in Hs. apply in_seq in Hs. lia.
Qed.

Lemma seq_some k : 0 < k -> seq 0 k <> [].
Proof. destruct k; [lia | discriminate]. Qed.

(* A sum whose body changes by a factor is carried along the stream: Scales, as means says it,
  gives what the update must do. *)
Lemma carried_scaled x a r f : valid f (fun _ => 0) ->
  (forall p, valid f p -> (forall k A, 0 < k <= ends f x -> r (moved f x 0 k A) (upd p x 0) <> absent) /\
    (forall n k A i, 0 < n < k -> k <= ends f x -> i < n ->
      a (cut f x k) (upd p x i) = mul (a (cut f x n) (upd p x i)) (r (moved f x n k A) (upd p x 0)))) ->
  forall p, valid f p ->
  run x a (fun _ _ => Some 1%R) (fun f p => mul (acc f p) (r f p)) f (blocks m x (ends f x)) [] (fun _ => Some 0%R) p
  = Sum (seq 0 (ends f x)) (fun i => a f (upd p x i)).
Proof.
  intros _ Sc. set (n := ends f x).
  assert (G : forall bs seen A, seen ++ concat bs = seq 0 n -> Forall (fun b => b <> []) bs ->
    (forall q, valid f q -> seen = [] /\ A q = Some 0%R \/ seen <> [] /\ A q = Sum seen (fun i => a (cut f x (length
      seen)) (upd q x i))) ->
    forall q, valid f q -> run x a (fun _ _ => Some 1%R) (fun f p => mul (acc f p) (r f p)) f bs seen A q = Sum (seq 0
      n) (fun i => a (cut f x n) (upd q x i))).
  { induction bs as [|b bs IH]; simpl; intros seen A E Fu Q q Vq.
    - rewrite app_nil_r in E. destruct (Q q Vq) as [[-> ->] | [_ ->]]; [rewrite <- E; reflexivity |].
        rewrite E, seq_length. reflexivity.
    - inversion Fu as [|? ? nb F']; subst. assert (E' : (seen ++ b) ++ concat bs = seq 0 n) by (rewrite <- app_assoc;
        exact E).
      assert (L : length (seen ++ b) <= n) by (apply (f_equal (@length nat)) in E';
        rewrite app_length, seq_length in E'; lia).
      apply IH; auto. clear q Vq. intros q Vq. right. split; [destruct seen; [exact nb | discriminate] |].
      rewrite (proj2 (valid_clamp f q) Vq). rewrite truth_1, filter_all. simpl.
      assert (Vq0 : valid f (upd q x 0)) by (apply valid_low; [exact Vq | lia]). destruct (Sc q Vq) as [S1 S2].
      fold (Sum b (fun i => a (cut f x (length (seen ++ b))) (upd q x i))). rewrite sum_app. f_equal.
      assert (Lb : length seen < length (seen ++ b)) by (rewrite app_length; destruct b; [contradiction | simpl; lia]).
      destruct (Q _ Vq0) as [[-> ->] | [ns ->]].
      + assert (K := S1 (length ([] ++ b)) A ltac:(simpl in *; lia)). simpl in *.
        destruct (r _ _); [unfold mul, two_of, Sum, reduce; simpl; f_equal; apply Rmult_0_l | contradiction].
      + rewrite mul_comm, <- sum_factor by exact ns. apply sum_same. intros i Hi. rewrite upd_twice, mul_comm.
        symmetry. apply S2; [split; [destruct seen; [contradiction | simpl; lia] | exact Lb] | exact L |].
        rewrite (lanes_prefix _ _ _ E) in Hi. apply in_seq in Hi. lia. }
  intros p V. destruct good as (_ & concats & filled & _). rewrite (G (blocks m x n) [] (fun _ => Some 0%R)); auto.
  - unfold n. rewrite cut_own. reflexivity.
  - apply concats.
Qed.

(* What stood before, in an update over x. *)
Lemma clamp_updating x f p i : updating x f -> valid f p -> upd (clamp (prev f) p) x i = upd p x i.
Proof.
  intros [U _] V. apply functional_extensionality. intro y. unfold clamp, upd.
    destruct (Nat.eqb_spec y x); [reflexivity |].
  rewrite U by assumption. specialize (V y). lia.
Qed.
Lemma local_before x a f p i : updating x f -> local_in x a -> i < prev f x -> a (back f) (upd p x i) = a f (upd p x i).
Proof.
  intros [U L] H I. apply H; simpl; try reflexivity; rewrite ?upd_same; try lia.
  intros y N. apply U. intro E. apply N. left. congruence.
Qed.
Lemma max_longer n k a : n <= k -> le (Max (seq 0 n) a) (Max (seq 0 k) a) = true.
Proof.
  intro H. replace k with (n + (k - n)) by lia. rewrite seq_app, max_app.
    generalize (Max (seq 0 n) a) (Max (seq (0 + n) (k - n)) a). pointwise.
Qed.
End Streams.

(* A law that reads its axis in prefixes. *)
Ltac streaming :=
  stated;
  match goal with Hover : streamed ?l <> [] -> incl (over ?b) ?w |- _ =>
    try assert (O : over b = []) by (eapply no_over; [| exact Hover | reflexivity]; let E := fresh in intro E;
      vm_compute in E; discriminate)
  end.

(* Reductions of nothing: of what holds of the neutral element as well. *)
Lemma nonneg_total (xs : list nat) a : (forall i, In i xs -> le (Some 0%R) (a i) = true) ->
  le (Some 0%R) (Sum xs a) = true.
Proof.
  intro each. destruct xs as [|x xs]; [simpl; destruct (Rle_dec 0 0); [reflexivity | lra] |].
  apply (reduce_every add (Some 0%R) add_0 add_comm _ _ _ (fun v => le (Some 0%R) v = true));
    [pointwise | discriminate | exact each].
Qed.
Lemma finite_total op e (xs : list nat) a : lt absent e = true ->
  (forall a b, lt absent a = true -> lt absent b = true -> lt absent (op a b) = true) ->
  (forall i, In i xs -> lt absent (a i) = true) -> lt absent (reduce op e xs a) = true.
Proof. intros E both each. unfold reduce. induction xs as [|x xs IH]; simpl; [exact E |].
  apply both; [|apply IH; intros]; apply each; simpl; auto. Qed.
Lemma zero_total (c : bool) (xs : list nat) a : (forall i, In i xs -> orb c (eq (a i) (Some 0%R)) = true) ->
  orb c (eq (Sum xs a) (Some 0%R)) = true.
Proof.
  intro each. destruct xs as [|x xs].
  { destruct c; [reflexivity |]. unfold eq, le, Sum, reduce; simpl. destruct (Rle_dec 0 0); [reflexivity | lra]. }
  apply (reduce_every add (Some 0%R) add_0 add_comm _ _ _ (fun v => orb c (eq v (Some 0%R)) = true));
    [pointwise | discriminate | exact each].
Qed.
Lemma scalar_item s a : of_sort s a -> s <> Number -> s <> Several -> forall f k p, a (at_item f k) p = a f p.
Proof. destruct s; intros H N S f k p; try congruence; apply H, S. Qed.
(* What is free of an axis is the same in all of its lanes. *)
Ltac freed H :=
  let E := fresh in pose proof (fun f p i => free_upd _ _ f p i H) as E; cbv beta in E; setoid_rewrite E; clear E.
