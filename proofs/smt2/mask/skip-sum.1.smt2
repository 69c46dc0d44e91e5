; law    skip-sum (mask): A sum may leave out lanes that are zero.
; says   Σ_x a → Σ_{x | c} a if zero(c, a)
; source stated in mask.py
; case   both sides: x has one lane
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const c Bool)
(declare-const a Real)
(declare-const a.absent Bool)
; t1 is [c ? a : 0]
(define-fun t1.absent () Bool (and (or (not c) a.absent) c))
(define-fun t1 () Real (ite c a 0.0))
; given c ∨ a = 0
(assert (or c (and (not a.absent) (= a 0.0))))
; the goal, denied
(assert (not (or (and a.absent t1.absent) (and (not a.absent) (not t1.absent) (= a t1)))))
(check-sat)
