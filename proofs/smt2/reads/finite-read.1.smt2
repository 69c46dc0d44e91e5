; law    finite-read (reads): What is present everywhere is present at any coordinate.
; says   finite(a) ⟹ finite(a[x := i])
; source stated in reads.py
; case   the conclusion
;        a@1 stands for a at x = i
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const a-1 Real)
(declare-const a-1.absent Bool)
; given -∞ < a
(assert (not a.absent))
; given -∞ < a@1
(assert (not a-1.absent))
; the goal, denied
(assert (not (not a-1.absent)))
(check-sat)
