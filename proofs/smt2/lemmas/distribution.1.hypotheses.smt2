; lemma  distribution, which many laws rest on
; case   distribution
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_NRA)
(set-info :status sat)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const b Real)
(declare-const b.absent Bool)
(declare-const d Real)
(declare-const d.absent Bool)
; t1 is b + d
(define-fun t1.absent () Bool (or b.absent d.absent))
(define-fun t1 () Real (+ b d))
; t2 is a · (b + d)
(define-fun t2.absent () Bool (or a.absent t1.absent))
(define-fun t2 () Real (* a t1))
; t3 is a · b
(define-fun t3.absent () Bool (or a.absent b.absent))
(define-fun t3 () Real (* a b))
; t4 is a · d
(define-fun t4.absent () Bool (or a.absent d.absent))
(define-fun t4 () Real (* a d))
; t5 is a · b + a · d
(define-fun t5.absent () Bool (or t3.absent t4.absent))
(define-fun t5 () Real (+ t3 t4))
(check-sat)
