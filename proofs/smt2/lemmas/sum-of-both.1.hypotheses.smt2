; lemma  sum-of-both, which many laws rest on
; case   sum-of-both: x has one lane
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const b Real)
(declare-const b.absent Bool)
; t1 is a + b
(define-fun t1.absent () Bool (or a.absent b.absent))
(define-fun t1 () Real (+ a b))
(check-sat)
