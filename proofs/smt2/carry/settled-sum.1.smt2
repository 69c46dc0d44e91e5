; law    settled-sum (carry): A sum of present values is present, and 0 over no lanes.
; says   finite(a) ⟹ settled(x, Σ_x a)
; source stated in carry.py
; case   before the first block
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
; given -∞ < a
(assert (not a.absent))
; the goal, denied
(assert false)
(check-sat)
