; law    finite-max (facts): The larger of two values is present if one is.
; says   finite(a) ⟹ finite(max(a, b))
; source stated in facts.py
; case   the conclusion
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const b Real)
(declare-const b.absent Bool)
; t1 is max(a, b)
(define-fun t1.absent () Bool (and a.absent b.absent))
(define-fun t1 () Real (ite a.absent b (ite b.absent a (ite (>= a b) a b))))
; given -∞ < a
(assert (not a.absent))
(check-sat)
