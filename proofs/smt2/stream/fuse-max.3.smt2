; law    fuse-max (stream): A fold may share its pass over the axis with others.
; says   fold[max_{x | c} a] → fused[max_{x | c} a]
; source napkin-paper 2.3; stated in stream.py
; case   max is a commutative monoid
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
; the goal, denied
(assert (not (or a.absent (and (not a.absent) (= a a)))))
(check-sat)
