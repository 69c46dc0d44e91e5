; lemma  bound-sum, which many laws rest on
; case   bound-sum: x has one lane
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const a Real)
(declare-const a.absent Bool)
; given 0 ≤ a
(assert (and (not a.absent) (<= 0.0 a)))
(check-sat)
