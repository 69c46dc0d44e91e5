; law    pos-sum (facts): A sum over an axis of positive numbers is positive.
; says   pos(a) ⟹ pos(Σ_x a)
; source stated in facts.py
; case   the conclusion: pos of what is reduced
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
; given 0 < a
(assert (and (not a.absent) (< 0.0 a)))
; the goal, denied
(assert (not (and (not a.absent) (< 0.0 a))))
(check-sat)
