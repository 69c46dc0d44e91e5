; law    max-scale (reduction): A positive factor that does not vary along x moves out of a maximum over x.
; says   max_x a · b = a · max_x b if free(x, a), pos(a)
; source stated in reduction.py
; case   both sides: x has one lane
(set-logic QF_NRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const b Real)
(declare-const b.absent Bool)
; t1 is a · b
(define-fun t1.absent () Bool (or a.absent b.absent))
(define-fun t1 () Real (* a b))
; given 0 < a
(assert (and (not a.absent) (< 0.0 a)))
; the goal, denied
(assert (not (or t1.absent (and (not t1.absent) (= t1 t1)))))
(check-sat)
