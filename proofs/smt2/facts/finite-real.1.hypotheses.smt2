; law    finite-real (facts): A whole number is present.
; says   always ⟹ finite(i)
; source stated in facts.py
; case   the conclusion
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const i Real)
(check-sat)
