; law    finite-erf (facts): The erf of a present value is present.
; says   finite(a) ⟹ finite(erf(a))
; source stated in facts.py
; case   the conclusion
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
; erf.1 stands for erf of a
(declare-const erf.1 Real)
(assert (<= (- 1.0) erf.1))
(assert (<= erf.1 1.0))
(assert (= (<= a 0.0) (<= erf.1 0.0)))
(assert (= (>= a 0.0) (>= erf.1 0.0)))
; t1 is erf(a)
(define-fun t1 () Real (ite a.absent (- 1.0) erf.1))
; given -∞ < a
(assert (not a.absent))
; the goal, denied
(assert false)
(check-sat)
