; law    nonneg-sum (facts): A sum over an axis of numbers that are not negative is not negative.
; says   nonneg(a) ⟹ nonneg(Σ_x a)
; source stated in facts.py
; case   the conclusion: nonneg of what is reduced
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const a Real)
(declare-const a.absent Bool)
; given 0 ≤ a
(assert (and (not a.absent) (<= 0.0 a)))
(check-sat)
