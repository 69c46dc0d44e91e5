; law    neg-neg (semiring): Two signs cancel.
; says   -(-a) → a
; source stated in semiring.py
; case   both sides
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
; t1 is -a
(define-fun t1 () Real (- a))
; t2 is -(-a)
(define-fun t2 () Real (- t1))
; the goal, denied
(assert (not (or a.absent (and (not a.absent) (= t2 a)))))
(check-sat)
