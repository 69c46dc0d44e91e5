; law    finite-expm1 (facts): The expm1 of a present value is present.
; says   finite(a) ⟹ finite(expm1(a))
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
; t1 is e^a
(define-fun t1 () Real (ite a.absent 0.0 exp.1))
; t2 is e^a - 1
(define-fun t2 () Real (+ t1 (- 1.0)))
; given -∞ < a
(assert (not a.absent))
(check-sat)
