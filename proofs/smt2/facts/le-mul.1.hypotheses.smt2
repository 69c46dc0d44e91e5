; law    le-mul (facts): A positive factor keeps the order.
; says   le(a, b), pos(d) ⟹ le(a · d, b · d)
; source stated in facts.py
; case   the conclusion
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_NRA)
(set-info :status sat)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const b Real)
(declare-const b.absent Bool)
(declare-const d Real)
(declare-const d.absent Bool)
; t1 is a · d
(define-fun t1.absent () Bool (or a.absent d.absent))
(define-fun t1 () Real (* a d))
; t2 is b · d
(define-fun t2.absent () Bool (or b.absent d.absent))
(define-fun t2 () Real (* b d))
; given a ≤ b
(assert (or a.absent (and (not b.absent) (<= a b))))
; given 0 < d
(assert (and (not d.absent) (< 0.0 d)))
(check-sat)
