; law    nonneg-abs (facts): An absolute value is not negative.
; says   finite(a) ⟹ nonneg(abs(a))
; source stated in facts.py
; case   the conclusion
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const a Real)
(declare-const a.absent Bool)
; t1 is abs(a)
(define-fun t1 () Real (ite (>= a 0.0) a (- a)))
; given -∞ < a
(assert (not a.absent))
(check-sat)
