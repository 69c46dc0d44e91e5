; law    squares-about (moment): A sum of squares about a point is that about the mean, and the lanes times the square of what that is off by.
; says   Σ_x (a + r) · (a + r) → Σ_x (a - (Σ_x a) / |x|) · (a - (Σ_x a) / |x|) + |x| · (((Σ_x a) / |x| + r) · ((Σ_x a) / |x| + r)) if free(x, r), finite(a), finite(r)
; source stated in moment.py
; case   both sides
;        sums and maxima are in a normal form, by the lemmas sign, distribution, commutation, association, exponential, sum-of-both, factor, constant
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_NRA)
(set-info :status sat)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const r Real)
(declare-const r.absent Bool)
; t1 is a · a
(define-fun t1 () Real (* a a))
; r1 is Σ_x a · a, of which nothing else is used
(declare-const r1 Real)
(declare-const r1.absent Bool)
; r2 is Σ_x a, of which nothing else is used
(declare-const r2 Real)
(declare-const r2.absent Bool)
; t2 is r · Σ_x a
(define-fun t2.absent () Bool (or r.absent r2.absent))
(define-fun t2 () Real (* r r2))
; t3 is Σ_x a · a + r · Σ_x a
(define-fun t3.absent () Bool (or r1.absent t2.absent))
(define-fun t3 () Real (+ r1 t2))
; t4 is Σ_x a · a + r · Σ_x a + r · Σ_x a
(define-fun t4.absent () Bool (or t3.absent t2.absent))
(define-fun t4 () Real (+ t3 t2))
; t5 is r · r
(define-fun t5 () Real (* r r))
(declare-const size.x Real)
(assert (>= size.x 1.0))
; t6 is r · r · |x|
(define-fun t6 () Real (* t5 size.x))
; t7 is Σ_x a · a + r · Σ_x a + r · Σ_x a + r · r · |x|
(define-fun t7.absent () Bool (or t4.absent r.absent))
(define-fun t7 () Real (+ t4 t6))
; t8 is -1 · Σ_x a
(define-fun t8 () Real (* (- 1.0) r2))
; inv.1 stands for 1 / size.x, and 0 for 0
(declare-const inv.1 Real)
(assert (=> (= size.x 0.0) (= inv.1 0.0)))
(assert (=> (not (= size.x 0.0)) (= (* inv.1 size.x) 1.0)))
; t9 is (-1 · Σ_x a) / |x|
(define-fun t9 () Real (* t8 inv.1))
; t10 is (-1 · Σ_x a) / |x| · Σ_x a
(define-fun t10 () Real (* t9 r2))
; t11 is Σ_x a · a + (-1 · Σ_x a) / |x| · Σ_x a
(define-fun t11.absent () Bool (or r1.absent r2.absent))
(define-fun t11 () Real (+ r1 t10))
; t12 is Σ_x a · a + (-1 · Σ_x a) / |x| · Σ_x a + (-1 · Σ_x a) / |x| · Σ_x a
(define-fun t12.absent () Bool (or t11.absent r2.absent))
(define-fun t12 () Real (+ t11 t10))
; t13 is (-1 · Σ_x a) / |x| · (-1)
(define-fun t13 () Real (* t9 (- 1.0)))
; t14 is (-1 · Σ_x a) / |x| · (-1) · Σ_x a
(define-fun t14 () Real (* t13 r2))
; t15 is ((-1 · Σ_x a) / |x| · (-1) · Σ_x a) / |x|
(define-fun t15 () Real (* t14 inv.1))
; t16 is ((-1 · Σ_x a) / |x| · (-1) · Σ_x a) / |x| · |x|
(define-fun t16 () Real (* t15 size.x))
; t17 is Σ_x a · a + (-1 · Σ_x a) / |x| · Σ_x a + (-1 · Σ_x a) / |x| · Σ_x a + ((-1 · Σ_x a) / |x| · (-1) · Σ_x a) / |x| · |x|
(define-fun t17.absent () Bool (or t12.absent r2.absent))
(define-fun t17 () Real (+ t12 t16))
; t18 is (Σ_x a) / |x|
(define-fun t18 () Real (* r2 inv.1))
; t19 is (Σ_x a) / |x| + r
(define-fun t19.absent () Bool (or r2.absent r.absent))
(define-fun t19 () Real (+ t18 r))
; t20 is ((Σ_x a) / |x| + r) · ((Σ_x a) / |x| + r)
(define-fun t20 () Real (* t19 t19))
; t21 is |x| · (((Σ_x a) / |x| + r) · ((Σ_x a) / |x| + r))
(define-fun t21 () Real (* size.x t20))
; t22 is Σ_x a · a + (-1 · Σ_x a) / |x| · Σ_x a + (-1 · Σ_x a) / |x| · Σ_x a + ((-1 · Σ_x a) / |x| · (-1) · Σ_x a) / |x| · |x| + |x| · (((Σ_x a) / |x| + r) · ((Σ_x a) / |x| + r))
(define-fun t22.absent () Bool (or t17.absent t19.absent))
(define-fun t22 () Real (+ t17 t21))
; given -∞ < a
(assert (not a.absent))
; given -∞ < r
(assert (not r.absent))
; given -∞ < Σ_x a · a
(assert (not r1.absent))
; given 0 ≤ Σ_x a · a
(assert (and (not r1.absent) (<= 0.0 r1)))
; given -∞ < Σ_x a
(assert (not r2.absent))
(check-sat)
