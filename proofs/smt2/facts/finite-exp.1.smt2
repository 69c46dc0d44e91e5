; law    finite-exp (facts): The exponential is present everywhere.
; says   always ⟹ finite(e^a)
; source stated in facts.py
; case   the conclusion
(set-logic QF_NRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
; exp-minus.1 stands for e to the minus a
(declare-const exp-minus.1 Real)
(assert (> exp-minus.1 0.0))
; exp.1 stands for e to the a
(declare-const exp.1 Real)
(assert (> exp.1 0.0))
(assert (= (* exp.1 exp-minus.1) 1.0))
; t1 is e^a
(define-fun t1 () Real (ite a.absent 0.0 exp.1))
; the goal, denied
(assert false)
(check-sat)
