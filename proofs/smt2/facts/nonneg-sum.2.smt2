; law    nonneg-sum (facts): A sum over an axis of numbers that are not negative is not negative.
; says   nonneg(a) ⟹ nonneg(Σ_x a)
; source stated in facts.py
; case   the conclusion: nonneg of what is reduced
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
; given 0 ≤ a
(assert (and (not a.absent) (<= 0.0 a)))
; the goal, denied
(assert (not (and (not a.absent) (<= 0.0 a))))
(check-sat)
