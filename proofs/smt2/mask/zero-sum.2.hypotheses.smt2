; law    zero-sum (mask): A sum of zeros is zero.
; says   zero(c, a), free(y, c) ⟹ zero(c, Σ_y a)
; source stated in mask.py
; case   the conclusion: one more lane of y
;        acc 1 over y stands for Σ_y a over the lanes so far
;        a⁺y stands for a in the new lane
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const c Bool)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const a.next.y Real)
(declare-const a.next.y.absent Bool)
(declare-const acc-1-over-y Real)
(declare-const acc-1-over-y.absent Bool)
(declare-const size-of-y Real)
(declare-const lane-of-y Real)
; t1 is acc 1 over y + a⁺y
(define-fun t1.absent () Bool (or acc-1-over-y.absent a.next.y.absent))
(define-fun t1 () Real (+ acc-1-over-y a.next.y))
; given c ∨ a = 0
(assert (or c (and (not a.absent) (= a 0.0))))
; given c ∨ a⁺y = 0
(assert (or c (and (not a.next.y.absent) (= a.next.y 0.0))))
; given c ∨ acc 1 over y = 0
(assert (or c (and (not acc-1-over-y.absent) (= acc-1-over-y 0.0))))
; given 1 ≤ size of y
(assert (<= 1.0 size-of-y))
; given 0 ≤ lane of y
(assert (<= 0.0 lane-of-y))
; given ¬(size of y ≤ lane of y)
(assert (not (<= size-of-y lane-of-y)))
(check-sat)
