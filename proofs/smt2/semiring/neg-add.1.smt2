; law    neg-add (semiring): A sign moves through a sum.
; says   -(a + b) = -a - b
; source stated in semiring.py
; case   both sides
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const b Real)
(declare-const b.absent Bool)
; t1 is a + b
(define-fun t1.absent () Bool (or a.absent b.absent))
(define-fun t1 () Real (+ a b))
; t2 is -(a + b)
(define-fun t2 () Real (- t1))
; t3 is -a
(define-fun t3 () Real (- a))
; t4 is -b
(define-fun t4 () Real (- b))
; t5 is -a - b
(define-fun t5.absent () Bool (or a.absent b.absent))
(define-fun t5 () Real (+ t3 t4))
; the goal, denied
(assert (not (or (and t1.absent t5.absent) (and (not t1.absent) (not t5.absent) (= t2 t5)))))
(check-sat)
