; law    leaves-below (mask): A mask that holds below a positive coordinate leaves the first lane.
; says   pos(i) ⟹ leaves(x, x < i)
; source stated in mask.py
; case   the conclusion: one more lane of x
;        acc 1 over x stands for Σ_x [x < i ? 1 : 0] over the lanes so far
;        i⁺x stands for i in the new lane
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const i Real)
(declare-const i.next.x Real)
(declare-const acc-1-over-x Real)
(declare-const acc-1-over-x.absent Bool)
(declare-const size-of-x Real)
(declare-const lane-of-x Real)
; t1 is [size of x < i⁺x ? 1 : 0]
(define-fun t1.absent () Bool (and (not (< size-of-x i.next.x)) (< size-of-x i.next.x)))
(define-fun t1 () Real (ite (< size-of-x i.next.x) 1.0 0.0))
; t2 is acc 1 over x + [size of x < i⁺x ? 1 : 0]
(define-fun t2.absent () Bool (or acc-1-over-x.absent t1.absent))
(define-fun t2 () Real (+ acc-1-over-x t1))
; given 0 < i
(assert (< 0.0 i))
; given 0 < i⁺x
(assert (< 0.0 i.next.x))
; given 0 < acc 1 over x
(assert (and (not acc-1-over-x.absent) (< 0.0 acc-1-over-x)))
; given 1 ≤ size of x
(assert (<= 1.0 size-of-x))
; given 0 ≤ lane of x
(assert (<= 0.0 lane-of-x))
; given ¬(size of x ≤ lane of x)
(assert (not (<= size-of-x lane-of-x)))
(check-sat)
