; law    settled-local (carry): What is present and stands still was present before.
; says   local(x, a), free(x, a), finite(a) ⟹ settled(x, a)
; source stated in carry.py
; case   before the first block
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
; given -∞ < a
(assert (not a.absent))
; the goal, denied
(assert (not (not a.absent)))
(check-sat)
