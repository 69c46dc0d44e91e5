; law    settled-size (carry): A number of lanes is present, and 0 before the first.
; says   always ⟹ settled(x, |x|)
; source stated in carry.py
; case   over the lanes so far
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const size.x Real)
(assert (>= size.x 1.0))
(check-sat)
