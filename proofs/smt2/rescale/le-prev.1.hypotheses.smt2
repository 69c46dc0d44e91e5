; law    le-prev (rescale): A running maximum never falls.
; says   local(x, b) ⟹ le(prev[max_x b], max_x b)
; source stated in rescale.py
; case   the first block
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const b Real)
(declare-const b.absent Bool)
; r1 is max_x b, of which nothing else is used
(declare-const r1 Real)
(declare-const r1.absent Bool)
(check-sat)
