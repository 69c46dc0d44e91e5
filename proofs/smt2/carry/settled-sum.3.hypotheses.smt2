; law    settled-sum (carry): A sum of present values is present, and 0 over no lanes.
; says   finite(a) ⟹ settled(x, Σ_x a)
; source stated in carry.py
; case   over the lanes so far
;        a′ stands for a after the new block
;        what holds of every lane holds of the reduction
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const a.later Real)
(declare-const a.later.absent Bool)
; r1 is Σ_x a, of which nothing else is used
(declare-const r1 Real)
(declare-const r1.absent Bool)
; given -∞ < a
(assert (not a.absent))
; given -∞ < a′
(assert (not a.later.absent))
; given -∞ < Σ_x a
(assert (not r1.absent))
(check-sat)
