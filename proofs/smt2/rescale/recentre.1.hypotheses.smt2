; law    recentre (rescale): A sum of squares about the running mean is carried along the stream, plus the mean's step.
; says   Σ_x (a - (Σ_x a) / |x|) · (a - (Σ_x a) / |x|) → online[Σ_x (a - (Σ_x a) / |x|) · (a - (Σ_x a) / |x|); acc ← acc + prev[|x|] · ((prev[(Σ_x a) / |x|] - (Σ_x a) / |x|) · (prev[(Σ_x a) / |x|] - (Σ_x a) / |x|))] if local(x, a)
; source Chan, Golub, LeVeque 1983; stated in rescale.py
; case   the first block
;        block 1 stands for Σ_x a over the new block alone
;        block 2 stands for |x| over the new block alone
;        sums and maxima are in a normal form, by the lemmas sign, distribution, commutation, association, exponential, sum-of-both, factor, constant
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_NRA)
(set-info :status sat)
; inv.1 stands for 1 / 0.0, and 0 for 0
(declare-const inv.1 Real)
(assert (=> (= 0.0 0.0) (= inv.1 0.0)))
(assert (=> (not (= 0.0 0.0)) (= (* inv.1 0.0) 1.0)))
; t1 is 0 / 0
(define-fun t1 () Real (* 0.0 inv.1))
(declare-const a Real)
(declare-const a.absent Bool)
; r1 is Σ_x a, of which nothing else is used
(declare-const r1 Real)
(declare-const r1.absent Bool)
(declare-const size.x Real)
(assert (>= size.x 1.0))
; inv.2 stands for 1 / size.x, and 0 for 0
(declare-const inv.2 Real)
(assert (=> (= size.x 0.0) (= inv.2 inv.1)))
(assert (=> (= size.x 0.0) (= inv.2 0.0)))
(assert (=> (not (= size.x 0.0)) (= (* inv.2 size.x) 1.0)))
; t2 is (Σ_x a) / |x|
(define-fun t2 () Real (* r1 inv.2))
; t3 is -((Σ_x a) / |x|)
(define-fun t3 () Real (- t2))
; t4 is 0 / 0 - (Σ_x a) / |x|
(define-fun t4 () Real (+ t1 t3))
; t5 is (0 / 0 - (Σ_x a) / |x|) · (0 / 0 - (Σ_x a) / |x|)
(define-fun t5 () Real (* t4 t4))
; t6 is 0 · ((0 / 0 - (Σ_x a) / |x|) · (0 / 0 - (Σ_x a) / |x|))
(define-fun t6 () Real (* 0.0 t5))
; t7 is 0 + 0 · ((0 / 0 - (Σ_x a) / |x|) · (0 / 0 - (Σ_x a) / |x|))
(define-fun t7 () Real (+ 0.0 t6))
; t8 is a · a
(define-fun t8 () Real (* a a))
; r2 is Σ_x a · a, of which nothing else is used
(declare-const r2 Real)
(declare-const r2.absent Bool)
; t9 is -1 · Σ_x a
(define-fun t9 () Real (* (- 1.0) r1))
; t10 is (-1 · Σ_x a) / |x|
(define-fun t10 () Real (* t9 inv.2))
; t11 is (-1 · Σ_x a) / |x| · Σ_x a
(define-fun t11 () Real (* t10 r1))
; t12 is Σ_x a · a + (-1 · Σ_x a) / |x| · Σ_x a
(define-fun t12.absent () Bool (or r2.absent r1.absent))
(define-fun t12 () Real (+ r2 t11))
; t13 is Σ_x a · a + (-1 · Σ_x a) / |x| · Σ_x a + (-1 · Σ_x a) / |x| · Σ_x a
(define-fun t13.absent () Bool (or t12.absent r1.absent))
(define-fun t13 () Real (+ t12 t11))
; t14 is (-1 · Σ_x a) / |x| · (-1)
(define-fun t14 () Real (* t10 (- 1.0)))
; t15 is (-1 · Σ_x a) / |x| · (-1) · Σ_x a
(define-fun t15 () Real (* t14 r1))
; t16 is ((-1 · Σ_x a) / |x| · (-1) · Σ_x a) / |x|
(define-fun t16 () Real (* t15 inv.2))
; t17 is ((-1 · Σ_x a) / |x| · (-1) · Σ_x a) / |x| · |x|
(define-fun t17 () Real (* t16 size.x))
; t18 is Σ_x a · a + (-1 · Σ_x a) / |x| · Σ_x a + (-1 · Σ_x a) / |x| · Σ_x a + ((-1 · Σ_x a) / |x| · (-1) · Σ_x a) / |x| · |x|
(define-fun t18.absent () Bool (or t13.absent r1.absent))
(define-fun t18 () Real (+ t13 t17))
; t19 is 0 + 0 · ((0 / 0 - (Σ_x a) / |x|) · (0 / 0 - (Σ_x a) / |x|)) + (Σ_x a · a + (-1 · Σ_x a) / |x| · Σ_x a + (-1 · Σ_x a) / |x| · Σ_x a + ((-1 · Σ_x a) / |x| · (-1) · Σ_x a) / |x| · |x|)
(define-fun t19.absent () Bool (or r1.absent t18.absent))
(define-fun t19 () Real (+ t7 t18))
(check-sat)
