; lemma  sign, which many laws rest on
; case   sign
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const a Real)
(declare-const a.absent Bool)
; t1 is -a
(define-fun t1 () Real (- a))
; t2 is -1 · a
(define-fun t2 () Real (* (- 1.0) a))
(check-sat)
