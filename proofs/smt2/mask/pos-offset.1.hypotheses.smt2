; law    pos-offset (mask): A whole number that is not negative plus a positive one is positive.
; says   nonneg(i), pos(j) ⟹ pos(i + j)
; source stated in mask.py
; case   the conclusion
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const i Real)
(declare-const j Real)
; t1 is i + j
(define-fun t1 () Real (+ i j))
; given 0 ≤ i
(assert (<= 0.0 i))
; given 0 < j
(assert (< 0.0 j))
(check-sat)
