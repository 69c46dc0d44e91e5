; law    skip-sum (mask): A sum may leave out lanes that are zero.
; says   Σ_x a → Σ_{x | c} a if zero(c, a)
; source stated in mask.py
; case   both sides: one more lane of x
;        acc 1 over x stands for Σ_x a over the lanes so far
;        acc 2 over x stands for Σ_{x | c} a over the lanes so far
;        a⁺x stands for a in the new lane
;        c⁺x stands for c in the new lane
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const c Bool)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const c.next.x Bool)
(declare-const a.next.x Real)
(declare-const a.next.x.absent Bool)
(declare-const acc-1-over-x Real)
(declare-const acc-1-over-x.absent Bool)
(declare-const acc-2-over-x Real)
(declare-const acc-2-over-x.absent Bool)
(declare-const size-of-x Real)
(declare-const lane-of-x Real)
; t1 is acc 1 over x + a⁺x
(define-fun t1.absent () Bool (or acc-1-over-x.absent a.next.x.absent))
(define-fun t1 () Real (+ acc-1-over-x a.next.x))
; t2 is acc 2 over x + a⁺x
(define-fun t2.absent () Bool (or acc-2-over-x.absent a.next.x.absent))
(define-fun t2 () Real (+ acc-2-over-x a.next.x))
; t3 is [c⁺x ? acc 2 over x + a⁺x : acc 2 over x]
(define-fun t3.absent () Bool (ite c.next.x t2.absent acc-2-over-x.absent))
(define-fun t3 () Real (ite c.next.x t2 acc-2-over-x))
; given c ∨ a = 0
(assert (or c (and (not a.absent) (= a 0.0))))
; given c⁺x ∨ a⁺x = 0
(assert (or c.next.x (and (not a.next.x.absent) (= a.next.x 0.0))))
; given acc 1 over x = acc 2 over x
(assert (or (and acc-1-over-x.absent acc-2-over-x.absent) (and (not acc-1-over-x.absent) (not acc-2-over-x.absent) (= acc-1-over-x acc-2-over-x))))
; given 1 ≤ size of x
(assert (<= 1.0 size-of-x))
; given 0 ≤ lane of x
(assert (<= 0.0 lane-of-x))
; given ¬(size of x ≤ lane of x)
(assert (not (<= size-of-x lane-of-x)))
; the goal, denied
(assert (not (or (and t1.absent t3.absent) (and (not t1.absent) (not t3.absent) (= t1 t3)))))
(check-sat)
