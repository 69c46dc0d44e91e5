; law    pos-nonneg (facts): A positive number is not negative.
; says   pos(a) ⟹ nonneg(a)
; source stated in facts.py
; case   the conclusion
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const a Real)
(declare-const a.absent Bool)
; given 0 < a
(assert (and (not a.absent) (< 0.0 a)))
(check-sat)
