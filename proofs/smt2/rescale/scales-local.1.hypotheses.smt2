; law    scales-local (rescale): A factor that holds no reduction leaves the change as it is.
; says   scales(x, a, r), local(x, b) ⟹ scales(x, a · b, r)
; source stated in rescale.py
; case   the factor of the first block
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const r Real)
(declare-const r.absent Bool)
; given -∞ < r
(assert (not r.absent))
(check-sat)
