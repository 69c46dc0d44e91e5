; law    rebase-bare (partition): A partial sum of bare exponentials may be taken relative to its own maximum.
; says   Σ_x e^([c ? a : -∞] - m) → e^(max_x [c ? a : -∞] - m) · Σ_x e^([c ? a : -∞] - max_x [c ? a : -∞]) if stretch(p, x, c), free(x, m)
; source napkin-paper 2.4; stated in partition.py
; case   both sides: one more lane of x
;        ref 1 over x stands for max_x [c ? a : -∞]; all that is used of it is given below
;        acc 1 over x stands for Σ_x e^([c ? a : -∞] - m) over the lanes so far
;        acc 2 over x stands for Σ_x e^([c ? a : -∞] - ref 1 over x) over the lanes so far
;        c⁺x stands for c in the new lane
;        a⁺x stands for a in the new lane
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
(declare-const c.next.x Bool)
; t3 is [c⁺x ? 1 : 0]
(define-fun t3.absent () Bool (and (not c.next.x) c.next.x))
(define-fun t3 () Real (ite c.next.x 1.0 0.0))
; r2 is Σ_p [c⁺x ? 1 : 0], of which nothing else is used
(declare-const r2 Real)
(declare-const r2.absent Bool)
(declare-const a.next.x Real)
(declare-const a.next.x.absent Bool)
; t4 is [c⁺x ? a⁺x : -∞]
(define-fun t4.absent () Bool (or (not c.next.x) a.next.x.absent))
(define-fun t4 () Real (ite c.next.x a.next.x 0.0))
(declare-const acc-1-over-x Real)
(declare-const acc-1-over-x.absent Bool)
(declare-const m Real)
(declare-const m.absent Bool)
; t5 is -m
(define-fun t5 () Real (- m))
; t6 is ref 1 over x - m
(define-fun t6.absent () Bool (or ref-1-over-x.absent m.absent))
(define-fun t6 () Real (+ ref-1-over-x t5))
; exp-minus.1 stands for e to the minus m
(declare-const exp-minus.1 Real)
(assert (> exp-minus.1 0.0))
; exp.1 stands for e to the m
(declare-const exp.1 Real)
(assert (> exp.1 0.0))
(assert (= (* exp.1 exp-minus.1) 1.0))
; exp-minus.2 stands for e to the minus ref-1-over-x
(declare-const exp-minus.2 Real)
(assert (=> (= ref-1-over-x m) (= exp-minus.2 exp-minus.1)))
(assert (> exp-minus.2 0.0))
; exp.2 stands for e to the ref-1-over-x
(declare-const exp.2 Real)
(assert (=> (= ref-1-over-x m) (= exp.2 exp.1)))
(assert (> exp.2 0.0))
(assert (= (* exp.2 exp-minus.2) 1.0))
; t7 is e^(ref 1 over x - m)
(define-fun t7 () Real (ite t6.absent 0.0 (* exp-minus.1 exp.2)))
(declare-const acc-2-over-x Real)
(declare-const acc-2-over-x.absent Bool)
; t8 is e^(ref 1 over x - m) · acc 2 over x
(define-fun t8 () Real (* t7 acc-2-over-x))
(declare-const size-of-x Real)
(declare-const lane-of-x Real)
; t9 is [c⁺x ? a⁺x : -∞] - m
(define-fun t9.absent () Bool (or t4.absent m.absent))
(define-fun t9 () Real (+ t4 t5))
; exp-minus.3 stands for e to the minus a.next.x
(declare-const exp-minus.3 Real)
(assert (=> (= a.next.x m) (= exp-minus.3 exp-minus.1)))
(assert (=> (= a.next.x ref-1-over-x) (= exp-minus.3 exp-minus.2)))
(assert (> exp-minus.3 0.0))
; exp.3 stands for e to the a.next.x
(declare-const exp.3 Real)
(assert (=> (= a.next.x m) (= exp.3 exp.1)))
(assert (=> (= a.next.x ref-1-over-x) (= exp.3 exp.2)))
(assert (> exp.3 0.0))
(assert (= (* exp.3 exp-minus.3) 1.0))
; t10 is e^([c⁺x ? a⁺x : -∞] - m)
(define-fun t10 () Real (ite t9.absent 0.0 (ite c.next.x (* exp.3 exp-minus.1) exp-minus.1)))
; t11 is acc 1 over x + e^([c⁺x ? a⁺x : -∞] - m)
(define-fun t11 () Real (+ acc-1-over-x t10))
; t12 is -ref 1 over x
(define-fun t12 () Real (- ref-1-over-x))
; t13 is [c⁺x ? a⁺x : -∞] - ref 1 over x
(define-fun t13.absent () Bool (or t4.absent ref-1-over-x.absent))
(define-fun t13 () Real (+ t4 t12))
; t14 is e^([c⁺x ? a⁺x : -∞] - ref 1 over x)
(define-fun t14 () Real (ite t13.absent 0.0 (ite c.next.x (* exp.3 exp-minus.2) exp-minus.2)))
; t15 is acc 2 over x + e^([c⁺x ? a⁺x : -∞] - ref 1 over x)
(define-fun t15 () Real (+ acc-2-over-x t14))
; t16 is e^(ref 1 over x - m) · (acc 2 over x + e^([c⁺x ? a⁺x : -∞] - ref 1 over x))
(define-fun t16 () Real (* t7 t15))
; given Σ_p [c ? 1 : 0] = 1
(assert (and (not r1.absent) (= r1 1.0)))
; given [c ? a : -∞] ≤ ref 1 over x
(assert (or t2.absent (and (not ref-1-over-x.absent) (<= t2 ref-1-over-x))))
; given Σ_p [c⁺x ? 1 : 0] = 1
(assert (and (not r2.absent) (= r2 1.0)))
; given [c⁺x ? a⁺x : -∞] ≤ ref 1 over x
(assert (or t4.absent (and (not ref-1-over-x.absent) (<= t4 ref-1-over-x))))
; given acc 1 over x = e^(ref 1 over x - m) · acc 2 over x
(assert (or (and acc-1-over-x.absent acc-2-over-x.absent) (and (not acc-1-over-x.absent) (not acc-2-over-x.absent) (= acc-1-over-x t8))))
; given 1 ≤ size of x
(assert (<= 1.0 size-of-x))
; given 0 ≤ lane of x
(assert (<= 0.0 lane-of-x))
; given ¬(size of x ≤ lane of x)
(assert (not (<= size-of-x lane-of-x)))
; the goal, denied
(assert (not (or (and acc-1-over-x.absent acc-2-over-x.absent) (and (not acc-1-over-x.absent) (not acc-2-over-x.absent) (= t11 t16)))))
(check-sat)
