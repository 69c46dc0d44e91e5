; law    recentre (rescale): A sum of squares about the running mean is carried along the stream, plus the mean's step.
; says   Σ_x (a - (Σ_x a) / |x|) · (a - (Σ_x a) / |x|) → online[Σ_x (a - (Σ_x a) / |x|) · (a - (Σ_x a) / |x|); acc ← acc + prev[|x|] · ((prev[(Σ_x a) / |x|] - (Σ_x a) / |x|) · (prev[(Σ_x a) / |x|] - (Σ_x a) / |x|))] if local(x, a)
; source Chan, Golub, LeVeque 1983; stated in rescale.py
; case   one more block
;        block 1 stands for Σ_x a over the new block alone
;        block 2 stands for |x| over the new block alone
;        sums and maxima are in a normal form, by the lemmas sign, distribution, commutation, association, exponential, sum-of-both, factor, constant
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_NRA)
(set-info :status sat)
(declare-const block-2 Real)
(declare-const a Real)
(declare-const a.absent Bool)
; t1 is a · a
(define-fun t1 () Real (* a a))
; r1 is Σ_x a · a, of which nothing else is used
(declare-const r1 Real)
(declare-const r1.absent Bool)
; r2 is Σ_x a, of which nothing else is used
(declare-const r2 Real)
(declare-const r2.absent Bool)
; t2 is -1 · Σ_x a
(define-fun t2 () Real (* (- 1.0) r2))
(declare-const size.x Real)
(assert (>= size.x 1.0))
; t3 is |x| + block 2
(define-fun t3 () Real (+ size.x block-2))
; inv.1 stands for 1 / (+ block-2 size.x), and 0 for 0
(declare-const inv.1 Real)
(assert (=> (= (+ block-2 size.x) 0.0) (= inv.1 0.0)))
(assert (=> (not (= (+ block-2 size.x) 0.0)) (= (* inv.1 (+ block-2 size.x)) 1.0)))
; t4 is (-1 · Σ_x a) / (|x| + block 2)
(define-fun t4 () Real (* t2 inv.1))
; t5 is (-1 · Σ_x a) / (|x| + block 2) · Σ_x a
(define-fun t5 () Real (* t4 r2))
; t6 is Σ_x a · a + (-1 · Σ_x a) / (|x| + block 2) · Σ_x a
(define-fun t6.absent () Bool (or r1.absent r2.absent))
(define-fun t6 () Real (+ r1 t5))
(declare-const block-1 Real)
(declare-const block-1.absent Bool)
; t7 is -1 · block 1
(define-fun t7 () Real (* (- 1.0) block-1))
; t8 is -1 · block 1 / (|x| + block 2)
(define-fun t8 () Real (* t7 inv.1))
; t9 is -1 · block 1 / (|x| + block 2) · Σ_x a
(define-fun t9.absent () Bool (or block-1.absent r2.absent))
(define-fun t9 () Real (* t8 r2))
; t10 is Σ_x a · a + (-1 · Σ_x a) / (|x| + block 2) · Σ_x a + -1 · block 1 / (|x| + block 2) · Σ_x a
(define-fun t10.absent () Bool (or t6.absent t9.absent))
(define-fun t10 () Real (+ t6 t9))
; t11 is Σ_x a · a + (-1 · Σ_x a) / (|x| + block 2) · Σ_x a + -1 · block 1 / (|x| + block 2) · Σ_x a + (-1 · Σ_x a) / (|x| + block 2) · Σ_x a
(define-fun t11.absent () Bool (or t10.absent r2.absent))
(define-fun t11 () Real (+ t10 t5))
; t12 is (-1 · Σ_x a) / (|x| + block 2) · (-1)
(define-fun t12 () Real (* t4 (- 1.0)))
; t13 is (-1 · Σ_x a) / (|x| + block 2) · (-1) · Σ_x a
(define-fun t13 () Real (* t12 r2))
; t14 is ((-1 · Σ_x a) / (|x| + block 2) · (-1) · Σ_x a) / (|x| + block 2)
(define-fun t14 () Real (* t13 inv.1))
; t15 is ((-1 · Σ_x a) / (|x| + block 2) · (-1) · Σ_x a) / (|x| + block 2) · |x|
(define-fun t15 () Real (* t14 size.x))
; t16 is Σ_x a · a + (-1 · Σ_x a) / (|x| + block 2) · Σ_x a + -1 · block 1 / (|x| + block 2) · Σ_x a + (-1 · Σ_x a) / (|x| + block 2) · Σ_x a + ((-1 · Σ_x a) / (|x| + block 2) · (-1) · Σ_x a) / (|x| + block 2) · |x|
(define-fun t16.absent () Bool (or t11.absent r2.absent))
(define-fun t16 () Real (+ t11 t15))
; t17 is (-1 · Σ_x a) / (|x| + block 2) · (-1) · block 1
(define-fun t17.absent () Bool (or r2.absent block-1.absent))
(define-fun t17 () Real (* t12 block-1))
; t18 is (-1 · Σ_x a) / (|x| + block 2) · (-1) · block 1 / (|x| + block 2)
(define-fun t18 () Real (* t17 inv.1))
; t19 is (-1 · Σ_x a) / (|x| + block 2) · (-1) · block 1 / (|x| + block 2) · |x|
(define-fun t19 () Real (* t18 size.x))
; t20 is Σ_x a · a + (-1 · Σ_x a) / (|x| + block 2) · Σ_x a + -1 · block 1 / (|x| + block 2) · Σ_x a + (-1 · Σ_x a) / (|x| + block 2) · Σ_x a + ((-1 · Σ_x a) / (|x| + block 2) · (-1) · Σ_x a) / (|x| + block 2) · |x| + (-1 · Σ_x a) / (|x| + block 2) · (-1) · block 1 / (|x| + block 2) · |x|
(define-fun t20.absent () Bool (or t16.absent t17.absent))
(define-fun t20 () Real (+ t16 t19))
; t21 is Σ_x a · a + (-1 · Σ_x a) / (|x| + block 2) · Σ_x a + -1 · block 1 / (|x| + block 2) · Σ_x a + (-1 · Σ_x a) / (|x| + block 2) · Σ_x a + ((-1 · Σ_x a) / (|x| + block 2) · (-1) · Σ_x a) / (|x| + block 2) · |x| + (-1 · Σ_x a) / (|x| + block 2) · (-1) · block 1 / (|x| + block 2) · |x| + -1 · block 1 / (|x| + block 2) · Σ_x a
(define-fun t21.absent () Bool (or t20.absent t9.absent))
(define-fun t21 () Real (+ t20 t9))
; t22 is -1 · block 1 / (|x| + block 2) · (-1)
(define-fun t22 () Real (* t8 (- 1.0)))
; t23 is -1 · block 1 / (|x| + block 2) · (-1) · Σ_x a
(define-fun t23.absent () Bool (or block-1.absent r2.absent))
(define-fun t23 () Real (* t22 r2))
; t24 is (-1 · block 1 / (|x| + block 2) · (-1) · Σ_x a) / (|x| + block 2)
(define-fun t24 () Real (* t23 inv.1))
; t25 is (-1 · block 1 / (|x| + block 2) · (-1) · Σ_x a) / (|x| + block 2) · |x|
(define-fun t25 () Real (* t24 size.x))
; t26 is Σ_x a · a + (-1 · Σ_x a) / (|x| + block 2) · Σ_x a + -1 · block 1 / (|x| + block 2) · Σ_x a + (-1 · Σ_x a) / (|x| + block 2) · Σ_x a + ((-1 · Σ_x a) / (|x| + block 2) · (-1) · Σ_x a) / (|x| + block 2) · |x| + (-1 · Σ_x a) / (|x| + block 2) · (-1) · block 1 / (|x| + block 2) · |x| + -1 · block 1 / (|x| + block 2) · Σ_x a + (-1 · block 1 / (|x| + block 2) · (-1) · Σ_x a) / (|x| + block 2) · |x|
(define-fun t26.absent () Bool (or t21.absent t23.absent))
(define-fun t26 () Real (+ t21 t25))
; t27 is -1 · block 1 / (|x| + block 2) · (-1) · block 1
(define-fun t27 () Real (* t22 block-1))
; t28 is -1 · block 1 / (|x| + block 2) · (-1) · block 1 / (|x| + block 2)
(define-fun t28 () Real (* t27 inv.1))
; t29 is -1 · block 1 / (|x| + block 2) · (-1) · block 1 / (|x| + block 2) · |x|
(define-fun t29 () Real (* t28 size.x))
; t30 is Σ_x a · a + (-1 · Σ_x a) / (|x| + block 2) · Σ_x a + -1 · block 1 / (|x| + block 2) · Σ_x a + (-1 · Σ_x a) / (|x| + block 2) · Σ_x a + ((-1 · Σ_x a) / (|x| + block 2) · (-1) · Σ_x a) / (|x| + block 2) · |x| + (-1 · Σ_x a) / (|x| + block 2) · (-1) · block 1 / (|x| + block 2) · |x| + -1 · block 1 / (|x| + block 2) · Σ_x a + (-1 · block 1 / (|x| + block 2) · (-1) · Σ_x a) / (|x| + block 2) · |x| + -1 · block 1 / (|x| + block 2) · (-1) · block 1 / (|x| + block 2) · |x|
(define-fun t30.absent () Bool (or t26.absent block-1.absent))
(define-fun t30 () Real (+ t26 t29))
; inv.2 stands for 1 / size.x, and 0 for 0
(declare-const inv.2 Real)
(assert (=> (= size.x (+ block-2 size.x)) (= inv.2 inv.1)))
(assert (=> (= size.x 0.0) (= inv.2 0.0)))
(assert (=> (not (= size.x 0.0)) (= (* inv.2 size.x) 1.0)))
; t31 is (-1 · Σ_x a) / |x|
(define-fun t31 () Real (* t2 inv.2))
; t32 is (-1 · Σ_x a) / |x| · Σ_x a
(define-fun t32 () Real (* t31 r2))
; t33 is Σ_x a · a + (-1 · Σ_x a) / |x| · Σ_x a
(define-fun t33.absent () Bool (or r1.absent r2.absent))
(define-fun t33 () Real (+ r1 t32))
; t34 is Σ_x a · a + (-1 · Σ_x a) / |x| · Σ_x a + (-1 · Σ_x a) / |x| · Σ_x a
(define-fun t34.absent () Bool (or t33.absent r2.absent))
(define-fun t34 () Real (+ t33 t32))
; t35 is (-1 · Σ_x a) / |x| · (-1)
(define-fun t35 () Real (* t31 (- 1.0)))
; t36 is (-1 · Σ_x a) / |x| · (-1) · Σ_x a
(define-fun t36 () Real (* t35 r2))
; t37 is ((-1 · Σ_x a) / |x| · (-1) · Σ_x a) / |x|
(define-fun t37 () Real (* t36 inv.2))
; t38 is ((-1 · Σ_x a) / |x| · (-1) · Σ_x a) / |x| · |x|
(define-fun t38 () Real (* t37 size.x))
; t39 is Σ_x a · a + (-1 · Σ_x a) / |x| · Σ_x a + (-1 · Σ_x a) / |x| · Σ_x a + ((-1 · Σ_x a) / |x| · (-1) · Σ_x a) / |x| · |x|
(define-fun t39.absent () Bool (or t34.absent r2.absent))
(define-fun t39 () Real (+ t34 t38))
; t40 is (Σ_x a) / |x|
(define-fun t40 () Real (* r2 inv.2))
; t41 is Σ_x a + block 1
(define-fun t41.absent () Bool (or r2.absent block-1.absent))
(define-fun t41 () Real (+ r2 block-1))
; t42 is (Σ_x a + block 1) / (|x| + block 2)
(define-fun t42 () Real (* t41 inv.1))
; t43 is -((Σ_x a + block 1) / (|x| + block 2))
(define-fun t43 () Real (- t42))
; t44 is (Σ_x a) / |x| - (Σ_x a + block 1) / (|x| + block 2)
(define-fun t44.absent () Bool (or r2.absent t41.absent))
(define-fun t44 () Real (+ t40 t43))
; t45 is ((Σ_x a) / |x| - (Σ_x a + block 1) / (|x| + block 2)) · ((Σ_x a) / |x| - (Σ_x a + block 1) / (|x| + block 2))
(define-fun t45 () Real (* t44 t44))
; t46 is |x| · (((Σ_x a) / |x| - (Σ_x a + block 1) / (|x| + block 2)) · ((Σ_x a) / |x| - (Σ_x a + block 1) / (|x| + block 2)))
(define-fun t46 () Real (* size.x t45))
; t47 is Σ_x a · a + (-1 · Σ_x a) / |x| · Σ_x a + (-1 · Σ_x a) / |x| · Σ_x a + ((-1 · Σ_x a) / |x| · (-1) · Σ_x a) / |x| · |x| + |x| · (((Σ_x a) / |x| - (Σ_x a + block 1) / (|x| + block 2)) · ((Σ_x a) / |x| - (Σ_x a + block 1) / (|x| + block 2)))
(define-fun t47.absent () Bool (or t39.absent t44.absent))
(define-fun t47 () Real (+ t39 t46))
; given 1 ≤ block 2
(assert (<= 1.0 block-2))
(check-sat)
