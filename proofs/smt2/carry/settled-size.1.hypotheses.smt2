; law    settled-size (carry): A number of lanes is present, and 0 before the first.
; says   always ⟹ settled(x, |x|)
; source stated in carry.py
; case   before the first block
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(check-sat)
