; law    settled-over (carry): A sum over another axis of values that were present before was present before.
; says   settled(x, a), free(x, a), distinct(x, y) ⟹ settled(x, Σ_y a)
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
; r1 is Σ_y a, of which nothing else is used
(declare-const r1 Real)
(declare-const r1.absent Bool)
; given -∞ < a
(assert (not a.absent))
; given -∞ < a′
(assert (not a.later.absent))
; given -∞ < Σ_y a
(assert (not r1.absent))
(check-sat)
