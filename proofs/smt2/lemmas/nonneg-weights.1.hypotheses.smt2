; lemma  nonneg-weights, which many laws rest on
; case   nonneg-weights: x has one lane
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_NRA)
(set-info :status sat)
(declare-const w Real)
(declare-const w.absent Bool)
(declare-const a Real)
(declare-const a.absent Bool)
; t1 is a · w
(define-fun t1.absent () Bool (or a.absent w.absent))
(define-fun t1 () Real (* a w))
; given 0 ≤ w
(assert (and (not w.absent) (<= 0.0 w)))
; given -∞ < a
(assert (not a.absent))
(check-sat)
