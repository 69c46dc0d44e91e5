; lemma  exponential, which many laws rest on
; case   exponential
(set-logic QF_NRA)
(set-info :status unsat)
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
; the goal, denied
(assert (not (= t2 t5)))
(check-sat)
