; law    finite-log (facts): The logarithm of a positive number is present.
; says   pos(a) ⟹ finite(log(a))
; source stated in facts.py
; case   the conclusion
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
; log.1 stands for the logarithm of a
(declare-const log.1 Real)
; t1 is log(a)
(define-fun t1.absent () Bool (or a.absent (<= a 0.0)))
; given 0 < a
(assert (and (not a.absent) (< 0.0 a)))
; the goal, denied
(assert (not (not t1.absent)))
(check-sat)
