; lemma  nonneg-weights, which many laws rest on
; case   nonneg-weights: one more lane of x
;        acc 1 over x stands for Σ_x w over the lanes so far
;        acc 2 over x stands for Σ_x a · w over the lanes so far
;        w⁺x stands for w in the new lane
;        a⁺x stands for a in the new lane
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_NRA)
(set-info :status sat)
(declare-const w Real)
(declare-const w.absent Bool)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const w.next.x Real)
(declare-const w.next.x.absent Bool)
(declare-const a.next.x Real)
(declare-const a.next.x.absent Bool)
(declare-const acc-1-over-x Real)
(declare-const acc-1-over-x.absent Bool)
(declare-const acc-2-over-x Real)
(declare-const acc-2-over-x.absent Bool)
(declare-const size-of-x Real)
(declare-const lane-of-x Real)
; t1 is acc 1 over x + w⁺x
(define-fun t1.absent () Bool (or acc-1-over-x.absent w.next.x.absent))
(define-fun t1 () Real (+ acc-1-over-x w.next.x))
; t2 is a⁺x · w⁺x
(define-fun t2.absent () Bool (or a.next.x.absent w.next.x.absent))
(define-fun t2 () Real (* a.next.x w.next.x))
; t3 is acc 2 over x + a⁺x · w⁺x
(define-fun t3.absent () Bool (or acc-2-over-x.absent t2.absent))
(define-fun t3 () Real (+ acc-2-over-x t2))
; given 0 ≤ w
(assert (and (not w.absent) (<= 0.0 w)))
; given -∞ < a
(assert (not a.absent))
; given 0 ≤ w⁺x
(assert (and (not w.next.x.absent) (<= 0.0 w.next.x)))
; given -∞ < a⁺x
(assert (not a.next.x.absent))
; given acc 1 over x = 0 ∧ acc 2 over x = 0 ∨ 0 < acc 1 over x
(assert (or (and (and (not acc-1-over-x.absent) (= acc-1-over-x 0.0)) (and (not acc-2-over-x.absent) (= acc-2-over-x 0.0))) (and (not acc-1-over-x.absent) (< 0.0 acc-1-over-x))))
; given 1 ≤ size of x
(assert (<= 1.0 size-of-x))
; given 0 ≤ lane of x
(assert (<= 0.0 lane-of-x))
; given ¬(size of x ≤ lane of x)
(assert (not (<= size-of-x lane-of-x)))
(check-sat)
