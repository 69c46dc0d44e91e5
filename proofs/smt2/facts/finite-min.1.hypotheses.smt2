; law    finite-min (facts): The smaller of two present values is present.
; says   finite(a), finite(b) ⟹ finite(min(a, b))
; source stated in facts.py
; case   the conclusion
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const b Real)
(declare-const b.absent Bool)
; t1 is min(a, b)
(define-fun t1.absent () Bool (or a.absent b.absent))
(define-fun t1 () Real (ite (<= a b) a b))
; given -∞ < a
(assert (not a.absent))
; given -∞ < b
(assert (not b.absent))
(check-sat)
