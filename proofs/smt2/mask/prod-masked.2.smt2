; law    prod-masked (mask): A product of what is masked to one is the product under the mask.
; says   Π_x [c ? a : 1] → Π_{x | c} a
; source stated in mask.py
; case   both sides: one more lane of x
;        acc 1 over x stands for Π_x [c ? a : 1] over the lanes so far
;        acc 2 over x stands for Π_{x | c} a over the lanes so far
;        c⁺x stands for c in the new lane
;        a⁺x stands for a in the new lane
(set-logic QF_NRA)
(set-info :status unsat)
(declare-const acc-1-over-x Real)
(declare-const acc-1-over-x.absent Bool)
(declare-const acc-2-over-x Real)
(declare-const acc-2-over-x.absent Bool)
(declare-const size-of-x Real)
(declare-const lane-of-x Real)
(declare-const c.next.x Bool)
(declare-const a.next.x Real)
(declare-const a.next.x.absent Bool)
; t1 is [c⁺x ? a⁺x : 1]
(define-fun t1.absent () Bool (and (or (not c.next.x) a.next.x.absent) c.next.x))
(define-fun t1 () Real (ite c.next.x a.next.x 1.0))
; t2 is acc 1 over x · [c⁺x ? a⁺x : 1]
(define-fun t2.absent () Bool (or acc-1-over-x.absent t1.absent))
(define-fun t2 () Real (* acc-1-over-x t1))
; t3 is acc 2 over x · a⁺x
(define-fun t3.absent () Bool (or acc-2-over-x.absent a.next.x.absent))
(define-fun t3 () Real (* acc-2-over-x a.next.x))
; t4 is [c⁺x ? acc 2 over x · a⁺x : acc 2 over x]
(define-fun t4.absent () Bool (ite c.next.x t3.absent acc-2-over-x.absent))
(define-fun t4 () Real (ite c.next.x t3 acc-2-over-x))
; given acc 1 over x = acc 2 over x
(assert (or (and acc-1-over-x.absent acc-2-over-x.absent) (and (not acc-1-over-x.absent) (not acc-2-over-x.absent) (= acc-1-over-x acc-2-over-x))))
; given 1 ≤ size of x
(assert (<= 1.0 size-of-x))
; given 0 ≤ lane of x
(assert (<= 0.0 lane-of-x))
; given ¬(size of x ≤ lane of x)
(assert (not (<= size-of-x lane-of-x)))
; the goal, denied
(assert (not (or (and t2.absent t4.absent) (and (not t2.absent) (not t4.absent) (= t2 t4)))))
(check-sat)
