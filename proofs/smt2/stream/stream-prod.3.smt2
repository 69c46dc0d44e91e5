; law    stream-prod (stream): A reduction may be walked in blocks, its accumulator resident.
; says   Π_{x | c} a → fold[Π_{x | c} a]
; source napkin-paper 2.2; stated in stream.py
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
