; lemma  constant, which many laws rest on
; case   constant: x has one lane
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const a Real)
(declare-const a.absent Bool)
; t1 is a · 1
(define-fun t1 () Real (* a 1.0))
(check-sat)
