; law    inv-mul (semiring): The inverse of a product is the product of the inverses.
; says   1 / (a · b) = 1 / a / b
; source stated in semiring.py
; case   both sides
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_NRA)
(set-info :status sat)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const b Real)
(declare-const b.absent Bool)
; t1 is a · b
(define-fun t1.absent () Bool (or a.absent b.absent))
(define-fun t1 () Real (* a b))
; inv.1 stands for 1 / (* a b), and 0 for 0
(declare-const inv.1 Real)
(assert (=> (= (* a b) 0.0) (= inv.1 0.0)))
(assert (=> (not (= (* a b) 0.0)) (= (* inv.1 (* a b)) 1.0)))
; inv.2 stands for 1 / a, and 0 for 0
(declare-const inv.2 Real)
(assert (=> (= a (* a b)) (= inv.2 inv.1)))
(assert (=> (= a 0.0) (= inv.2 0.0)))
(assert (=> (not (= a 0.0)) (= (* inv.2 a) 1.0)))
; inv.3 stands for 1 / b, and 0 for 0
(declare-const inv.3 Real)
(assert (=> (= b (* a b)) (= inv.3 inv.1)))
(assert (=> (= b a) (= inv.3 inv.2)))
(assert (=> (= b 0.0) (= inv.3 0.0)))
(assert (=> (not (= b 0.0)) (= (* inv.3 b) 1.0)))
; t2 is 1 / a / b
(define-fun t2.absent () Bool (or a.absent b.absent))
(define-fun t2 () Real (* inv.2 inv.3))
(check-sat)
