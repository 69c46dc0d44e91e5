; law    finite-floor (facts): The floor of a present value is present.
; says   finite(a) ⟹ finite(⌊a⌋)
; source stated in facts.py
; case   the conclusion
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const a Real)
(declare-const a.absent Bool)
; floor.1 stands for the floor of a
(declare-const floor.1 Real)
(assert (<= floor.1 a))
(assert (< a (+ floor.1 1.0)))
; given -∞ < a
(assert (not a.absent))
(check-sat)
