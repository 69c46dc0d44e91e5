; law    fuse-sum (stream): A fold may share its pass over the axis with others.
; says   fold[Σ_{x | c} a] → fused[Σ_{x | c} a]
; source napkin-paper 2.3; stated in stream.py
; case   sum is a commutative monoid
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const a Real)
(declare-const a.absent Bool)
; t1 is 0 + a
(define-fun t1 () Real (+ 0.0 a))
(check-sat)
