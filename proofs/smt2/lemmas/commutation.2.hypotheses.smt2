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
; given a · b = b · a
(assert (or (and t1.absent t2.absent) (and (not t1.absent) (not t2.absent) (= t1 t2))))
; given 1 ≤ size of x
(assert (<= 1.0 size-of-x))
; given 0 ≤ lane of x
(assert (<= 0.0 lane-of-x))
; given ¬(size of x ≤ lane of x)
(assert (not (<= size-of-x lane-of-x)))
(check-sat)
