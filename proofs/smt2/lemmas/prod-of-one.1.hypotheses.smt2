; lemma  prod-of-one, which many laws rest on
; case   prod-of-one: x has one lane
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const c Bool)
; t1 is [c ? 1 : 0]
(define-fun t1.absent () Bool (and (not c) c))
(define-fun t1 () Real (ite c 1.0 0.0))
(declare-const a Real)
(declare-const a.absent Bool)
; t2 is [c ? a : 1]
(define-fun t2.absent () Bool (and (or (not c) a.absent) c))
(define-fun t2 () Real (ite c a 1.0))
(check-sat)
