(* The checker of Checker.v is sound: if it accepts and the laws are true, both sides are equal.
  The theorem is at the end. *)

Require Import Reals List Lia Lra Bool Arith ZArith QArith Qreals FunctionalExtensionality.
Require Import Values Language Terms Frames Checker.
Import ListNotations.
Open Scope nat_scope.

Section Sound.
Variable g : context.
Variable m : model.
Hypothesis model_ok : meets g m.
Notation eval := (eval g m).
Notation means := (means g m).

Lemma good : possible m. Proof. apply model_ok. Qed.

Definition weaker (b b' : bar) : Prop :=
  incl (lanes_in b) (lanes_in b') /\ incl (full_in b) (full_in b') /\ incl (over b) (over b').
Lemma base_mono b b' f : weaker b b' -> base m b' f -> base m b f.
Proof. intros (A & B & C) (D & E & F & G). repeat split; auto; try apply D; apply G, C; assumption. Qed.
Lemma without_mono x b b' : weaker b b' -> weaker (without x b) (without x b').
Proof.
  intros (A & B & C). split; [|split]; simpl; auto. intros y H. apply filter_In in H. apply filter_In. destruct H; auto.
Qed.
Lemma means_mono eta b b' c : weaker b b' -> means eta b c -> means eta b' c.
Proof.
  intros W. destruct c; simpl; unfold holds, always; auto;
    try (intros H f q B V; apply H; [exact (base_mono b b' f W B) | exact V]);
    intros H n f q B V; (apply H; [intro N; apply n, (proj1 (proj2 W)), N
      | exact (base_mono _ _ f (without_mono x b b' W) B) | exact V]).
Qed.

Lemma cinst_means eta s r b c : means eta b (cinst (fun _ => s) r c) <-> means (fun v => eval eta (s v)) b (cinst Var
  r c).
Proof.
  destruct c; simpl; unfold holds, free_in, local_in, always; rewrite ?(inst_eval g m eta s r); reflexivity.
Qed.

Ltac split_and := repeat match goal with H : (_ && _)%bool = true |- _ => apply andb_prop in H; destruct H end.

Lemma claim_same_eq a b : claim_same a b = true -> a = b.
Proof.
  destruct a, b; simpl; try discriminate; intro; split_and;
    repeat match goal with
    | H : same _ _ = true |- _ => apply same_eq in H
    | H : Nat.eqb _ _ = true |- _ => apply Nat.eqb_eq in H
    end; congruence.
Qed.
Lemma claims_same_eq a : forall b, claims_same a b = true -> a = b.
Proof.
  induction a; destruct b; simpl; try discriminate; auto. intro H. split_and. apply claim_same_eq in H.
    apply IHa in H0. congruence.
Qed.

Lemma flat : forall v f f' p p', nothing v f p = nothing v f' p'. Proof. reflexivity. Qed.

Lemma ground_vars t : ground t = true -> vars t = [].
Proof. unfold ground. destruct (vars t); congruence. Qed.
Lemma sorted_ground t s : ground t = true -> sort_of g None t = Some s -> of_sort s (eval nothing t) \/ s = Number.
Proof.
  intros G S. apply ground_vars in G. destruct model_ok as (P & D & _).
  destruct (sort_sound g m P nothing t) with (k := @None nat) (s := s) as [A B]; auto; [rewrite G; intros ? ? [] |].
  destruct s; simpl; auto; left; (split; [intros; apply A; exact I | intros; apply B; auto]).
Qed.

(* Constants, folded: what is computed in rational numbers is so in the reals. *)
Lemma Q2R_0 : Q2R 0 = 0%R. Proof. unfold Q2R. simpl. field. Qed.
Lemma Q2R_1 : Q2R 1 = 1%R. Proof. unfold Q2R. simpl. field. Qed.
Lemma computed_sound t w f p : computed t = Some w -> eval nothing t f p = option_map Q2R w.
Proof.
  destruct t; simpl; try discriminate.
  - destruct o; try discriminate; destruct t; try discriminate; destruct s; try discriminate; intros [= <-];
      destruct v; simpl; try reflexivity; f_equal.
    + rewrite Qreals.Q2R_opp. reflexivity.
    + destruct (Req_EM_T (Q2R q) 0) as [E | E].
      * destruct (Qeq_dec q 0) as [Z | Z]; [|exfalso; apply Z, eqR_Qeq; rewrite Q2R_0; exact E].
        transitivity (Q2R 0); [symmetry; apply Q2R_0 |]. apply Qeq_eqR. rewrite Z. reflexivity.
      * rewrite Qreals.Q2R_inv; [reflexivity |]. intro Z. apply E. rewrite <- Q2R_0. apply Qeq_eqR, Z.
  - destruct o; try discriminate; destruct t1; try discriminate; destruct s; try discriminate;
      destruct t2; try discriminate; destruct s; try discriminate; intros [= <-]; destruct v, v0; simpl;
        try reflexivity; f_equal.
    + symmetry. apply Qreals.Q2R_plus.
    + symmetry. apply Qreals.Q2R_mult.
    + unfold Qmax'. destruct (Qle_bool q q0) eqn:L.
      * apply Rmax_right, Qle_Rle, Qle_bool_iff, L.
      * apply Rmax_left. apply Qle_Rle. destruct (Qlt_le_dec q0 q) as [l | l]; [apply Qlt_le_weak, l |].
          apply Qle_bool_iff in l. congruence.
    + unfold Qmin'. destruct (Qle_bool q q0) eqn:L.
      * apply Rmin_left, Qle_Rle, Qle_bool_iff, L.
      * apply Rmin_right. apply Qle_Rle. destruct (Qlt_le_dec q0 q) as [l | l]; [apply Qlt_le_weak, l |].
          apply Qle_bool_iff in l. congruence.
Qed.
Lemma same_number_sound a b : same_number a b = true -> option_map Q2R a = option_map Q2R b.
Proof. destruct a, b; simpl; try discriminate; auto. intro H. apply Qeq_bool_eq in H. f_equal. apply Qeq_eqR, H. Qed.

(* Signs of leaves. *)
Definition has_sign (s : sign) (v : val) : Prop :=
  has_fact (match s with SPos => IsPos | SNonneg => IsNonneg | SNonzero => IsNonzero | SFinite => IsFinite end) v.
Lemma implies_sound f s v : implies f s = true -> has_fact f v -> has_sign s v.
Proof.
  destruct f, s; simpl; try discriminate; intros _; unfold has_sign; simpl; pointwise.
Qed.
Lemma positive_sound s n : 0 < n -> implies IsPos s = true -> has_sign s (Some (INR n)).
Proof.
  intros P H. apply (implies_sound IsPos); [exact H |]. simpl. unfold lt, le. destruct Rle_dec as [r|]; [|reflexivity].
  apply lt_INR in P. simpl in P. lra.
Qed.
Lemma nonneg_sound s n : implies IsNonneg s = true -> has_sign s (Some (INR n)).
Proof.
  intros H. apply (implies_sound IsNonneg); [exact H |]. simpl. destruct Rle_dec as [|r]; [reflexivity |]. exfalso.
    apply r, pos_INR.
Qed.

Lemma leaf_sound P t f : (forall p, valid f p -> P (eval nothing (leaf t) f p)) -> forall p, valid f p ->
  P (eval nothing t f p).
Proof.
  induction t; simpl; auto.
  - destruct o; auto.
  - intros H p V. apply IHt1; auto. apply valid_low; [exact V |]. unfold place. destruct (eval nothing t2 f p); lia.
Qed.
Lemma leaf_ground t : ground t = true -> ground (leaf t) = true.
Proof.
  unfold ground. induction t; simpl; auto.
  - destruct o; auto.
  - destruct (vars t1); simpl; [auto | discriminate].
Qed.
Lemma whole_finite t f p : ground t = true -> match sort_of g None t with Some (Int | Bool) => True
  | _ => False end -> lt absent (eval nothing t f p) = true.
Proof.
  intros G K. destruct (sort_of g None t) as [s|] eqn:E; [|contradiction].
    destruct (sorted_ground t s G E) as [S | ->]; [|contradiction].
  destruct s; try contradiction; destruct (proj1 S f p) as [z ->]; [reflexivity | destruct z; reflexivity].
Qed.
Lemma shown_sound t s f p : ground t = true -> fits m f -> (forall x, In x (counted t) -> 0 < ends f x) ->
  shown g t s = true -> has_sign s (eval nothing t f p).
Proof.
  intros G F C.
  assert (W : (match s, sort_of g None t with SFinite, Some (Int | Bool) => true | _, _ => false end) = true ->
    has_sign s (eval nothing t f p)).
  { intro H. destruct s; try discriminate. apply whole_finite; auto.
    destruct (sort_of g None t) as [[]|]; auto; discriminate. }
  destruct model_ok as (P & D & S & Fa).
  destruct t; simpl in *; try exact W.
  - intro H. clear W. destruct (nth_error (inputs g) n) as [[[ds s'] fs]|] eqn:E; [|discriminate].
    destruct (D n ds s' fs E (map p (dims g n))) as [_ Pr].
    assert (Fin : has_fact IsFinite (data m n (map p (dims g n)))) by (simpl; destruct (data m n (map p (dims g n)));
      [reflexivity | congruence]).
    apply orb_prop in H. destruct H as [H | H]; [exact (implies_sound IsFinite s _ H Fin) |].
    apply existsb_exists in H. destruct H as [fa [I H]]. exact (implies_sound _ _ _ H (Fa _ _ _ _ _ _ E I)).
  - destruct s0; try exact W; (destruct v as [q|]; [|exact W]); intro H; (eapply implies_sound; [exact H |]);
      (destruct (Qcompare q 0) eqn:E; simpl; unfold lt, eq, le;
       [apply Qeq_alt in E | apply Qlt_alt in E | apply Qgt_alt in E]);
      [apply Qeq_eqR in E | apply Qlt_Rlt in E | apply Qlt_Rlt in E | apply Qeq_eqR in E | apply Qlt_Rlt in E
        | apply Qlt_Rlt in E];
      rewrite Q2R_0 in E; repeat destruct Rle_dec; simpl; try reflexivity; lra.
  - apply nonneg_sound.
  - apply positive_sound. apply C. left. reflexivity.
  - apply positive_sound. apply P.
Qed.
Lemma signed_sound a s b : ground a = true -> signed g a s = Some b ->
  always m b (fun f p => has_sign s (eval nothing a f p)).
Proof.
  unfold signed. intro G. destruct (shown g (leaf a) s) eqn:S; [|discriminate]. intros [= <-] f p (F & L & _) V.
  apply (leaf_sound (has_sign s)); [|exact V]. intros q Vq. apply shown_sound; auto using leaf_ground.
Qed.

(* Stretches: each lane of the axis is in exactly one of them. *)
Lemma truth_of_bool b : truth (of_bool b) = b.
Proof. destruct b; unfold truth, of_bool, eq, le; repeat destruct Rle_dec; simpl; auto; lra. Qed.
Lemma le_INR a b : le (Some (INR a)) (Some (INR b)) = Nat.leb a b.
Proof.
  unfold le. destruct Rle_dec as [r | r]; symmetry; [apply Nat.leb_le, INR_le, r |]. apply Nat.leb_gt.
    apply Rnot_le_lt, INR_lt in r. exact r.
Qed.
Lemma one_of_seq n k : k < n -> length (filter (fun i => Nat.eqb i k) (seq 0 n)) = 1.
Proof.
  intro H. replace n with (k + S (n - k - 1)) by lia. rewrite seq_app, filter_app, app_length. simpl.
    rewrite Nat.eqb_refl. simpl.
  assert (Z : forall l, (forall i, In i l -> i <> k) -> length (filter (fun i => Nat.eqb i k) l) = 0).
  { induction l as [|i l IH]; simpl; auto. intro N. destruct (Nat.eqb_spec i k) as [E|E]; [exfalso;
    exact (N i (or_introl eq_refl) E) |]. apply IH. auto. }
  rewrite !Z; auto; intros i I E; apply in_seq in I; lia.
Qed.
Lemma size_known x n : size_of g x = Some n -> full m x = N.to_nat n.
Proof.
  destruct model_ok as (_ & _ & S & _). unfold size_of. destruct (nth_error (sizes g) x) as [[s k]|] eqn:E;
    [|discriminate].
  intros ->. specialize (S _ _ _ E). lia.
Qed.
Lemma run_value p x run count : size_of g p = Some count ->
  match size_of g x with
  | None => same run (Bin FloorDiv (Bin Add (Length x) (integer (N.pred count))) (integer count))
  | Some n =>
      match run with
      | Const Int (Some q) => Pos.eqb (Qden q) 1 && Z.leb (Z.of_N n) (Qnum q * Z.of_N count)
      | _ => false
      end
  end = true ->
  exists r, full m x <= r * N.to_nat count /\ forall f q, eval nothing run f q = Some (INR r).
Proof.
  intros Sp H. pose proof (size_known p count Sp) as C. set (many := N.to_nat count) in *.
  assert (Cp : 0 < many) by (rewrite <- C; apply model_ok). assert (Fp : 0 < full m x) by apply model_ok.
  assert (IN : forall n, Q2R (Z.of_nat n # 1) = INR n) by (intro n; unfold Q2R; simpl; rewrite INR_IZR_INZ; field).
  destruct (size_of g x) as [n|] eqn:Sx.
  - pose proof (size_known x n Sx) as N.
    destruct run; try discriminate. destruct s; try discriminate. destruct v as [[z d]|]; try discriminate. split_and.
    cbn [Qnum Qden] in *. apply Pos.eqb_eq in H. apply Z.leb_le in H0. subst.
      assert (Z.of_N count = Z.of_nat many) as Ez by lia.
    rewrite Ez in H0. assert (0 <= z)%Z by nia. exists (Z.to_nat z). split; [nia |].
    intros f q. cbn [Language.eval option_map]. f_equal. rewrite <- IN. rewrite Z2Nat.id by assumption. reflexivity.
  - apply same_eq in H. subst run. exists ((full m x + (many - 1)) / many). split.
    + pose proof (Nat.div_mod (full m x + (many - 1)) many ltac:(lia)) as E.
      pose proof (Nat.mod_upper_bound (full m x + (many - 1)) many ltac:(lia)). nia.
    + intros f q. cbn [Language.eval bin_op integer option_map].
      replace (Z.of_N (N.pred count)) with (Z.of_nat (many - 1)) by lia.
        replace (Z.of_N count) with (Z.of_nat many) by lia.
      rewrite !IN. unfold add, whole, two_of. rewrite <- plus_INR, !Int_part_INR.
      destruct (Z.eqb_spec (Z.of_nat many) 0); [lia |]. f_equal. rewrite <- Nat2Z.inj_div. symmetry. apply INR_IZR_INZ.
Qed.
Lemma length_value x f q : eval nothing (length_of g x) f q = Some (INR (full m x)).
Proof.
  unfold length_of. destruct (size_of g x) as [n|] eqn:S; [|reflexivity]. rewrite (size_known x n S).
  cbn [Language.eval integer option_map]. f_equal. unfold Q2R. simpl. rewrite INR_IZR_INZ.
  replace (Z.of_nat (N.to_nat n)) with (Z.of_N n) by lia. field.
Qed.
Lemma any_run_value p x run :
  same run (Bin Mul (Bin FloorDiv (Bin Add (length_of g x) (Bin Add (Bin Mul (Length p) (integer 128))
    (Const Int (Some (-1 # 1))))) (Bin Mul (Length p) (integer 128))) (integer 128)) = true ->
  exists r, full m x <= r * full m p /\ forall f q, eval nothing run f q = Some (INR r).
Proof.
  intro H. apply same_eq in H. subst run.
  assert (Pp : 0 < full m p) by apply model_ok. set (many := full m p * 128).
  assert (Mp : 0 < many) by (unfold many; lia).
  exists ((full m x + (many - 1)) / many * 128). split.
  - pose proof (Nat.div_mod (full m x + (many - 1)) many ltac:(lia)) as E.
    pose proof (Nat.mod_upper_bound (full m x + (many - 1)) many ltac:(lia)). unfold many in *. nia.
  - intros f q. cbn [Language.eval bin_op]. rewrite length_value. cbn [Language.eval bin_op integer option_map].
    assert (I : Q2R (128 # 1) = INR 128) by (unfold Q2R; simpl; lra).
    assert (J : (Q2R (-1 # 1) = -1)%R) by (unfold Q2R; simpl; lra).
    change (Z.of_N 128) with 128%Z. rewrite I, J. unfold mul, add, whole, two_of.
    rewrite <- !mult_INR. fold many.
    replace (INR many + -1)%R with (INR (many - 1)) by (rewrite minus_INR by lia; simpl; lra).
    rewrite <- plus_INR, !Int_part_INR.
    destruct (Z.eqb_spec (Z.of_nat many) 0); [lia |]. rewrite <- Nat2Z.inj_div, <- INR_IZR_INZ, <- mult_INR. reflexivity.
Qed.
Lemma stretches_sound p x c : stretches g p x c = true ->
  means nothing {| lanes_in := []; full_in := [p]; over := [] |} (Stretch p x c).
Proof.
  unfold stretches. intro H.
  destruct c as [| | | | | | |[] c1 c2| | | | | | | | | | | | | | |]; try discriminate.
  destruct c1 as [| | | | | | |[] first lane| | | | | | | | | | | | | | |]; try discriminate.
  destruct c2 as [| | | | | | |[] lane' c3| | | | | | | | | | | | | | |]; try discriminate.
  destruct c3 as [| | | | | | |[] first' run| | | | | | | | | | | | | | |]; try discriminate.
  split_and.
  repeat match goal with H : same _ _ = true |- _ => apply same_eq in H; subst end.
  apply negb_true_iff, Nat.eqb_neq in H. intros f q (F & _ & Fu & _) V. simpl in Fu.
  assert (Runs : exists r, full m x <= r * full m p /\ forall f q, eval nothing run f q = Some (INR r)).
  { destruct (size_of g p) as [count|] eqn:Sp; [|apply (any_run_value p x run); assumption].
    rewrite (size_known p count Sp). apply (run_value p x run count Sp); assumption. }
  destruct Runs as [r [R E]].
  assert (C : ends f p = full m p) by exact (Fu p (or_introl eq_refl)).
  assert (X : q x < full m x).
  { assert (0 < full m x) by apply model_ok. specialize (V x). destruct (F x). lia. }
  assert (Rp : 0 < r) by (destruct r; simpl in R; lia).
  cbv beta. rewrite C, Values.counted.
  match goal with |- Some (INR (length (filter ?h _))) = _ => assert (Same : forall i, In i (seq 0 (full m p)) ->
    h i = Nat.eqb i (q x / r)) end.
  2: { rewrite (filter_ext' _ _ _ Same), one_of_seq; [reflexivity |]. apply Nat.div_lt_upper_bound; nia. }
  intros i _. cbn [Language.eval bin_op]. rewrite E, !truth_of_bool.
    rewrite upd_same, (upd_other q p x i) by congruence.
  unfold mul, add, two_of, lt. rewrite <- mult_INR, <- plus_INR, !le_INR.
  pose proof (Nat.div_mod (q x) r ltac:(lia)). pose proof (Nat.mod_upper_bound (q x) r ltac:(lia)).
  destruct (Nat.eqb_spec i (q x / r)) as [Ei | N]; destruct (Nat.leb_spec (i * r) (q x));
    destruct (Nat.leb_spec (i * r + r) (q x)); simpl; try reflexivity; nia.
Qed.

Lemma evident_sound c b : forallb ground (terms c) = true -> evident g c = Some b -> means nothing b c.
Proof.
  intros G H. destruct c; simpl in H; try discriminate; simpl in G; split_and.
  - destruct b0; try discriminate. destruct s; try discriminate. destruct (computed a) as [w|] eqn:E; [|discriminate].
    destruct (same_number w v) eqn:S; [|discriminate]. intros f p _ _. simpl. rewrite (computed_sound a w f p E).
      apply same_number_sound, S.
  - destruct (same a b0) eqn:S; [|discriminate]. apply same_eq in S. subst. intros f p _ _.
    destruct (eval nothing b0 f p); simpl; [destruct Rle_dec; [reflexivity | lra] | reflexivity].
  - exact (signed_sound a SPos b H0 H).
  - exact (signed_sound a SNonneg b H0 H).
  - exact (signed_sound a SNonzero b H0 H).
  - exact (signed_sound a SFinite b H0 H).
  - match type of H with (if ?c then _ else _) = _ => destruct c eqn:T; [|discriminate H] end. apply andb_prop in T.
      destruct T as [T1 T2].
    apply negb_true_iff in T1, T2. apply (free_sound g m good nothing flat); assumption.
  - exact I.
  - match type of H with (if ?c then _ else _) = _ => destruct c eqn:T; [|discriminate H] end. apply andb_prop in T.
      destruct T as [T1 T2].
    apply negb_true_iff in T1, T2. apply (local_sound g m good nothing flat); assumption.
  - destruct (stretches g p x c) eqn:S; [|discriminate]. injection H as <-. apply stretches_sound, S.
  - destruct (Nat.eqb_spec x y); [discriminate | assumption].
Qed.

(* Instances of true laws. *)
Lemma all_of_found known cited es : all_of (map (nth_error known) cited) = Some es -> forall e : entry, In e es ->
  In e known.
Proof.
  revert es. induction cited as [|k cited IH]; simpl; intros es E e H; [injection E as <-; destruct H |].
  destruct (nth_error known k) eqn:K; [|discriminate]. destruct (all_of (map (nth_error known) cited)) eqn:M;
    [|discriminate].
  injection E as <-. destruct H as [<- | H]; [eapply nth_error_In; eauto | eauto].
Qed.
Lemma find_In {T} k (l : list (nat * T)) v : find k l = Some v -> In (k, v) l.
Proof. induction l as [|[n w] l IH]; simpl; [discriminate |].
  destruct (Nat.eqb_spec k n); [intros [= <-]; subst; auto | auto]. Qed.

Section Laws.
Variable laws : list law.
Hypothesis laws_true : forall l, In l laws -> true_law g m l.

Definition holding (e : entry) : Prop := means nothing (snd e) (fst e).

Lemma stands_sound s t : ground t = true -> stands g s t = true -> of_sort s (eval nothing t).
Proof.
  unfold stands, is. intros G H. split_and. destruct (sort_of g None t) as [s'|] eqn:E; [|discriminate].
    apply sort_eqb_eq in H.
  destruct (sorted_ground t s' G E) as [S | ->]; [|destruct s; discriminate].
  destruct s; simpl in H; subst s'; try exact S.
  destruct t; try discriminate. destruct s; try discriminate. destruct v; [|discriminate]. exists q. reflexivity.
Qed.

Lemma instance_sound known c w b : (forall e, In e known -> holding e) -> forallb ground (terms c) = true ->
  instance g laws known c w = Some b -> means nothing b c.
Proof.
  intros K G E. destruct w as [|k tf af cited]; [apply evident_sound; assumption |]. simpl in E.
  destruct (nth_error laws k) as [l|] eqn:L; [|discriminate].
    destruct (all_of (map (nth_error known) cited)) as [es|] eqn:A; [|discriminate].
  set (s := fun v => match find v tf with Some t => t | None => Nothing end) in *.
  set (r := fun x => match find x af with Some y => y | None => x end) in *.
  match type of E with (if ?c then _ else _) = _ => destruct c eqn:T; [|discriminate E] end. injection E as <-.
    split_and.
  match goal with H : claim_same _ _ = true |- _ => apply claim_same_eq in H; subst c end.
  match goal with H : claims_same _ _ = true |- _ => apply claims_same_eq in H; rename H into P end.
  repeat match goal with H : forallb _ _ = true |- _ => rewrite forallb_forall in H end.
  assert (Gs : forall v, ground (s v) = true).
  { intro v. unfold s. destruct (find v tf) as [t|] eqn:F; [|reflexivity]. apply find_In in F.
    match goal with H : forall e, In e tf -> _ |- _ => specialize (H _ F); apply andb_prop in H; apply H end. }
  apply cinst_means. apply (laws_true l); [eapply nth_error_In; eauto | | | | | | |].
  - intros v Hv. apply (closed_sound g m good nothing flat).
    match goal with H : forall v, In v (shut l) -> _ |- _ => specialize (H _ Hv); apply negb_true_iff in H; exact H end.
  - intros s' v Hv. apply stands_sound; [apply Gs |].
    match goal with H : forall e, In e (law_vars l) -> _ |- _ => specialize (H _ Hv); apply andb_prop in H; apply H end.
  - apply incl_appl, incl_refl.
  - intros x Hx. match goal with H : forall x, In x (map r (streamed l)) -> _ |- _ => specialize (H _ Hx);
      apply negb_true_iff, mem_not in H; exact H end.
  - apply incl_appl, incl_refl.
  - intros ns. simpl. match goal with H : match streamed l with _ => _ end = true |- _ => rename H into O end.
    destruct (streamed l); [contradiction |]. match type of O with match ?d with _ => _ end = true => destruct d;
      [|discriminate O] end. rewrite app_nil_r. apply incl_refl.
  - intros c Hc. apply (proj1 (cinst_means nothing s r _ c)).
    assert (In (cinst (fun _ => s) r c) (map fst es)) as I by (rewrite P; apply in_map, Hc).
    apply in_map_iff in I. destruct I as [e [Ee He]]. pose proof (K e (all_of_found _ _ _ A e He)) as H'.
      unfold holding in H'. rewrite Ee in H'.
    eapply means_mono; [| exact H']. split; [|split]; simpl.
    + intros y Hy. apply in_or_app. right. apply in_concat. exists (lanes_in (snd e)).
        split; [apply (in_map (fun e : entry => lanes_in (snd e))), He | exact Hy].
    + intros y Hy. apply in_concat. exists (full_in (snd e)).
        split; [apply (in_map (fun e : entry => full_in (snd e))), He | exact Hy].
    + intros y Hy. apply in_or_app. right. apply in_concat. exists (over (snd e)).
        split; [apply (in_map (fun e : entry => over (snd e))), He | exact Hy].
Qed.

Lemma enter_sound ws : forall known es, (forall e, In e known -> holding e) ->
  forallb (fun w : claim * reason => forallb ground (terms (fst w))) ws = true ->
  enter g laws known ws = Some es -> forall e, In e es -> holding e.
Proof.
  induction ws as [|[c w] ws IH]; simpl; intros known es K G E e H; [injection E as <-; auto |]. split_and.
  destruct (instance g laws known c w) as [b|] eqn:W; [|discriminate]. eapply IH; [| eassumption | exact E | exact H].
  intros e0 H2. apply in_app_or in H2. destruct H2 as [H2 | [<- | []]]; [auto | eapply instance_sound; eauto].
Qed.

Lemma top_ok b k : ok m b [] None (top m k).
Proof.
  destruct model_ok as (P & _). constructor; simpl; auto; try discriminate; intros; try apply P. split; simpl; lia.
Qed.

Lemma well_sorted_same t t' : well_sorted g t = Some t' -> t' = t.
Proof. unfold well_sorted. destruct (sort_of g None t); congruence. Qed.
Lemma made_sound known t t' b mv : (forall e, In e known -> holding e) -> made g known t mv = Some (t', b) ->
  forall f p, ok m b [] None f -> valid f p -> eval nothing t f p = eval nothing t' f p.
Proof.
  intros K E f p O V. destruct mv as [[n forward] path]. simpl in E.
  destruct (nth_error known n) as [[[a a'| | | | | | | | | | | | | | | | | | | | |] b1]|] eqn:H; try discriminate.
  pose proof (K _ (nth_error_In _ _ H)) as Ho. unfold holding in Ho; simpl in Ho.
  assert (Ho' : holds g m nothing b1 a' a) by (intros f1 q B W; symmetry; apply Ho; assumption).
  destruct forward;
    (match type of E with match ?d with _ => _ end = _ => destruct d as [t1|] eqn:P; [|discriminate E] end;
     destruct (well_sorted g t1) as [t2|] eqn:Ws; [|discriminate E]; apply well_sorted_same in Ws; injection E as <- <-;
     subst t2).
  - exact (put_sound g m good nothing b1 a a' Ho t [] None path t1 P f p O V).
  - exact (put_sound g m good nothing b1 a' a Ho' t [] None path t1 P f p O V).
Qed.
Lemma ok_weaker b b' f : weaker b b' -> ok m b' [] None f -> ok m b [] None f.
Proof. intros (A & B & C) [F L U P Q O]. constructor; auto; intros y Hy n; apply P; auto. Qed.
Lemma chain_sound known ms : (forall e, In e known -> holding e) -> forall t t' b, chain g known t ms = Some (t', b) ->
  forall f p, ok m b [] None f -> valid f p -> eval nothing t f p = eval nothing t' f p.
Proof.
  intro K. induction ms as [|mv ms IH]; simpl; intros t t' b E f p O V; [injection E as <- _; reflexivity |].
  destruct (made g known t mv) as [[t1 b1]|] eqn:M; [|discriminate].
  destruct (chain g known t1 ms) as [[t2 b2]|] eqn:R; [|discriminate]. injection E as <- <-.
  rewrite (made_sound known t t1 b1 mv K M f p).
  - apply (IH t1 t2 b2 R); [| exact V]. eapply ok_weaker; [| exact O].
    split; [|split]; simpl; apply incl_appr, incl_refl.
  - eapply ok_weaker; [| exact O]. split; [|split]; simpl; apply incl_appl, incl_refl.
  - exact V.
Qed.

(* What a closed term says does not depend on the time before a block: its equation holds wherever its lanes are. *)
Lemma about_sound known l r b ms : (forall e, In e known -> holding e) -> chain g known l ms = Some (r, b) ->
  open l = false -> open r = false -> holds g m nothing (anywhere b) l r.
Proof.
  intros K R Ol Or f p (F & L & U & _) V. set (f' := {| ends := ends f; prev := ends f; acc := acc f; item := item f |}).
  rewrite (closed_sound g m good nothing flat l Ol f f' p eq_refl eq_refl).
  rewrite (closed_sound g m good nothing flat r Or f f' p eq_refl eq_refl).
  apply (chain_sound known ms K l r b R f' p); [| exact V].
  constructor; simpl; auto; try discriminate. intro y. split; apply F.
Qed.

Lemma go_sound known steps : (forall e, In e known -> holding e) -> forall t t', go g known t steps = Some t' ->
  forall k p, valid (top m k) p -> eval nothing t (top m k) p = eval nothing t' (top m k) p.
Proof.
  intro K. induction steps as [|[mv|l ms] steps IH]; simpl; intros t t' E k p V; [injection E as <-; reflexivity | |].
  - destruct (made g known t mv) as [[t1 b]|] eqn:M; [|discriminate].
    rewrite (made_sound known t t1 b mv K M (top m k) p (top_ok b k) V). eauto.
  - destruct (chain g known l ms) as [[r b]|] eqn:R; [|discriminate].
    destruct (open l || open r)%bool eqn:O; [discriminate |]. apply orb_false_elim in O. destruct O as [Ol Or].
    destruct (everywhere (anywhere b) [] l r t) as [t1|] eqn:P; [|discriminate].
    destruct (well_sorted g t1) as [t2|] eqn:Ws; [|discriminate]. apply well_sorted_same in Ws. subst t2.
    rewrite (everywhere_sound g m good nothing (anywhere b) l r eq_refl (about_sound known l r b ms K R Ol Or) t [] None t1
      P (top m k) p (top_ok _ k) V). eauto.
Qed.
End Laws.
End Sound.

(* If the checker accepts and the laws are true, both sides are equal: in every model of what is declared,
  that is for all sizes, inputs
   and blocks, at every item and every point. *)
Theorem check_sound c m : check c = true -> meets (declared c) m -> (forall l, In l (laws c) ->
  true_law (declared c) m l) ->
  forall k p, valid (top m k) p ->
  eval (declared c) m nothing (source c) (top m k) p = eval (declared c) m nothing (destination c) (top m k) p.
Proof.
  unfold check. intros C M L k p V. repeat match goal with H : (_ && _)%bool = true |- _ => apply andb_prop in H;
    destruct H end.
  destruct (enter (declared c) (laws c) [] (reasons c)) as [known|] eqn:E; [|discriminate].
  destruct (go (declared c) known (source c) (steps c)) as [t|] eqn:G; [|discriminate].
  match goal with H : same t _ = true |- _ => apply same_eq in H; subst t end.
  eapply (go_sound (declared c) m M); eauto. refine (enter_sound (declared c) m M (laws c) L (reasons c) [] known _ _
    E); [intros e [] |].
  match goal with H : forallb (claim_ok _) _ = true |- _ => rewrite forallb_app in H; rename H into R end.
    apply andb_prop in R. destruct R as [_ R].
  rewrite forallb_forall in R. apply forallb_forall. intros w Hw. specialize (R (fst w) (in_map fst _ _ Hw)).
  unfold claim_ok in R. apply andb_prop in R. destruct R as [R _]. apply andb_prop in R. apply R.
Qed.
Print Assumptions check_sound.
