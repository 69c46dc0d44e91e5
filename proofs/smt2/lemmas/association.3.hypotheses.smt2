; lemma  association, which many laws rest on
; case   association: one more lane of x
;        a⁺x stands for a in the new lane
;        b⁺x stands for b in the new lane
;        d⁺x stands for d in the new lane
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
(declare-const size-of-x Real)
(declare-const lane-of-x Real)
(declare-const a.next.x Real)
(declare-const a.next.x.absent Bool)
(declare-const b.next.x Real)
(declare-const b.next.x.absent Bool)
; t5 is a⁺x · b⁺x
(define-fun t5.absent () Bool (or a.next.x.absent b.next.x.absent))
(define-fun t5 () Real (* a.next.x b.next.x))
(declare-const d.next.x Real)
(declare-const d.next.x.absent Bool)
; t6 is a⁺x · b⁺x · d⁺x
(define-fun t6.absent () Bool (or t5.absent d.next.x.absent))
(define-fun t6 () Real (* t5 d.next.x))
; t7 is b⁺x · d⁺x
(define-fun t7.absent () Bool (or b.next.x.absent d.next.x.absent))
(define-fun t7 () Real (* b.next.x d.next.x))
; t8 is a⁺x · (b⁺x · d⁺x)
(define-fun t8.absent () Bool (or a.next.x.absent t7.absent))
(define-fun t8 () Real (* a.next.x t7))
; given a · b · d = a · (b · d)
(assert (or (and t2.absent t4.absent) (and (not t2.absent) (not t4.absent) (= t2 t4))))
; given 1 ≤ size of x
(assert (<= 1.0 size-of-x))
; given 0 ≤ lane of x
(assert (<= 0.0 lane-of-x))
; given ¬(size of x ≤ lane of x)
(assert (not (<= size-of-x lane-of-x)))
(check-sat)
