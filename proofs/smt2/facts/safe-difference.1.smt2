; law    safe-difference (facts): The exponential of a value minus what bounds it cannot overflow.
; says   le(a, b) ⟹ safe(a - b)
; source stated in facts.py
; case   the conclusion
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const b Real)
(declare-const b.absent Bool)
(declare-const log-of-the-largest-number Real)
(declare-const log-of-the-largest-number.absent Bool)
; t1 is -b
(define-fun t1 () Real (- b))
; t2 is a - b
(define-fun t2.absent () Bool (or a.absent b.absent))
(define-fun t2 () Real (+ a t1))
; given a ≤ b
(assert (or a.absent (and (not b.absent) (<= a b))))
; given 11 ≤ log of the largest number
(assert (and (not log-of-the-largest-number.absent) (<= 11.0 log-of-the-largest-number)))
; the goal, denied
(assert (not (or t2.absent (and (not log-of-the-largest-number.absent) (<= t2 log-of-the-largest-number)))))
(check-sat)
