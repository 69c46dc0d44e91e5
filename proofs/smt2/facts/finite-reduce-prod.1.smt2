; law    finite-reduce-prod (facts): A reduction of present values is present.
; says   finite(a) ⟹ finite(Π_x a)
; source stated in facts.py
; case   the conclusion: finite of what is reduced
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
; given -∞ < a
(assert (not a.absent))
; the goal, denied
(assert (not (not a.absent)))
(check-sat)
