; law    null-mean (carry): The differences from the mean sum to 0.
; says   finite(a) ⟹ null(x, a - (Σ_x a) / |x|)
; source stated in carry.py
; case   the conclusion: finite of what is reduced
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
; given -∞ < a
(assert (not a.absent))
; the goal, denied
(assert (not (not a.absent)))
(check-sat)
