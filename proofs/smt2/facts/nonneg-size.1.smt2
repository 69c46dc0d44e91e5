; law    nonneg-size (facts): A size is not negative, of no lanes either.
; says   always ⟹ nonneg(|x|)
; source stated in facts.py
; case   the conclusion
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const size.x Real)
(assert (>= size.x 1.0))
; the goal, denied
(assert (not (<= 0.0 size.x)))
(check-sat)
