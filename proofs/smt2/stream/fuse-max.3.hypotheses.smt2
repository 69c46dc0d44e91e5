; law    fuse-max (stream): A fold may share its pass over the axis with others.
; says   fold[max_{x | c} a] → fused[max_{x | c} a]
; source napkin-paper 2.3; stated in stream.py
; case   max is a commutative monoid
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const a Real)
(declare-const a.absent Bool)
(check-sat)
