; law    finite-neg (facts): The neg of a present value is present.
; says   finite(a) ⟹ finite(-a)
; source stated in facts.py
; case   the conclusion
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
; t1 is -a
(define-fun t1 () Real (- a))
; given -∞ < a
(assert (not a.absent))
; the goal, denied
(assert (not (not a.absent)))
(check-sat)
