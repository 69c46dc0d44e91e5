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
(declare-const d Real)
(declare-const d.absent Bool)
; t2 is max(max(a, b), d)
(define-fun t2.absent () Bool (and t1.absent d.absent))
(define-fun t2 () Real (ite t1.absent d (ite d.absent t1 (ite (>= t1 d) t1 d))))
; t3 is max(b, d)
(define-fun t3.absent () Bool (and b.absent d.absent))
(define-fun t3 () Real (ite b.absent d (ite d.absent b (ite (>= b d) b d))))
; t4 is max(a, max(b, d))
(define-fun t4.absent () Bool (and a.absent t3.absent))
(define-fun t4 () Real (ite a.absent t3 (ite t3.absent a (ite (>= a t3) a t3))))
; the goal, denied
(assert (not (or (and t2.absent t4.absent) (and (not t2.absent) (not t4.absent) (= t2 t4)))))
(check-sat)
