; law    pos-nonneg (facts): A positive number is not negative.
; says   pos(a) ⟹ nonneg(a)
; source stated in facts.py
; case   the conclusion
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
; given 0 < a
(assert (and (not a.absent) (< 0.0 a)))
; the goal, denied
(assert (not (and (not a.absent) (<= 0.0 a))))
(check-sat)
