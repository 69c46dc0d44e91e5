; law    nonneg-sum (facts): A sum over an axis of numbers that are not negative is not negative.
; says   nonneg(a) ⟹ nonneg(Σ_x a)
; source stated in facts.py
; case   the conclusion
;        what holds of every lane holds of the reduction
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const a Real)
(declare-const a.absent Bool)
; r1 is Σ_x a, of which nothing else is used
(declare-const r1 Real)
(declare-const r1.absent Bool)
; given 0 ≤ a
(assert (and (not a.absent) (<= 0.0 a)))
; given -∞ < Σ_x a
(assert (not r1.absent))
; given 0 ≤ Σ_x a
(assert (and (not r1.absent) (<= 0.0 r1)))
(check-sat)
