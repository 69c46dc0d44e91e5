; law    add-zero (semiring): Zero is neutral for the sum.
; says   a + 0 → a
; source stated in semiring.py
; case   both sides
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
; t1 is a + 0
(define-fun t1 () Real (+ a 0.0))
; the goal, denied
(assert (not (or a.absent (and (not a.absent) (= t1 a)))))
(check-sat)
