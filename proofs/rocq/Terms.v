(* What can be read off a term: the functions of napkin_eq/certify/check.py that look at terms,
  by the same names where they have one there.
   Frames.v shows what each guarantees. *)

Require Import Reals List Lia Bool Arith ZArith QArith Qreals FunctionalExtensionality.
Require Import Values Language.
Import ListNotations.
Open Scope nat_scope.

(* Equality of terms, as a computation. *)

Definition sort_eqb (a b : sort) : bool :=
  match a, b with Real, Real | Number, Number | Int, Int | Bool, Bool | Several, Several => true | _, _ => false end.
Definition monoid_eqb (a b : monoid) : bool := match a, b with MSum, MSum | MMax, MMax | MProd, MProd => true | _,
  _ => false end.
Definition un_number (o : un) : nat :=
  match o with
  | Neg => 0 | Inv => 1 | Exp => 2 | Log => 3 | Sqrt => 4 | Tanh => 5 | Sigmoid => 6 | Erf => 7 | Sin => 8
    | Cos => 9 | Abs => 10
  | Floor => 11 | Round => 12 | ToReal => 13 | Not => 14 | Expm1 => 15 | Atan => 16
  end.
Definition bin_number (o : bin) : nat :=
  match o with
  | Add => 0 | Mul => 1 | BMax => 2 | BMin => 3 | FloorDiv => 4 | Mod => 5 | Lt => 6 | Le => 7 | Eqb => 8 | And => 9
    | Or => 10
  end.
Definition Q_eqb (a b : Q) : bool := Z.eqb (Qnum a) (Qnum b) && Pos.eqb (Qden a) (Qden b).
Definition number_eqb (a b : option Q) : bool := match a, b with None, None => true | Some a, Some b => Q_eqb a b | _,
  _ => false end.

Fixpoint same (a b : term) {struct a} : bool :=
  match a, b with
  | Var s v, Var s' v' => sort_eqb s s' && Nat.eqb v v'
  | Input n, Input n' => Nat.eqb n n'
  | Const s q, Const s' q' => sort_eqb s s' && number_eqb q q'
  | Index x, Index y | Size x, Size y | Length x, Length y => Nat.eqb x y
  | Un o a, Un o' a' => Nat.eqb (un_number o) (un_number o') && same a a'
  | Bin o a b, Bin o' a' b' => Nat.eqb (bin_number o) (bin_number o') && same a a' && same b b'
  | Where c a b, Where c' a' b' => same c c' && same a a' && same b b'
  | Reduce o x a c, Reduce o' x' a' c' => monoid_eqb o o' && Nat.eqb x x' && same a a' && same c c'
  | Fold d o x a c, Fold d' o' x' a' c' => Bool.eqb d d' && monoid_eqb o o' && Nat.eqb x x' && same a a' && same c c'
  | Online d x a c u, Online d' x' a' c' u' => Bool.eqb d d' && Nat.eqb x x' && same a a' && same c c' && same u u'
  | Recur x a b, Recur x' a' b' => Nat.eqb x x' && same a a' && same b b'
  | Scan o x a, Scan o' x' a' => monoid_eqb o o' && Nat.eqb x x' && same a a'
  | Read x a i, Read x' a' i' => Nat.eqb x x' && same a a' && same i i'
  | Acc, Acc | Nothing, Nothing => true
  | Prev a, Prev a' | Store a, Store a' => same a a'
  | Group x a, Group x' a' | Walk x a, Walk x' a' | Proj x a, Proj x' a' => Nat.eqb x x' && same a a'
  | Item a b, Item a' b' => same a a' && same b b'
  | _, _ => false
  end.

Ltac split_and := repeat match goal with H : (_ && _)%bool = true |- _ => apply andb_prop in H; destruct H end.

Lemma sort_eqb_eq a b : sort_eqb a b = true -> a = b.
Proof. destruct a, b; simpl; congruence. Qed.
Lemma monoid_eqb_eq a b : monoid_eqb a b = true -> a = b.
Proof. destruct a, b; simpl; congruence. Qed.
Lemma Q_eqb_eq a b : Q_eqb a b = true -> a = b.
Proof. destruct a, b. unfold Q_eqb. simpl. intro. split_and. rewrite Z.eqb_eq in H. rewrite Pos.eqb_eq in H0.
  congruence. Qed.
Lemma number_eqb_eq a b : number_eqb a b = true -> a = b.
Proof. destruct a, b; simpl; try congruence. intro H. apply Q_eqb_eq in H. congruence. Qed.

Lemma same_eq a : forall b, same a b = true -> a = b.
Proof.
  induction a; destruct b; simpl; try discriminate; intro; split_and;
    repeat match goal with
    | H : sort_eqb _ _ = true |- _ => apply sort_eqb_eq in H; subst
    | H : monoid_eqb _ _ = true |- _ => apply monoid_eqb_eq in H; subst
    | H : Bool.eqb _ _ = true |- _ => apply eqb_prop in H; subst
    | H : number_eqb _ _ = true |- _ => apply number_eqb_eq in H; subst
    | H : Nat.eqb (un_number ?a) (un_number ?b) = true |- _ =>
        assert (a = b) by (destruct a, b; simpl in H; congruence); clear H; subst
    | H : Nat.eqb (bin_number ?a) (bin_number ?b) = true |- _ =>
        assert (a = b) by (destruct a, b; simpl in H; congruence); clear H; subst
    | H : Nat.eqb _ _ = true |- _ => apply Nat.eqb_eq in H; subst
    | IH : forall b, same ?a b = true -> ?a = b, H : same ?a _ = true |- _ => apply IH in H; subst
    end; reflexivity.
Qed.

Definition mem (x : axis) (l : list axis) : bool := existsb (Nat.eqb x) l.
Lemma mem_In x l : mem x l = true <-> In x l.
Proof.
  unfold mem. rewrite existsb_exists. split; [intros [y [H E]]; apply Nat.eqb_eq in E; subst; exact H |].
  intro H; exists x; split; [exact H | apply Nat.eqb_refl].
Qed.
Lemma mem_not x l : mem x l = false <-> ~ In x l.
Proof. rewrite <- mem_In. destruct (mem x l); split; intro H; try congruence; try (exfalso; apply H; reflexivity). Qed.

(* Which item of a tuple a term is asked for: none in particular, or the k-th. *)
Definition down (k : option nat) : option nat := match k with Some (S k) => Some k | _ => None end.

(* The axes along which a term varies. An accumulator's are not seen. *)
Fixpoint varies (g : context) (x : axis) (k : option nat) (t : term) : bool :=
  match t with
  | Var _ _ | Const _ _ | Size _ | Length _ | Acc | Nothing => false
  | Input n => mem x (dims g n)
  | Index y => Nat.eqb x y
  | Un _ a | Prev a => varies g x None a
  | Group _ a | Walk _ a | Store a => varies g x k a
  | Bin _ a b => varies g x None a || varies g x None b
  | Where c a b => varies g x None c || varies g x None a || varies g x None b
  | Reduce _ y a c | Fold _ _ y a c => negb (Nat.eqb x y) && (varies g x None a || varies g x None c)
  | Online _ y a c u => (negb (Nat.eqb x y) && (varies g x None a || varies g x None c)) || varies g x None u
  | Scan _ y a => Nat.eqb x y || varies g x None a
  | Recur y a b => Nat.eqb x y || varies g x None a || varies g x None b
  | Read y a i => (negb (Nat.eqb x y) && varies g x None a) || varies g x None i
  | Proj k a => varies g x (Some k) a
  | Item a b =>
      match k with
      | None => varies g x None a || varies g x None b
      | Some 0 => varies g x None a
      | Some (S k) => varies g x (Some k) b
      end
  end.

(* Marks: whether a term holds an accumulator, a previous value, whose stream is outside of it.
  A stream keeps its update's. *)
Fixpoint open_acc (t : term) : bool :=
  match t with
  | Var _ _ | Input _ | Const _ _ | Index _ | Size _ | Length _ | Nothing => false
  | Un _ a | Prev a | Group _ a | Walk _ a | Store a | Proj _ a | Scan _ _ a => open_acc a
  | Bin _ a b | Read _ a b | Recur _ a b | Item a b | Reduce _ _ a b | Fold _ _ _ a b | Online _ _ a b _ => open_acc a || open_acc b
  | Where c a b => open_acc c || open_acc a || open_acc b
  | Acc => true
  end.
Fixpoint open_prev (t : term) : bool :=
  match t with
  | Var _ _ | Input _ | Const _ _ | Index _ | Size _ | Length _ | Nothing | Acc => false
  | Un _ a | Group _ a | Walk _ a | Store a | Proj _ a | Scan _ _ a => open_prev a
  | Bin _ a b | Read _ a b | Recur _ a b | Item a b | Reduce _ _ a b | Fold _ _ _ a b | Online _ _ a b _ => open_prev a || open_prev b
  | Where c a b => open_prev c || open_prev a || open_prev b
  | Prev _ => true
  end.
Definition open (t : term) : bool := open_acc t || open_prev t.

(* The axes that a term walks: its value depends on how much of them a stream has reached. *)
Fixpoint walks (x : axis) (t : term) : bool :=
  match t with
  | Var _ _ | Input _ | Const _ _ | Index _ | Length _ | Nothing | Acc => false
  | Size y => Nat.eqb x y
  | Un _ a | Prev a | Group _ a | Walk _ a | Store a | Proj _ a => walks x a
  | Bin _ a b | Item a b => walks x a || walks x b
  | Where c a b => walks x c || walks x a || walks x b
  | Scan _ y a => Nat.eqb x y || walks x a
  | Reduce _ y a c | Fold _ _ y a c | Read y a c | Recur y a c => Nat.eqb x y || walks x a || walks x c
  | Online _ y a c u => Nat.eqb x y || walks x a || walks x c || walks x u
  end.

(* Whether an open previous value varies along x: it may not, in an update over x. *)
Fixpoint prev_varies (g : context) (x : axis) (t : term) : bool :=
  match t with
  | Var _ _ | Input _ | Const _ _ | Index _ | Size _ | Length _ | Nothing | Acc => false
  | Un _ a | Group _ a | Walk _ a | Store a | Proj _ a | Scan _ _ a => prev_varies g x a
  | Bin _ a b | Read _ a b | Recur _ a b | Item a b | Reduce _ _ a b | Fold _ _ _ a b | Online _ _ a b _ => prev_varies g x a
    || prev_varies g x b
  | Where c a b => prev_varies g x c || prev_varies g x a || prev_varies g x b
  | Prev a => varies g x None a || prev_varies g x a
  end.

(* The sort of a term whose parts fit together. k: of which item. *)
Definition array (s : sort) : bool := match s with Real | Int | Bool => true | _ => false end.
Definition num (s : sort) : bool := match s with Real | Int => true | _ => false end.
Definition shape (s : sort) : sort := match s with Number => Real | s => s end.
Definition constant (s : sort) (q : option Q) : bool :=
  match s, q with
  | Real, _ => true
  | Int, Some q => Pos.eqb (Qden q) 1
  | Bool, Some q => Pos.eqb (Qden q) 1 && (Z.eqb (Qnum q) 0 || Z.eqb (Qnum q) 1)
  | _, _ => false
  end.
Definition un_sort (o : un) (a : sort) : option sort :=
  match o, a with
  | Neg, Real => Some Real | Neg, Int => Some Int | Neg, _ => None
  | Not, Bool => Some Bool | Not, _ => None
  | ToReal, Int => Some Real | ToReal, _ => None
  | _, Real => Some Real | _, _ => None
  end.
Definition bin_sort (o : bin) (a b : sort) : option sort :=
  if negb (sort_eqb a b) then None
  else match o with
  | Add | Mul | BMax | BMin => if num a then Some a else None
  | FloorDiv | Mod => if sort_eqb a Int then Some Int else None
  | Lt | Le | Eqb => if num a then Some Bool else None
  | And | Or => if sort_eqb a Bool then Some Bool else None
  end.

Fixpoint sort_of (g : context) (k : option nat) (t : term) {struct t} : option sort :=
  let reduced a c := match sort_of g None a, sort_of g None c with Some Real, Some Bool => Some Real | _,
    _ => None end in
  match k with
  | None =>
      match t with
      | Var s _ => Some (shape s)
      | Input n => match nth_error (inputs g) n with Some (_, s, _) => if array s then Some s else None
        | None => None end
      | Const s q => if constant s q then Some s else None
      | Index _ | Size _ | Length _ => Some Int
      | Un o a => match sort_of g None a with Some s => un_sort o s | None => None end
      | Bin o a b => match sort_of g None a, sort_of g None b with Some s, Some s' => bin_sort o s s' | _, _ => None end
      | Where c a b =>
          match sort_of g None c, sort_of g None a, sort_of g None b with
          | Some Bool, Some s, Some s' => if num s && sort_eqb s s' then Some s else None
          | _, _, _ => None
          end
      | Reduce _ _ a c | Fold _ _ _ a c => reduced a c
      | Online _ x a c u =>
          match reduced a c, sort_of g None u with
          | Some Real, Some Real => if varies g x None u || prev_varies g x u then None else Some Real
          | _, _ => None
          end
      | Scan _ _ a => match sort_of g None a with Some Real => Some Real | _ => None end
      | Recur _ a b => match sort_of g None a, sort_of g None b with Some Real, Some Real => Some Real | _, _ => None end
      | Read _ a i =>
          match sort_of g None a, sort_of g None i with Some s, Some Int => if array s then Some s else None | _,
            _ => None end
      | Acc => Some Real
      | Prev a => match sort_of g None a with Some s => if array s && negb (open a) then Some s else None
        | None => None end
      | Group _ a | Walk _ a | Store a => sort_of g None a
      | Proj j a => match sort_of g None a with Some Several => sort_of g (Some j) a | _ => None end
      | Item a b =>
          match sort_of g None a, sort_of g None b with Some s,
            Some Several => if array s then Some Several else None | _, _ => None end
      | Nothing => Some Several
      end
  | Some j =>
      match t with
      | Group _ a | Walk _ a | Store a => sort_of g k a
      | Item a b => match j with 0 => sort_of g None a | S j => sort_of g (Some j) b end
      | _ => None
      end
  end.

(* What a claim is made of: frames in which the axes of N have lanes and those of F are read in full,
  that are updates over those of U. *)
Record bar := { lanes_in : list axis; full_in : list axis; over : list axis }.

(* The subterm at a path, which must be l, becomes r. S: axes that may be empty under Prev;
  V: the axis whose update this is. *)
Fixpoint put (b : bar) (S : list axis) (V : option axis) (t : term) (path : list nat) (l r : term) {struct t} : option
  term :=
  match path with
  | [] =>
      if same t l && forallb (fun x => match V with Some y => Nat.eqb x y
        | None => false end) (over b) then Some r else None
  | k :: path =>
      match t, k with
      | Un o a, 0 => option_map (Un o) (put b S V a path l r)
      | Bin o a c, 0 => option_map (fun a => Bin o a c) (put b S V a path l r)
      | Bin o a c, 1 => option_map (fun c => Bin o a c) (put b S V c path l r)
      | Where c a d, 0 => option_map (fun c => Where c a d) (put b S V c path l r)
      | Where c a d, 1 => option_map (fun a => Where c a d) (put b S V a path l r)
      | Where c a d, 2 => option_map (fun d => Where c a d) (put b S V d path l r)
      | Reduce o x a c, 0 => option_map (fun a => Reduce o x a c) (put b S V a path l r)
      | Reduce o x a c, 1 => option_map (fun c => Reduce o x a c) (put b S V c path l r)
      | Fold d o x a c, 0 => option_map (fun a => Fold d o x a c) (put b S V a path l r)
      | Fold d o x a c, 1 => option_map (fun c => Fold d o x a c) (put b S V c path l r)
      | Scan o x a, 0 => option_map (Scan o x) (put b S V a path l r)
      | Recur x a c, 0 => option_map (fun a => Recur x a c) (put b S V a path l r)
      | Recur x a c, 1 => option_map (Recur x a) (put b S V c path l r)
      | Read x a i, 0 => option_map (fun a => Read x a i) (put b S V a path l r)
      | Read x a i, 1 => option_map (Read x a) (put b S V i path l r)
      | Online d x a c u, 0 => if mem x (full_in b) then None else option_map (fun a => Online d x a c u) (put b S
        None a path l r)
      | Online d x a c u, 1 => if mem x (full_in b) then None else option_map (fun c => Online d x a c u) (put b S
        None c path l r)
      | Online d x a c u, 2 => if mem x (full_in b) then None else option_map (Online d x a c) (put b [x] (Some x) u
        path l r)
      | Prev a, 0 => if existsb (fun x => mem x (lanes_in b)) S then None else option_map Prev (put b [] None a path l
        r)
      | Group x a, 0 => option_map (Group x) (put b S V a path l r)
      | Walk x a, 0 => option_map (Walk x) (put b S V a path l r)
      | Store a, 0 => option_map Store (put b S V a path l r)
      | Proj j a, 0 => option_map (Proj j) (put b S V a path l r)
      | Item a c, 0 => option_map (fun a => Item a c) (put b S V a path l r)
      | Item a c, Datatypes.S k => option_map (Item a) (put b S V c (k :: path) l r)
      | _, _ => None
      end
  end.

(* One side in the place of the other wherever that stands: refused as put would refuse it at any of these places. *)
Fixpoint everywhere (b : bar) (S : list axis) (l r t : term) {struct t} : option term :=
  if same t l then Some r else
  let one a (f : term -> term) := option_map f (everywhere b S l r a) in
  let two a c (f : term -> term -> term) :=
    match everywhere b S l r a, everywhere b S l r c with Some a', Some c' => Some (f a' c') | _, _ => None end in
  match t with
  | Var _ _ | Input _ | Const _ _ | Index _ | Size _ | Length _ | Nothing | Acc => Some t
  | Un o a => one a (Un o)
  | Scan o x a => one a (Scan o x)
  | Group x a => one a (Group x)
  | Walk x a => one a (Walk x)
  | Store a => one a Store
  | Proj k a => one a (Proj k)
  | Bin o a c => two a c (Bin o)
  | Reduce o x a c => two a c (Reduce o x)
  | Fold d o x a c => two a c (Fold d o x)
  | Recur x a c => two a c (Recur x)
  | Read x a i => two a i (Read x)
  | Item a c => two a c Item
  | Where c a d =>
      match everywhere b S l r c, everywhere b S l r a, everywhere b S l r d with
      | Some c', Some a', Some d' => Some (Where c' a' d')
      | _, _, _ => None
      end
  | Online d x a c u =>
      match everywhere b S l r a, everywhere b S l r c, everywhere b [x] l r u with
      | Some a', Some c', Some u' =>
          if same a a' && same c c' && same u u' then Some t
          else if mem x (full_in b) then None else Some (Online d x a' c' u')
      | _, _, _ => None
      end
  | Prev a =>
      match everywhere b [] l r a with
      | Some a' => if same a a' then Some t else if existsb (fun x => mem x (lanes_in b)) S then None else Some (Prev a')
      | None => None
      end
  end.

(* Substitution: of terms for variables, of axes for axes, not necessarily different ones. *)
Fixpoint inst (s : sort -> name -> term) (r : axis -> axis) (t : term) : term :=
  match t with
  | Var k v => s k v
  | Input n => Input n
  | Const k q => Const k q
  | Index x => Index (r x)
  | Size x => Size (r x)
  | Length x => Length (r x)
  | Un o a => Un o (inst s r a)
  | Bin o a b => Bin o (inst s r a) (inst s r b)
  | Where c a b => Where (inst s r c) (inst s r a) (inst s r b)
  | Reduce m x a c => Reduce m (r x) (inst s r a) (inst s r c)
  | Fold d m x a c => Fold d m (r x) (inst s r a) (inst s r c)
  | Online d x a c u => Online d (r x) (inst s r a) (inst s r c) (inst s r u)
  | Scan m x a => Scan m (r x) (inst s r a)
  | Recur x a b => Recur (r x) (inst s r a) (inst s r b)
  | Read x a i => Read (r x) (inst s r a) (inst s r i)
  | Acc => Acc
  | Prev a => Prev (inst s r a)
  | Group x a => Group (r x) (inst s r a)
  | Walk x a => Walk (r x) (inst s r a)
  | Store a => Store (inst s r a)
  | Proj k a => Proj k (inst s r a)
  | Item a b => Item (inst s r a) (inst s r b)
  | Nothing => Nothing
  end.

Fixpoint vars (t : term) : list (sort * name) :=
  match t with
  | Var s v => [(s, v)]
  | Input _ | Const _ _ | Index _ | Size _ | Length _ | Nothing | Acc => []
  | Un _ a | Prev a | Group _ a | Walk _ a | Store a | Proj _ a | Scan _ _ a => vars a
  | Bin _ a b | Read _ a b | Recur _ a b | Item a b | Reduce _ _ a b | Fold _ _ _ a b => vars a ++ vars b
  | Where c a b | Online _ _ c a b => vars c ++ vars a ++ vars b
  end.
