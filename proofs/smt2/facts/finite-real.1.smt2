; law    finite-real (facts): A whole number is present.
; says   always ⟹ finite(i)
; source stated in facts.py
; case   the conclusion
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const i Real)
; the goal, denied
(assert false)
(check-sat)
