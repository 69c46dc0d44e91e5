(* Laws as theorems over Values.v, written from their statements by `napkin-eq prove --write`:
   change nothing here. *)

Require Import Reals List Lra Values.
Import ListNotations.
Open Scope R_scope.

(* finite(a) ⟹ settled(x, Σ_x a) *)
Theorem settled_sum (X : Type) (xs : list X) (a : list X -> X -> val) :
  xs <> [] ->
  (forall now rest, xs = now ++ rest -> now <> [] -> forall x, In x now -> lt absent (a now x) = true) ->
  settled xs (fun now => Sum now (fun x => a now x)).
Proof. intros _ each now rest whole. apply sum_finite. intros x lane. apply (each now rest whole); [| exact lane]. intros ->. contradiction. Qed.

(* settled(x, a), free(x, a), distinct(x, y) ⟹ settled(x, Σ_y a) *)
Theorem settled_over (X : Type) (xs : list X) (Y : Type) (ys : list Y) (a : list X -> Y -> val) :
  xs <> [] ->
  ys <> [] ->
  (forall y, In y ys -> settled xs (fun now => a now y)) ->
  settled xs (fun now => Sum ys (fun y => a now y)).
Proof. intros _ _ one now rest whole. apply sum_finite. intros y lane. specialize (one y lane now rest whole). destruct (a now y); [reflexivity | contradiction]. Qed.

(* always ⟹ settled(x, |x|) *)
Theorem settled_size (X : Type) (xs : list X) :
  xs <> [] ->
  settled xs (fun now => size now).
Proof. intros _ now rest _. discriminate. Qed.

(* local(x, a), free(x, a), finite(a) ⟹ settled(x, a) *)
Theorem settled_local (X : Type) (xs : list X) (a : val) :
  xs <> [] ->
  (forall now rest, xs = now ++ rest -> now <> [] -> lt absent a = true) ->
  settled xs (fun now => a).
Proof. intros lanes each now rest _ none. destruct xs as [|x xs]; [contradiction |]. specialize (each [x] xs eq_refl ltac:(discriminate)). rewrite none in each. discriminate. Qed.

(* settled(x, a), settled(x, b), free(x, a), free(x, b) ⟹ settled(x, a · b) *)
Theorem settled_mul (X : Type) (xs : list X) (a : list X -> val) (b : list X -> val) :
  xs <> [] ->
  settled xs (fun now => a now) ->
  settled xs (fun now => b now) ->
  settled xs (fun now => mul (a now) (b now)).
Proof. intros _ one other now rest whole. specialize (one now rest whole). specialize (other now rest whole). destruct (a now), (b now); try contradiction. discriminate. Qed.

(* settled(x, a), settled(x, b), free(x, a), free(x, b) ⟹ settled(x, a + b) *)
Theorem settled_add (X : Type) (xs : list X) (a : list X -> val) (b : list X -> val) :
  xs <> [] ->
  settled xs (fun now => a now) ->
  settled xs (fun now => b now) ->
  settled xs (fun now => add (a now) (b now)).
Proof. intros _ one other now rest whole. specialize (one now rest whole). specialize (other now rest whole). destruct (a now), (b now); try contradiction. discriminate. Qed.

(* settled(x, a), free(x, a) ⟹ settled(x, 1 / a) *)
Theorem settled_inv (X : Type) (xs : list X) (a : list X -> val) :
  xs <> [] ->
  settled xs (fun now => a now) ->
  settled xs (fun now => inv (a now)).
Proof. intros _ one now rest whole. specialize (one now rest whole). destruct (a now); [discriminate | contradiction]. Qed.

(* local(x, b), along(x, b), free(x, r), settled(x, r), finite(b) ⟹ moves(x, b - r, 1, (prev[r] - r) · prev[|x|]) *)
Theorem moves_bare (X : Type) (xs : list X) (b : X -> val) (r : list X -> val) :
  xs <> [] ->
  settled xs (fun now => r now) ->
  (forall now rest, xs = now ++ rest -> now <> [] -> forall x, In x now -> lt absent (b x) = true) ->
  moves xs (fun now x => add (b x) (neg (r now))) (fun now x => Some 1) (fun seen now => mul (add (r seen) (neg (r now))) (size seen)).
Proof. intros _ stay full. apply moves_by_lanes; assumption. Qed.

(* local(x, b), along(x, b), free(x, r), settled(x, r), finite(b), along(x, w), finite(w) ⟹ moves(x, b - r, w, (prev[r] - r) · prev[Σ_x w]) *)
Theorem moves_weighted (X : Type) (xs : list X) (b : X -> val) (r : list X -> val) (w : list X -> X -> val) :
  xs <> [] ->
  settled xs (fun now => r now) ->
  (forall now rest, xs = now ++ rest -> now <> [] -> forall x, In x now -> lt absent (b x) = true) ->
  (forall now rest, xs = now ++ rest -> now <> [] -> forall x, In x now -> lt absent (w now x) = true) ->
  moves xs (fun now x => add (b x) (neg (r now))) (fun now x => w now x) (fun seen now => mul (add (r seen) (neg (r now))) (Sum seen (fun x => w seen x))).
Proof. intros _ stay full fullw. apply moves_by_weights; assumption. Qed.

(* local(x, b), along(x, b), free(x, r), settled(x, r), finite(b), finite(a), moves(x, a, 1, t), moves(x, a, b - r, s) ⟹ moves(x, (b - r) · a, 1, (prev[r] - r) · (prev[Σ_x a] + t) + s) *)
Theorem moves_more (X : Type) (xs : list X) (a : list X -> X -> val) (b : X -> val) (r : list X -> val) (s : list X -> list X -> val) (t : list X -> list X -> val) :
  xs <> [] ->
  settled xs (fun now => r now) ->
  (forall now rest, xs = now ++ rest -> now <> [] -> forall x, In x now -> lt absent (b x) = true) ->
  (forall now rest, xs = now ++ rest -> now <> [] -> forall x, In x now -> lt absent (a now x) = true) ->
  moves xs (fun now x => a now x) (fun now x => Some 1) (fun seen now => t seen now) ->
  moves xs (fun now x => a now x) (fun now x => add (b x) (neg (r now))) (fun seen now => s seen now) ->
  moves xs (fun now x => mul (add (b x) (neg (r now))) (a now x)) (fun now x => Some 1) (fun seen now => add (mul (add (r seen) (neg (r now))) (add (Sum seen (fun x => a seen x)) (t seen now))) (s seen now)).
Proof. intros _ stay full fulla once again. apply moves_times_bare; assumption. Qed.

(* local(x, b), along(x, b), free(x, r), settled(x, r), finite(b), along(x, w), finite(a), finite(w), moves(x, a, w, t), moves(x, a, (b - r) · w, s) ⟹ moves(x, (b - r) · a, w, (prev[r] - r) · (prev[Σ_x a · w] + t) + s) *)
Theorem moves_more_weighted (X : Type) (xs : list X) (a : list X -> X -> val) (b : X -> val) (r : list X -> val) (s : list X -> list X -> val) (t : list X -> list X -> val) (w : list X -> X -> val) :
  xs <> [] ->
  settled xs (fun now => r now) ->
  (forall now rest, xs = now ++ rest -> now <> [] -> forall x, In x now -> lt absent (b x) = true) ->
  (forall now rest, xs = now ++ rest -> now <> [] -> forall x, In x now -> lt absent (a now x) = true) ->
  (forall now rest, xs = now ++ rest -> now <> [] -> forall x, In x now -> lt absent (w now x) = true) ->
  moves xs (fun now x => a now x) (fun now x => w now x) (fun seen now => t seen now) ->
  moves xs (fun now x => a now x) (fun now x => mul (add (b x) (neg (r now))) (w now x)) (fun seen now => s seen now) ->
  moves xs (fun now x => mul (add (b x) (neg (r now))) (a now x)) (fun now x => w now x) (fun seen now => add (mul (add (r seen) (neg (r now))) (add (Sum seen (fun x => mul (a seen x) (w seen x))) (t seen now))) (s seen now)).
Proof. intros _ stay full fulla fullw once again. apply moves_times; assumption. Qed.

(* Σ_x a → online[Σ_x a; acc ← acc + s] if moves(x, a, 1, s), free(x, s), finite(a) *)
Theorem carry (X : Type) (xs : list X) (x_blocks : list (list X)) (a : list X -> X -> val) (s : list X -> list X -> val) :
  concat x_blocks = xs -> Forall (fun block => block <> []) x_blocks ->
  moves xs (fun now x => a now x) (fun now x => Some 1) (fun seen now => s seen now) ->
  (forall now rest, xs = now ++ rest -> now <> [] -> forall x, In x now -> lt absent (a now x) = true) ->
  Sum xs (fun x => a xs x)
  = Online x_blocks (fun now x => true) (fun now x => a now x) (fun seen now acc => add acc (s seen now)).
Proof. intros <- full step present. apply carried_bare; assumption. Qed.

(* Σ_x a · w → online[Σ_x a · w; acc ← acc + s] if moves(x, a, w, s), free(x, s), local(x, w), finite(a), finite(w) *)
Theorem carry_weighted (X : Type) (xs : list X) (x_blocks : list (list X)) (a : list X -> X -> val) (s : list X -> list X -> val) (w : X -> val) :
  concat x_blocks = xs -> Forall (fun block => block <> []) x_blocks ->
  moves xs (fun now x => a now x) (fun now x => w x) (fun seen now => s seen now) ->
  (forall now rest, xs = now ++ rest -> now <> [] -> forall x, In x now -> lt absent (a now x) = true) ->
  (forall now rest, xs = now ++ rest -> now <> [] -> forall x, In x now -> lt absent (w x) = true) ->
  Sum xs (fun x => mul (a xs x) (w x))
  = Online x_blocks (fun now x => true) (fun now x => mul (a now x) (w x)) (fun seen now acc => add acc (s seen now)).
Proof. intros <- full step fulla fullw. apply carried_weighted; assumption. Qed.

(* Σ_x a · w → online[Σ_x a · w; acc ← (acc + s) · r] if moves(x, a, w, s), scales(x, w, r), free(x, s), free(x, r), finite(a), finite(w) *)
Theorem carry_scaled (X : Type) (xs : list X) (x_blocks : list (list X)) (a : list X -> X -> val) (r : list X -> list X -> val) (s : list X -> list X -> val) (w : list X -> X -> val) :
  concat x_blocks = xs -> Forall (fun block => block <> []) x_blocks ->
  moves xs (fun now x => a now x) (fun now x => w now x) (fun seen now => s seen now) ->
  scales xs (fun now x => w now x) (fun seen now => r seen now) ->
  (forall now rest, xs = now ++ rest -> now <> [] -> forall x, In x now -> lt absent (a now x) = true) ->
  (forall now rest, xs = now ++ rest -> now <> [] -> forall x, In x now -> lt absent (w now x) = true) ->
  Sum xs (fun x => mul (a xs x) (w xs x))
  = Online x_blocks (fun now x => true) (fun now x => mul (a now x) (w now x)) (fun seen now acc => mul (add acc (s seen now)) (r seen now)).
Proof. intros <- full step factor fulla fullw. apply carried_scaled; assumption. Qed.

(* e^(a + b) = e^a · e^b *)
Theorem exp_add (a : val) (b : val) :
  exp (add a b)
  = mul (exp a) (exp b).
Proof. pointwise. f_equal. apply exp_plus. Qed.

(* e^(-a) = 1 / e^a *)
Theorem exp_neg (a : val) :
  exp (neg a)
  = inv (exp a).
Proof. pointwise. f_equal. apply exp_Ropp. Qed.

(* log(a · b) = log(a) + log(b) if nonneg(a), nonneg(b) *)
Theorem log_mul (a : val) (b : val) :
  le (Some 0) a = true ->
  le (Some 0) b = true ->
  log (mul a b)
  = add (log a) (log b).
Proof. pointwise. f_equal. apply ln_mult; assumption. Qed.

(* log(1 / a) = -log(a) if nonneg(a) *)
Theorem log_inv (a : val) :
  le (Some 0) a = true ->
  log (inv a)
  = neg (log a).
Proof. pointwise. f_equal. apply ln_Rinv. assumption. Qed.

(* log(e^a) → a *)
Theorem log_exp (a : val) :
  log (exp a)
  = a.
Proof. pointwise. f_equal. apply ln_exp. Qed.

(* e^log(a) → a if nonneg(a) *)
Theorem exp_log (a : val) :
  le (Some 0) a = true ->
  exp (log a)
  = a.
Proof. pointwise. f_equal. apply exp_ln. assumption. Qed.

(* √a · √a → a if nonneg(a) *)
Theorem root_squared (a : val) :
  le (Some 0) a = true ->
  mul (sqrt a) (sqrt a)
  = a.
Proof. pointwise. f_equal. apply sqrt_sqrt. assumption. Qed.

(* Σ_x e^a → e^(max_x a) · Σ_x e^(a - max_x a) *)
Theorem shift (X : Type) (xs : list X) (a : X -> val) :
  Sum xs (fun x => exp (a x))
  = mul (exp (Max xs (fun x => a x))) (Sum xs (fun x => exp (add (a x) (neg (Max xs (fun x => a x)))))).
Proof. intros. apply sum_shifted_bare. intros x lane none. exact (max_none _ _ _ x none lane). Qed.

(* Σ_x e^a · b → e^(max_x a) · Σ_x e^(a - max_x a) · b *)
Theorem shift_weighted (X : Type) (xs : list X) (a : X -> val) (b : X -> val) :
  Sum xs (fun x => mul (exp (a x)) (b x))
  = mul (exp (Max xs (fun x => a x))) (Sum xs (fun x => mul (exp (add (a x) (neg (Max xs (fun x => a x))))) (b x))).
Proof. intros. apply sum_shifted. intros x lane none. exact (max_none _ _ _ x none lane). Qed.

(* e^a / b → e^(a - log(b)) if nonneg(b) *)
Theorem exp_over (a : val) (b : val) :
  le (Some 0) b = true ->
  mul (exp a) (inv b)
  = exp (add a (neg (log b))).
Proof. pointwise. f_equal. rewrite exp_plus, exp_Ropp, exp_ln by assumption. reflexivity. Qed.

(* always ⟹ nonneg(e^a) *)
Theorem nonneg_exp (a : val) :
  le (Some 0) (exp a) = true.
Proof. pointwise. Qed.

(* finite(a) ⟹ pos(e^a) *)
Theorem pos_exp (a : val) :
  lt absent a = true ->
  lt (Some 0) (exp a) = true.
Proof. pointwise. Qed.

(* always ⟹ pos(|x|) *)
Theorem pos_size (X : Type) (xs : list X) :
  xs <> [] ->
  lt (Some 0) (size xs) = true.
Proof. intro lanes. destruct xs as [|x xs]; [contradiction |]. unfold size. cbn [length]. rewrite S_INR. pose proof (pos_INR (length xs)). pointwise. Qed.

(* always ⟹ nonneg(|x|) *)
Theorem nonneg_size (X : Type) (xs : list X) :
  xs <> [] ->
  le (Some 0) (size xs) = true.
Proof. intros _. unfold size. pose proof (pos_INR (length xs)). pointwise. Qed.

(* finite(a) ⟹ nonneg(a · a) *)
Theorem nonneg_square (a : val) :
  lt absent a = true ->
  le (Some 0) (mul a a) = true.
Proof. pointwise. Qed.

(* finite(a) ⟹ nonneg(abs(a)) *)
Theorem nonneg_abs (a : val) :
  lt absent a = true ->
  le (Some 0) (abs a) = true.
Proof. pointwise. Qed.

(* finite(a) ⟹ pos(sigmoid(a)) *)
Theorem pos_sigmoid (a : val) :
  lt absent a = true ->
  lt (Some 0) (sigmoid a) = true.
Proof. pointwise. Qed.

(* pos(a), pos(b) ⟹ pos(a · b) *)
Theorem pos_mul (a : val) (b : val) :
  lt (Some 0) a = true ->
  lt (Some 0) b = true ->
  lt (Some 0) (mul a b) = true.
Proof. pointwise. Qed.

(* nonneg(a), nonneg(b) ⟹ nonneg(a · b) *)
Theorem nonneg_mul (a : val) (b : val) :
  le (Some 0) a = true ->
  le (Some 0) b = true ->
  le (Some 0) (mul a b) = true.
Proof. pointwise. Qed.

(* pos(a), nonneg(b) ⟹ pos(a + b) *)
Theorem pos_add (a : val) (b : val) :
  lt (Some 0) a = true ->
  le (Some 0) b = true ->
  lt (Some 0) (add a b) = true.
Proof. pointwise. Qed.

(* nonneg(a), pos(b) ⟹ pos(a + b) *)
Theorem pos_add_right (a : val) (b : val) :
  le (Some 0) a = true ->
  lt (Some 0) b = true ->
  lt (Some 0) (add a b) = true.
Proof. pointwise. Qed.

(* nonneg(a), nonneg(b) ⟹ nonneg(a + b) *)
Theorem nonneg_add (a : val) (b : val) :
  le (Some 0) a = true ->
  le (Some 0) b = true ->
  le (Some 0) (add a b) = true.
Proof. pointwise. Qed.

(* pos(a) ⟹ pos(1 / a) *)
Theorem pos_inv (a : val) :
  lt (Some 0) a = true ->
  lt (Some 0) (inv a) = true.
Proof. pointwise. Qed.

(* nonneg(a) ⟹ nonneg(1 / a) *)
Theorem nonneg_inv (a : val) :
  le (Some 0) a = true ->
  le (Some 0) (inv a) = true.
Proof. pointwise. Qed.

(* pos(a) ⟹ pos(√a) *)
Theorem pos_sqrt (a : val) :
  lt (Some 0) a = true ->
  lt (Some 0) (sqrt a) = true.
Proof. pointwise. Qed.

(* pos(a) ⟹ pos(Σ_x a) *)
Theorem pos_sum (X : Type) (xs : list X) (a : X -> val) :
  xs <> [] ->
  (forall x, In x xs -> lt (Some 0) (a x) = true) ->
  lt (Some 0) (Sum xs (fun x => a x)) = true.
Proof. intros lanes each. apply (reduce_every add (Some 0) add_0 add_comm _ _ _ (fun v => lt (Some 0) v = true)); [pointwise | exact lanes | exact each]. Qed.

(* nonneg(a) ⟹ nonneg(Σ_x a) *)
Theorem nonneg_sum (X : Type) (xs : list X) (a : X -> val) :
  xs <> [] ->
  (forall x, In x xs -> le (Some 0) (a x) = true) ->
  le (Some 0) (Sum xs (fun x => a x)) = true.
Proof. intros lanes each. apply (reduce_every add (Some 0) add_0 add_comm _ _ _ (fun v => le (Some 0) v = true)); [pointwise | exact lanes | exact each]. Qed.

(* finite(a), finite(b) ⟹ finite(a + b) *)
Theorem finite_add (a : val) (b : val) :
  lt absent a = true ->
  lt absent b = true ->
  lt absent (add a b) = true.
Proof. pointwise. Qed.

(* finite(a), finite(b) ⟹ finite(a · b) *)
Theorem finite_mul (a : val) (b : val) :
  lt absent a = true ->
  lt absent b = true ->
  lt absent (mul a b) = true.
Proof. pointwise. Qed.

(* finite(a) ⟹ finite(max(a, b)) *)
Theorem finite_max (a : val) (b : val) :
  lt absent a = true ->
  lt absent (max a b) = true.
Proof. pointwise. Qed.

(* finite(b) ⟹ finite(max(a, b)) *)
Theorem finite_max_right (a : val) (b : val) :
  lt absent b = true ->
  lt absent (max a b) = true.
Proof. pointwise. Qed.

(* finite(a), finite(b) ⟹ finite(min(a, b)) *)
Theorem finite_min (a : val) (b : val) :
  lt absent a = true ->
  lt absent b = true ->
  lt absent (min a b) = true.
Proof. pointwise. Qed.

(* finite(a), finite(b) ⟹ finite([c ? a : b]) *)
Theorem finite_where (a : val) (b : val) (c : bool) :
  lt absent a = true ->
  lt absent b = true ->
  lt absent (choice c a b) = true.
Proof. pointwise. Qed.

(* always ⟹ finite(e^a) *)
Theorem finite_exp (a : val) :
  lt absent (exp a) = true.
Proof. pointwise. Qed.

(* pos(a) ⟹ finite(log(a)) *)
Theorem finite_log (a : val) :
  lt (Some 0) a = true ->
  lt absent (log a) = true.
Proof. pointwise. Qed.

(* finite(a) ⟹ finite(Σ_x a) *)
Theorem finite_reduce_sum (X : Type) (xs : list X) (a : X -> val) :
  xs <> [] ->
  (forall x, In x xs -> lt absent (a x) = true) ->
  lt absent (Sum xs (fun x => a x)) = true.
Proof. intros lanes each. apply (reduce_every add (Some 0) add_0 add_comm _ _ _ (fun v => lt absent v = true)); [pointwise | exact lanes | exact each]. Qed.

(* finite(a) ⟹ finite(max_x a) *)
Theorem finite_reduce_max (X : Type) (xs : list X) (a : X -> val) :
  xs <> [] ->
  (forall x, In x xs -> lt absent (a x) = true) ->
  lt absent (Max xs (fun x => a x)) = true.
Proof. intros lanes each. apply (reduce_every max absent max_absent max_comm _ _ _ (fun v => lt absent v = true)); [pointwise | exact lanes | exact each]. Qed.

(* finite(a) ⟹ finite(Π_x a) *)
Theorem finite_reduce_prod (X : Type) (xs : list X) (a : X -> val) :
  xs <> [] ->
  (forall x, In x xs -> lt absent (a x) = true) ->
  lt absent (Prod xs (fun x => a x)) = true.
Proof. intros lanes each. apply (reduce_every mul (Some 1) mul_1 mul_comm _ _ _ (fun v => lt absent v = true)); [pointwise | exact lanes | exact each]. Qed.

(* always ⟹ le(a, max_x a) *)
Theorem le_max (X : Type) (xs : list X) (a : X -> val) :
  xs <> [] ->
  (forall x, In x xs -> le (a x) (Max xs (fun x => a x)) = true).
Proof. intros _ x lane. apply (max_above _ _ _ x lane). Qed.

(* le(a, b) ⟹ le(a, max(b, d)) *)
Theorem le_larger (a : val) (b : val) (d : val) :
  le a b = true ->
  le a (max b d) = true.
Proof. pointwise. Qed.

(* le(a, b) ⟹ le([c ? a : -∞], b) *)
Theorem le_where (a : val) (b : val) (c : bool) :
  le a b = true ->
  le (choice c a absent) b = true.
Proof. pointwise. Qed.

(* le(a, b), pos(d) ⟹ le(a · d, b · d) *)
Theorem le_mul (a : val) (b : val) (d : val) :
  le a b = true ->
  lt (Some 0) d = true ->
  le (mul a d) (mul b d) = true.
Proof. pointwise. Qed.

(* le(a, b) ⟹ safe(a - b) *)
Theorem safe_difference (a : val) (b : val) (largest : R) :
  11 <= largest ->
  le a b = true ->
  le (add a (neg b)) (Some largest) = true.
Proof. pointwise. Qed.

(* finite(a) ⟹ finite(-a) *)
Theorem finite_neg (a : val) :
  lt absent a = true ->
  lt absent (neg a) = true.
Proof. pointwise. Qed.

(* finite(a) ⟹ finite(1 / a) *)
Theorem finite_inv (a : val) :
  lt absent a = true ->
  lt absent (inv a) = true.
Proof. pointwise. Qed.

(* finite(a) ⟹ finite(√a) *)
Theorem finite_sqrt (a : val) :
  lt absent a = true ->
  lt absent (sqrt a) = true.
Proof. pointwise. Qed.

(* finite(a) ⟹ finite(tanh(a)) *)
Theorem finite_tanh (a : val) :
  lt absent a = true ->
  lt absent (tanh a) = true.
Proof. pointwise. Qed.

(* finite(a) ⟹ finite(sigmoid(a)) *)
Theorem finite_sigmoid (a : val) :
  lt absent a = true ->
  lt absent (sigmoid a) = true.
Proof. pointwise. Qed.

(* finite(a) ⟹ finite(sin(a)) *)
Theorem finite_sin (a : val) :
  lt absent a = true ->
  lt absent (sin a) = true.
Proof. pointwise. Qed.

(* finite(a) ⟹ finite(cos(a)) *)
Theorem finite_cos (a : val) :
  lt absent a = true ->
  lt absent (cos a) = true.
Proof. pointwise. Qed.

(* finite(a) ⟹ finite(abs(a)) *)
Theorem finite_abs (a : val) :
  lt absent a = true ->
  lt absent (abs a) = true.
Proof. pointwise. Qed.

(* finite(a) ⟹ finite(⌊a⌋) *)
Theorem finite_floor (a : val) :
  lt absent a = true ->
  lt absent (floor a) = true.
Proof. pointwise. Qed.

(* finite(a) ⟹ finite(expm1(a)) *)
Theorem finite_expm1 (a : val) :
  lt absent a = true ->
  lt absent (add (exp a) (Some (-1))) = true.
Proof. pointwise. Qed.

(* pos(a) ⟹ nonneg(a) *)
Theorem pos_nonneg (a : val) :
  lt (Some 0) a = true ->
  le (Some 0) a = true.
Proof. pointwise. Qed.

(* pos(a) ⟹ nonzero(a) *)
Theorem pos_nonzero (a : val) :
  lt (Some 0) a = true ->
  andb (lt absent a) (negb (eq a (Some 0))) = true.
Proof. pointwise. Qed.

(* nonneg(a) ⟹ finite(a) *)
Theorem nonneg_finite (a : val) :
  le (Some 0) a = true ->
  lt absent a = true.
Proof. pointwise. Qed.

(* nonzero(a) ⟹ finite(a) *)
Theorem nonzero_finite (a : val) :
  andb (lt absent a) (negb (eq a (Some 0))) = true ->
  lt absent a = true.
Proof. pointwise. Qed.

(* [c ? [e ? a : b] : b] → [c ∧ e ? a : b] *)
Theorem where_and (a : val) (b : val) (c : bool) (e : bool) :
  choice c (choice e a b) b
  = choice (andb c e) a b.
Proof. pointwise. Qed.

(* [c ? a : a] → a *)
Theorem where_same (a : val) (c : bool) :
  choice c a a
  = a.
Proof. pointwise. Qed.

(* [a ≤ b ? b : a] → max(a, b) *)
Theorem where_larger (a : val) (b : val) :
  choice (le a b) b a
  = max a b.
Proof. pointwise. Qed.

(* [a ≤ b ? a : b] → min(a, b) *)
Theorem where_smaller (a : val) (b : val) :
  choice (le a b) a b
  = min a b.
Proof. pointwise. Qed.

(* [c ? e^a : 0] → e^[c ? a : -∞] *)
Theorem where_exp (a : val) (c : bool) :
  choice c (exp a) (Some 0)
  = exp (choice c a absent).
Proof. pointwise. Qed.

(* [c ? a · b : 0] → [c ? a : 0] · b if finite(b) *)
Theorem where_mul (a : val) (b : val) (c : bool) :
  lt absent b = true ->
  choice c (mul a b) (Some 0)
  = mul (choice c a (Some 0)) b.
Proof. pointwise. Qed.

(* [c ? a + b : -∞] → [c ? a : -∞] + b *)
Theorem where_add (a : val) (b : val) (c : bool) :
  choice c (add a b) absent
  = add (choice c a absent) b.
Proof. pointwise. Qed.

(* [c ? a + b : 0] → [c ? a : 0] + [c ? b : 0] *)
Theorem where_add_zero (a : val) (b : val) (c : bool) :
  choice c (add a b) (Some 0)
  = add (choice c a (Some 0)) (choice c b (Some 0)).
Proof. pointwise. Qed.

(* [c ? a + b : a] → a + [c ? b : 0] *)
Theorem where_added (a : val) (b : val) (c : bool) :
  choice c (add a b) a
  = add a (choice c b (Some 0)).
Proof. pointwise. Qed.

(* always ⟹ absent(c, [c ? a : -∞]) *)
Theorem absent_where (a : val) (c : bool) :
  orb c (eq (choice c a absent) absent) = true.
Proof. pointwise. Qed.

(* always ⟹ zero(c, [c ? a : 0]) *)
Theorem zero_where (a : val) (c : bool) :
  orb c (eq (choice c a (Some 0)) (Some 0)) = true.
Proof. pointwise. Qed.

(* absent(c, a) ⟹ absent(c, a + b) *)
Theorem absent_add (a : val) (b : val) (c : bool) :
  orb c (eq a absent) = true ->
  orb c (eq (add a b) absent) = true.
Proof. pointwise. Qed.

(* absent(c, a) ⟹ absent(c, a · b) *)
Theorem absent_mul (a : val) (b : val) (c : bool) :
  orb c (eq a absent) = true ->
  orb c (eq (mul a b) absent) = true.
Proof. pointwise. Qed.

(* absent(c, b) ⟹ absent(c, a + b) *)
Theorem absent_add_right (a : val) (b : val) (c : bool) :
  orb c (eq b absent) = true ->
  orb c (eq (add a b) absent) = true.
Proof. pointwise. Qed.

(* absent(c, b) ⟹ absent(c, a · b) *)
Theorem absent_mul_right (a : val) (b : val) (c : bool) :
  orb c (eq b absent) = true ->
  orb c (eq (mul a b) absent) = true.
Proof. pointwise. Qed.

(* absent(c, a) ⟹ zero(c, e^a) *)
Theorem zero_exp (a : val) (c : bool) :
  orb c (eq a absent) = true ->
  orb c (eq (exp a) (Some 0)) = true.
Proof. pointwise. Qed.

(* zero(c, a), finite(b) ⟹ zero(c, a · b) *)
Theorem zero_mul (a : val) (b : val) (c : bool) :
  orb c (eq a (Some 0)) = true ->
  lt absent b = true ->
  orb c (eq (mul a b) (Some 0)) = true.
Proof. pointwise. Qed.

(* finite(a), zero(c, b) ⟹ zero(c, a · b) *)
Theorem zero_mul_right (a : val) (b : val) (c : bool) :
  lt absent a = true ->
  orb c (eq b (Some 0)) = true ->
  orb c (eq (mul a b) (Some 0)) = true.
Proof. pointwise. Qed.

(* zero(c, a), free(y, c) ⟹ zero(c, Σ_y a) *)
Theorem zero_sum (Y : Type) (ys : list Y) (a : Y -> val) (c : bool) :
  ys <> [] ->
  (forall y, In y ys -> orb c (eq (a y) (Some 0)) = true) ->
  orb c (eq (Sum ys (fun y => a y)) (Some 0)) = true.
Proof. intros lanes each. apply (reduce_every add (Some 0) add_0 add_comm _ _ _ (fun v => orb c (eq v (Some 0)) = true)); [pointwise | exact lanes | exact each]. Qed.

(* finite(a) ⟹ present(c, [c ? a : b]) *)
Theorem present_where (a : val) (b : val) (c : bool) :
  lt absent a = true ->
  orb (negb c) (lt absent (choice c a b)) = true.
Proof. pointwise. Qed.

(* present(c, a), finite(b) ⟹ present(c, a + b) *)
Theorem present_add (a : val) (b : val) (c : bool) :
  orb (negb c) (lt absent a) = true ->
  lt absent b = true ->
  orb (negb c) (lt absent (add a b)) = true.
Proof. pointwise. Qed.

(* finite(a), present(c, b) ⟹ present(c, a + b) *)
Theorem present_add_right (a : val) (b : val) (c : bool) :
  lt absent a = true ->
  orb (negb c) (lt absent b) = true ->
  orb (negb c) (lt absent (add a b)) = true.
Proof. pointwise. Qed.

(* present(c, a), finite(b) ⟹ present(c, a · b) *)
Theorem present_mul (a : val) (b : val) (c : bool) :
  orb (negb c) (lt absent a) = true ->
  lt absent b = true ->
  orb (negb c) (lt absent (mul a b)) = true.
Proof. pointwise. Qed.

(* finite(a), present(c, b) ⟹ present(c, a · b) *)
Theorem present_mul_right (a : val) (b : val) (c : bool) :
  lt absent a = true ->
  orb (negb c) (lt absent b) = true ->
  orb (negb c) (lt absent (mul a b)) = true.
Proof. pointwise. Qed.

(* leaves(x, c) ⟹ leaves(x, c ∨ e) *)
Theorem leaves_or (X : Type) (xs : list X) (c : X -> bool) (e : X -> bool) :
  xs <> [] ->
  lt (Some 0) (Sum xs (fun x => choice (c x) (Some 1) (Some 0))) = true ->
  lt (Some 0) (Sum xs (fun x => choice (orb (c x) (e x)) (Some 1) (Some 0))) = true.
Proof. intros _ left. destruct (one_left _ _ _ left) as (x & lane & held). apply (sum_above _ _ _ x); [intros y _; destruct (c y), (e y); pointwise | exact lane |]. rewrite held. pointwise. Qed.

(* leaves(x, e) ⟹ leaves(x, c ∨ e) *)
Theorem leaves_or_right (X : Type) (xs : list X) (c : X -> bool) (e : X -> bool) :
  xs <> [] ->
  lt (Some 0) (Sum xs (fun x => choice (e x) (Some 1) (Some 0))) = true ->
  lt (Some 0) (Sum xs (fun x => choice (orb (c x) (e x)) (Some 1) (Some 0))) = true.
Proof. intros _ left. destruct (one_left _ _ _ left) as (x & lane & held). apply (sum_above _ _ _ x); [intros y _; destruct (c y), (e y); pointwise | exact lane |]. rewrite held. destruct (c x); pointwise. Qed.

(* present(c, a), leaves(x, c) ⟹ finite(max_x a) *)
Theorem finite_left (X : Type) (xs : list X) (a : X -> val) (c : X -> bool) :
  xs <> [] ->
  (forall x, In x xs -> orb (negb (c x)) (lt absent (a x)) = true) ->
  lt (Some 0) (Sum xs (fun x => choice (c x) (Some 1) (Some 0))) = true ->
  lt absent (Max xs (fun x => a x)) = true.
Proof. intros _ there left. destruct (one_left _ _ _ left) as (x & lane & held). specialize (there x lane). rewrite held in there. pose proof (max_above _ xs (fun x => a x) x lane) as above. cbv beta in above. revert there above. generalize (a x) (Max xs (fun x => a x)). clear. pointwise. Qed.

(* present(c, a), leaves(x, c) ⟹ pos(Σ_x e^a) *)
Theorem pos_left (X : Type) (xs : list X) (a : X -> val) (c : X -> bool) :
  xs <> [] ->
  (forall x, In x xs -> orb (negb (c x)) (lt absent (a x)) = true) ->
  lt (Some 0) (Sum xs (fun x => choice (c x) (Some 1) (Some 0))) = true ->
  lt (Some 0) (Sum xs (fun x => exp (a x))) = true.
Proof. intros _ there left. destruct (one_left _ _ _ left) as (x & lane & held). apply (sum_above _ _ _ x); [intros y _; generalize (a y); pointwise | exact lane |]. specialize (there x lane). rewrite held in there. revert there. generalize (a x). pointwise. Qed.

(* max_x a → max_{x | c} a if absent(c, a) *)
Theorem skip_max (X : Type) (xs : list X) (a : X -> val) (c : X -> bool) :
  (forall x, In x xs -> orb (c x) (eq (a x) absent) = true) ->
  Max xs (fun x => a x)
  = Max (filter (fun x => c x) xs) (fun x => a x).
Proof. intros out. symmetry. apply (reduce_filter max absent max_absent). intros x lane. apply or_eq, out, lane. Qed.

(* Π_x [c ? a : 1] → Π_{x | c} a *)
Theorem prod_masked (X : Type) (xs : list X) (a : X -> val) (c : X -> bool) :
  Prod xs (fun x => choice (c x) (a x) (Some 1))
  = Prod (filter (fun x => c x) xs) (fun x => a x).
Proof. intros. unfold Prod, reduce. induction xs as [| x xs IH]; [reflexivity |]. cbn [map fold_right filter]. rewrite IH. destruct (c x); [reflexivity | apply mul_1]. Qed.

(* Σ_x a → Σ_{x | c} a if zero(c, a) *)
Theorem skip_sum (X : Type) (xs : list X) (a : X -> val) (c : X -> bool) :
  (forall x, In x xs -> orb (c x) (eq (a x) (Some 0)) = true) ->
  Sum xs (fun x => a x)
  = Sum (filter (fun x => c x) xs) (fun x => a x).
Proof. intros out. symmetry. apply (reduce_filter add (Some 0) add_0). intros x lane. apply or_eq, out, lane. Qed.

(* Σ_x (a + r) · (a + r) → Σ_x (a - (Σ_x a) / |x|) · (a - (Σ_x a) / |x|) + |x| · (((Σ_x a) / |x| + r) · ((Σ_x a) / |x| + r)) if free(x, r), finite(a), finite(r) *)
Theorem squares_about (X : Type) (xs : list X) (a : X -> val) (r : val) :
  (forall x, In x xs -> lt absent (a x) = true) ->
  lt absent r = true ->
  Sum xs (fun x => mul (add (a x) r) (add (a x) r))
  = add (Sum xs (fun x => mul (add (a x) (neg (mul (Sum xs (fun x => a x)) (inv (size xs))))) (add (a x) (neg (mul (Sum xs (fun x => a x)) (inv (size xs))))))) (mul (size xs) (mul (add (mul (Sum xs (fun x => a x)) (inv (size xs))) r) (add (mul (Sum xs (fun x => a x)) (inv (size xs))) r))).
Proof. intros there known. assert (P : exists s t, Sum xs (fun x => a x) = Some s /\ forall k, Sum xs (fun x => mul (add (a x) (Some k)) (add (a x) (Some k))) = Some (t + 2 * k * s + k * k * INR (length xs))). { induction xs as [| x xs IH]. { exists 0, 0. split; [reflexivity |]. intro k. cbn. f_equal. ring. } destruct IH as (s & t & S & T). { intros y lane. apply there. right. exact lane. } destruct (a x) as [v |] eqn:V; [| specialize (there x (or_introl eq_refl)); rewrite V in there; discriminate]. exists (v + s), (v * v + t). split. { change (add (a x) (Sum xs (fun x => a x)) = Some (v + s)). rewrite V, S. reflexivity. } intro k. change (add (mul (add (a x) (Some k)) (add (a x) (Some k))) (Sum xs (fun x => mul (add (a x) (Some k)) (add (a x) (Some k)))) = Some (v * v + t + 2 * k * (v + s) + k * k * INR (length (x :: xs)))). rewrite V, (T k). cbn [length]. rewrite S_INR. cbn [add mul two_of]. f_equal. ring. } destruct r as [k |]; [| discriminate]. destruct xs as [| y ys]. { unfold size. cbn. destruct (Req_EM_T 0 0) as [E | N]; [f_equal; ring | exfalso; apply N; reflexivity]. } destruct P as (s & t & S & T). rewrite (T k), S. unfold size. set (n := INR (length (y :: ys))) in *. assert (N : n <> 0) by (apply not_0_INR; discriminate). clearbody n. assert (I : inv (Some n) = Some (/ n)) by (unfold inv, one_of; destruct (Req_EM_T n 0); [contradiction | reflexivity]). rewrite I. change (neg (mul (Some s) (Some (/ n)))) with (Some (- (s * / n))). rewrite T. cbn [add mul two_of]. f_equal. field. exact N. Qed.

(* Σ_x [c ? (a + r) · (a + r) : 0] → Σ_x [c ? (a - (Σ_x [c ? a : 0]) / (Σ_x [c ? 1 : 0])) · (a - (Σ_x [c ? a : 0]) / (Σ_x [c ? 1 : 0])) : 0] + (Σ_x [c ? 1 : 0]) · (((Σ_x [c ? a : 0]) / (Σ_x [c ? 1 : 0]) + r) · ((Σ_x [c ? a : 0]) / (Σ_x [c ? 1 : 0]) + r)) if free(x, r), finite(a), finite(r) *)
Theorem squares_about_where (X : Type) (xs : list X) (a : X -> val) (c : X -> bool) (r : val) :
  (forall x, In x xs -> lt absent (a x) = true) ->
  lt absent r = true ->
  Sum xs (fun x => choice (c x) (mul (add (a x) r) (add (a x) r)) (Some 0))
  = add (Sum xs (fun x => choice (c x) (mul (add (a x) (neg (mul (Sum xs (fun x => choice (c x) (a x) (Some 0))) (inv (Sum xs (fun x => choice (c x) (Some 1) (Some 0))))))) (add (a x) (neg (mul (Sum xs (fun x => choice (c x) (a x) (Some 0))) (inv (Sum xs (fun x => choice (c x) (Some 1) (Some 0)))))))) (Some 0))) (mul (Sum xs (fun x => choice (c x) (Some 1) (Some 0))) (mul (add (mul (Sum xs (fun x => choice (c x) (a x) (Some 0))) (inv (Sum xs (fun x => choice (c x) (Some 1) (Some 0))))) r) (add (mul (Sum xs (fun x => choice (c x) (a x) (Some 0))) (inv (Sum xs (fun x => choice (c x) (Some 1) (Some 0))))) r))).
Proof. intros there known. assert (F : forall f : X -> val, Sum xs (fun x => choice (c x) (f x) (Some 0)) = Sum (filter c xs) f). { intro f. clear. unfold Sum, reduce. induction xs as [| x xs IH]; [reflexivity |]. cbn [map fold_right filter]. rewrite IH. destruct (c x); [reflexivity | apply add_0]. } rewrite !F. assert (L : forall ys : list X, Sum ys (fun _ => Some 1) = size ys). { induction ys as [| y ys IH]; [reflexivity |]. change (add (Some 1) (Sum ys (fun _ => Some 1)) = size (y :: ys)). rewrite IH. unfold size. cbn [length]. rewrite S_INR. cbn [add two_of]. f_equal. ring. } rewrite L. apply squares_about; [intros x lane; apply there, (proj1 (filter_In c x xs) lane) | exact known]. Qed.

(* Σ_x a → Σ_p Σ_x [c ? a : 0] if stretch(p, x, c), free(p, a) *)
Theorem split_sum (P : Type) (ps : list P) (X : Type) (xs : list X) (a : X -> val) (c : P -> X -> bool) :
  (forall x, In x xs -> eq (Sum ps (fun p => choice (c p x) (Some 1) (Some 0))) (Some 1) = true) ->
  Sum xs (fun x => a x)
  = Sum ps (fun p => Sum xs (fun x => choice (c p x) (a x) (Some 0))).
Proof. intros once. apply (reduce_split add (Some 0) add_0 add_comm add_assoc). intros x lane. apply eq_true, once, lane. Qed.

(* max_x a → max_p max_x [c ? a : -∞] if stretch(p, x, c), free(p, a) *)
Theorem split_max (P : Type) (ps : list P) (X : Type) (xs : list X) (a : X -> val) (c : P -> X -> bool) :
  (forall x, In x xs -> eq (Sum ps (fun p => choice (c p x) (Some 1) (Some 0))) (Some 1) = true) ->
  Max xs (fun x => a x)
  = Max ps (fun p => Max xs (fun x => choice (c p x) (a x) absent)).
Proof. intros once. apply (reduce_split max absent max_absent max_comm max_assoc). intros x lane. apply eq_true, once, lane. Qed.

(* Π_x a → Π_p Π_x [c ? a : 1] if stretch(p, x, c), free(p, a) *)
Theorem split_prod (P : Type) (ps : list P) (X : Type) (xs : list X) (a : X -> val) (c : P -> X -> bool) :
  (forall x, In x xs -> eq (Sum ps (fun p => choice (c p x) (Some 1) (Some 0))) (Some 1) = true) ->
  Prod xs (fun x => a x)
  = Prod ps (fun p => Prod xs (fun x => choice (c p x) (a x) (Some 1))).
Proof. intros once. apply (reduce_split mul (Some 1) mul_1 mul_comm mul_assoc). intros x lane. apply eq_true, once, lane. Qed.

(* Σ_{x | d} a → Σ_p Σ_x [c ? [d ? a : 0] : 0] if stretch(p, x, c), free(p, a), free(p, d) *)
Theorem split_masked_sum (P : Type) (ps : list P) (X : Type) (xs : list X) (a : X -> val) (c : P -> X -> bool) (d : X -> bool) :
  (forall x, In x xs -> eq (Sum ps (fun p => choice (c p x) (Some 1) (Some 0))) (Some 1) = true) ->
  Sum (filter (fun x => d x) xs) (fun x => a x)
  = Sum ps (fun p => Sum xs (fun x => choice (c p x) (choice (d x) (a x) (Some 0)) (Some 0))).
Proof. intros once. etransitivity; [| apply (reduce_split add (Some 0) add_0 add_comm add_assoc _ _ _ _ c (fun x => choice (d x) (a x) (Some 0))); intros x lane; apply eq_true, once, lane]. clear once. unfold Sum, reduce. induction xs as [| x xs IH]; [reflexivity |]. cbn [map fold_right filter]. destruct (d x); cbn [map fold_right]; rewrite IH; [reflexivity | symmetry; apply add_0]. Qed.

(* max_{x | d} a → max_p max_x [c ? [d ? a : -∞] : -∞] if stretch(p, x, c), free(p, a), free(p, d) *)
Theorem split_masked_max (P : Type) (ps : list P) (X : Type) (xs : list X) (a : X -> val) (c : P -> X -> bool) (d : X -> bool) :
  (forall x, In x xs -> eq (Sum ps (fun p => choice (c p x) (Some 1) (Some 0))) (Some 1) = true) ->
  Max (filter (fun x => d x) xs) (fun x => a x)
  = Max ps (fun p => Max xs (fun x => choice (c p x) (choice (d x) (a x) absent) absent)).
Proof. intros once. etransitivity; [| apply (reduce_split max absent max_absent max_comm max_assoc _ _ _ _ c (fun x => choice (d x) (a x) absent)); intros x lane; apply eq_true, once, lane]. clear once. unfold Max, reduce. induction xs as [| x xs IH]; [reflexivity |]. cbn [map fold_right filter]. destruct (d x); cbn [map fold_right]; rewrite IH; [reflexivity | symmetry; apply max_absent]. Qed.

(* Σ_p Σ_x [c ? a : 0] → Σ_x a if stretch(p, x, c), free(x, a), free(p, a) *)
Theorem join_stretches (P : Type) (ps : list P) (X : Type) (xs : list X) (a : val) (c : P -> X -> bool) :
  (forall x, In x xs -> eq (Sum ps (fun p => choice (c p x) (Some 1) (Some 0))) (Some 1) = true) ->
  Sum ps (fun p => Sum xs (fun x => choice (c p x) a (Some 0)))
  = Sum xs (fun x => a).
Proof. intros once. symmetry. apply (reduce_split add (Some 0) add_0 add_comm add_assoc _ _ _ _ c (fun _ => a)). intros x lane. apply eq_true, once, lane. Qed.

(* Σ_x e^([c ? a : -∞] - m) · b → e^(max_x [c ? a : -∞] - m) · Σ_x e^([c ? a : -∞] - max_x [c ? a : -∞]) · b if stretch(p, x, c), free(x, m) *)
Theorem rebase (P : Type) (ps : list P) (X : Type) (xs : list X) (a : P -> X -> val) (b : P -> X -> val) (c : P -> X -> bool) (m : P -> val) :
  (forall x, In x xs -> eq (Sum ps (fun p => choice (c p x) (Some 1) (Some 0))) (Some 1) = true) ->
  forall p, In p ps -> Sum xs (fun x => mul (exp (add (choice (c p x) (a p x) absent) (neg (m p)))) (b p x))
  = mul (exp (add (Max xs (fun x => choice (c p x) (a p x) absent)) (neg (m p)))) (Sum xs (fun x => mul (exp (add (choice (c p x) (a p x) absent) (neg (Max xs (fun x => choice (c p x) (a p x) absent))))) (b p x))).
Proof. intros. apply (sum_relative _ _ (fun x => choice (c p x) (a p x) absent) (b p)). intros x lane none. exact (max_none _ _ _ x none lane). Qed.

(* Σ_x e^([c ? a : -∞] - m) → e^(max_x [c ? a : -∞] - m) · Σ_x e^([c ? a : -∞] - max_x [c ? a : -∞]) if stretch(p, x, c), free(x, m) *)
Theorem rebase_bare (P : Type) (ps : list P) (X : Type) (xs : list X) (a : P -> X -> val) (c : P -> X -> bool) (m : P -> val) :
  (forall x, In x xs -> eq (Sum ps (fun p => choice (c p x) (Some 1) (Some 0))) (Some 1) = true) ->
  forall p, In p ps -> Sum xs (fun x => exp (add (choice (c p x) (a p x) absent) (neg (m p))))
  = mul (exp (add (Max xs (fun x => choice (c p x) (a p x) absent)) (neg (m p)))) (Sum xs (fun x => exp (add (choice (c p x) (a p x) absent) (neg (Max xs (fun x => choice (c p x) (a p x) absent)))))).
Proof. intros. apply (sum_relative_bare _ _ (fun x => choice (c p x) (a p x) absent)). intros x lane none. exact (max_none _ _ _ x none lane). Qed.

(* [c ? a : b] → [¬c ? b : a] *)
Theorem where_turned (a : val) (b : val) (c : bool) :
  choice c a b
  = choice (negb c) b a.
Proof. pointwise. Qed.

(* Σ_x [c ? a : 0] → [c ? Σ_x a : 0] if free(x, c) *)
Theorem sum_where (X : Type) (xs : list X) (a : X -> val) (c : bool) :
  Sum xs (fun x => choice c (a x) (Some 0))
  = choice c (Sum xs (fun x => a x)) (Some 0).
Proof. intros. destruct c; [reflexivity | exact (reduce_neutral add (Some 0) add_0 _ xs)]. Qed.

(* Σ_x [c ? a : 0] → Σ_{x | c} a *)
Theorem sum_masked (X : Type) (xs : list X) (a : X -> val) (c : X -> bool) :
  Sum xs (fun x => choice (c x) (a x) (Some 0))
  = Sum (filter (fun x => c x) xs) (fun x => a x).
Proof. intros. unfold Sum, reduce. induction xs as [| x xs IH]; [reflexivity |]. cbn [map fold_right filter]. rewrite IH. destruct (c x); [reflexivity | apply add_0]. Qed.

(* Σ_p [c ? 1 : 0] → 1 if stretch(p, x, c) *)
Theorem in_stretch (P : Type) (ps : list P) (X : Type) (xs : list X) (c : P -> X -> bool) :
  (forall x, In x xs -> eq (Sum ps (fun p => choice (c p x) (Some 1) (Some 0))) (Some 1) = true) ->
  forall x, In x xs -> Sum ps (fun p => choice (c p x) (Some 1) (Some 0))
  = Some 1.
Proof. intros once x lane. apply eq_true, once, lane. Qed.

(* Σ_x a · b = a · Σ_x b if free(x, a) *)
Theorem distribute (X : Type) (xs : list X) (a : val) (b : X -> val) :
  xs <> [] ->
  Sum xs (fun x => mul a (b x))
  = mul a (Sum xs (fun x => b x)).
Proof. intros. apply sum_factor. assumption. Qed.

(* Σ_x a · b = a · Σ_x b if free(x, a), finite(a) *)
Theorem distribute_present (X : Type) (xs : list X) (a : val) (b : X -> val) :
  lt absent a = true ->
  Sum xs (fun x => mul a (b x))
  = mul a (Sum xs (fun x => b x)).
Proof. intros there. destruct a as [k |]; [apply sum_scaled | discriminate]. Qed.

(* Σ_x (a + b) = Σ_x a + Σ_x b *)
Theorem sum_add (X : Type) (xs : list X) (a : X -> val) (b : X -> val) :
  Sum xs (fun x => add (a x) (b x))
  = add (Sum xs (fun x => a x)) (Sum xs (fun x => b x)).
Proof. intros. apply sum_both. Qed.

(* Σ_x -a = -(Σ_x a) *)
Theorem sum_neg (X : Type) (xs : list X) (a : X -> val) :
  Sum xs (fun x => neg (a x))
  = neg (Sum xs (fun x => a x)).
Proof. intros. apply sum_neg_out. Qed.

(* Σ_x a → a · |x| if free(x, a) *)
Theorem sum_constant (X : Type) (xs : list X) (a : val) :
  xs <> [] ->
  Sum xs (fun x => a)
  = mul a (size xs).
Proof. intros. apply sum_of_equals. assumption. Qed.

(* Σ_x a → a · |x| if free(x, a), finite(a) *)
Theorem sum_constant_present (X : Type) (xs : list X) (a : val) :
  lt absent a = true ->
  Sum xs (fun x => a)
  = mul a (size xs).
Proof. intros there. destruct xs as [| y ys]; [| apply sum_of_equals; discriminate]. destruct a as [k |]; [cbv [Sum reduce map fold_right size length INR]; pointwise | discriminate]. Qed.

(* Σ_x Σ_y a → Σ_y Σ_x a if distinct(x, y) *)
Theorem fubini_sum (X : Type) (xs : list X) (Y : Type) (ys : list Y) (a : X -> Y -> val) :
  Sum xs (fun x => Sum ys (fun y => a x y))
  = Sum ys (fun y => Sum xs (fun x => a x y)).
Proof. intros. apply (reduce_swap add (Some 0) add_0 add_comm add_assoc). Qed.

(* max_x max_y a → max_y max_x a if distinct(x, y) *)
Theorem fubini_max (X : Type) (xs : list X) (Y : Type) (ys : list Y) (a : X -> Y -> val) :
  Max xs (fun x => Max ys (fun y => a x y))
  = Max ys (fun y => Max xs (fun x => a x y)).
Proof. intros. apply (reduce_swap max absent max_absent max_comm max_assoc). Qed.

(* Π_x Π_y a → Π_y Π_x a if distinct(x, y) *)
Theorem fubini_prod (X : Type) (xs : list X) (Y : Type) (ys : list Y) (a : X -> Y -> val) :
  Prod xs (fun x => Prod ys (fun y => a x y))
  = Prod ys (fun y => Prod xs (fun x => a x y)).
Proof. intros. apply (reduce_swap mul (Some 1) mul_1 mul_comm mul_assoc). Qed.

(* max_x (a + b) = a + max_x b if free(x, a) *)
Theorem max_shift (X : Type) (xs : list X) (a : val) (b : X -> val) :
  Max xs (fun x => add a (b x))
  = add a (Max xs (fun x => b x)).
Proof. intros. apply (max_moved _ _ (add a)); pointwise. Qed.

(* max_x a · b = a · max_x b if free(x, a), pos(a) *)
Theorem max_scale (X : Type) (xs : list X) (a : val) (b : X -> val) :
  lt (Some 0) a = true ->
  Max xs (fun x => mul a (b x))
  = mul a (Max xs (fun x => b x)).
Proof. intros. apply (max_moved _ _ (mul a)); pointwise. Qed.

(* local(x, a), le(a, r), free(x, r) ⟹ scales(x, e^(a - r), e^(prev[r] - r)) *)
Theorem scales_exp (X : Type) (xs : list X) (a : X -> val) (r : list X -> val) :
  xs <> [] ->
  (forall now rest, xs = now ++ rest -> now <> [] -> forall x, In x now -> le (a x) (r now) = true) ->
  scales xs (fun now x => exp (add (a x) (neg (r now)))) (fun seen now => exp (add (r seen) (neg (r now)))).
Proof. intros _ above. apply scales_relative. exact above. Qed.

(* local(x, b) ⟹ le(prev[max_x b], max_x b) *)
Theorem le_prev (X : Type) (xs : list X) (b : X -> val) :
  xs <> [] ->
  (forall seen block rest, xs = seen ++ block ++ rest -> block <> [] -> le (Max seen (fun x => b x)) (Max (seen ++ block) (fun x => b x)) = true).
Proof. intros. rewrite max_app. generalize (Max seen (fun x => b x)) (Max block (fun x => b x)). pointwise. Qed.

(* local(x, b), local(x, a), free(x, a) ⟹ le(prev[max(max_x b, a)], max(max_x b, a)) *)
Theorem le_prev_larger (X : Type) (xs : list X) (a : val) (b : X -> val) :
  xs <> [] ->
  (forall seen block rest, xs = seen ++ block ++ rest -> block <> [] -> le (max (Max seen (fun x => b x)) a) (max (Max (seen ++ block) (fun x => b x)) a) = true).
Proof. intros. rewrite max_app. generalize (Max seen (fun x => b x)) (Max block (fun x => b x)). pointwise. Qed.

(* local(x, b), nonzero(Σ_x b) ⟹ scales(x, 1 / (Σ_x b), prev[Σ_x b] / (Σ_x b)) *)
Theorem scales_inv (X : Type) (xs : list X) (b : X -> val) :
  xs <> [] ->
  (forall now rest, xs = now ++ rest -> now <> [] -> andb (lt absent (Sum now (fun x => b x))) (negb (eq (Sum now (fun x => b x)) (Some 0))) = true) ->
  scales xs (fun now x => inv (Sum now (fun x => b x))) (fun seen now => mul (Sum seen (fun x => b x)) (inv (Sum now (fun x => b x)))).
Proof. intros _ some. apply (scales_ratio _ _ (fun now => Sum now b)); [exact some | reflexivity]. Qed.

(* scales(x, a, r), local(x, b) ⟹ scales(x, a · b, r) *)
Theorem scales_local (X : Type) (xs : list X) (a : list X -> X -> val) (b : X -> val) (r : list X -> list X -> val) :
  xs <> [] ->
  scales xs (fun now x => a now x) (fun seen now => r seen now) ->
  scales xs (fun now x => mul (a now x) (b x)) (fun seen now => r seen now).
Proof. intros _ one. apply scales_times. exact one. Qed.

(* scales(x, a, r), scales(x, b, s) ⟹ scales(x, a · b, r · s) *)
Theorem scales_both (X : Type) (xs : list X) (a : list X -> X -> val) (b : list X -> X -> val) (r : list X -> list X -> val) (s : list X -> list X -> val) :
  xs <> [] ->
  scales xs (fun now x => a now x) (fun seen now => r seen now) ->
  scales xs (fun now x => b now x) (fun seen now => s seen now) ->
  scales xs (fun now x => mul (a now x) (b now x)) (fun seen now => mul (r seen now) (s seen now)).
Proof. intros _ one other. apply scales_product; assumption. Qed.

(* Σ_x a → online[Σ_x a; acc ← acc · r] if scales(x, a, r), free(x, r) *)
Theorem rescale (X : Type) (xs : list X) (x_blocks : list (list X)) (a : list X -> X -> val) (r : list X -> list X -> val) :
  concat x_blocks = xs -> Forall (fun block => block <> []) x_blocks ->
  scales xs (fun now x => a now x) (fun seen now => r seen now) ->
  Sum xs (fun x => a xs x)
  = Online x_blocks (fun now x => true) (fun now x => a now x) (fun seen now acc => mul acc (r seen now)).
Proof. intros <- full factor. apply rescaled; assumption. Qed.

(* a + b → b + a *)
Theorem add_commutes (a : val) (b : val) :
  add a b
  = add b a.
Proof. pointwise. Qed.

(* a · b → b · a *)
Theorem mul_commutes (a : val) (b : val) :
  mul a b
  = mul b a.
Proof. pointwise. Qed.

(* a + b + d = a + (b + d) *)
Theorem add_associates (a : val) (b : val) (d : val) :
  add (add a b) d
  = add a (add b d).
Proof. pointwise. Qed.

(* a · b · d = a · (b · d) *)
Theorem mul_associates (a : val) (b : val) (d : val) :
  mul (mul a b) d
  = mul a (mul b d).
Proof. pointwise. Qed.

(* a · (b + d) = a · b + a · d *)
Theorem factor (a : val) (b : val) (d : val) :
  mul a (add b d)
  = add (mul a b) (mul a d).
Proof. pointwise. Qed.

(* a · 1 → a *)
Theorem mul_one (a : val) :
  mul a (Some 1)
  = a.
Proof. pointwise. Qed.

(* a + 0 → a *)
Theorem add_zero (a : val) :
  add a (Some 0)
  = a.
Proof. pointwise. Qed.

(* -a · b = -(a · b) *)
Theorem neg_mul (a : val) (b : val) :
  mul (neg a) b
  = neg (mul a b).
Proof. pointwise. Qed.

(* -(a + b) = -a - b *)
Theorem neg_add (a : val) (b : val) :
  neg (add a b)
  = add (neg a) (neg b).
Proof. pointwise. Qed.

(* -(-a) → a *)
Theorem neg_neg (a : val) :
  neg (neg a)
  = a.
Proof. pointwise. Qed.

(* 1 / (a · b) = 1 / a / b *)
Theorem inv_mul (a : val) (b : val) :
  inv (mul a b)
  = mul (inv a) (inv b).
Proof. pointwise. Qed.

(* 1 / (1 / a) → a *)
Theorem inv_inv (a : val) :
  inv (inv a)
  = a.
Proof. pointwise. Qed.

(* a / a → 1 if nonzero(a) *)
Theorem cancel (a : val) :
  andb (lt absent a) (negb (eq a (Some 0))) = true ->
  mul a (inv a)
  = Some 1.
Proof. pointwise. Qed.

(* Σ_{x | c} a → fold[Σ_{x | c} a] *)
Theorem stream_sum (X : Type) (xs : list X) (x_blocks : list (list X)) (a : X -> val) (c : X -> bool) :
  concat x_blocks = xs -> Forall (fun block => block <> []) x_blocks ->
  Sum (filter (fun x => c x) xs) (fun x => a x)
  = FoldSum x_blocks (fun x => c x) (fun x => a x).
Proof. intros <- _. symmetry. apply (fold_is_reduce add (Some 0) add_0 add_comm add_assoc). Qed.

(* max_{x | c} a → fold[max_{x | c} a] *)
Theorem stream_max (X : Type) (xs : list X) (x_blocks : list (list X)) (a : X -> val) (c : X -> bool) :
  concat x_blocks = xs -> Forall (fun block => block <> []) x_blocks ->
  Max (filter (fun x => c x) xs) (fun x => a x)
  = FoldMax x_blocks (fun x => c x) (fun x => a x).
Proof. intros <- _. symmetry. apply (fold_is_reduce max absent max_absent max_comm max_assoc). Qed.

(* Π_{x | c} a → fold[Π_{x | c} a] *)
Theorem stream_prod (X : Type) (xs : list X) (x_blocks : list (list X)) (a : X -> val) (c : X -> bool) :
  concat x_blocks = xs -> Forall (fun block => block <> []) x_blocks ->
  Prod (filter (fun x => c x) xs) (fun x => a x)
  = FoldProd x_blocks (fun x => c x) (fun x => a x).
Proof. intros <- _. symmetry. apply (fold_is_reduce mul (Some 1) mul_1 mul_comm mul_assoc). Qed.

(* fold[Σ_{x | c} a] → fused[Σ_{x | c} a] *)
Theorem fuse_sum (X : Type) (xs : list X) (x_blocks : list (list X)) (a : X -> val) (c : X -> bool) :
  concat x_blocks = xs -> Forall (fun block => block <> []) x_blocks ->
  FoldSum x_blocks (fun x => c x) (fun x => a x)
  = FoldSum x_blocks (fun x => c x) (fun x => a x).
Proof. pointwise. Qed.

(* fold[max_{x | c} a] → fused[max_{x | c} a] *)
Theorem fuse_max (X : Type) (xs : list X) (x_blocks : list (list X)) (a : X -> val) (c : X -> bool) :
  concat x_blocks = xs -> Forall (fun block => block <> []) x_blocks ->
  FoldMax x_blocks (fun x => c x) (fun x => a x)
  = FoldMax x_blocks (fun x => c x) (fun x => a x).
Proof. pointwise. Qed.

(* fold[Π_{x | c} a] → fused[Π_{x | c} a] *)
Theorem fuse_prod (X : Type) (xs : list X) (x_blocks : list (list X)) (a : X -> val) (c : X -> bool) :
  concat x_blocks = xs -> Forall (fun block => block <> []) x_blocks ->
  FoldProd x_blocks (fun x => c x) (fun x => a x)
  = FoldProd x_blocks (fun x => c x) (fun x => a x).
Proof. pointwise. Qed.

(* online[Σ_{x | c} a; acc ← u] → fused online[Σ_{x | c} a; acc ← u] *)
Theorem fuse_online (X : Type) (xs : list X) (x_blocks : list (list X)) (a : list X -> X -> val) (c : list X -> X -> bool) (u : list X -> list X -> val -> val) :
  concat x_blocks = xs -> Forall (fun block => block <> []) x_blocks ->
  Online x_blocks (fun now x => c now x) (fun now x => a now x) (fun seen now acc => u seen now acc)
  = Online x_blocks (fun now x => c now x) (fun now x => a now x) (fun seen now acc => u seen now acc).
Proof. pointwise. Qed.

(* online[Σ_x a; acc ← u] → online[Σ_{x | c} a; acc ← u] if zero(c, a) *)
Theorem skip_online (X : Type) (xs : list X) (x_blocks : list (list X)) (a : list X -> X -> val) (c : list X -> X -> bool) (u : list X -> list X -> val -> val) :
  concat x_blocks = xs -> Forall (fun block => block <> []) x_blocks ->
  (forall now rest, xs = now ++ rest -> now <> [] -> forall x, In x now -> orb (c now x) (eq (a now x) (Some 0)) = true) ->
  Online x_blocks (fun now x => true) (fun now x => a now x) (fun seen now acc => u seen now acc)
  = Online x_blocks (fun now x => c now x) (fun now x => a now x) (fun seen now acc => u seen now acc).
Proof. intros <- full zero. apply kept; assumption. Qed.

Definition laws := (@settled_sum, @settled_over, @settled_size, @settled_local, @settled_mul, @settled_add, @settled_inv, @moves_bare, @moves_weighted, @moves_more, @moves_more_weighted, @carry, @carry_weighted, @carry_scaled, @exp_add, @exp_neg, @log_mul, @log_inv, @log_exp, @exp_log, @root_squared, @shift, @shift_weighted, @exp_over, @nonneg_exp, @pos_exp, @pos_size, @nonneg_size, @nonneg_square, @nonneg_abs, @pos_sigmoid, @pos_mul, @nonneg_mul, @pos_add, @pos_add_right, @nonneg_add, @pos_inv, @nonneg_inv, @pos_sqrt, @pos_sum, @nonneg_sum, @finite_add, @finite_mul, @finite_max, @finite_max_right, @finite_min, @finite_where, @finite_exp, @finite_log, @finite_reduce_sum, @finite_reduce_max, @finite_reduce_prod, @le_max, @le_larger, @le_where, @le_mul, @safe_difference, @finite_neg, @finite_inv, @finite_sqrt, @finite_tanh, @finite_sigmoid, @finite_sin, @finite_cos, @finite_abs, @finite_floor, @finite_expm1, @pos_nonneg, @pos_nonzero, @nonneg_finite, @nonzero_finite, @where_and, @where_same, @where_larger, @where_smaller, @where_exp, @where_mul, @where_add, @where_add_zero, @where_added, @absent_where, @zero_where, @absent_add, @absent_mul, @absent_add_right, @absent_mul_right, @zero_exp, @zero_mul, @zero_mul_right, @zero_sum, @present_where, @present_add, @present_add_right, @present_mul, @present_mul_right, @leaves_or, @leaves_or_right, @finite_left, @pos_left, @skip_max, @prod_masked, @skip_sum, @squares_about, @squares_about_where, @split_sum, @split_max, @split_prod, @split_masked_sum, @split_masked_max, @join_stretches, @rebase, @rebase_bare, @where_turned, @sum_where, @sum_masked, @in_stretch, @distribute, @distribute_present, @sum_add, @sum_neg, @sum_constant, @sum_constant_present, @fubini_sum, @fubini_max, @fubini_prod, @max_shift, @max_scale, @scales_exp, @le_prev, @le_prev_larger, @scales_inv, @scales_local, @scales_both, @rescale, @add_commutes, @mul_commutes, @add_associates, @mul_associates, @factor, @mul_one, @add_zero, @neg_mul, @neg_add, @neg_neg, @inv_mul, @inv_inv, @cancel, @stream_sum, @stream_max, @stream_prod, @fuse_sum, @fuse_max, @fuse_prod, @fuse_online, @skip_online).
Print Assumptions laws.
