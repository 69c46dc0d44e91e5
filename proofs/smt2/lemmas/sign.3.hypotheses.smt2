; lemma  sign, which many laws rest on
; case   sign: one more lane of x
;        a⁺x stands for a in the new lane
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const a Real)
(declare-const a.absent Bool)
; t1 is -a
(define-fun t1 () Real (- a))
; t2 is -1 · a
(define-fun t2 () Real (* (- 1.0) a))
(declare-const size-of-x Real)
(declare-const lane-of-x Real)
(declare-const a.next.x Real)
(declare-const a.next.x.absent Bool)
; t3 is -a⁺x
(define-fun t3 () Real (- a.next.x))
; t4 is -1 · a⁺x
(define-fun t4 () Real (* (- 1.0) a.next.x))
; given -a = -1 · a
(assert (or a.absent (and (not a.absent) (= t1 t2))))
; given 1 ≤ size of x
(assert (<= 1.0 size-of-x))
; given 0 ≤ lane of x
(assert (<= 0.0 lane-of-x))
; given ¬(size of x ≤ lane of x)
(assert (not (<= size-of-x lane-of-x)))
(check-sat)
