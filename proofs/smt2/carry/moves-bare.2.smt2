; law    moves-bare (carry): A sum of differences from a running value moves by the step of that value for each lane.
; says   local(x, b), along(x, b), free(x, r), settled(x, r), finite(b) ⟹ moves(x, b - r, 1, (prev[r] - r) · prev[|x|])
; source stated in carry.py
; case   after a block: finite of what is reduced
;        r′ stands for r after the new block
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const b Real)
(declare-const b.absent Bool)
(declare-const r Real)
(declare-const r.absent Bool)
(declare-const r.later Real)
(declare-const r.later.absent Bool)
; given -∞ < b
(assert (not b.absent))
; given -∞ < r
(assert (not r.absent))
; given -∞ < r′
(assert (not r.later.absent))
; the goal, denied
(assert (not (not b.absent)))
(check-sat)
