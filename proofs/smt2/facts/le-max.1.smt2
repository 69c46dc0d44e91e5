; law    le-max (facts): Nothing exceeds its maximum.
; says   always ⟹ le(a, max_x a)
; source stated in facts.py
; case   the conclusion: x has one lane
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
; the goal, denied
(assert (not (or a.absent (and (not a.absent) (<= a a)))))
(check-sat)
