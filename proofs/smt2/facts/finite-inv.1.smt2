; law    finite-inv (facts): The inv of a present value is present.
; says   finite(a) ⟹ finite(1 / a)
; source stated in facts.py
; case   the conclusion
(set-logic QF_NRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
; inv.1 stands for 1 / a, and 0 for 0
(declare-const inv.1 Real)
(assert (=> (= a 0.0) (= inv.1 0.0)))
(assert (=> (not (= a 0.0)) (= (* inv.1 a) 1.0)))
; given -∞ < a
(assert (not a.absent))
; the goal, denied
(assert (not (not a.absent)))
(check-sat)
