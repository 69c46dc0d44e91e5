; law    log-exp (exponential): The logarithm undoes the exponential.
; says   log(e^a) → a
; source stated in exponential.py
; case   both sides
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
; log.1 stands for the logarithm of (ite a.absent 0.0 t1)
(declare-const log.1 Real)
; t2 is log(e^a)
(define-fun t2.absent () Bool (<= t1 0.0))
; what is known of functions at two arguments
(assert (= (<= a 0.0) (<= exp.1 1.0)))
(assert (= (<= 0.0 a) (<= 1.0 exp.1)))
(assert (<= (+ 1.0 a) exp.1))
(assert (=> (> (ite a.absent 0.0 t1) 0.0) (<= log.1 (- (ite a.absent 0.0 t1) 1.0))))
(assert (=> (> (ite a.absent 0.0 t1) 0.0) (= (<= (ite a.absent 0.0 t1) exp.1) (<= log.1 a))))
(assert (=> (> (ite a.absent 0.0 t1) 0.0) (= (>= (ite a.absent 0.0 t1) exp.1) (>= log.1 a))))
(assert (=> (> (ite a.absent 0.0 t1) 0.0) (= (<= (ite a.absent 0.0 t1) 1.0) (<= log.1 0.0))))
(assert (=> (> (ite a.absent 0.0 t1) 0.0) (= (>= (ite a.absent 0.0 t1) 1.0) (>= log.1 0.0))))
(assert (=> (and (> (ite a.absent 0.0 t1) 0.0) (> (ite a.absent 0.0 t1) 0.0)) (= (<= (ite a.absent 0.0 t1) (ite a.absent 0.0 t1)) (<= log.1 log.1))))
(assert (=> (and (and (> (ite a.absent 0.0 t1) 0.0) (> (ite a.absent 0.0 t1) 0.0)) (= (* (ite a.absent 0.0 t1) (ite a.absent 0.0 t1)) 1.0)) (= log.1 (- log.1))))
(assert (=> (and (and (> (ite a.absent 0.0 t1) 0.0) (> (ite a.absent 0.0 t1) 0.0)) (= (ite a.absent 0.0 t1) (* (ite a.absent 0.0 t1) (ite a.absent 0.0 t1)))) (= log.1 (+ log.1 log.1))))
(assert (=> (and (> (ite a.absent 0.0 t1) 0.0) (> (ite a.absent 0.0 t1) 0.0)) (= (<= (ite a.absent 0.0 t1) (* exp.1 (ite a.absent 0.0 t1))) (<= log.1 (+ a log.1)))))
(assert (=> (and (> (ite a.absent 0.0 t1) 0.0) (> (ite a.absent 0.0 t1) 0.0)) (= (>= (ite a.absent 0.0 t1) (* exp.1 (ite a.absent 0.0 t1))) (>= log.1 (+ a log.1)))))
(assert (=> (and (> (ite a.absent 0.0 t1) 0.0) (> (ite a.absent 0.0 t1) 0.0)) (= (<= (ite a.absent 0.0 t1) (* 1.0 (ite a.absent 0.0 t1))) (<= log.1 (+ 0.0 log.1)))))
(assert (=> (and (> (ite a.absent 0.0 t1) 0.0) (> (ite a.absent 0.0 t1) 0.0)) (= (>= (ite a.absent 0.0 t1) (* 1.0 (ite a.absent 0.0 t1))) (>= log.1 (+ 0.0 log.1)))))
(check-sat)
