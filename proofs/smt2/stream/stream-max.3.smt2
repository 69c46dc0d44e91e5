; law    stream-max (stream): A reduction may be walked in blocks, its accumulator resident.
; says   max_{x | c} a → fold[max_{x | c} a]
; source napkin-paper 2.2; stated in stream.py
; case   max is a commutative monoid
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
; the goal, denied
(assert (not (or a.absent (and (not a.absent) (= a a)))))
(check-sat)
