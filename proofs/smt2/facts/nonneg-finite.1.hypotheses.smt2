; law    nonneg-finite (facts): A number that is not negative is present.
; says   nonneg(a) ⟹ finite(a)
; source stated in facts.py
; case   the conclusion
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const a Real)
(declare-const a.absent Bool)
; given 0 ≤ a
(assert (and (not a.absent) (<= 0.0 a)))
(check-sat)
