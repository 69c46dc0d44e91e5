; law    skip-max (mask): A maximum may leave out absent lanes.
; says   max_x a → max_{x | c} a if absent(c, a)
; source stated in mask.py
; case   both sides: one more lane of x
;        acc 1 over x stands for max_x a over the lanes so far
;        acc 2 over x stands for max_{x | c} a over the lanes so far
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
; t1 is max(acc 1 over x, a⁺x)
(define-fun t1.absent () Bool (and acc-1-over-x.absent a.next.x.absent))
(define-fun t1 () Real (ite acc-1-over-x.absent a.next.x (ite a.next.x.absent acc-1-over-x (ite (>= acc-1-over-x a.next.x) acc-1-over-x a.next.x))))
; t2 is max(acc 2 over x, a⁺x)
(define-fun t2.absent () Bool (and acc-2-over-x.absent a.next.x.absent))
(define-fun t2 () Real (ite acc-2-over-x.absent a.next.x (ite a.next.x.absent acc-2-over-x (ite (>= acc-2-over-x a.next.x) acc-2-over-x a.next.x))))
; t3 is [c⁺x ? max(acc 2 over x, a⁺x) : acc 2 over x]
(define-fun t3.absent () Bool (ite c.next.x t2.absent acc-2-over-x.absent))
(define-fun t3 () Real (ite c.next.x t2 acc-2-over-x))
; given c ∨ a = -∞
(assert (or c a.absent))
; given c⁺x ∨ a⁺x = -∞
(assert (or c.next.x a.next.x.absent))
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
