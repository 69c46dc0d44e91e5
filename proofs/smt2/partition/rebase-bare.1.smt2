; law    rebase-bare (partition): A partial sum of bare exponentials may be taken relative to its own maximum.
; says   Σ_x e^([c ? a : -∞] - m) → e^(max_x [c ? a : -∞] - m) · Σ_x e^([c ? a : -∞] - max_x [c ? a : -∞]) if stretch(p, x, c), free(x, m)
; source napkin-paper 2.4; stated in partition.py
; case   both sides: x has one lane
;        ref 1 over x stands for max_x [c ? a : -∞]; all that is used of it is given below
(set-logic QF_NRA)
(set-info :status unsat)
(declare-const c Bool)
; t1 is [c ? 1 : 0]
(define-fun t1.absent () Bool (and (not c) c))
(define-fun t1 () Real (ite c 1.0 0.0))
; r1 is Σ_p [c ? 1 : 0], of which nothing else is used
(declare-const r1 Real)
(declare-const r1.absent Bool)
(declare-const a Real)
(declare-const a.absent Bool)
; t2 is [c ? a : -∞]
(define-fun t2.absent () Bool (or (not c) a.absent))
(define-fun t2 () Real (ite c a 0.0))
(declare-const ref-1-over-x Real)
(declare-const ref-1-over-x.absent Bool)
(declare-const m Real)
(declare-const m.absent Bool)
; t3 is -m
(define-fun t3 () Real (- m))
; t4 is [c ? a : -∞] - m
(define-fun t4.absent () Bool (or t2.absent m.absent))
(define-fun t4 () Real (+ t2 t3))
; exp-minus.1 stands for e to the minus a
(declare-const exp-minus.1 Real)
(assert (> exp-minus.1 0.0))
; exp.1 stands for e to the a
(declare-const exp.1 Real)
(assert (> exp.1 0.0))
(assert (= (* exp.1 exp-minus.1) 1.0))
; exp-minus.2 stands for e to the minus m
(declare-const exp-minus.2 Real)
(assert (=> (= m a) (= exp-minus.2 exp-minus.1)))
(assert (> exp-minus.2 0.0))
; exp.2 stands for e to the m
(declare-const exp.2 Real)
(assert (=> (= m a) (= exp.2 exp.1)))
(assert (> exp.2 0.0))
(assert (= (* exp.2 exp-minus.2) 1.0))
; t5 is e^([c ? a : -∞] - m)
(define-fun t5 () Real (ite t4.absent 0.0 (ite c (* exp.1 exp-minus.2) exp-minus.2)))
; t6 is ref 1 over x - m
(define-fun t6.absent () Bool (or ref-1-over-x.absent m.absent))
(define-fun t6 () Real (+ ref-1-over-x t3))
; exp-minus.3 stands for e to the minus ref-1-over-x
(declare-const exp-minus.3 Real)
(assert (=> (= ref-1-over-x a) (= exp-minus.3 exp-minus.1)))
(assert (=> (= ref-1-over-x m) (= exp-minus.3 exp-minus.2)))
(assert (> exp-minus.3 0.0))
; exp.3 stands for e to the ref-1-over-x
(declare-const exp.3 Real)
(assert (=> (= ref-1-over-x a) (= exp.3 exp.1)))
(assert (=> (= ref-1-over-x m) (= exp.3 exp.2)))
(assert (> exp.3 0.0))
(assert (= (* exp.3 exp-minus.3) 1.0))
; t7 is e^(ref 1 over x - m)
(define-fun t7 () Real (ite t6.absent 0.0 (* exp-minus.2 exp.3)))
; t8 is -ref 1 over x
(define-fun t8 () Real (- ref-1-over-x))
; t9 is [c ? a : -∞] - ref 1 over x
(define-fun t9.absent () Bool (or t2.absent ref-1-over-x.absent))
(define-fun t9 () Real (+ t2 t8))
; t10 is e^([c ? a : -∞] - ref 1 over x)
(define-fun t10 () Real (ite t9.absent 0.0 (ite c (* exp.1 exp-minus.3) exp-minus.3)))
; t11 is e^(ref 1 over x - m) · e^([c ? a : -∞] - ref 1 over x)
(define-fun t11 () Real (* t7 t10))
; given Σ_p [c ? 1 : 0] = 1
(assert (and (not r1.absent) (= r1 1.0)))
; given [c ? a : -∞] ≤ ref 1 over x
(assert (or t2.absent (and (not ref-1-over-x.absent) (<= t2 ref-1-over-x))))
; the goal, denied
(assert (not (= t5 t11)))
(check-sat)
