; law    finite-read (reads): What is present everywhere is present at any coordinate.
; says   finite(a) ⟹ finite(a[x := i])
; source stated in reads.py
; case   the conclusion
;        a@1 stands for a at x = i
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const a-1 Real)
(declare-const a-1.absent Bool)
; given -∞ < a
(assert (not a.absent))
; given -∞ < a@1
(assert (not a-1.absent))
(check-sat)
