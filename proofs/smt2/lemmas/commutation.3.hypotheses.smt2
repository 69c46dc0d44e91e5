; lemma  commutation, which many laws rest on
; case   commutation: one more lane of x
;        a⁺x stands for a in the new lane
;        b⁺x stands for b in the new lane
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
(declare-const size-of-x Real)
(declare-const lane-of-x Real)
(declare-const a.next.x Real)
(declare-const a.next.x.absent Bool)
(declare-const b.next.x Real)
(declare-const b.next.x.absent Bool)
; t3 is a⁺x · b⁺x
(define-fun t3.absent () Bool (or a.next.x.absent b.next.x.absent))
(define-fun t3 () Real (* a.next.x b.next.x))
; t4 is b⁺x · a⁺x
(define-fun t4.absent () Bool (or b.next.x.absent a.next.x.absent))
(define-fun t4 () Real (* b.next.x a.next.x))
; given a · b = b · a
(assert (or (and t1.absent t2.absent) (and (not t1.absent) (not t2.absent) (= t1 t2))))
; given 1 ≤ size of x
(assert (<= 1.0 size-of-x))
; given 0 ≤ lane of x
(assert (<= 0.0 lane-of-x))
; given ¬(size of x ≤ lane of x)
(assert (not (<= size-of-x lane-of-x)))
(check-sat)
