; law    stream-sum (stream): A reduction may be walked in blocks, its accumulator resident.
; says   Σ_{x | c} a → fold[Σ_{x | c} a]
; source napkin-paper 2.2; stated in stream.py
; case   sum is a commutative monoid
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
; t1 is 0 + a
(define-fun t1 () Real (+ 0.0 a))
; the goal, denied
(assert (not (or a.absent (and (not a.absent) (= t1 a)))))
(check-sat)
