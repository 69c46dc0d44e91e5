; law    finite-abs (facts): The abs of a present value is present.
; says   finite(a) ⟹ finite(abs(a))
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
