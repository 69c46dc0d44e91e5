; law    nonzero-finite (facts): A number that is not zero is present.
; says   nonzero(a) ⟹ finite(a)
; source stated in facts.py
; case   the conclusion
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
; given -∞ < a ∧ ¬(a = 0)
(assert (and (not a.absent) (not (and (not a.absent) (= a 0.0)))))
; the goal, denied
(assert (not (not a.absent)))
(check-sat)
