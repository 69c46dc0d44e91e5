; law    finite-scan-prod (recurrence): A prefix fold of present values is present.
; says   finite(a) ⟹ finite(scan[Π_x a])
; source stated in recurrence.py
; case   the conclusion: the first lane of x
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
; given -∞ < a
(assert (not a.absent))
; the goal, denied
(assert (not (not a.absent)))
(check-sat)
