; law    finite-max-right (facts): The larger of two values is present if the other one is.
; says   finite(b) ⟹ finite(max(a, b))
; source stated in facts.py
; case   the conclusion
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const b Real)
(declare-const b.absent Bool)
(declare-const a Real)
(declare-const a.absent Bool)
; t1 is max(a, b)
(define-fun t1.absent () Bool (and a.absent b.absent))
(define-fun t1 () Real (ite a.absent b (ite b.absent a (ite (>= a b) a b))))
; given -∞ < b
(assert (not b.absent))
; the goal, denied
(assert (not (not t1.absent)))
(check-sat)
