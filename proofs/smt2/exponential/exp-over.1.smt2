; law    exp-over (exponential): An exponential takes in the inverse of a number.
; says   e^a / b → e^(a - log(b)) if nonneg(b)
; source stated in exponential.py
; case   both sides
(set-logic QF_NRA)
(set-info :status unsat)
(declare-const b Real)
(declare-const b.absent Bool)
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
; inv.1 stands for 1 / b, and 0 for 0
(declare-const inv.1 Real)
(assert (=> (= b 0.0) (= inv.1 0.0)))
(assert (=> (not (= b 0.0)) (= (* inv.1 b) 1.0)))
; t2 is e^a / b
(define-fun t2 () Real (* t1 inv.1))
; log.1 stands for the logarithm of b
(declare-const log.1 Real)
; t3 is log(b)
(define-fun t3.absent () Bool (or b.absent (<= b 0.0)))
; t4 is -log(b)
(define-fun t4 () Real (- log.1))
; t5 is a - log(b)
(define-fun t5.absent () Bool (or a.absent t3.absent))
(define-fun t5 () Real (+ a t4))
; exp-minus.2 stands for e to the minus log.1
(declare-const exp-minus.2 Real)
(assert (=> (= log.1 a) (= exp-minus.2 exp-minus.1)))
(assert (> exp-minus.2 0.0))
; exp.2 stands for e to the log.1
(declare-const exp.2 Real)
(assert (=> (= log.1 a) (= exp.2 exp.1)))
(assert (> exp.2 0.0))
(assert (= (* exp.2 exp-minus.2) 1.0))
(assert (=> (> b 0.0) (= exp.2 b)))
; t6 is e^(a - log(b))
(define-fun t6 () Real (ite t5.absent 0.0 (* exp.1 exp-minus.2)))
; given 0 ≤ b
(assert (and (not b.absent) (<= 0.0 b)))
; the goal, denied
(assert (not (and (not b.absent) (= t2 t6))))
(check-sat)
