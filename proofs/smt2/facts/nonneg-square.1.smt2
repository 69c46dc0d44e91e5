; law    nonneg-square (facts): A square is not negative.
; says   finite(a) ⟹ nonneg(a · a)
; source stated in facts.py
; case   the conclusion
(set-logic QF_NRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
; t1 is a · a
(define-fun t1 () Real (* a a))
; given -∞ < a
(assert (not a.absent))
; the goal, denied
(assert (not (and (not a.absent) (<= 0.0 t1))))
(check-sat)
