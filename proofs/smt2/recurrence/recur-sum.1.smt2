; law    recur-sum (recurrence): A recurrence whose gain is 1 is a running sum.
; says   recur_x(1, b) → scan[Σ_x b]
; source stated in recurrence.py
; case   both sides: the first lane of x
(set-logic QF_LRA)
(set-info :status unsat)
; t1 is 1 · 0
(define-fun t1 () Real (* 1.0 0.0))
(declare-const b Real)
(declare-const b.absent Bool)
; t2 is 1 · 0 + b
(define-fun t2 () Real (+ t1 b))
; the goal, denied
(assert (not (or b.absent (and (not b.absent) (= t2 b)))))
(check-sat)
