; law    finite-reduce-sum (facts): A reduction of present values is present.
; says   finite(a) ⟹ finite(Σ_x a)
; source stated in facts.py
; case   the conclusion: finite of what is reduced
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const a Real)
(declare-const a.absent Bool)
; given -∞ < a
(assert (not a.absent))
(check-sat)
