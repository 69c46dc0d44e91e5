; law    finite-scan-prod (recurrence): A prefix fold of present values is present.
; says   finite(a) ⟹ finite(scan[Π_x a])
; source stated in recurrence.py
; case   the conclusion: the first lane of x
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const a Real)
(declare-const a.absent Bool)
; t1 is 1 · a
(define-fun t1 () Real (* 1.0 a))
; given -∞ < a
(assert (not a.absent))
(check-sat)
