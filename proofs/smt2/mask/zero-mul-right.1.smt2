; law    zero-mul-right (mask): Zero absorbs a present factor before it.
; says   finite(a), zero(c, b) ⟹ zero(c, a · b)
; source stated in mask.py
; case   the conclusion
(set-logic QF_NRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const c Bool)
(declare-const b Real)
(declare-const b.absent Bool)
; t1 is a · b
(define-fun t1.absent () Bool (or a.absent b.absent))
(define-fun t1 () Real (* a b))
; given -∞ < a
(assert (not a.absent))
; given c ∨ b = 0
(assert (or c (and (not b.absent) (= b 0.0))))
; the goal, denied
(assert (not (or c (and (not t1.absent) (= t1 0.0)))))
(check-sat)
