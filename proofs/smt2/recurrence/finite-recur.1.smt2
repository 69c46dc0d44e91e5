; law    finite-recur (recurrence): A recurrence of present gains and parts is present.
; says   finite(a), finite(b) ⟹ finite(recur_x(a, b))
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
; given -∞ < a
(assert (not a.absent))
; given -∞ < b
(assert (not b.absent))
; the goal, denied
(assert (not (not t2.absent)))
(check-sat)
