; law    where-exp (mask): An exponential masked to zero is the exponential of the masked value.
; says   [c ? e^a : 0] → e^[c ? a : -∞]
; source stated in mask.py
; case   both sides
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_NRA)
(set-info :status sat)
(declare-const c Bool)
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
; t2 is [c ? e^a : 0]
(define-fun t2.absent () Bool (and (not c) c))
(define-fun t2 () Real (ite c t1 0.0))
; t3 is [c ? a : -∞]
(define-fun t3.absent () Bool (or (not c) a.absent))
(define-fun t3 () Real (ite c a 0.0))
; t4 is e^[c ? a : -∞]
(define-fun t4 () Real (ite t3.absent 0.0 (ite c exp.1 1.0)))
(check-sat)
