; law    cancel (semiring): A number that is not zero cancels against its inverse.
; says   a / a → 1 if nonzero(a)
; source stated in semiring.py
; case   both sides
(set-logic QF_NRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
; inv.1 stands for 1 / a, and 0 for 0
(declare-const inv.1 Real)
(assert (=> (= a 0.0) (= inv.1 0.0)))
(assert (=> (not (= a 0.0)) (= (* inv.1 a) 1.0)))
; t1 is a / a
(define-fun t1 () Real (* a inv.1))
; given -∞ < a ∧ ¬(a = 0)
(assert (and (not a.absent) (not (and (not a.absent) (= a 0.0)))))
; the goal, denied
(assert (not (and (not a.absent) (= t1 1.0))))
(check-sat)
