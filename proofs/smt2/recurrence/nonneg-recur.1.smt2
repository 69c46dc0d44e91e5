; law    nonneg-recur (recurrence): A recurrence of gains and parts that are not negative is not negative.
; says   nonneg(a), nonneg(b) ⟹ nonneg(recur_x(a, b))
; source stated in recurrence.py
; case   the conclusion: the first lane of x
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const b Real)
(declare-const b.absent Bool)
; t1 is a · 0
(define-fun t1 () Real (* a 0.0))
; t2 is a · 0 + b
(define-fun t2.absent () Bool (or a.absent b.absent))
(define-fun t2 () Real (+ t1 b))
; given 0 ≤ a
(assert (and (not a.absent) (<= 0.0 a)))
; given 0 ≤ b
(assert (and (not b.absent) (<= 0.0 b)))
; the goal, denied
(assert (not (and (not t2.absent) (<= 0.0 t2))))
(check-sat)
