; law    settled-sum (carry): A sum of present values is present, and 0 over no lanes.
; says   finite(a) ⟹ settled(x, Σ_x a)
; source stated in carry.py
; case   before the first block
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const a Real)
(declare-const a.absent Bool)
; given -∞ < a
(assert (not a.absent))
(check-sat)
