; law    settled-over (carry): A sum over another axis of values that were present before was present before.
; says   settled(x, a), free(x, a), distinct(x, y) ⟹ settled(x, Σ_y a)
; source stated in carry.py
; case   before the first block: finite of what is reduced
;        a° stands for a before the first block
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const a.before Real)
(declare-const a.before.absent Bool)
; given -∞ < a
(assert (not a.absent))
; given -∞ < a°
(assert (not a.before.absent))
(check-sat)
