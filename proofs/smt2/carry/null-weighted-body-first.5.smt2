; law    null-weighted-body-first (carry): The weighted differences from the weighted mean sum to 0.
; says   finite(a), nonneg(w) ⟹ null(x, w · (a - (Σ_x a · w) / (Σ_x w)))
; source stated in carry.py
; case   the conclusion
;        sums and maxima are in a normal form, by the lemmas sign, distribution, commutation, association, exponential, sum-of-both, factor, constant
(set-logic QF_NRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const w Real)
(declare-const w.absent Bool)
; t1 is a · w
(define-fun t1.absent () Bool (or a.absent w.absent))
(define-fun t1 () Real (* a w))
; r1 is Σ_x a · w, of which nothing else is used
(declare-const r1 Real)
(declare-const r1.absent Bool)
; r2 is Σ_x w, of which nothing else is used
(declare-const r2 Real)
(declare-const r2.absent Bool)
; t2 is -1 · Σ_x a · w
(define-fun t2 () Real (* (- 1.0) r1))
; inv.1 stands for 1 / r2, and 0 for 0
(declare-const inv.1 Real)
(assert (=> (= r2 0.0) (= inv.1 0.0)))
(assert (=> (not (= r2 0.0)) (= (* inv.1 r2) 1.0)))
; t3 is (-1 · Σ_x a · w) / (Σ_x w)
(define-fun t3.absent () Bool (or r1.absent r2.absent))
(define-fun t3 () Real (* t2 inv.1))
; t4 is (-1 · Σ_x a · w) / (Σ_x w) · Σ_x w
(define-fun t4.absent () Bool (or t3.absent r2.absent))
(define-fun t4 () Real (* t3 r2))
; t5 is Σ_x a · w + (-1 · Σ_x a · w) / (Σ_x w) · Σ_x w
(define-fun t5.absent () Bool (or r1.absent t4.absent))
(define-fun t5 () Real (+ r1 t4))
; given -∞ < a
(assert (not a.absent))
; given 0 ≤ w
(assert (and (not w.absent) (<= 0.0 w)))
; given -∞ < Σ_x a · w
(assert (not r1.absent))
; given -∞ < Σ_x w
(assert (not r2.absent))
; given 0 ≤ Σ_x w
(assert (and (not r2.absent) (<= 0.0 r2)))
; given Σ_x w = 0 ∧ Σ_x a · w = 0 ∨ 0 < Σ_x w
(assert (or (and (and (not r2.absent) (= r2 0.0)) (and (not r1.absent) (= r1 0.0))) (and (not r2.absent) (< 0.0 r2))))
; the goal, denied
(assert (not (and (not t5.absent) (= t5 0.0))))
(check-sat)
