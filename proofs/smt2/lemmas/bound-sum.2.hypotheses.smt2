; lemma  bound-sum, which many laws rest on
; case   bound-sum: one more lane of x
;        acc 1 over x stands for Σ_x a over the lanes so far
;        a⁺x stands for a in the new lane
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const a.next.x Real)
(declare-const a.next.x.absent Bool)
(declare-const acc-1-over-x Real)
(declare-const acc-1-over-x.absent Bool)
(declare-const size-of-x Real)
(declare-const lane-of-x Real)
; t1 is acc 1 over x + a⁺x
(define-fun t1.absent () Bool (or acc-1-over-x.absent a.next.x.absent))
(define-fun t1 () Real (+ acc-1-over-x a.next.x))
; given 0 ≤ a
(assert (and (not a.absent) (<= 0.0 a)))
; given 0 ≤ a⁺x
(assert (and (not a.next.x.absent) (<= 0.0 a.next.x)))
; given a ≤ acc 1 over x
(assert (or a.absent (and (not acc-1-over-x.absent) (<= a acc-1-over-x))))
; given 1 ≤ size of x
(assert (<= 1.0 size-of-x))
; given 0 ≤ lane of x
(assert (<= 0.0 lane-of-x))
; given ¬(size of x ≤ lane of x)
(assert (not (<= size-of-x lane-of-x)))
(check-sat)
