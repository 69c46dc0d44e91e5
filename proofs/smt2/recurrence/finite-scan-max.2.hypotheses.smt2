; law    finite-scan-max (recurrence): A prefix fold of present values is present.
; says   finite(a) ⟹ finite(scan[max_x a])
; source stated in recurrence.py
; case   the conclusion: the next lane of x
;        prefix 1 over x stands for scan[max_x a] in the lane before
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const prefix-1-over-x Real)
(declare-const prefix-1-over-x.absent Bool)
; t1 is max(prefix 1 over x, a)
(define-fun t1.absent () Bool (and prefix-1-over-x.absent a.absent))
(define-fun t1 () Real (ite prefix-1-over-x.absent a (ite a.absent prefix-1-over-x (ite (>= prefix-1-over-x a) prefix-1-over-x a))))
; given -∞ < a
(assert (not a.absent))
; given -∞ < prefix 1 over x
(assert (not prefix-1-over-x.absent))
(check-sat)
