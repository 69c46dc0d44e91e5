; law    nonneg-size (facts): A size is not negative, of no lanes either.
; says   always ⟹ nonneg(|x|)
; source stated in facts.py
; case   the conclusion
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const size.x Real)
(assert (>= size.x 1.0))
(check-sat)
