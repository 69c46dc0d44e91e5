; law    shift (exponential): A sum of exponentials may be taken relative to their maximum.
; says   Σ_x e^a → e^(max_x a) · Σ_x e^(a - max_x a)
; source napkin-paper 2.4; stated in exponential.py
; case   both sides: x has one lane
;        ref 1 over x stands for max_x a; all that is used of it is given below
(set-logic QF_NRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const ref-1-over-x Real)
(declare-const ref-1-over-x.absent Bool)
; exp-minus.1 stands for e to the minus a
(declare-const exp-minus.1 Real)
(assert (> exp-minus.1 0.0))
; exp.1 stands for e to the a
(declare-const exp.1 Real)
(assert (> exp.1 0.0))
(assert (= (* exp.1 exp-minus.1) 1.0))
; t1 is e^a
(define-fun t1 () Real (ite a.absent 0.0 exp.1))
; exp-minus.2 stands for e to the minus ref-1-over-x
(declare-const exp-minus.2 Real)
(assert (=> (= ref-1-over-x a) (= exp-minus.2 exp-minus.1)))
(assert (> exp-minus.2 0.0))
; exp.2 stands for e to the ref-1-over-x
(declare-const exp.2 Real)
(assert (=> (= ref-1-over-x a) (= exp.2 exp.1)))
(assert (> exp.2 0.0))
(assert (= (* exp.2 exp-minus.2) 1.0))
; t2 is e^ref 1 over x
(define-fun t2 () Real (ite ref-1-over-x.absent 0.0 exp.2))
; t3 is -ref 1 over x
(define-fun t3 () Real (- ref-1-over-x))
; t4 is a - ref 1 over x
(define-fun t4.absent () Bool (or a.absent ref-1-over-x.absent))
(define-fun t4 () Real (+ a t3))
; t5 is e^(a - ref 1 over x)
(define-fun t5 () Real (ite t4.absent 0.0 (* exp.1 exp-minus.2)))
; t6 is e^ref 1 over x · e^(a - ref 1 over x)
(define-fun t6 () Real (* t2 t5))
; given a ≤ ref 1 over x
(assert (or a.absent (and (not ref-1-over-x.absent) (<= a ref-1-over-x))))
; the goal, denied
(assert (not (= t1 t6)))
(check-sat)
