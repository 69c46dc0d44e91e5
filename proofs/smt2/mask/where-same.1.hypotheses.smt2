; law    where-same (mask): A choice between a value and the same value is that value.
; says   [c ? a : a] → a
; source stated in mask.py
; case   both sides
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const c Bool)
(declare-const a Real)
(declare-const a.absent Bool)
(check-sat)
