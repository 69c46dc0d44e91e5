; law    nonneg-scan (recurrence): A running sum of numbers that are not negative is not negative.
; says   nonneg(a) ⟹ nonneg(scan[Σ_x a])
; source stated in recurrence.py
; case   the conclusion: the next lane of x
;        prefix 1 over x stands for scan[Σ_x a] in the lane before
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const prefix-1-over-x Real)
(declare-const prefix-1-over-x.absent Bool)
; t1 is prefix 1 over x + a
(define-fun t1.absent () Bool (or prefix-1-over-x.absent a.absent))
(define-fun t1 () Real (+ prefix-1-over-x a))
; given 0 ≤ a
(assert (and (not a.absent) (<= 0.0 a)))
; given 0 ≤ prefix 1 over x
(assert (and (not prefix-1-over-x.absent) (<= 0.0 prefix-1-over-x)))
(check-sat)
