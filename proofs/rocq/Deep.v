(* Tactics and lemmas by which the laws of DeepLaws.v are true in frames: how a law's statement,
  over the embedded terms, becomes
   one over values and reductions, which Values.v proves. *)

Require Import Reals List Lia Lra Bool Arith ZArith QArith Qreals FunctionalExtensionality.
Require Import Morphisms Setoid.
Require Import Values Language Terms Frames Checker.
Import ListNotations.
Open Scope nat_scope.

(* A law's premises, one by one. *)
Ltac one H P :=
  try (pose proof (H _ (or_introl eq_refl)) as P;
       let rest := fresh in pose proof (fun c h => H c (or_intror h)) as rest; clear H; rename rest into H).
Ltac each H :=
  let p1 := fresh "P1" in one H p1; let p2 := fresh "P2" in one H p2; let p3 := fresh "P3" in one H p3;
    let p4 := fresh "P4" in one H p4;
  let p5 := fresh "P5" in one H p5; let p6 := fresh "P6" in one H p6; let p7 := fresh "P7" in one H p7;
    let p8 := fresh "P8" in one H p8;
  let p9 := fresh "P9" in one H p9; let p10 := fresh "P10" in one H p10; let p11 := fresh "P11" in one H p11; clear H.
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
Global Instance sum_lanes (X : Type) (xs : list X) : Proper (pointwise_relation X Logic.eq ==> Logic.eq) (Sum xs).
Proof. apply reduce_lanes. Qed.
Ltac plain := numbers; rewrite ?truth_1, ?truth_0, ?truth_bool, ?filter_all; repeat setoid_rewrite (@upd_twice nat).
Ltac stated :=
  intros r eta b Hshut Hsort Hlanes Hstreamed Hwithin Hover Hp;
    simpl in Hshut, Hsort, Hlanes, Hstreamed, Hwithin, Hover, Hp;
  each Hp; simpl in *.
(* Of one place. *)
Ltac here := stated; intros f p B V; simpl; plain.
Ltac known := first
  [ match goal with H : always _ _ _, B : base _ _ ?f, V : valid ?f ?p |- _ => exact (H f p B V) end
  | assumption ].
Lemma valid_in f p x i : valid f p -> In i (seq 0 (ends f x)) -> valid f (upd p x i).
Proof. intros V H. apply in_seq in H. apply valid_upd; [exact V | lia]. Qed.
(* In every lane of an axis. *)
Ltac lanes := match goal with
  | H : always _ _ _, B : base _ _ ?f, V : valid ?f ?p |- forall i, In i (seq 0 (ends ?f ?x)) -> _ =>
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
(* Linear recurrences, lane after lane. *)
Lemma recur_step gain part n : recur gain part (S n) = add (mul (gain n) (recur gain part n)) (part n).
Proof. reflexivity. Qed.
Lemma recur_every (P : val -> Prop) gain part n : P (Some 0%R) ->
  (forall h i, P h -> i < n -> P (add (mul (gain i) h) (part i))) -> P (recur gain part n).
Proof.
  intros Z step. induction n as [|n IH]; [exact Z |]. rewrite recur_step. apply step; [apply IH; intros; apply step; auto | lia].
Qed.
Lemma recur_ones part n : recur (fun _ => Some 1%R) part n = Sum (seq 0 n) part.
Proof.
  induction n as [|n IH]; [reflexivity |]. rewrite recur_step, seq_S, sum_app, IH.
  replace (Sum [0 + n] part) with (add (part n) (Some 0%R)) by reflexivity.
  generalize (Sum (seq 0 n) part) (part n). intros [u|] [v|]; simpl; try reflexivity. f_equal. lra.
Qed.
Lemma recur_scaled gain part k n : recur gain (fun i => mul k (part i)) (S n) = mul k (recur gain part (S n)).
Proof.
  induction n as [|n IH].
  - rewrite !recur_step. unfold recur. generalize (gain 0) (part 0). pointwise.
  - rewrite recur_step, IH, (recur_step gain part (S n)).
    generalize (recur gain part (S n)) (gain (S n)) (part (S n)). pointwise.
Qed.
Lemma recur_nothing gain n : (forall i, i < n -> lt absent (gain i) = true) -> recur gain (fun _ => Some 0%R) n = Some 0%R.
Proof.
  intro there. induction n as [|n IH]; [reflexivity |]. rewrite recur_step, IH by (intros; apply there; lia).
  specialize (there n ltac:(lia)). destruct (gain n); [simpl; f_equal; lra | discriminate].
Qed.
Lemma sum_of_recur (js : list nat) gain (part : nat -> nat -> val) n :
  (forall i, i < S n -> lt absent (gain i) = true) ->
  Sum js (fun j => recur gain (part j) (S n)) = recur gain (fun i => Sum js (fun j => part j i)) (S n).
Proof.
  intro there. destruct js as [|k js]; [symmetry; apply recur_nothing, there |]. clear there.
  assert (some : k :: js <> []) by discriminate. revert some. generalize (k :: js). clear k js. intros js some.
  assert (zeros : Sum js (fun _ => Some 0%R) = Some 0%R).
  { clear. induction js as [|j js IH]; [reflexivity |].
    change (add (Some 0%R) (Sum js (fun _ => Some 0%R)) = Some 0%R). rewrite IH. simpl. f_equal. lra. }
  induction n as [|n IH].
  - transitivity (Sum js (fun j => add (mul (gain 0) (Some 0%R)) (part j 0))); [reflexivity |].
    rewrite sum_both, (sum_factor _ js (gain 0) (fun _ => Some 0%R)), zeros by exact some. reflexivity.
  - rewrite recur_step, <- IH, <- sum_factor by exact some. rewrite <- sum_both. reflexivity.
Qed.
(* simpl writes the first of these lanes apart. *)
Ltac prefixed := repeat match goal with |- context [0 :: seq 1 ?n] => change (0 :: seq 1 n) with (seq 0 (S n)) end.
Ltac prefix := match goal with
  | B : base _ _ ?f, V : valid ?f ?p, H : always _ _ _ |- forall i, In i (seq 0 (S (?p ?x))) -> _ =>
      let i := fresh in let Hi := fresh in intros i Hi; apply in_seq in Hi;
      exact (H f (upd p x i) B (valid_low f p x i V ltac:(pose proof (V x); lia)))
  end.

Lemma scalar_item s a : of_sort s a -> s <> Number -> s <> Several -> forall f k p, a (at_item f k) p = a f p.
Proof. destruct s; intros H N S f k p; try congruence; apply H, S. Qed.
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

(* A sum is carried along the stream if the update makes, of the sum over the lanes seen,
  the same sum after the block. *)
Lemma carried_along x a u f :
  (forall p, valid f p ->
    (forall k A, 0 < k <= ends f x -> A (upd p x 0) = Some 0%R -> u (moved f x 0 k A) (upd p x 0) = Some 0%R) /\
    (forall n k A, 0 < n < k -> k <= ends f x -> A (upd p x 0) = Sum (seq 0 n) (fun i => a (cut f x n) (upd p x i)) ->
      u (moved f x n k A) (upd p x 0) = Sum (seq 0 n) (fun i => a (cut f x k) (upd p x i)))) ->
  forall p, valid f p ->
  run x a (fun _ _ => Some 1%R) u f (blocks m x (ends f x)) [] (fun _ => Some 0%R) p
  = Sum (seq 0 (ends f x)) (fun i => a f (upd p x i)).
Proof.
  intros Sc. set (n := ends f x).
  assert (G : forall bs seen A, seen ++ concat bs = seq 0 n -> Forall (fun b => b <> []) bs ->
    (forall q, valid f q ->
      seen = [] /\ A q = Some 0%R \/ seen <> [] /\ A q = Sum seen (fun i => a (cut f x (length seen)) (upd q x i))) ->
    forall q, valid f q ->
      run x a (fun _ _ => Some 1%R) u f bs seen A q = Sum (seq 0 n) (fun i => a (cut f x n) (upd q x i))).
  { induction bs as [|b bs IH]; simpl; intros seen A E Fu Q q Vq.
    - rewrite app_nil_r in E. destruct (Q q Vq) as [[-> ->] | [_ ->]]; [rewrite <- E; reflexivity |].
      rewrite E, seq_length. reflexivity.
    - inversion Fu as [|? ? nb F']; subst. assert (E' : (seen ++ b) ++ concat bs = seq 0 n) by (rewrite <- app_assoc;
        exact E).
      assert (L : length (seen ++ b) <= n).
      { apply (f_equal (@length nat)) in E'. rewrite app_length, seq_length in E'. lia. }
      apply IH; auto. clear q Vq. intros q Vq. right. split; [destruct seen; [exact nb | discriminate] |].
      rewrite (proj2 (valid_clamp f q) Vq). rewrite truth_1, filter_all.
      assert (Vq0 : valid f (upd q x 0)) by (apply valid_low; [exact Vq | lia]). destruct (Sc q Vq) as [S1 S2].
      fold (Sum b (fun i => a (cut f x (length (seen ++ b))) (upd q x i))). rewrite sum_app. f_equal.
      assert (Lb : length seen < length (seen ++ b)) by (rewrite app_length; destruct b; [contradiction | simpl; lia]).
      destruct (Q _ Vq0) as [[-> A0] | [ns As]].
      + apply S1; [simpl in *; lia | exact A0].
      + assert (Ls : 0 < length seen) by (destruct seen; [contradiction | simpl; lia]).
        rewrite (lanes_prefix _ _ _ E) at 3. apply S2; [lia | exact L |]. rewrite As, <- (lanes_prefix _ _ _ E).
        apply sum_same. intros i _. rewrite upd_twice. reflexivity. }
  intros p V. destruct good as (_ & concats & filled & _). rewrite (G (blocks m x n) [] (fun _ => Some 0%R)); auto.
  - unfold n. rewrite cut_own. reflexivity.
  - apply concats.
Qed.

Lemma present_sum b f x n q a : base m b f -> ~ In x (full_in b) -> over b = [] -> 0 < n <= ends f x -> valid f q ->
  always m b (fun f p => lt absent (a f p) = true) -> lt absent (Sum (seq 0 n) (fun i => a (cut f x n) (upd q x
    i))) = true.
Proof.
  intros B nF O N V H. apply finite_total; [reflexivity | pointwise |]. intros i Hi. apply in_seq in Hi.
  apply H; [apply base_cut; auto | apply valid_cut; [exact V | lia]].
Qed.
Lemma present_product b a w : always m b (fun f p => lt absent (a f p) = true) ->
  always m b (fun f p => lt absent (w f p) = true) ->
  always m b (fun f p => lt absent (mul (a f p) (w f p)) = true).
Proof. intros A W f p B V. specialize (A f p B V). specialize (W f p B V). cbv beta in *.
  destruct (a f p), (w f p); unfold lt in *; simpl in *; congruence.
Qed.

(* Streams as Values.v has them: prefixes as lists of lanes, at one point. *)
Definition body_at (a : meaning) f x p (now : list nat) (i : nat) : val := a (cut f x (length now)) (upd p x i).
Definition ref_at (a : meaning) f x p (now : list nat) : val := a (cut f x (length now)) (upd p x 0).
Definition step_at (s : meaning) f x A p (seen now : list nat) : val := s (moved f x (length seen) (length now) A)
  (upd p x 0).

Lemma parts n (seen block rest : list nat) : seq 0 n = seen ++ block ++ rest ->
  seen = seq 0 (length seen) /\ length (seen ++ block) <= n /\ length seen <= length (seen ++ block).
Proof.
  intro E. split; [symmetry in E; exact (lanes_prefix _ _ _ E) |]. apply (f_equal (@length nat)) in E.
  rewrite seq_length, !app_length in E. rewrite app_length. lia.
Qed.
Lemma longer (seen block : list nat) : block <> [] -> length seen < length (seen ++ block).
Proof. rewrite app_length. destruct block; [contradiction | simpl; lia]. Qed.
Lemma filled (l : list nat) : l <> [] -> 0 < length l.
Proof. destruct l; [contradiction | simpl; lia]. Qed.
Lemma prefix_parts n (now rest : list nat) : seq 0 n = now ++ rest -> now = seq 0 (length now) /\ length now <= n.
Proof. intro E. destruct (parts n now [] rest E) as (A & B & _). rewrite app_nil_r in B. split; assumption. Qed.
Lemma lane_in n i : In i (seq 0 n) -> i < n. Proof. rewrite in_seq. lia. Qed.

Lemma present_at b f x a p : base m (without x b) f -> ~ In x (full_in b) -> over b = [] -> valid f p ->
  always m b (fun f p => lt absent (a f p) = true) -> lanes_present nat (seq 0 (full m x)) (body_at a f x p).
Proof.
  intros B nF O V H now rest E some i Hi. destruct (prefix_parts _ _ _ E) as [P L]. apply filled in some.
  rewrite P in Hi. apply lane_in in Hi. apply H; [apply base_without; auto; lia | apply valid_cut; assumption].
Qed.
Lemma null_at b f x a p : base m (without x b) f -> ~ In x (full_in b) -> over b = [] -> valid f p ->
  always m b (fun f p => total a f x (ends f x) p = Some 0%R) ->
    sums_to_none nat (seq 0 (full m x)) (body_at a f x p).
Proof.
  intros B nF O V H now rest E some. destruct (prefix_parts _ _ _ E) as [P L]. apply filled in some.
  assert (T := H (cut f x (length now)) (upd p x 0) (base_without b f x _ B nF O (conj some L)) (valid_cut f p x _ 0 V
    some)).
  unfold total in T. simpl in T. rewrite upd_same in T. unfold body_at.
  rewrite (sum_same nat now _ (fun i => a (cut f x (length now)) (upd (upd p x 0) x i))) by (intros;
    rewrite upd_twice; reflexivity).
  rewrite P at 1. rewrite T. unfold eq, le. destruct (Rle_dec 0 0); [reflexivity | lra].
Qed.
Lemma settled_at f x a p : (forall k i, k <= full m x -> i <= k - 1 -> lt absent (a (cut f x k) (upd p x i)) = true) ->
  settled (seq 0 (full m x)) (ref_at a f x p).
Proof.
  intros H now rest E. destruct (prefix_parts _ _ _ E) as [_ L]. specialize (H (length now) 0 L ltac:(lia)).
  unfold ref_at. destruct (a _ _); discriminate.
Qed.
Lemma moves_at f x a w s p A :
  (forall n k A, n < k -> k <= full m x -> s (moved f x n k A) (upd p x 0)
    = add (Sum (seq 0 n) (fun i => mul (a (cut f x k) (upd p x i)) (w (cut f x n) (upd p x i))))
          (neg (Sum (seq 0 n) (fun i => mul (a (cut f x n) (upd p x i)) (w (cut f x n) (upd p x i)))))) ->
  moves (seq 0 (full m x)) (body_at a f x p) (body_at w f x p) (step_at s f x A p).
Proof.
  intro H. split.
  - intros block rest E some. destruct (parts _ [] block rest E) as (_ & L & _). unfold step_at.
    apply filled in some. rewrite H by (simpl in *; lia). cbn [length seq]. unfold Sum, reduce. simpl. f_equal. lra.
  - intros seen block rest E _ some. destruct (parts _ _ _ _ E) as (P & L & _). apply (longer seen) in some.
    unfold step_at, body_at. rewrite H by assumption. rewrite <- P. reflexivity.
Qed.
Lemma at_moves f x a w s p : (forall A, moves (seq 0 (full m x)) (body_at a f x p) (body_at w f x p) (step_at s f x A
  p)) ->
  forall n k A, n < k -> k <= full m x -> s (moved f x n k A) (upd p x 0)
    = add (Sum (seq 0 n) (fun i => mul (a (cut f x k) (upd p x i)) (w (cut f x n) (upd p x i))))
          (neg (Sum (seq 0 n) (fun i => mul (a (cut f x n) (upd p x i)) (w (cut f x n) (upd p x i))))).
Proof.
  intros M n k A L K. destruct (M A) as [first next].
  assert (E : seq 0 (full m x) = seq 0 n ++ seq n (k - n) ++ seq k (full m x - k)).
  { replace (full m x) with (n + ((k - n) + (full m x - k))) at 1 by lia. rewrite !seq_app. simpl.
    replace (n + (k - n)) with k by lia. reflexivity. }
  assert (some : seq n (k - n) <> []) by (destruct (k - n) eqn:D; [lia | discriminate]).
  assert (Lk : length (seq 0 n ++ seq n (k - n)) = k) by (rewrite app_length, !seq_length; lia).
  destruct n as [|n].
  - specialize (first (seq 0 (k - 0)) _ E some). unfold step_at in first. cbn [length] in first.
      rewrite seq_length in first.
    replace (k - 0) with k in first by lia. rewrite first. unfold Sum, reduce. simpl. f_equal. lra.
  - specialize (next _ _ _ E ltac:(discriminate) some). unfold step_at, body_at in next.
      rewrite Lk, seq_length in next. exact next.
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

(* A coordinate is there, whatever it is. *)
Lemma int_there a f p : of_sort Int a -> exists k, a f p = Some k.
Proof. intros [H _]. destruct (H f p) as [z ->]. eauto. Qed.
Ltac there v f p :=
  let k := fresh in let E := fresh in
  match goal with Hsort : forall s v, _ -> of_sort s _ |- _ =>
    destruct (int_there _ f p (Hsort Int v ltac:(vm_compute; tauto))) as [k E]; rewrite ?E; clear E end.
(* Runs of k lanes: what those that end by j come to is the prefix at the last of them, after which j's own run comes,
   or what all come to where j lies further on. *)
Lemma sum_before n k j a : le (Some 0%R) (Some k) = true ->
  let till i := add (mul (Some (INR i)) (Some k)) (Some k) in
  Sum (seq 0 n) (fun i => choice (le (till i) (Some j)) (a i) (Some 0%R))
  = add (Sum (seq 0 n) (fun i => choice (le (till i) (Some j) && lt (Some j) (add (till i) (Some k)))
                                        (Sum (seq 0 (S i)) a) (Some 0%R)))
        (choice (le (till n) (Some j)) (Sum (seq 0 n) a) (Some 0%R)).
Proof.
  intros K till. induction n as [|n IH].
  { change (Some 0%R = add (Some 0%R) (choice (le (till 0) (Some j)) (Some 0%R) (Some 0%R))). rewrite add_0.
    destruct (le (till 0) (Some j)); reflexivity. }
  rewrite (seq_S n), !sum_app, IH. rewrite !(sum_cons nat _ []), Nat.add_0_l, (seq_S n), sum_app, (sum_cons nat _ []).
  unfold till. rewrite S_INR. change (Sum [] ?g) with (Some 0%R). revert K. generalize (INR n). intro c. cbn [Nat.add].
  generalize (a n). match goal with |- context [add (add ?x (choice _ ?y _)) _] => generalize x, y end.
  pointwise.
Qed.
(* In none of them is a j that lies beyond them all. *)
Lemma sum_beyond n k j : le (Some 0%R) (Some k) = true ->
  le (add (mul (Some (INR n)) (Some k)) (Some k)) (Some j) = true ->
  Sum (seq 0 n) (fun i => choice (le (mul (Some (INR i)) (Some k)) (Some j)
    && lt (Some j) (add (mul (Some (INR i)) (Some k)) (Some k))) (Some 1%R) (Some 0%R)) = Some 0%R.
Proof.
  intros K J. rewrite (sum_same nat (seq 0 n) _ (fun _ => Some 0%R)); [apply reduce_neutral, add_0 |].
  intros i Hi. apply lane_in in Hi. apply lt_INR in Hi. revert K J Hi. generalize (INR i) (INR n). pointwise.
Qed.
(* What is read in runs of n lanes, the j-th lane of the i-th: lane i n + j, and a unit beyond the last of N lanes. *)
Lemma whole_INR k : Z.to_nat (Int_part (INR k)) = k.
Proof. rewrite Int_part_INR. apply Nat2Z.id. Qed.
Lemma place_in_run i n j : Z.to_nat (Int_part (INR i * INR n + INR j)) = i * n + j.
Proof. rewrite <- mult_INR, <- plus_INR. apply whole_INR. Qed.
Lemma place_before i : Z.to_nat (Int_part (INR i + -1)) = i - 1.
Proof.
  destruct i as [|i].
  { destruct (base_Int_part (INR 0 + -1)) as [L _]. simpl in L.
    assert (K : (IZR (Int_part (0 + -1)) <= IZR (-1))%R) by lra.
    apply le_IZR in K. simpl. lia. }
  rewrite S_INR. replace (INR i + 1 + -1)%R with (INR i) by lra. rewrite whole_INR. lia.
Qed.
Lemma lt_of_INR i j : lt (Some (INR i)) (Some (INR j)) = (i <? j).
Proof.
  unfold lt, le. destruct (Rle_dec (INR j) (INR i)) as [L | L], (Nat.ltb_spec i j) as [K | K]; auto.
  - apply INR_le in L. lia.
  - exfalso. apply L, le_INR, K.
Qed.
Lemma inside i n j k :
  truth (of_bool (lt (Some (INR i * INR n + INR j)%R) (Some (INR k)))) = (i * n + j <? k).
Proof. rewrite truth_bool, <- mult_INR, <- plus_INR. apply lt_of_INR. Qed.
Lemma first_run q : lt (Some 0%R) (Some (INR q)) = (0 <? q).
Proof. apply (lt_of_INR 0). Qed.
(* What is read at a coordinate is read at the one nearest to it that is a lane. *)
Lemma nearest v n : in_sort Int v -> 0 < n ->
  min (max v (Some 0%R)) (Some (INR n + -1)%R) = Some (INR (place v n)).
Proof.
  intros [z ->] N. unfold place, max, min, two_of. f_equal.
  assert (W : Int_part (IZR z) = z).
  { destruct (base_Int_part (IZR z)) as [L U]. apply le_IZR in L.
    assert (K : (IZR z < IZR (Int_part (IZR z) + 1))%R) by (rewrite plus_IZR; lra). apply lt_IZR in K. lia. }
  rewrite W, !INR_IZR_INZ, <- plus_IZR.
  replace (Z.of_nat (Nat.min (Z.to_nat z) (n - 1))) with (Z.min (Z.max z 0) (Z.of_nat n + -1)) by lia.
  unfold Rmax, Rmin. repeat destruct Rle_dec as [? | ?].
  all: repeat match goal with
    | H : (_ <= _)%R |- _ => apply le_IZR in H
    | H : ~ (_ <= _)%R |- _ => apply Rnot_le_lt, lt_IZR in H
    end; f_equal; lia.
Qed.
(* Whole division of lanes is that of their numbers. *)
Lemma whole_parts (f : Z -> Z -> Z) (h : nat -> nat -> nat) k n :
  Z.of_nat (h k n) = f (Z.of_nat k) (Z.of_nat n) -> 0 < n ->
  (if (Int_part (INR n) =? 0)%Z then 0%R else IZR (f (Int_part (INR k)) (Int_part (INR n)))) = INR (h k n).
Proof.
  intros E N. rewrite !Int_part_INR, <- E, <- INR_IZR_INZ. destruct (Z.eqb_spec (Z.of_nat n) 0); [lia | reflexivity].
Qed.
Definition whole_div k n := whole_parts Z.div Nat.div k n (Nat2Z.inj_div k n).
Definition whole_mod k n := whole_parts Z.modulo Nat.modulo k n (Nat2Z.inj_mod k n).

Section Runs.
Variables (op : val -> val -> val) (e : val).
Hypothesis neutral : forall a, op e a = a.
Hypothesis comm : forall a b, op a b = op b a.
Hypothesis assoc : forall a b c, op a (op b c) = op (op a b) c.

Lemma reduce_last n a : reduce op e (seq 0 (S n)) a = op (reduce op e (seq 0 n) a) (a n).
Proof. rewrite seq_S, (reduce_app op e neutral assoc). f_equal. unfold reduce. simpl. rewrite comm. apply neutral. Qed.
Lemma reduce_more k n a :
  reduce op e (seq 0 (k + n)) a = op (reduce op e (seq 0 k) a) (reduce op e (seq 0 n) (fun j => a (k + j))).
Proof.
  induction n as [|n IH]; [rewrite Nat.add_0_r, comm; symmetry; apply neutral |].
  rewrite Nat.add_succ_r, !reduce_last, IH. symmetry. apply assoc.
Qed.
Lemma reduce_runs n a q :
  reduce op e (seq 0 (q * n)) a = reduce op e (seq 0 q) (fun i => reduce op e (seq 0 n) (fun j => a (i * n + j))).
Proof.
  induction q as [|q IH]; [reflexivity |]. rewrite Nat.mul_succ_l, reduce_more, IH, reduce_last. reflexivity.
Qed.
Lemma reduce_beyond n a k :
  reduce op e (seq 0 k) (fun i => choice (i <? n) (a (Nat.min i (n - 1))) e) = reduce op e (seq 0 (Nat.min k n)) a.
Proof.
  induction k as [|k IH]; [reflexivity |]. rewrite reduce_last, IH. destruct (Nat.ltb_spec k n).
  - replace (Nat.min (S k) n) with (S k) by lia. rewrite reduce_last. cbn [choice]. repeat f_equal; lia.
  - replace (Nat.min (S k) n) with (Nat.min k n) by lia. rewrite comm. apply neutral.
Qed.
Lemma reduce_in_runs k n q l s a : 0 < k -> q <= l - 1 ->
  reduce op e (seq 0 (S (Nat.min (q * n + s) (k - 1)))) a
  = op (choice (lt (Some 0%R) (Some (INR q)))
         (reduce op e (seq 0 (S (Nat.min (q - 1) (l - 1)))) (fun i =>
           reduce op e (seq 0 n) (fun j => choice (i * n + j <? k) (a (Nat.min (i * n + j) (k - 1))) e))) e)
       (reduce op e (seq 0 (S s)) (fun j => choice (q * n + j <? k) (a (Nat.min (q * n + j) (k - 1))) e)).
Proof.
  intros K Q. rewrite first_run. replace (S (Nat.min (q * n + s) (k - 1))) with (Nat.min (q * n + S s) k) by lia.
  rewrite <- reduce_beyond, reduce_more, reduce_runs. f_equal. destruct q as [|q]; [reflexivity |].
  replace (S (Nat.min (S q - 1) (l - 1))) with (S q) by lia. reflexivity.
Qed.
End Runs.
Lemma recur_more gain part k n :
  recur gain part (k + n) = add (mul (recur gain part k) (Prod (seq 0 n) (fun j => gain (k + j))))
    (recur (fun j => gain (k + j)) (fun j => part (k + j)) n).
Proof.
  induction n as [|n IH].
  { rewrite Nat.add_0_r. unfold Prod, reduce, recur at 3. simpl. generalize (recur gain part k). pointwise. }
  unfold Prod in *. rewrite Nat.add_succ_r, !recur_step, IH, (reduce_last mul (Some 1%R) mul_1 mul_comm mul_assoc).
  generalize (recur gain part k) (reduce mul (Some 1%R) (seq 0 n) (fun j => gain (k + j))) (gain (k + n)) (part (k + n))
    (recur (fun j => gain (k + j)) (fun j => part (k + j)) n). pointwise.
Qed.
Lemma recur_runs gain part n q :
  recur gain part (q * n) = recur (fun i => Prod (seq 0 n) (fun j => gain (i * n + j)))
    (fun i => recur (fun j => gain (i * n + j)) (fun j => part (i * n + j)) n) q.
Proof.
  induction q as [|q IH]; [reflexivity |]. rewrite Nat.mul_succ_l, recur_more, IH, recur_step, mul_comm. reflexivity.
Qed.
Lemma recur_beyond gain part n k :
  recur (fun i => choice (i <? n) (gain (Nat.min i (n - 1))) (Some 1%R))
    (fun i => choice (i <? n) (part (Nat.min i (n - 1))) (Some 0%R)) k = recur gain part (Nat.min k n).
Proof.
  induction k as [|k IH]; [reflexivity |]. rewrite recur_step, IH. destruct (Nat.ltb_spec k n).
  - replace (Nat.min (S k) n) with (S k) by lia. rewrite recur_step. cbn [choice]. repeat f_equal; lia.
  - replace (Nat.min (S k) n) with (Nat.min k n) by lia. cbn [choice]. generalize (recur gain part (Nat.min k n)).
    pointwise.
Qed.
Lemma recur_in_runs k n q l s gain part : 0 < k -> 0 < n -> q <= l - 1 ->
  let g i j := choice (i * n + j <? k) (gain (Nat.min (i * n + j) (k - 1))) (Some 1%R) in
  let h i j := choice (i * n + j <? k) (part (Nat.min (i * n + j) (k - 1))) (Some 0%R) in
  recur gain part (S (Nat.min (q * n + s) (k - 1)))
  = add (mul (choice (lt (Some 0%R) (Some (INR q)))
               (recur (fun i => reduce mul (Some 1%R) (seq 0 n) (g i))
                 (fun i => recur (g i) (h i) (S (Nat.min (n - 1) (n - 1)))) (S (Nat.min (q - 1) (l - 1)))) (Some 0%R))
             (reduce mul (Some 1%R) (seq 0 (S s)) (g q)))
        (recur (g q) (h q) (S s)).
Proof.
  intros K N Q g h. rewrite first_run.
  replace (S (Nat.min (q * n + s) (k - 1))) with (Nat.min (q * n + S s) k) by lia.
  rewrite <- recur_beyond, recur_more, recur_runs. f_equal. f_equal. destruct q as [|q]; [reflexivity |].
  replace (S (Nat.min (S q - 1) (l - 1))) with (S q) by lia. replace (S (Nat.min (n - 1) (n - 1))) with n by lia.
  reflexivity.
Qed.
(* The same of a law's terms: y is the axis of the runs, z that of their lanes, x the axis that is read in runs. *)
Section ReadInRuns.
Variables (f : frame) (p : point) (x y z : axis).
Hypothesis some : 0 < ends f x.
Hypothesis apart : y <> z.
Hypothesis inner : p y <= ends f y - 1.
Definition in_run (q : point) : nat := Z.to_nat (Int_part (INR (q y) * INR (ends f z) + INR (q z))).
Definition in_runs (a : meaning) (unit : val) (q : point) : val :=
  choice (truth (of_bool (lt (Some (INR (q y) * INR (ends f z) + INR (q z))%R) (Some (INR (ends f x))))))
    (a f (upd q x (Nat.min (in_run q) (ends f x - 1)))) unit.
Definition run_before : nat := Nat.min (Z.to_nat (Int_part (INR (p y) + -1))) (ends f y - 1).

Lemma in_runs_at a unit q i j : free_in y a -> free_in z a -> q y = i -> q z = j ->
  (forall v, v <> y -> v <> z -> q v = p v) ->
  in_runs a unit q = choice (i * ends f z + j <? ends f x)
    (a f (upd p x (Nat.min (i * ends f z + j) (ends f x - 1)))) unit.
Proof.
  intros Y Z <- <- same. unfold in_runs, in_run. rewrite inside, place_in_run. f_equal.
  set (k := Nat.min _ _). transitivity (a f (upd (upd p z (q z)) x k)).
  - apply Y. intros v N. unfold upd. destruct (Nat.eqb v x); [reflexivity |].
    destruct (Nat.eqb_spec v z) as [-> |]; auto.
  - apply Z. intros v N. unfold upd. destruct (Nat.eqb v x); [reflexivity |].
    destruct (Nat.eqb_spec v z); [contradiction | reflexivity].
Qed.
Ltac at_run := rewrite ?upd_twice; apply in_runs_at;
  [assumption | assumption | rewrite ?(upd_other _ z y), ?upd_same by exact apart; reflexivity
  | rewrite ?upd_same; reflexivity | intros; rewrite !upd_other by assumption; reflexivity].

Lemma scan_in_runs op e a : (forall v, op e v = v) -> (forall v w, op v w = op w v) ->
  (forall u v w, op u (op v w) = op (op u v) w) -> free_in y a -> free_in z a ->
  reduce op e (seq 0 (S (upd p x (Nat.min (in_run p) (ends f x - 1)) x))) (fun i => a f (upd p x i))
  = op (choice (lt (Some 0%R) (Some (INR (p y))))
         (reduce op e (seq 0 (S (upd p y run_before y))) (fun i =>
           reduce op e (seq 0 (ends f z)) (fun j => in_runs a e (upd (upd p y i) z j)))) e)
       (reduce op e (seq 0 (S (p z))) (fun j => in_runs a e (upd p z j))).
Proof.
  intros neutral comm assoc Y Z. rewrite !upd_same. unfold in_run, run_before. rewrite place_in_run, place_before.
  rewrite (reduce_in_runs op e neutral comm assoc _ _ _ (ends f y) _ _ some inner). f_equal; [f_equal |].
  - apply reduce_ext. intros i _. apply reduce_ext. intros j _. symmetry. at_run.
  - apply reduce_ext. intros j _. symmetry. at_run.
Qed.

Lemma recurs_in_runs a b : 0 < ends f z -> free_in y a -> free_in z a -> free_in y b -> free_in z b ->
  let k := Nat.min (in_run p) (ends f x - 1) in
  let last := Nat.min (Z.to_nat (Int_part (INR (ends f z) + -1))) (ends f z - 1) in
  let before i := upd (upd p y run_before) y i in
  let gain := in_runs a (Some 1%R) in
  let part := in_runs b (Some 0%R) in
  recur (fun i => a f (upd (upd p x k) x i)) (fun i => b f (upd (upd p x k) x i)) (S (upd p x k x))
  = add (mul (choice (lt (Some 0%R) (Some (INR (p y))))
               (recur (fun i => reduce mul (Some 1%R) (seq 0 (ends f z)) (fun j => gain (upd (before i) z j)))
                 (fun i => recur (fun j => gain (upd (upd (before i) z last) z j))
                   (fun j => part (upd (upd (before i) z last) z j)) (S (upd (before i) z last z)))
                 (S (upd p y run_before y))) (Some 0%R))
             (reduce mul (Some 1%R) (seq 0 (S (p z))) (fun j => gain (upd p z j))))
        (recur (fun j => gain (upd p z j)) (fun j => part (upd p z j)) (S (p z))).
Proof.
  intros N Ya Za Yb Zb k last before gain part. unfold k, last, before, gain, part, in_run, run_before.
  rewrite !upd_same, !place_before, place_in_run.
  etransitivity; [apply recur_ext; intros i _; rewrite upd_twice; reflexivity |].
  rewrite (recur_in_runs _ _ _ (ends f y) _ (fun i => a f (upd p x i)) (fun i => b f (upd p x i)) some N inner).
  f_equal; [f_equal; [f_equal |] |].
  - apply recur_ext; intros i _.
    + apply reduce_ext. intros j _. symmetry. at_run.
    + rewrite upd_same. apply recur_ext; intros j _; symmetry; at_run.
  - apply reduce_ext. intros j _. symmetry. at_run.
  - apply recur_ext; intros j _; symmetry; at_run.
Qed.
End ReadInRuns.
Ltac filled_axis := match goal with
  | B : base _ ?b ?f, H : incl _ (lanes_in ?b) |- 0 < ends ?f ?x => apply (proj1 (proj2 B)), H; simpl; auto
  end.

(* A law that reads its axis in prefixes. *)
Ltac streaming :=
  stated;
  match goal with Hover : streamed ?l <> [] -> incl (over ?b) ?w |- _ =>
    try assert (O : over b = []) by (eapply no_over; [| exact Hover | reflexivity]; let E := fresh in intro E;
      vm_compute in E; discriminate)
  end.

(* What is free of an axis is the same in all of its lanes. *)
Ltac freed H :=
  let E := fresh in pose proof (fun f p i => free_upd _ _ f p i H) as E; cbv beta in E; setoid_rewrite E; clear E.
