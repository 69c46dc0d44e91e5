; law    le-larger (facts): What is bounded by a value is bounded by the larger of it and another.
; says   le(a, b) ⟹ le(a, max(b, d))
; source stated in facts.py
; case   the conclusion
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const b Real)
(declare-const b.absent Bool)
(declare-const d Real)
(declare-const d.absent Bool)
; t1 is max(b, d)
(define-fun t1.absent () Bool (and b.absent d.absent))
(define-fun t1 () Real (ite b.absent d (ite d.absent b (ite (>= b d) b d))))
; given a ≤ b
(assert (or a.absent (and (not b.absent) (<= a b))))
; the goal, denied
(assert (not (or a.absent (and (not t1.absent) (<= a t1)))))
(check-sat)
