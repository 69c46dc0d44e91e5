; law    pos-add-right (facts): A number that is not negative plus a positive one is positive.
; says   nonneg(a), pos(b) ⟹ pos(a + b)
; source stated in facts.py
; case   the conclusion
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const b Real)
(declare-const b.absent Bool)
; t1 is a + b
(define-fun t1.absent () Bool (or a.absent b.absent))
(define-fun t1 () Real (+ a b))
; given 0 ≤ a
(assert (and (not a.absent) (<= 0.0 a)))
; given 0 < b
(assert (and (not b.absent) (< 0.0 b)))
(check-sat)
