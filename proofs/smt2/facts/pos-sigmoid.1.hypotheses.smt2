; law    pos-sigmoid (facts): A logistic value is positive.
; says   finite(a) ⟹ pos(sigmoid(a))
; source stated in facts.py
; case   the conclusion
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_NRA)
(set-info :status sat)
(declare-const a Real)
(declare-const a.absent Bool)
; exp-minus.1 stands for e to the minus a
(declare-const exp-minus.1 Real)
(assert (> exp-minus.1 0.0))
; exp.1 stands for e to the a
(declare-const exp.1 Real)
(assert (> exp.1 0.0))
(assert (= (* exp.1 exp-minus.1) 1.0))
; sigmoid.1 stands for sigmoid of a
(declare-const sigmoid.1 Real)
(assert (<= 0.0 sigmoid.1))
(assert (<= sigmoid.1 1.0))
(assert (> sigmoid.1 0.0))
(assert (< sigmoid.1 1.0))
(assert (= (* sigmoid.1 (+ 1.0 exp-minus.1)) 1.0))
; t1 is sigmoid(a)
(define-fun t1 () Real (ite a.absent 0.0 sigmoid.1))
; given -∞ < a
(assert (not a.absent))
(check-sat)
