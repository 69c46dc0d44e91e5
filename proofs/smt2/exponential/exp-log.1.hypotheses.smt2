; law    exp-log (exponential): The exponential undoes the logarithm.
; says   e^log(a) → a if nonneg(a)
; source stated in exponential.py
; case   both sides
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_NRA)
(set-info :status sat)
(declare-const a Real)
(declare-const a.absent Bool)
; log.1 stands for the logarithm of a
(declare-const log.1 Real)
; t1 is log(a)
(define-fun t1.absent () Bool (or a.absent (<= a 0.0)))
; exp-minus.1 stands for e to the minus log.1
(declare-const exp-minus.1 Real)
(assert (> exp-minus.1 0.0))
; exp.1 stands for e to the log.1
(declare-const exp.1 Real)
(assert (> exp.1 0.0))
(assert (= (* exp.1 exp-minus.1) 1.0))
(assert (=> (> a 0.0) (= exp.1 a)))
; t2 is e^log(a)
(define-fun t2 () Real (ite t1.absent 0.0 exp.1))
; given 0 ≤ a
(assert (and (not a.absent) (<= 0.0 a)))
(check-sat)
