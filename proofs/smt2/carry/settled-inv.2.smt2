; law    settled-inv (carry): The inverse of a value that was present before was present before.
; says   settled(x, a), free(x, a) ⟹ settled(x, 1 / a)
; source stated in carry.py
; case   over the lanes so far
;        a′ stands for a after the new block
(set-logic QF_NRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const a.later Real)
(declare-const a.later.absent Bool)
; inv.1 stands for 1 / a, and 0 for 0
(declare-const inv.1 Real)
(assert (=> (= a 0.0) (= inv.1 0.0)))
(assert (=> (not (= a 0.0)) (= (* inv.1 a) 1.0)))
; given -∞ < a
(assert (not a.absent))
; given -∞ < a′
(assert (not a.later.absent))
; the goal, denied
(assert (not (not a.absent)))
(check-sat)
