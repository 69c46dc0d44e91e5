; law    nonneg-finite (facts): A number that is not negative is present.
; says   nonneg(a) ⟹ finite(a)
; source stated in facts.py
; case   the conclusion
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
; given 0 ≤ a
(assert (and (not a.absent) (<= 0.0 a)))
; the goal, denied
(assert (not (not a.absent)))
(check-sat)
