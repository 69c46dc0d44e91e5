; law    finite-left (mask): The maximum of what is present under a mask is present if the mask leaves a lane.
; says   present(c, a), leaves(x, c) ⟹ finite(max_x a)
; source stated in mask.py
; case   the conclusion: one more lane of x
;        acc 1 over x stands for Σ_x [c ? 1 : 0] over the lanes so far
;        acc 2 over x stands for max_x a over the lanes so far
;        c⁺x stands for c in the new lane
;        a⁺x stands for a in the new lane
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
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
; t1 is [c⁺x ? 1 : 0]
(define-fun t1.absent () Bool (and (not c.next.x) c.next.x))
(define-fun t1 () Real (ite c.next.x 1.0 0.0))
; t2 is acc 1 over x + [c⁺x ? 1 : 0]
(define-fun t2.absent () Bool (or acc-1-over-x.absent t1.absent))
(define-fun t2 () Real (+ acc-1-over-x t1))
; t3 is max(acc 2 over x, a⁺x)
(define-fun t3.absent () Bool (and acc-2-over-x.absent a.next.x.absent))
(define-fun t3 () Real (ite acc-2-over-x.absent a.next.x (ite a.next.x.absent acc-2-over-x (ite (>= acc-2-over-x a.next.x) acc-2-over-x a.next.x))))
; given ¬c ∨ -∞ < a
(assert (or (not c) (not a.absent)))
; given ¬c⁺x ∨ -∞ < a⁺x
(assert (or (not c.next.x) (not a.next.x.absent)))
; given acc 1 over x = 0 ∨ 0 < acc 1 over x ∧ -∞ < acc 2 over x
(assert (or (and (not acc-1-over-x.absent) (= acc-1-over-x 0.0)) (and (and (not acc-1-over-x.absent) (< 0.0 acc-1-over-x)) (not acc-2-over-x.absent))))
; given 1 ≤ size of x
(assert (<= 1.0 size-of-x))
; given 0 ≤ lane of x
(assert (<= 0.0 lane-of-x))
; given ¬(size of x ≤ lane of x)
(assert (not (<= size-of-x lane-of-x)))
(check-sat)
