; law    finite-cos (facts): The cos of a present value is present.
; says   finite(a) ⟹ finite(cos(a))
; source stated in facts.py
; case   the conclusion
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
; cosine.1 stands for the cosine of a
(declare-const cosine.1 Real)
(assert (>= cosine.1 (- 1.0)))
(assert (<= cosine.1 1.0))
; given -∞ < a
(assert (not a.absent))
; the goal, denied
(assert (not (not a.absent)))
(check-sat)
