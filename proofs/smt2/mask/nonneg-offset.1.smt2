; law    nonneg-offset (mask): A sum of whole numbers that are not negative is not negative.
; says   nonneg(i), nonneg(j) ⟹ nonneg(i + j)
; source stated in mask.py
; case   the conclusion
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const i Real)
(declare-const j Real)
; t1 is i + j
(define-fun t1 () Real (+ i j))
; given 0 ≤ i
(assert (<= 0.0 i))
; given 0 ≤ j
(assert (<= 0.0 j))
; the goal, denied
(assert (not (<= 0.0 t1)))
(check-sat)
