; law    exp-neg (exponential): An exponential turns a sign into an inverse.
; says   e^(-a) = 1 / e^a
; source stated in exponential.py
; case   both sides
(set-logic QF_NRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
; t1 is -a
(define-fun t1 () Real (- a))
; exp-minus.1 stands for e to the minus a
(declare-const exp-minus.1 Real)
(assert (> exp-minus.1 0.0))
; exp.1 stands for e to the a
(declare-const exp.1 Real)
(assert (> exp.1 0.0))
(assert (= (* exp.1 exp-minus.1) 1.0))
; t2 is e^(-a)
(define-fun t2 () Real (ite a.absent 0.0 exp-minus.1))
; t3 is e^a
(define-fun t3 () Real (ite a.absent 0.0 exp.1))
; inv.1 stands for 1 / (ite a.absent 0.0 t3), and 0 for 0
(declare-const inv.1 Real)
(assert (=> (= (ite a.absent 0.0 t3) 0.0) (= inv.1 0.0)))
(assert (=> (not (= (ite a.absent 0.0 t3) 0.0)) (= (* inv.1 (ite a.absent 0.0 t3)) 1.0)))
; the goal, denied
(assert (not (= t2 inv.1)))
(check-sat)
