; law    pos-read (reads): What is positive everywhere is positive at any coordinate.
; says   pos(a) ⟹ pos(a[x := i])
; source stated in reads.py
; case   the conclusion
;        a@1 stands for a at x = i
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const a-1 Real)
(declare-const a-1.absent Bool)
; given 0 < a
(assert (and (not a.absent) (< 0.0 a)))
; given 0 < a@1
(assert (and (not a-1.absent) (< 0.0 a-1)))
; the goal, denied
(assert (not (and (not a-1.absent) (< 0.0 a-1))))
(check-sat)
