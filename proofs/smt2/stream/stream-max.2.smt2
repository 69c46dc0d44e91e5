; law    stream-max (stream): A reduction may be walked in blocks, its accumulator resident.
; says   max_{x | c} a → fold[max_{x | c} a]
; source napkin-paper 2.2; stated in stream.py
; case   max is a commutative monoid
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const b Real)
(declare-const b.absent Bool)
; t1 is max(a, b)
(define-fun t1.absent () Bool (and a.absent b.absent))
(define-fun t1 () Real (ite a.absent b (ite b.absent a (ite (>= a b) a b))))
; t2 is max(b, a)
(define-fun t2.absent () Bool (and b.absent a.absent))
(define-fun t2 () Real (ite b.absent a (ite a.absent b (ite (>= b a) b a))))
; the goal, denied
(assert (not (or (and t1.absent t2.absent) (and (not t1.absent) (not t2.absent) (= t1 t2)))))
(check-sat)
