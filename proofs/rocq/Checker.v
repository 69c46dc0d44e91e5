(* The checker of certificates, and what its acceptance means. The functions mirror napkin_eq/certify/check.py by name.

   `check c = true` and true laws give: source and destination have the same value at every point, for all sizes,
     inputs and
   blocks (check_sound, in Sound.v). What a law is, and when it is true, stands first;
     which models a theorem speaks of, last. *)

Require Import Reals List Bool Arith ZArith QArith Qreals FunctionalExtensionality.
Require Import Values Language Terms Frames.
Import ListNotations.
Open Scope nat_scope.

(* Judgments, and what they say of the frames that a bar lets through. *)
Inductive claim :=
| Equal (a b : term)
| AtMost (a b : term)
| Pos (a : term)
| Nonneg (a : term)
| Nonzero (a : term)
| Finite (a : term)
| Safe (a : term)
| Absent (c a : term)
| Zero (c a : term)
| Present (c a : term)
| Leaves (x : axis) (c : term)
| Divides (b n : term)
| Disjoint (c e : term)
| Free (x : axis) (a : term)
| Along (x : axis) (a : term)
| Local (x : axis) (a : term)
| Scales (x : axis) (a r : term)
| Stretch (p x : axis) (c : term)
| Distinct (x y : axis)
| Null (x : axis) (a : term)
| Settled (x : axis) (a : term)
| Moves (x : axis) (a w s : term).

Definition without (x : axis) (b : bar) : bar :=
  {| lanes_in := filter (fun y => negb (Nat.eqb y x)) (lanes_in b); full_in := full_in b; over := over b |}.

Section Claims.
Variable g : context.
Variable m : model.
Notation eval := (eval g m).

Definition always (b : bar) (P : frame -> point -> Prop) : Prop := forall f p, base m b f -> valid f p -> P f p.
Definition total (a : meaning) (f : frame) (x : axis) (n : nat) (p : point) : val := Sum (seq 0 n) (fun i => a f (upd
  p x i)).

Definition means (eta : name -> meaning) (b : bar) (c : claim) : Prop :=
  let e := eval eta in
  match c with
  | Equal a a' => holds g m eta b a a'
  | AtMost a a' => always b (fun f p => le (e a f p) (e a' f p) = true)
  | Pos a => always b (fun f p => lt (Some 0%R) (e a f p) = true)
  | Nonneg a => always b (fun f p => le (Some 0%R) (e a f p) = true)
  | Nonzero a => always b (fun f p => andb (lt absent (e a f p)) (negb (eq (e a f p) (Some 0%R))) = true)
  | Finite a => always b (fun f p => lt absent (e a f p) = true)
  | Safe a => always b (fun f p => le (e a f p) (Some (largest m)) = true)
  | Absent c a => always b (fun f p => orb (truth (e c f p)) (eq (e a f p) absent) = true)
  | Zero c a => always b (fun f p => orb (truth (e c f p)) (eq (e a f p) (Some 0%R)) = true)
  | Present c a => always b (fun f p => orb (negb (truth (e c f p))) (lt absent (e a f p)) = true)
  | Leaves x c => always b (fun f p => lt (Some 0%R)
      (Sum (seq 0 (ends f x)) (fun i => choice (truth (e c f (upd p x i))) (Some 1%R) (Some 0%R))) = true)
  | Divides d n => always b (fun f p => e d f p <> Some 0%R /\ whole Z.modulo (e n f p) (e d f p) = Some 0%R)
  | Disjoint c c' => always b (fun f p => negb (andb (truth (e c f p)) (truth (e c' f p))) = true)
  | Free x a => free_in x (e a)
  | Along _ _ => True
  | Local x a => local_in x (e a)
  | Scales x a r => ~ In x (full_in b) -> always (without x b) (fun f p =>
      (forall k A, 0 < k <= full m x -> e r (moved f x 0 k A) (upd p x 0) <> absent) /\
      (forall n k A i, 0 < n < k -> k <= full m x -> i < n ->
        e a (cut f x k) (upd p x i) = mul (e a (cut f x n) (upd p x i)) (e r (moved f x n k A) (upd p x 0))))
  | Stretch q x c => always b (fun f p =>
      Sum (seq 0 (ends f q)) (fun i => choice (truth (e c f (upd p q i))) (Some 1%R) (Some 0%R)) = Some 1%R)
  | Distinct x y => x <> y
  | Null x a => always b (fun f p => total (e a) f x (ends f x) p = Some 0%R)
  | Settled x a => ~ In x (full_in b) -> always (without x b) (fun f p =>
      forall k i, k <= full m x -> i <= k - 1 -> lt absent (e a (cut f x k) (upd p x i)) = true)
  | Moves x a w s => ~ In x (full_in b) -> always (without x b) (fun f p =>
      forall n k A, n < k -> k <= full m x ->
        e s (moved f x n k A) (upd p x 0)
        = add (Sum (seq 0 n) (fun i => mul (e a (cut f x k) (upd p x i)) (e w (cut f x n) (upd p x i))))
              (neg (Sum (seq 0 n) (fun i => mul (e a (cut f x n) (upd p x i)) (e w (cut f x n) (upd p x i))))))
  end.

Definition cinst (s : sort -> name -> term) (r : axis -> axis) (c : claim) : claim :=
  let i := inst s r in
  match c with
  | Equal a b => Equal (i a) (i b) | AtMost a b => AtMost (i a) (i b)
  | Pos a => Pos (i a) | Nonneg a => Nonneg (i a) | Nonzero a => Nonzero (i a) | Finite a => Finite (i a)
    | Safe a => Safe (i a)
  | Absent c a => Absent (i c) (i a) | Zero c a => Zero (i c) (i a)
  | Present c a => Present (i c) (i a) | Leaves x c => Leaves (r x) (i c)
  | Divides b n => Divides (i b) (i n) | Disjoint c e => Disjoint (i c) (i e)
  | Free x a => Free (r x) (i a) | Along x a => Along (r x) (i a) | Local x a => Local (r x) (i a)
  | Scales x a b => Scales (r x) (i a) (i b)
  | Stretch p x c => Stretch (r p) (r x) (i c)
  | Distinct x y => Distinct (r x) (r y)
  | Null x a => Null (r x) (i a) | Settled x a => Settled (r x) (i a)
  | Moves x a w s => Moves (r x) (i a) (i w) (i s)
  end.

End Claims.

(* Laws: patterns over variables, and the axes that must have lanes. *)
Record law := { conclusion : claim; premises : list claim; lanes : list axis }.

(* The terms of a judgment; of those that are asked of every place, whatever a stream has reached, none. *)
Definition terms (c : claim) : list term :=
  match c with
  | Equal a b | AtMost a b | Absent a b | Zero a b | Present a b | Divides a b | Disjoint a b
    | Scales _ a b => [a; b]
  | Pos a | Nonneg a | Nonzero a | Finite a | Safe a | Free _ a | Along _ a | Local _ a | Stretch _ _ a | Null _ a
    | Leaves _ a
    | Settled _ a => [a]
  | Moves _ a w s => [a; w; s]
  | Distinct _ _ => []
  end.

(* Scopes: the streams' updates and other parts, and the Prevs, around an occurrence of a variable. *)
Inductive label := Part (x : axis) | Update (x : axis) | Before.
Definition label_eq (a b : label) : {a = b} + {a <> b}.
Proof. decide equality; apply Nat.eq_dec. Defined.
Fixpoint scopes (here : list label) (t : term) : list (name * list label) :=
  match t with
  | Var _ v => [(v, here)]
  | Input _ | Const _ _ | Index _ | Size _ | Length _ | Nothing | Acc => []
  | Un _ a | Group _ a | Walk _ a | Store a | Proj _ a | Scan _ _ a => scopes here a
  | Bin _ a b | Read _ a b | Recur _ a b | Item a b | Reduce _ _ a b | Fold _ _ _ a b => scopes here a ++ scopes here b
  | Where c a b => scopes here c ++ scopes here a ++ scopes here b
  | Online _ x a c u => scopes (Part x :: here) a ++ scopes (Part x :: here) c ++ scopes (Update x :: here) u
  | Prev a => scopes (Before :: here) a
  end.
Definition scopes_in (c : claim) : list (name * list label) :=
  match c with
  | Free _ _ | Along _ _ | Local _ _ | Distinct _ _ => []
  | Scales x a r => scopes [Part x] a ++ scopes [Update x] r
  | Settled x a => scopes [Part x] a
  | Moves x a w s => scopes [Part x] a ++ scopes [Part x] w ++ scopes [Update x] s
  | c => concat (map (scopes []) (terms c))
  end.

(* What the Prevs hold that stand in no update; the axes that a term walks; the axes of streams. *)
Fixpoint opened (t : term) : list term :=
  match t with
  | Var _ _ | Input _ | Const _ _ | Index _ | Size _ | Length _ | Nothing | Acc => []
  | Un _ a | Group _ a | Walk _ a | Store a | Proj _ a | Scan _ _ a => opened a
  | Bin _ a b | Read _ a b | Recur _ a b | Item a b | Reduce _ _ a b | Fold _ _ _ a b | Online _ _ a b _ => opened a ++ opened b
  | Where c a b => opened c ++ opened a ++ opened b
  | Prev a => a :: opened a
  end.
Definition opened_in (c : claim) : list term :=
  match c with
  | Free _ _ | Along _ _ | Local _ _ | Distinct _ _ => []
  | Scales x a r => opened a
  | Moves x a w s => opened a ++ opened w
  | c => concat (map opened (terms c))
  end.
Fixpoint walked (t : term) : list axis :=
  match t with
  | Var _ _ | Input _ | Const _ _ | Index _ | Length _ | Nothing | Acc => []
  | Size y => [y]
  | Un _ a | Prev a | Group _ a | Walk _ a | Store a | Proj _ a => walked a
  | Bin _ a b | Item a b => walked a ++ walked b
  | Where c a b => walked c ++ walked a ++ walked b
  | Scan _ y a => y :: walked a
  | Reduce _ y a c | Fold _ _ y a c | Read y a c | Recur y a c => y :: walked a ++ walked c
  | Online _ y a c u => y :: walked a ++ walked c ++ walked u
  end.
Fixpoint streams (t : term) : list axis :=
  match t with
  | Var _ _ | Input _ | Const _ _ | Index _ | Size _ | Length _ | Nothing | Acc => []
  | Un _ a | Prev a | Group _ a | Walk _ a | Store a | Proj _ a | Scan _ _ a => streams a
  | Bin _ a b | Item a b | Read _ a b | Recur _ a b | Reduce _ _ a b | Fold _ _ _ a b => streams a ++ streams b
  | Where c a b => streams c ++ streams a ++ streams b
  | Online _ x a c u => x :: streams a ++ streams c ++ streams u
  end.
Definition streams_in (c : claim) : list axis :=
  match c with
  | Free _ _ | Along _ _ | Local _ _ | Distinct _ _ => []
  | Scales x _ _ | Settled x _ | Moves x _ _ _ => x :: concat (map streams (terms c))
  | c => concat (map streams (terms c))
  end.

Definition judgments (l : law) : list claim := conclusion l :: premises l.
Definition law_vars (l : law) : list (sort * name) := concat (map vars (concat (map terms (judgments l)))).
Definition within (l : law) : list axis := concat (map walked (concat (map opened_in (judgments l)))).
Definition streamed (l : law) : list axis := within l ++ concat (map streams_in (judgments l)).
Definition shut (l : law) : list name :=
  let all := concat (map scopes_in (judgments l)) in
  map fst (filter (fun e => existsb (fun e' => Nat.eqb (fst e) (fst e')
    && negb (if list_eq_dec label_eq (snd e) (snd e') then true else false)) all) all).

(* A law is true if its conclusion follows wherever its premises hold, for every renaming of its axes,
  which may merge them,
   and every meaning of its variables, in their sorts; those that are shut do not depend on a stream outside. *)
Definition true_law (g : context) (m : model) (l : law) : Prop := forall r eta b,
  (forall v, In v (shut l) -> closed (eta v)) ->
  (forall s v, In (s, v) (law_vars l) -> of_sort s (eta v)) ->
  incl (map r (lanes l)) (lanes_in b) ->
  (forall x, In x (map r (streamed l)) -> ~ In x (full_in b)) ->
  incl (map r (within l)) (over b) ->
  (streamed l <> [] -> incl (over b) (map r (within l))) ->
  (forall c, In c (premises l) -> means g m eta b (cinst Var r c)) -> means g m eta b (cinst Var r (conclusion l)).

(* -- the checker --------------------------------------------------------------------------------------- *)

(* Well-formed rows: typed, of axes and inputs that are listed. *)
Fixpoint axes_of (t : term) : list axis :=
  match t with
  | Var _ _ | Input _ | Const _ _ | Nothing | Acc => []
  | Index x | Size x | Length x => [x]
  | Un _ a | Prev a | Store a | Proj _ a => axes_of a
  | Group x a | Walk x a | Scan _ x a => x :: axes_of a
  | Bin _ a b | Item a b => axes_of a ++ axes_of b
  | Read x a b | Recur x a b | Reduce _ x a b | Fold _ _ x a b => x :: axes_of a ++ axes_of b
  | Where c a b => axes_of c ++ axes_of a ++ axes_of b
  | Online _ x a c u => x :: axes_of a ++ axes_of c ++ axes_of u
  end.
Definition axes_in (c : claim) : list axis :=
  match c with
  | Free x _ | Along x _ | Local x _ | Scales x _ _ | Null x _ | Settled x _ | Moves x _ _ _ => [x]
  | Stretch x y _ | Distinct x y => [x; y]
  | _ => []
  end ++ concat (map axes_of (terms c)).
Fixpoint has_input (t : term) : bool :=
  match t with
  | Input _ => true
  | Var _ _ | Const _ _ | Index _ | Size _ | Length _ | Nothing | Acc => false
  | Un _ a | Prev a | Group _ a | Walk _ a | Store a | Proj _ a | Scan _ _ a => has_input a
  | Bin _ a b | Item a b | Read _ a b | Recur _ a b | Reduce _ _ a b | Fold _ _ _ a b => has_input a || has_input b
  | Where c a b => has_input c || has_input a || has_input b
  | Online _ _ a c u => has_input a || has_input c || has_input u
  end.

Section Check.
Variable g : context.

Definition is (s : sort) (t : term) : bool := match sort_of g None t with Some s' => sort_eqb s s' | None => false end.
Definition number (t : term) : bool := match sort_of g None t with Some s => num s | None => false end.
Definition alike (a b : term) : bool :=
  match sort_of g None a, sort_of g None b with Some s, Some s' => sort_eqb s s' | _, _ => false end.
Definition typed (c : claim) : bool :=
  match c with
  | Equal a b => alike a b
  | AtMost a b | Divides a b => alike a b && number a
  | Pos a | Nonneg a | Nonzero a | Finite a | Safe a => number a
  | Absent c a | Zero c a | Present c a => is Bool c && number a
  | Disjoint c e => is Bool c && is Bool e
  | Free _ a | Along _ a | Local _ a => alike a a
  | Scales x a r => is Real a && is Real r && negb (prev_varies g x r)
  | Stretch _ _ c | Leaves _ c => is Bool c
  | Distinct _ _ => true
  | Null _ a | Settled _ a => is Real a
  | Moves x a w s => is Real a && is Real w && is Real s && negb (prev_varies g x s)
  end.
Definition listed (axes : list axis) : bool := forallb (fun x => Nat.ltb x (length (sizes g))) axes.
Definition ground (t : term) : bool := match vars t with [] => true | _ => false end.
Definition row_ok (t : term) : bool := ground t && listed (axes_of t) && match sort_of g None t with Some _ => true
  | None => false end.
Definition claim_ok (c : claim) : bool := forallb ground (terms c) && listed (axes_in c) && typed c.
Definition law_ok (l : law) : bool :=
  forallb typed (judgments l) && forallb (fun t => negb (has_input t)) (concat (map terms (judgments l)))
  && forallb (fun t => Nat.eqb (length (nodup Nat.eq_dec (walked t))) 1) (concat (map opened_in (judgments l))).

(* Exact numbers, the absent value among them. *)
Definition Qtwo (f : Q -> Q -> Q) (a b : option Q) : option Q := match a, b with Some a, Some b => Some (f a b) | _,
  _ => None end.
Definition Qmax' (a b : Q) : Q := if Qle_bool a b then b else a.
Definition Qmin' (a b : Q) : Q := if Qle_bool a b then a else b.
Definition computed (t : term) : option (option Q) :=
  match t with
  | Un Neg (Const Real a) => Some (option_map Qopp a)
  | Un Inv (Const Real a) => Some (option_map Qinv a)
  | Bin Add (Const Real a) (Const Real b) => Some (Qtwo Qplus a b)
  | Bin Mul (Const Real a) (Const Real b) => Some (Qtwo Qmult a b)
  | Bin BMax (Const Real a) (Const Real b) =>
      Some (match a, b with None, _ => b | _, None => a | Some a, Some b => Some (Qmax' a b) end)
  | Bin BMin (Const Real a) (Const Real b) => Some (Qtwo Qmin' a b)
  | _ => None
  end.
Definition same_number (a b : option Q) : bool := match a, b with None, None => true | Some a,
  Some b => Qeq_bool a b | _, _ => false end.

(* What a leaf shows by itself. *)
Fixpoint leaf (t : term) : term := match t with Read _ a _ | Un ToReal a => leaf a | t => t end.
Inductive sign := SPos | SNonneg | SNonzero | SFinite.
Definition implies (f : fact) (s : sign) : bool :=
  match f, s with _, SFinite | IsPos, _ | IsNonneg, SNonneg | IsNonzero, SNonzero => true | _, _ => false end.
Definition shown (t : term) (s : sign) : bool :=
  let whole := match s, sort_of g None t with SFinite, Some (Int | Bool) => true | _, _ => false end in
  match t with
  | Input n => match nth_error (inputs g) n with Some (_, _, fs) => existsb (fun f => implies f s) (IsFinite :: fs)
    | None => false end
  | Const (Real | Int) (Some q) => implies (match Qcompare q 0 with Gt => IsPos | Eq => IsNonneg
    | Datatypes.Lt => IsNonzero end) s
  | Size _ | Length _ => implies IsPos s
  | Index _ => implies IsNonneg s
  | _ => whole
  end.
Definition counted (t : term) : list axis := match t with Size x => [x] | _ => [] end.

(* Stretches of n lanes that cover the axis. *)
Definition size_of (x : axis) : option N := match nth_error (sizes g) x with Some (s, _) => s | None => None end.
Definition integer (n : N) : term := Const Int (Some (Z.of_N n # 1)).
Definition length_of (x : axis) : term := match size_of x with None => Length x | Some n => integer n end.
Definition stretches (p x : axis) (mask : term) : bool :=
  match mask with
  | Bin And (Bin Le first lane) (Bin Lt lane' (Bin Add first' run)) =>
      negb (Nat.eqb p x) && same first (Bin Mul (Index p) run) && same first' first && same lane (Index x)
        && same lane' (Index x)
      && match size_of p with
         | Some count =>
             match size_of x with
             | None => same run (Bin FloorDiv (Bin Add (Length x) (integer (N.pred count))) (integer count))
             | Some n => match run with Const Int (Some q) => Pos.eqb (Qden q) 1
               && Z.leb (Z.of_N n) (Qnum q * Z.of_N count) | _ => false end
             end
         | None =>
             let many := Bin Mul (Length p) (integer 128) in
             same run (Bin Mul (Bin FloorDiv (Bin Add (length_of x) (Bin Add many (Const Int (Some (-1 # 1))))) many)
               (integer 128))
         end
  | _ => false
  end.

Definition bare : bar := {| lanes_in := []; full_in := []; over := [] |}.
Definition signed (a : term) (s : sign) : option bar :=
  if shown (leaf a) s then Some {| lanes_in := counted (leaf a); full_in := []; over := [] |} else None.
Definition evident (c : claim) : option bar :=
  match c with
  | Equal a (Const Real v) => match computed a with Some w => if same_number w v then Some bare else None
    | None => None end
  | AtMost a b => if same a b then Some bare else None
  | Pos a => signed a SPos
  | Nonneg a => signed a SNonneg
  | Nonzero a => signed a SNonzero
  | Finite a => signed a SFinite
  | Free x a => if negb (varies g x None a) && negb (open_acc a) then Some bare else None
  | Along x a => if varies g x None a then Some bare else None
  | Local x a => if negb (walks x a) && negb (open a) then Some bare else None
  | Stretch p x c => if stretches p x c then Some {| lanes_in := []; full_in := [p]; over := [] |} else None
  | Distinct x y => if Nat.eqb x y then None else Some bare
  | _ => None
  end.

Definition claim_same (a b : claim) : bool :=
  match a, b with
  | Equal a b, Equal a' b' | AtMost a b, AtMost a' b' | Absent a b, Absent a' b' | Zero a b, Zero a' b'
  | Present a b, Present a' b' | Divides a b, Divides a' b' | Disjoint a b, Disjoint a' b' => same a a' && same b b'
  | Pos a, Pos a' | Nonneg a, Nonneg a' | Nonzero a, Nonzero a' | Finite a, Finite a' | Safe a, Safe a' => same a a'
  | Free x a, Free x' a' | Along x a, Along x' a' | Local x a, Local x' a' | Null x a, Null x' a' | Settled x a,
    Settled x' a' | Leaves x a, Leaves x' a' =>
      Nat.eqb x x' && same a a'
  | Scales x a r, Scales x' a' r' => Nat.eqb x x' && same a a' && same r r'
  | Stretch p x c, Stretch p' x' c' => Nat.eqb p p' && Nat.eqb x x' && same c c'
  | Distinct x y, Distinct x' y' => Nat.eqb x x' && Nat.eqb y y'
  | Moves x a w s, Moves x' a' w' s' => Nat.eqb x x' && same a a' && same w w' && same s s'
  | _, _ => false
  end.
Fixpoint claims_same (a b : list claim) : bool :=
  match a, b with [], [] => true | x :: a, y :: b => claim_same x y && claims_same a b | _, _ => false end.

(* How a judgment is known: by itself, or as an instance of a law: what its variables and its axes stand for,
  and what is cited. *)
Inductive reason := Evident | Instance (rule : nat) (terms_for : list (name * term)) (axes_for : list (axis * axis))
  (cited : list nat).
Definition entry := (claim * bar)%type.

Fixpoint find {T} (k : nat) (l : list (nat * T)) : option T := match l with [] => None | (n,
  v) :: l => if Nat.eqb k n then Some v else find k l end.
Definition found {T} (k : nat) (l : list (nat * T)) : bool := match find k l with Some _ => true | None => false end.
Fixpoint all_of {T} (l : list (option T)) : option (list T) :=
  match l with [] => Some [] | None :: _ => None | Some a :: l => option_map (cons a) (all_of l) end.

(* A variable stands for a term of its sort; one that stands for numbers, for a real constant. *)
Definition stands (s : sort) (t : term) : bool :=
  is (shape s) t && match s with Number => match t with Const Real (Some _) => true | _ => false end | _ => true end.
Definition instance (laws : list law) (known : list entry) (c : claim) (w : reason) : option bar :=
  match w with
  | Evident => evident c
  | Instance k tf af cited =>
      match nth_error laws k, all_of (map (nth_error known) cited) with
      | Some l, Some es =>
          let s v := match find v tf with Some t => t | None => Nothing end in
          let r x := match find x af with Some y => y | None => x end in
          let used := concat (map axes_in (judgments l)) in
          let b := {| lanes_in := map r (lanes l) ++ concat (map (fun e => lanes_in (snd e)) es);
                      full_in := concat (map (fun e => full_in (snd e)) es);
                      over := map r (within l) ++ concat (map (fun e => over (snd e)) es) |} in
          if claim_same (cinst (fun _ => s) r (conclusion l)) c
             && claims_same (map fst es) (map (cinst (fun _ => s) r) (premises l))
             && forallb (fun e => found (snd e) tf && stands (fst e) (s (snd e))) (law_vars l)
             && forallb (fun e => mem (fst e) (map snd (law_vars l)) && ground (snd e)) tf
             && forallb (fun x => found x af) (used ++ lanes l) && forallb (fun e => mem (fst e) used) af
               && listed (map snd af)
             && forallb (fun v => negb (open (s v))) (shut l)
             && forallb (fun x => negb (mem x (full_in b))) (map r (streamed l))
             && match streamed l, concat (map (fun e => over (snd e)) es) with [], _ | _, [] => true | _, _ => false end
          then Some b else None
      | _, _ => None
      end
  end.

Fixpoint enter (laws : list law) (known : list entry) (ws : list (claim * reason)) : option (list entry) :=
  match ws with
  | [] => Some known
  | (c, w) :: ws => match instance laws known c w with Some b => enter laws (known ++ [(c, b)]) ws | None => None end
  end.

(* One step: an equation, from left to right or back, at a path; what comes out is typed anew. *)
Definition move := (nat * bool * list nat)%type.
Definition well_sorted (t : term) : option term := match sort_of g None t with Some _ => Some t | None => None end.
Definition made (known : list entry) (t : term) (m : move) : option (term * bar) :=
  match m with (k, forward, path) =>
    match nth_error known k with
    | Some (Equal a a', b) =>
        match (if forward : bool then put b [] None t path a a' else put b [] None t path a' a) with
        | Some t => option_map (fun t => (t, b)) (well_sorted t)
        | None => None
        end
    | _ => None
    end
  end.
Definition both (b b' : bar) : bar :=
  {| lanes_in := lanes_in b ++ lanes_in b'; full_in := full_in b ++ full_in b'; over := over b ++ over b' |}.
Fixpoint chain (known : list entry) (t : term) (ms : list move) : option (term * bar) :=
  match ms with
  | [] => Some (t, bare)
  | m :: ms =>
      match made known t m with
      | Some (t, b) => option_map (fun e => (fst e, both b (snd e))) (chain known t ms)
      | None => None
      end
  end.

(* A step of a proof; or a lemma: a term, closed, with steps from it to another, which takes its place wherever it stands. *)
Inductive step := Move (m : move) | About (t : term) (ms : list move).
Definition anywhere (b : bar) : bar := {| lanes_in := lanes_in b; full_in := full_in b; over := [] |}.
Fixpoint go (known : list entry) (t : term) (steps : list step) : option term :=
  match steps with
  | [] => Some t
  | Move m :: steps => match made known t m with Some (t, _) => go known t steps | None => None end
  | About l ms :: steps =>
      match chain known l ms with
      | Some (r, b) =>
          if open l || open r then None
          else match everywhere (anywhere b) [] l r t with
               | Some t => match well_sorted t with Some t => go known t steps | None => None end
               | None => None
               end
      | None => None
      end
  end.

(* The items that a term gives: their sorts and axes. *)
Fixpoint items (t : term) : nat :=
  match t with Item _ b => S (items b) | Group _ a | Walk _ a | Store a => items a | _ => 0 end.
Definition outputs (t : term) : list (option nat) := match items t with 0 => [None] | n => map Some (seq 0 n) end.
Definition same_output (s d : term) : bool :=
  Nat.eqb (items s) (items d)
  && forallb (fun k => match sort_of g k s, sort_of g k d with Some a, Some b => sort_eqb a b | _, _ => false end
                       && forallb (fun x => Bool.eqb (varies g x k s) (varies g x k d)) (seq 0 (length (sizes g))))
                         (outputs s).

Definition sizes_ok : bool :=
  forallb (fun e => N.ltb 0 (snd e) && match fst e with None => true | Some n => N.ltb 0 n
    && N.eqb (N.modulo n (snd e)) 0 end)
    (sizes g).
Fixpoint twice (l : list axis) : bool := match l with [] => false | x :: l => mem x l || twice l end.
Definition inputs_ok : bool := forallb (fun e => match e with (ds, _, _) => listed ds
  && negb (twice ds) end) (inputs g).
End Check.

(* rows, claims: all that the certificate holds, used or not. *)
Record certificate := {
  declared : context; source : term; destination : term; rows : list term; claims : list claim;
  laws : list law; reasons : list (claim * reason); steps : list step }.

Definition check (c : certificate) : bool :=
  let g := declared c in
  sizes_ok g && inputs_ok g
  && forallb (row_ok g) (source c :: destination c :: rows c) && negb (open (source c)) && negb (open (destination c))
  && same_output g (source c) (destination c)
  && forallb (claim_ok g) (claims c ++ map fst (reasons c)) && forallb (law_ok g) (laws c)
  && match enter g (laws c) [] (reasons c) with
     | Some known => match go g known (source c) (steps c) with Some t => same t (destination c) | None => false end
     | None => false
     end.

(* -- what acceptance means ------------------------------------------------------------------------------ *)

Definition has_fact (f : fact) (v : val) : Prop :=
  match f with
  | IsPos => lt (Some 0%R) v = true
  | IsNonneg => le (Some 0%R) v = true
  | IsNonzero => andb (lt absent v) (negb (eq v (Some 0%R))) = true
  | IsFinite => lt absent v = true
  end.

(* A model of what a theorem declares: the sizes that are given, and inputs of their sorts, present everywhere,
  with their facts. *)
Definition meets (g : context) (m : model) : Prop :=
  possible m /\ describes g m /\
  (forall x n k, nth_error (sizes g) x = Some (Some n, k) -> N.of_nat (full m x) = n) /\
  (forall n ds s fs f ps, nth_error (inputs g) n = Some (ds, s, fs) -> In f fs -> has_fact f (data m n ps)).

(* Where a theorem is said: everything is read in full, and no stream is around. *)
Definition top (m : model) (k : nat) : frame := {| ends := full m; prev := full m; acc := fun _ => None; item := k |}.
Definition nothing : name -> meaning := fun _ _ _ => None.
