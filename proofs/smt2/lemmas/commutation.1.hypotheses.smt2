; lemma  commutation, which many laws rest on
; case   commutation
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_NRA)
(set-info :status sat)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const b Real)
(declare-const b.absent Bool)
; t1 is a · b
(define-fun t1.absent () Bool (or a.absent b.absent))
(define-fun t1 () Real (* a b))
; t2 is b · a
(define-fun t2.absent () Bool (or b.absent a.absent))
(define-fun t2 () Real (* b a))
(check-sat)
