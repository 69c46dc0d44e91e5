; law    le-max (facts): Nothing exceeds its maximum.
; says   always ⟹ le(a, max_x a)
; source stated in facts.py
; case   the conclusion: x has one lane
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const a Real)
(declare-const a.absent Bool)
(check-sat)
