; law    le-where (facts): A masked value does not exceed what bounds the value.
; says   le(a, b) ⟹ le([c ? a : -∞], b)
; source stated in facts.py
; case   the conclusion
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const b Real)
(declare-const b.absent Bool)
(declare-const c Bool)
; t1 is [c ? a : -∞]
(define-fun t1.absent () Bool (or (not c) a.absent))
(define-fun t1 () Real (ite c a 0.0))
; given a ≤ b
(assert (or a.absent (and (not b.absent) (<= a b))))
(check-sat)
