; law    settled-over (carry): A sum over another axis of values that were present before was present before.
; says   settled(x, a), free(x, a), distinct(x, y) ⟹ settled(x, Σ_y a)
; source stated in carry.py
; case   over the lanes so far: finite of what is reduced
;        a′ stands for a after the new block
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const a.later Real)
(declare-const a.later.absent Bool)
; given -∞ < a
(assert (not a.absent))
; given -∞ < a′
(assert (not a.later.absent))
(check-sat)
