; law    finite-cos (facts): The cos of a present value is present.
; says   finite(a) ⟹ finite(cos(a))
; source stated in facts.py
; case   the conclusion
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const a Real)
(declare-const a.absent Bool)
; cosine.1 stands for the cosine of a
(declare-const cosine.1 Real)
(assert (>= cosine.1 (- 1.0)))
(assert (<= cosine.1 1.0))
; given -∞ < a
(assert (not a.absent))
(check-sat)
