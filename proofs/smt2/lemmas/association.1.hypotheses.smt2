; lemma  association, which many laws rest on
; case   association
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
(declare-const d Real)
(declare-const d.absent Bool)
; t2 is a · b · d
(define-fun t2.absent () Bool (or t1.absent d.absent))
(define-fun t2 () Real (* t1 d))
; t3 is b · d
(define-fun t3.absent () Bool (or b.absent d.absent))
(define-fun t3 () Real (* b d))
; t4 is a · (b · d)
(define-fun t4.absent () Bool (or a.absent t3.absent))
(define-fun t4 () Real (* a t3))
(check-sat)
