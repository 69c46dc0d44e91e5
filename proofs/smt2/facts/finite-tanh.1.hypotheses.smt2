; law    finite-tanh (facts): The tanh of a present value is present.
; says   finite(a) ⟹ finite(tanh(a))
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
; tanh.1 stands for tanh of a
(declare-const tanh.1 Real)
(assert (<= (- 1.0) tanh.1))
(assert (<= tanh.1 1.0))
(assert (= (* tanh.1 (+ exp.1 exp-minus.1)) (- exp.1 exp-minus.1)))
(assert (ite (>= a 0.0) (and (<= 0.0 tanh.1) (<= tanh.1 a)) (and (<= a tanh.1) (<= tanh.1 0.0))))
; t1 is tanh(a)
(define-fun t1 () Real (ite a.absent (- 1.0) tanh.1))
; given -∞ < a
(assert (not a.absent))
(check-sat)
