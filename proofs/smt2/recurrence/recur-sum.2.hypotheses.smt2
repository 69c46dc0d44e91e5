; law    recur-sum (recurrence): A recurrence whose gain is 1 is a running sum.
; says   recur_x(1, b) → scan[Σ_x b]
; source stated in recurrence.py
; case   both sides: the next lane of x
;        prefix 1 over x stands for recur_x(1, b) in the lane before
;        prefix 2 over x stands for scan[Σ_x b] in the lane before
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const prefix-1-over-x Real)
(declare-const prefix-1-over-x.absent Bool)
(declare-const prefix-2-over-x Real)
(declare-const prefix-2-over-x.absent Bool)
; t1 is 1 · prefix 1 over x
(define-fun t1 () Real (* 1.0 prefix-1-over-x))
(declare-const b Real)
(declare-const b.absent Bool)
; t2 is 1 · prefix 1 over x + b
(define-fun t2.absent () Bool (or prefix-1-over-x.absent b.absent))
(define-fun t2 () Real (+ t1 b))
; t3 is prefix 2 over x + b
(define-fun t3.absent () Bool (or prefix-2-over-x.absent b.absent))
(define-fun t3 () Real (+ prefix-2-over-x b))
; given prefix 1 over x = prefix 2 over x
(assert (or (and prefix-1-over-x.absent prefix-2-over-x.absent) (and (not prefix-1-over-x.absent) (not prefix-2-over-x.absent) (= prefix-1-over-x prefix-2-over-x))))
(check-sat)
