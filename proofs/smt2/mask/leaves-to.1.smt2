; law    leaves-to (mask): A mask that holds up to a coordinate that is not negative leaves the first lane.
; says   nonneg(i) ⟹ leaves(x, x ≤ i)
; source stated in mask.py
; case   the conclusion: x has one lane
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const i Real)
; t1 is [0 ≤ i ? 1 : 0]
(define-fun t1.absent () Bool (and (not (<= 0.0 i)) (<= 0.0 i)))
(define-fun t1 () Real (ite (<= 0.0 i) 1.0 0.0))
; given 0 ≤ i
(assert (<= 0.0 i))
; the goal, denied
(assert (not (and (not t1.absent) (< 0.0 t1))))
(check-sat)
