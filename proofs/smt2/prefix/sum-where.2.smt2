; law    sum-where (prefix): A mask to zero that does not vary along x moves out of a sum over x.
; says   Σ_x [c ? a : 0] → [c ? Σ_x a : 0] if free(x, c)
; source stated in prefix.py
; case   both sides: one more lane of x
;        acc 1 over x stands for Σ_x [c ? a : 0] over the lanes so far
;        acc 2 over x stands for Σ_x a over the lanes so far
;        a⁺x stands for a in the new lane
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const acc-1-over-x Real)
(declare-const acc-1-over-x.absent Bool)
(declare-const c Bool)
(declare-const acc-2-over-x Real)
(declare-const acc-2-over-x.absent Bool)
; t1 is [c ? acc 2 over x : 0]
(define-fun t1.absent () Bool (and (or (not c) acc-2-over-x.absent) c))
(define-fun t1 () Real (ite c acc-2-over-x 0.0))
(declare-const size-of-x Real)
(declare-const lane-of-x Real)
(declare-const a.next.x Real)
(declare-const a.next.x.absent Bool)
; t2 is [c ? a⁺x : 0]
(define-fun t2.absent () Bool (and (or (not c) a.next.x.absent) c))
(define-fun t2 () Real (ite c a.next.x 0.0))
; t3 is acc 1 over x + [c ? a⁺x : 0]
(define-fun t3.absent () Bool (or acc-1-over-x.absent t2.absent))
(define-fun t3 () Real (+ acc-1-over-x t2))
; t4 is acc 2 over x + a⁺x
(define-fun t4.absent () Bool (or acc-2-over-x.absent a.next.x.absent))
(define-fun t4 () Real (+ acc-2-over-x a.next.x))
; t5 is [c ? acc 2 over x + a⁺x : 0]
(define-fun t5.absent () Bool (and (or (not c) t4.absent) c))
(define-fun t5 () Real (ite c t4 0.0))
; given acc 1 over x = [c ? acc 2 over x : 0]
(assert (or (and acc-1-over-x.absent t1.absent) (and (not acc-1-over-x.absent) (not t1.absent) (= acc-1-over-x t1))))
; given 1 ≤ size of x
(assert (<= 1.0 size-of-x))
; given 0 ≤ lane of x
(assert (<= 0.0 lane-of-x))
; given ¬(size of x ≤ lane of x)
(assert (not (<= size-of-x lane-of-x)))
; the goal, denied
(assert (not (or (and t3.absent t5.absent) (and (not t3.absent) (not t5.absent) (= t3 t5)))))
(check-sat)
