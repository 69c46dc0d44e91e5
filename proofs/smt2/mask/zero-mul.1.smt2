; law    zero-mul (mask): Zero absorbs a present factor.
; says   zero(c, a), finite(b) ⟹ zero(c, a · b)
; source stated in mask.py
; case   the conclusion
(set-logic QF_NRA)
(set-info :status unsat)
(declare-const c Bool)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const b Real)
(declare-const b.absent Bool)
; t1 is a · b
(define-fun t1.absent () Bool (or a.absent b.absent))
(define-fun t1 () Real (* a b))
; given c ∨ a = 0
(assert (or c (and (not a.absent) (= a 0.0))))
; given -∞ < b
(assert (not b.absent))
; the goal, denied
(assert (not (or c (and (not t1.absent) (= t1 0.0)))))
(check-sat)
