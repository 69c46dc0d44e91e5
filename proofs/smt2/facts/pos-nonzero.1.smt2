; law    pos-nonzero (facts): A positive number is not zero.
; says   pos(a) ⟹ nonzero(a)
; source stated in facts.py
; case   the conclusion
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
; given 0 < a
(assert (and (not a.absent) (< 0.0 a)))
; the goal, denied
(assert (not (and (not a.absent) (not (and (not a.absent) (= a 0.0))))))
(check-sat)
