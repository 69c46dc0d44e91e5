; law    settled-local (carry): What is present and stands still was present before.
; says   local(x, a), free(x, a), finite(a) ⟹ settled(x, a)
; source stated in carry.py
; case   over the lanes so far
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const a Real)
(declare-const a.absent Bool)
; given -∞ < a
(assert (not a.absent))
(check-sat)
