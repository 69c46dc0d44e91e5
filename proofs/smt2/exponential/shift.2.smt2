; law    shift (exponential): A sum of exponentials may be taken relative to their maximum.
; says   Σ_x e^a → e^(max_x a) · Σ_x e^(a - max_x a)
; source napkin-paper 2.4; stated in exponential.py
; case   both sides: one more lane of x
;        ref 1 over x stands for max_x a; all that is used of it is given below
;        acc 1 over x stands for Σ_x e^a over the lanes so far
;        acc 2 over x stands for Σ_x e^(a - ref 1 over x) over the lanes so far
;        a⁺x stands for a in the new lane
(set-logic QF_NRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const ref-1-over-x Real)
(declare-const ref-1-over-x.absent Bool)
(declare-const a.next.x Real)
(declare-const a.next.x.absent Bool)
(declare-const acc-1-over-x Real)
(declare-const acc-1-over-x.absent Bool)
; exp-minus.1 stands for e to the minus ref-1-over-x
(declare-const exp-minus.1 Real)
(assert (> exp-minus.1 0.0))
; exp.1 stands for e to the ref-1-over-x
(declare-const exp.1 Real)
(assert (> exp.1 0.0))
(assert (= (* exp.1 exp-minus.1) 1.0))
; t1 is e^ref 1 over x
(define-fun t1 () Real (ite ref-1-over-x.absent 0.0 exp.1))
(declare-const acc-2-over-x Real)
(declare-const acc-2-over-x.absent Bool)
; t2 is e^ref 1 over x · acc 2 over x
(define-fun t2 () Real (* t1 acc-2-over-x))
(declare-const size-of-x Real)
(declare-const lane-of-x Real)
; exp-minus.2 stands for e to the minus a.next.x
(declare-const exp-minus.2 Real)
(assert (=> (= a.next.x ref-1-over-x) (= exp-minus.2 exp-minus.1)))
(assert (> exp-minus.2 0.0))
; exp.2 stands for e to the a.next.x
(declare-const exp.2 Real)
(assert (=> (= a.next.x ref-1-over-x) (= exp.2 exp.1)))
(assert (> exp.2 0.0))
(assert (= (* exp.2 exp-minus.2) 1.0))
; t3 is e^a⁺x
(define-fun t3 () Real (ite a.next.x.absent 0.0 exp.2))
; t4 is acc 1 over x + e^a⁺x
(define-fun t4 () Real (+ acc-1-over-x t3))
; t5 is -ref 1 over x
(define-fun t5 () Real (- ref-1-over-x))
; t6 is a⁺x - ref 1 over x
(define-fun t6.absent () Bool (or a.next.x.absent ref-1-over-x.absent))
(define-fun t6 () Real (+ a.next.x t5))
; t7 is e^(a⁺x - ref 1 over x)
(define-fun t7 () Real (ite t6.absent 0.0 (* exp.2 exp-minus.1)))
; t8 is acc 2 over x + e^(a⁺x - ref 1 over x)
(define-fun t8 () Real (+ acc-2-over-x t7))
; t9 is e^ref 1 over x · (acc 2 over x + e^(a⁺x - ref 1 over x))
(define-fun t9 () Real (* t1 t8))
; given a ≤ ref 1 over x
(assert (or a.absent (and (not ref-1-over-x.absent) (<= a ref-1-over-x))))
; given a⁺x ≤ ref 1 over x
(assert (or a.next.x.absent (and (not ref-1-over-x.absent) (<= a.next.x ref-1-over-x))))
; given acc 1 over x = e^ref 1 over x · acc 2 over x
(assert (or (and acc-1-over-x.absent acc-2-over-x.absent) (and (not acc-1-over-x.absent) (not acc-2-over-x.absent) (= acc-1-over-x t2))))
; given 1 ≤ size of x
(assert (<= 1.0 size-of-x))
; given 0 ≤ lane of x
(assert (<= 0.0 lane-of-x))
; given ¬(size of x ≤ lane of x)
(assert (not (<= size-of-x lane-of-x)))
; the goal, denied
(assert (not (or (and acc-1-over-x.absent acc-2-over-x.absent) (and (not acc-1-over-x.absent) (not acc-2-over-x.absent) (= t4 t9)))))
(check-sat)
