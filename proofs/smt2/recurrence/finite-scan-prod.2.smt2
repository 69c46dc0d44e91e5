; law    finite-scan-prod (recurrence): A prefix fold of present values is present.
; says   finite(a) ⟹ finite(scan[Π_x a])
; source stated in recurrence.py
; case   the conclusion: the next lane of x
;        prefix 1 over x stands for scan[Π_x a] in the lane before
(set-logic QF_NRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const prefix-1-over-x Real)
(declare-const prefix-1-over-x.absent Bool)
; t1 is prefix 1 over x · a
(define-fun t1.absent () Bool (or prefix-1-over-x.absent a.absent))
(define-fun t1 () Real (* prefix-1-over-x a))
; given -∞ < a
(assert (not a.absent))
; given -∞ < prefix 1 over x
(assert (not prefix-1-over-x.absent))
; the goal, denied
(assert (not (not t1.absent)))
(check-sat)
