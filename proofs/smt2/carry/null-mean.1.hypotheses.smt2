; law    null-mean (carry): The differences from the mean sum to 0.
; says   finite(a) ⟹ null(x, a - (Σ_x a) / |x|)
; source stated in carry.py
; case   the conclusion: finite of what is reduced
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const a Real)
(declare-const a.absent Bool)
; given -∞ < a
(assert (not a.absent))
(check-sat)
