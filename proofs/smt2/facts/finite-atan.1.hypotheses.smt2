; law    finite-atan (facts): The atan of a present value is present.
; says   finite(a) ⟹ finite(atan(a))
; source stated in facts.py
; case   the conclusion
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const a Real)
(declare-const a.absent Bool)
; arctangent.1 stands for the arctangent of a
(declare-const arctangent.1 Real)
(assert (> arctangent.1 (- (/ 355.0 226.0))))
(assert (< arctangent.1 (/ 355.0 226.0)))
(assert (ite (>= a 0.0) (and (<= 0.0 arctangent.1) (<= arctangent.1 a)) (and (<= a arctangent.1) (<= arctangent.1 0.0))))
; given -∞ < a
(assert (not a.absent))
(check-sat)
