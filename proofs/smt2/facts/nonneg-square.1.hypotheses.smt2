; law    nonneg-square (facts): A square is not negative.
; says   finite(a) ⟹ nonneg(a · a)
; source stated in facts.py
; case   the conclusion
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_NRA)
(set-info :status sat)
(declare-const a Real)
(declare-const a.absent Bool)
; t1 is a · a
(define-fun t1 () Real (* a a))
; given -∞ < a
(assert (not a.absent))
(check-sat)
