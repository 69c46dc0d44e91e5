; law    finite-scan-sum (recurrence): A prefix fold of present values is present.
; says   finite(a) ⟹ finite(scan[Σ_x a])
; source stated in recurrence.py
; case   the conclusion: the first lane of x
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const a Real)
(declare-const a.absent Bool)
; given -∞ < a
(assert (not a.absent))
(check-sat)
