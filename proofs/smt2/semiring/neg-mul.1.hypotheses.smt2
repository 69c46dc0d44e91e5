; law    neg-mul (semiring): A sign moves through a product.
; says   -a · b = -(a · b)
; source stated in semiring.py
; case   both sides
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_NRA)
(set-info :status sat)
(declare-const a Real)
(declare-const a.absent Bool)
; t1 is -a
(define-fun t1 () Real (- a))
(declare-const b Real)
(declare-const b.absent Bool)
; t2 is -a · b
(define-fun t2.absent () Bool (or a.absent b.absent))
(define-fun t2 () Real (* t1 b))
; t3 is a · b
(define-fun t3.absent () Bool (or a.absent b.absent))
(define-fun t3 () Real (* a b))
; t4 is -(a · b)
(define-fun t4 () Real (- t3))
(check-sat)
