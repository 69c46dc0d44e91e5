; law    nonneg-recur (recurrence): A recurrence of gains and parts that are not negative is not negative.
; says   nonneg(a), nonneg(b) ⟹ nonneg(recur_x(a, b))
; source stated in recurrence.py
; case   the conclusion: the next lane of x
;        prefix 1 over x stands for recur_x(a, b) in the lane before
(set-logic QF_NRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const b Real)
(declare-const b.absent Bool)
(declare-const prefix-1-over-x Real)
(declare-const prefix-1-over-x.absent Bool)
; t1 is a · prefix 1 over x
(define-fun t1.absent () Bool (or a.absent prefix-1-over-x.absent))
(define-fun t1 () Real (* a prefix-1-over-x))
; t2 is a · prefix 1 over x + b
(define-fun t2.absent () Bool (or t1.absent b.absent))
(define-fun t2 () Real (+ t1 b))
; given 0 ≤ a
(assert (and (not a.absent) (<= 0.0 a)))
; given 0 ≤ b
(assert (and (not b.absent) (<= 0.0 b)))
; given 0 ≤ prefix 1 over x
(assert (and (not prefix-1-over-x.absent) (<= 0.0 prefix-1-over-x)))
; the goal, denied
(assert (not (and (not t2.absent) (<= 0.0 t2))))
(check-sat)
