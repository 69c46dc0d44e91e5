; law    finite-sin (facts): The sin of a present value is present.
; says   finite(a) ⟹ finite(sin(a))
; source stated in facts.py
; case   the conclusion
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const a Real)
(declare-const a.absent Bool)
; sine.1 stands for the sine of a
(declare-const sine.1 Real)
(assert (>= sine.1 (- 1.0)))
(assert (<= sine.1 1.0))
(assert (ite (>= a 0.0) (and (<= (- a) sine.1) (<= sine.1 a)) (and (<= a sine.1) (<= sine.1 (- a)))))
; given -∞ < a
(assert (not a.absent))
(check-sat)
