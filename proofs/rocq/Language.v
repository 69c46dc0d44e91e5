(* The term language, deeply embedded, and its meaning in frames: what napkin_eq/lang/term.py and napkin_eq/lang/numpy_semantics.py say,
  over Values.v.

   A frame says how far each axis has been read, how far one block before, and what the accumulator holds;
     a point gives each
   axis a lane. Body and mask of a stream are read in the prefixes of its axis and keep the previous ends and the
     accumulator
   of the stream outside; the update has its own. Prev reads what stood one block before. Bodies have 0 < lanes; what is
   asked of an axis without lanes (before a stream's first block) is asked at the lane 0, which is not there. *)

Require Import Reals List Lia Bool Arith ZArith QArith Qreals FunctionalExtensionality.
Require Import Values.
Import ListNotations.
Open Scope nat_scope.

Definition axis := nat.
Definition name := nat.
Definition point := axis -> nat.
Definition upd {T} (p : axis -> T) (x : axis) (v : T) : axis -> T := fun y => if Nat.eqb y x then v else p y.

(* Number is of pattern variables only, which stand for real constants.
  A coordinate's value is a whole number, a mask's 0 or 1. *)
Inductive sort := Real | Number | Int | Bool | Several.
Inductive fact := IsPos | IsNonneg | IsNonzero | IsFinite.
Inductive monoid := MSum | MMax | MProd.
Inductive un := Neg | Inv | Exp | Log | Sqrt | Tanh | Sigmoid | Erf | Sin | Cos | Abs | Floor | Round | Expm1 | Atan | ToReal | Not.
Inductive bin := Add | Mul | BMax | BMin | FloorDiv | Mod | Lt | Le | Eqb | And | Or.

(* A tuple is its first item and the others, at last Nothing. *)
Inductive term :=
| Var (s : sort) (v : name)
| Input (n : name)
| Const (s : sort) (v : option Q)
| Index (x : axis)
| Size (x : axis)
| Length (x : axis)
| Un (o : un) (a : term)
| Bin (o : bin) (a b : term)
| Where (c a b : term)
| Reduce (m : monoid) (x : axis) (a c : term)
| Fold (fused : bool) (m : monoid) (x : axis) (a c : term)
| Online (fused : bool) (x : axis) (a c u : term)
| Scan (m : monoid) (x : axis) (a : term)
| Recur (x : axis) (a b : term)
| Read (x : axis) (a i : term)
| Acc
| Prev (a : term)
| Group (x : axis) (a : term)
| Walk (x : axis) (a : term)
| Store (a : term)
| Proj (k : nat) (a : term)
| Item (a b : term)
| Nothing.

(* What a theorem declares: of each axis the size, where it has one, and what it is a multiple of;
  of each input its axes, sort and facts. *)
Record context := { sizes : list (option N * N); inputs : list (list axis * sort * list fact) }.
Definition dims (g : context) (n : name) : list axis := match nth_error (inputs g) n with Some (d, _, _) => d
  | None => [] end.

(* What a theorem leaves open: how long the axes are, what the inputs hold, how axes are cut into blocks;
  what erf is, and how large an exponent may be. *)
Record model := {
  full : axis -> nat; data : name -> list nat -> val; blocks : axis -> nat -> list (list nat); erf : R -> R;
    largest : R }.

Definition truth (v : val) : bool := negb (eq v (Some 0%R)).
Definition of_bool (b : bool) : val := if b then Some 1%R else Some 0%R.

(* A half is rounded to the even side; nothing is left over where nothing divides. *)
Definition to_even (x : R) : R :=
  let n := Int_part x in
  if Rlt_dec (frac_part x) (1 / 2) then IZR n else if Rlt_dec (1 / 2) (frac_part x) then IZR (n + 1)
  else if Z.even n then IZR n else IZR (n + 1).
Definition whole (f : Z -> Z -> Z) : val -> val -> val :=
  two_of (fun a b => if Z.eqb (Int_part b) 0 then 0%R else IZR (f (Int_part a) (Int_part b))).

Definition un_op (m : model) (o : un) : val -> val :=
  match o with
  | Neg => neg | Inv => inv | Exp => exp | Log => log | Sqrt => sqrt | Tanh => tanh | Sigmoid => sigmoid
    | Sin => sin | Cos => cos
  | Abs => abs | Floor => floor | Round => one_of to_even | ToReal => fun a => a
  | Erf => fun a => match a with None => Some (-1)%R | Some x => Some (erf m x) end
  | Expm1 => fun a => add (exp a) (Some (-1)%R)
  | Atan => one_of Ratan.atan
  | Not => fun a => of_bool (negb (truth a))
  end.
Definition bin_op (o : bin) : val -> val -> val :=
  match o with
  | Add => add | Mul => mul | BMax => max | BMin => min | FloorDiv => whole Z.div | Mod => whole Z.modulo
  | Lt => fun a b => of_bool (lt a b) | Le => fun a b => of_bool (le a b) | Eqb => fun a b => of_bool (eq a b)
  | And => fun a b => of_bool (truth a && truth b) | Or => fun a b => of_bool (truth a || truth b)
  end.
Definition mop (m : monoid) := match m with MSum => add | MMax => max | MProd => mul end.
Definition munit (m : monoid) : val := match m with MSum => Some 0%R | MMax => None | MProd => Some 1%R end.

(* item: which item of a tuple is asked for; what is no tuple does not look at it. *)
Record frame := { ends : axis -> nat; prev : axis -> nat; acc : point -> val; item : nat }.

Definition clamp (e : axis -> nat) (p : point) : point := fun x => Nat.min (p x) (e x - 1).
Definition place (v : val) (n : nat) : nat :=
  match v with None => 0 | Some r => Nat.min (Z.to_nat (Int_part r)) (n - 1) end.
Definition cut (f : frame) (x : axis) (n : nat) : frame :=
  {| ends := upd (ends f) x n; prev := prev f; acc := acc f; item := item f |}.
Definition back (f : frame) : frame := {| ends := prev f; prev := prev f; acc := acc f; item := item f |}.
Definition moved (f : frame) (x : axis) (n k : nat) (a : point -> val) : frame :=
  {| ends := upd (ends f) x k; prev := upd (ends f) x n; acc := a; item := item f |}.
Definition at_item (f : frame) (k : nat) : frame := {| ends := ends f; prev := prev f; acc := acc f; item := k |}.

(* Points inside of the axes. *)
Definition valid (f : frame) (p : point) : Prop := forall x, p x <= ends f x - 1.

Definition meaning := frame -> point -> val.

Section Meaning.

Variable g : context.
Variable m : model.

(* A linear recurrence: what the lane before holds is multiplied by a gain, and a part is added; 0 stands before the first. *)
Fixpoint recur (gain part : nat -> val) (n : nat) : val :=
  match n with 0 => Some 0%R | S i => add (mul (gain i) (recur gain part i)) (part i) end.

(* A stream over the blocks: the accumulator is a function of the point. *)
Fixpoint run (x : axis) (ba bc bu : meaning) (f : frame) (bs : list (list nat)) (seen : list nat) (a : point ->
  val) : point -> val :=
  match bs with
  | [] => a
  | b :: rest =>
      let now := seen ++ b in
      let here := cut f x (length now) in
      run x ba bc bu f rest now
        (fun p => let p := clamp (ends f) p in add (bu (moved f x (length seen) (length now) a) (upd p x 0))
                      (reduce add (Some 0%R) (filter (fun i => truth (bc here (upd p x i))) b) (fun i => ba here (upd
                        p x i))))
  end.

Fixpoint eval (eta : name -> meaning) (t : term) : meaning := fun f p =>
  match t with
  | Var _ v => eta v f p
  | Input n => data m n (map p (dims g n))
  | Const _ q => option_map Q2R q
  | Index x => Some (INR (p x))
  | Size x => Some (INR (ends f x))
  | Length x => Some (INR (full m x))
  | Un o a => un_op m o (eval eta a f p)
  | Bin o a b => bin_op o (eval eta a f p) (eval eta b f p)
  | Where c a b => choice (truth (eval eta c f p)) (eval eta a f p) (eval eta b f p)
  | Reduce o x a c =>
      reduce (mop o) (munit o) (filter (fun i => truth (eval eta c f (upd p x i))) (seq 0 (ends f x))) (fun i => eval
        eta a f (upd p x i))
  | Fold _ o x a c =>
      fold (mop o) (munit o) (blocks m x (ends f x)) (fun i => truth (eval eta c f (upd p x i))) (fun i => eval eta a
        f (upd p x i))
  | Online _ x a c u => run x (eval eta a) (eval eta c) (eval eta u) f (blocks m x (ends f x)) [] (fun _ => Some 0%R) p
  | Scan o x a => reduce (mop o) (munit o) (seq 0 (S (p x))) (fun i => eval eta a f (upd p x i))
  | Recur x a b =>
      recur (fun i => eval eta a f (upd p x i)) (fun i => eval eta b f (upd p x i)) (S (p x))
  | Read x a i => eval eta a f (upd p x (place (eval eta i f p) (ends f x)))
  | Acc => acc f p
  | Prev a => eval eta a (back f) (clamp (prev f) p)
  | Group _ a | Walk _ a | Store a => eval eta a f p
  | Proj k a => eval eta a (at_item f k) p
  | Item a b => match item f with 0 => eval eta a f p | S k => eval eta b (at_item f k) p end
  | Nothing => None
  end.

End Meaning.

(* Here ends what is to be read to understand what a theorem says; what follows is proof. *)

Arguments recur : simpl never.
Lemma recur_ext gain gain' part part' n : (forall i, i < n -> gain i = gain' i) -> (forall i, i < n -> part i = part' i) ->
  recur gain part n = recur gain' part' n.
Proof.
  intros G P. induction n as [|n I]; [reflexivity |]. unfold recur in *; fold recur in *.
  rewrite G, P by lia. f_equal. f_equal. apply I; intros i Hi; [apply G | apply P]; lia.
Qed.

Lemma valid_clamp f p : clamp (ends f) p = p <-> valid f p.
Proof.
  unfold clamp, valid. split.
  - intros E x. apply (f_equal (fun q => q x)) in E. lia.
  - intro V. apply functional_extensionality. intro x. specialize (V x). lia.
Qed.
Lemma clamp_valid f p : valid f (clamp (ends f) p).
Proof. intro x. unfold clamp. lia. Qed.

Lemma upd_same {T} (p : axis -> T) x v : upd p x v x = v.
Proof. unfold upd. rewrite Nat.eqb_refl. reflexivity. Qed.
Lemma upd_other {T} (p : axis -> T) x y v : y <> x -> upd p x v y = p y.
Proof. intro. unfold upd. destruct (Nat.eqb_spec y x); [contradiction | reflexivity]. Qed.
Lemma upd_twice {T} (p : axis -> T) x v w : upd (upd p x v) x w = upd p x w.
Proof. apply functional_extensionality. intro y. unfold upd. destruct (Nat.eqb y x); reflexivity. Qed.
Lemma upd_swap {T} (p : axis -> T) x y v w : x <> y -> upd (upd p x v) y w = upd (upd p y w) x v.
Proof. intro. apply functional_extensionality. intro z. unfold upd.
  destruct (Nat.eqb_spec z x), (Nat.eqb_spec z y); congruence. Qed.
Lemma upd_own {T} (p : axis -> T) x : upd p x (p x) = p.
Proof. apply functional_extensionality. intro z. unfold upd. destruct (Nat.eqb_spec z x); congruence. Qed.

Lemma reduce_ext {X} op e (xs : list X) a a' : (forall x, In x xs -> a x = a' x) ->
  reduce op e xs a = reduce op e xs a'.
Proof. apply reduce_same. Qed.

Lemma filter_ext' {X} (c c' : X -> bool) (xs : list X) : (forall x, In x xs -> c x = c' x) ->
  filter c xs = filter c' xs.
Proof.
  induction xs; simpl; intros H; [reflexivity |]. rewrite H by (left; reflexivity). rewrite IHxs; [reflexivity |].
  intros; apply H; right; assumption.
Qed.

Lemma masked_ext {X} op e (xs : list X) c c' a a' : (forall x, In x xs -> c x = c' x) -> (forall x, In x xs ->
  a x = a' x) ->
  reduce op e (filter c xs) a = reduce op e (filter c' xs) a'.
Proof. intros Hc Ha. rewrite (filter_ext' _ _ _ Hc). apply reduce_ext. intros x H. apply Ha. apply filter_In in H.
  tauto. Qed.

Lemma fold_ext {X} op e (bs : list (list X)) c c' a a' :
  (forall x, In x (concat bs) -> c x = c' x) -> (forall x, In x (concat bs) -> a x = a' x) ->
    fold op e bs c a = fold op e bs c' a'.
Proof.
  intros Hc Ha. unfold fold. generalize e at 2 4 as z. induction bs as [|b bs IH]; simpl; intro z; [reflexivity |].
  rewrite (masked_ext op e b c c' a a').
  - apply IH; intros x H; [apply Hc | apply Ha]; simpl; apply in_or_app; right; exact H.
  - intros x H; apply Hc; simpl; apply in_or_app; left; exact H.
  - intros x H; apply Ha; simpl; apply in_or_app; left; exact H.
Qed.

(* Blocks are prefixes. *)
Lemma lanes_prefix n seen rest : seen ++ rest = seq 0 n -> seen = seq 0 (length seen).
Proof.
  revert n rest. induction seen as [|i seen IH] using rev_ind; intros n rest H; [reflexivity |].
  rewrite <- app_assoc in H. pose proof (IH _ _ H) as E. rewrite app_length. simpl.
  rewrite Nat.add_1_r, seq_S, <- E. f_equal. f_equal. simpl.
  assert (N : nth (length seen) (seen ++ [i] ++ rest) 0 = length seen).
  { rewrite H. apply seq_nth. apply (f_equal (@length nat)) in H. rewrite !app_length, seq_length in H. simpl in H.
    lia. }
  rewrite app_nth2, Nat.sub_diag in N by lia. exact N.
Qed.

(* A model that a theorem speaks of: axes have lanes, blocks are not empty and in order. *)
Definition possible (m : model) : Prop :=
  (forall x, 0 < full m x) /\ (forall x n, concat (blocks m x n) = seq 0 n) /\ (forall x n,
    Forall (fun b => b <> []) (blocks m x n)) /\
  (11 <= largest m)%R.

(* Two streams over the same blocks are equal if their parts are,
  in the frames and at the points where they are asked. *)
Section Related.
Variable m : model.
Hypothesis good : possible m.
Variables (x : axis) (P : point -> point -> Prop) (ba ba' bc bc' bu bu' : meaning) (f f' : frame) (n : nat).
Hypothesis HP : forall p p', P p p' -> P (clamp (ends f) p) (clamp (ends f') p').
Hypothesis Ha : forall k i p p', P p p' -> valid f p -> valid f' p' -> 0 < k <= n -> i < k ->
  ba (cut f x k) (upd p x i) = ba' (cut f' x k) (upd p' x i).
Hypothesis Hc : forall k i p p', P p p' -> valid f p -> valid f' p' -> 0 < k <= n -> i < k ->
  truth (bc (cut f x k) (upd p x i)) = truth (bc' (cut f' x k) (upd p' x i)).
Hypothesis Hu : forall k j a a' p p', P p p' -> valid f p -> valid f' p' -> k < j <= n -> (forall q q', P q q' ->
  a q = a' q') ->
  bu (moved f x k j a) (upd p x 0) = bu' (moved f' x k j a') (upd p' x 0).

Lemma run_related bs : forall seen a a', seen ++ concat bs = seq 0 n -> Forall (fun b => b <> []) bs ->
  (forall q q', P q q' -> a q = a' q') -> forall p p', P p p' ->
    run x ba bc bu f bs seen a p = run x ba' bc' bu' f' bs seen a' p'.
Proof.
  induction bs as [|b bs IH]; simpl; intros seen a a' E F Q p p' H; [apply Q, H |].
  inversion F as [|? ? nb F']; subst. assert (E' : (seen ++ b) ++ concat bs = seq 0 n) by (rewrite <- app_assoc;
    exact E).
  assert (L : (length (seen ++ b) <= n)%nat).
  { apply (f_equal (@length nat)) in E'. rewrite app_length, seq_length in E'. lia. }
  assert (Lb : (length seen < length (seen ++ b))%nat) by (rewrite app_length; destruct b; [contradiction | simpl;
    lia]).
  apply IH; [exact E' | exact F' | | exact H].
  intros q q' Hq. apply HP in Hq. pose proof (clamp_valid f q) as V. pose proof (clamp_valid f' q') as V'.
  rewrite (Hu _ _ a a' _ _ Hq V V') by (try lia; exact Q).
  f_equal. assert (In_ : forall i, In i b -> (i < length (seen ++ b))%nat).
  { intros i Hi. assert (In i (seen ++ b)) as Hs by (apply in_or_app; right; exact Hi).
    rewrite (lanes_prefix _ _ _ E') in Hs. apply in_seq in Hs. lia. }
  apply masked_ext; intros i Hi; [apply Hc | apply Ha]; auto; lia.
Qed.

Lemma online_related p p' : P p p' ->
  run x ba bc bu f (blocks m x n) [] (fun _ => Some 0%R) p = run x ba' bc' bu' f' (blocks m x n) [] (fun _ => Some
    0%R) p'.
Proof. destruct good as (_ & concats & filled & _). intro H. apply run_related; auto. apply concats. Qed.
End Related.
