; law    null-mean (carry): The differences from the mean sum to 0.
; says   finite(a) ⟹ null(x, a - (Σ_x a) / |x|)
; source stated in carry.py
; case   the conclusion
;        sums and maxima are in a normal form, by the lemmas sign, distribution, commutation, association, exponential, sum-of-both, factor, constant
(set-logic QF_NRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
; r1 is Σ_x a, of which nothing else is used
(declare-const r1 Real)
(declare-const r1.absent Bool)
; t1 is -1 · Σ_x a
(define-fun t1 () Real (* (- 1.0) r1))
(declare-const size.x Real)
(assert (>= size.x 1.0))
; inv.1 stands for 1 / size.x, and 0 for 0
(declare-const inv.1 Real)
(assert (=> (= size.x 0.0) (= inv.1 0.0)))
(assert (=> (not (= size.x 0.0)) (= (* inv.1 size.x) 1.0)))
; t2 is (-1 · Σ_x a) / |x|
(define-fun t2 () Real (* t1 inv.1))
; t3 is (-1 · Σ_x a) / |x| · |x|
(define-fun t3 () Real (* t2 size.x))
; t4 is Σ_x a + (-1 · Σ_x a) / |x| · |x|
(define-fun t4 () Real (+ r1 t3))
; given -∞ < a
(assert (not a.absent))
; given -∞ < Σ_x a
(assert (not r1.absent))
; the goal, denied
(assert (not (and (not r1.absent) (= t4 0.0))))
(check-sat)
