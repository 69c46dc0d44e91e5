; law    finite-sqrt (facts): The sqrt of a present value is present.
; says   finite(a) ⟹ finite(√a)
; source stated in facts.py
; case   the conclusion
(set-logic QF_NRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
; root.1 stands for the root of a
(declare-const root.1 Real)
(assert (>= root.1 0.0))
(assert (=> (>= a 0.0) (= (* root.1 root.1) a)))
(assert (=> (< a 0.0) (= root.1 0.0)))
; given -∞ < a
(assert (not a.absent))
; the goal, denied
(assert (not (not a.absent)))
(check-sat)
