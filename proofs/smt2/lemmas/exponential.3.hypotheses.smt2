; lemma  exponential, which many laws rest on
; case   exponential: one more lane of x
;        a⁺x stands for a in the new lane
;        b⁺x stands for b in the new lane
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_NRA)
(set-info :status sat)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const b Real)
(declare-const b.absent Bool)
; t1 is a + b
(define-fun t1.absent () Bool (or a.absent b.absent))
(define-fun t1 () Real (+ a b))
; exp-minus.1 stands for e to the minus a
(declare-const exp-minus.1 Real)
(assert (> exp-minus.1 0.0))
; exp.1 stands for e to the a
(declare-const exp.1 Real)
(assert (> exp.1 0.0))
(assert (= (* exp.1 exp-minus.1) 1.0))
; exp-minus.2 stands for e to the minus b
(declare-const exp-minus.2 Real)
(assert (=> (= b a) (= exp-minus.2 exp-minus.1)))
(assert (> exp-minus.2 0.0))
; exp.2 stands for e to the b
(declare-const exp.2 Real)
(assert (=> (= b a) (= exp.2 exp.1)))
(assert (> exp.2 0.0))
(assert (= (* exp.2 exp-minus.2) 1.0))
; t2 is e^(a + b)
(define-fun t2 () Real (ite t1.absent 0.0 (* exp.1 exp.2)))
; t3 is e^a
(define-fun t3 () Real (ite a.absent 0.0 exp.1))
; t4 is e^b
(define-fun t4 () Real (ite b.absent 0.0 exp.2))
; t5 is e^a · e^b
(define-fun t5 () Real (* t3 t4))
(declare-const size-of-x Real)
(declare-const lane-of-x Real)
(declare-const a.next.x Real)
(declare-const a.next.x.absent Bool)
(declare-const b.next.x Real)
(declare-const b.next.x.absent Bool)
; t6 is a⁺x + b⁺x
(define-fun t6.absent () Bool (or a.next.x.absent b.next.x.absent))
(define-fun t6 () Real (+ a.next.x b.next.x))
; exp-minus.3 stands for e to the minus a.next.x
(declare-const exp-minus.3 Real)
(assert (=> (= a.next.x a) (= exp-minus.3 exp-minus.1)))
(assert (=> (= a.next.x b) (= exp-minus.3 exp-minus.2)))
(assert (> exp-minus.3 0.0))
; exp.3 stands for e to the a.next.x
(declare-const exp.3 Real)
(assert (=> (= a.next.x a) (= exp.3 exp.1)))
(assert (=> (= a.next.x b) (= exp.3 exp.2)))
(assert (> exp.3 0.0))
(assert (= (* exp.3 exp-minus.3) 1.0))
; exp-minus.4 stands for e to the minus b.next.x
(declare-const exp-minus.4 Real)
(assert (=> (= b.next.x a) (= exp-minus.4 exp-minus.1)))
(assert (=> (= b.next.x b) (= exp-minus.4 exp-minus.2)))
(assert (=> (= b.next.x a.next.x) (= exp-minus.4 exp-minus.3)))
(assert (> exp-minus.4 0.0))
; exp.4 stands for e to the b.next.x
(declare-const exp.4 Real)
(assert (=> (= b.next.x a) (= exp.4 exp.1)))
(assert (=> (= b.next.x b) (= exp.4 exp.2)))
(assert (=> (= b.next.x a.next.x) (= exp.4 exp.3)))
(assert (> exp.4 0.0))
(assert (= (* exp.4 exp-minus.4) 1.0))
; t7 is e^(a⁺x + b⁺x)
(define-fun t7 () Real (ite t6.absent 0.0 (* exp.3 exp.4)))
; t8 is e^a⁺x
(define-fun t8 () Real (ite a.next.x.absent 0.0 exp.3))
; t9 is e^b⁺x
(define-fun t9 () Real (ite b.next.x.absent 0.0 exp.4))
; t10 is e^a⁺x · e^b⁺x
(define-fun t10 () Real (* t8 t9))
; given e^(a + b) = e^a · e^b
(assert (= t2 t5))
; given 1 ≤ size of x
(assert (<= 1.0 size-of-x))
; given 0 ≤ lane of x
(assert (<= 0.0 lane-of-x))
; given ¬(size of x ≤ lane of x)
(assert (not (<= size-of-x lane-of-x)))
(check-sat)
