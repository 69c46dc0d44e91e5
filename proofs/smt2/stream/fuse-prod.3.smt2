; law    fuse-prod (stream): A fold may share its pass over the axis with others.
; says   fold[Π_{x | c} a] → fused[Π_{x | c} a]
; source napkin-paper 2.3; stated in stream.py
; case   prod is a commutative monoid
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
; t1 is 1 · a
(define-fun t1 () Real (* 1.0 a))
; the goal, denied
(assert (not (or a.absent (and (not a.absent) (= t1 a)))))
(check-sat)
