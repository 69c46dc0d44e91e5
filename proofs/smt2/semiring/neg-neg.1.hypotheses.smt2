; law    neg-neg (semiring): Two signs cancel.
; says   -(-a) → a
; source stated in semiring.py
; case   both sides
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const a Real)
(declare-const a.absent Bool)
; t1 is -a
(define-fun t1 () Real (- a))
; t2 is -(-a)
(define-fun t2 () Real (- t1))
(check-sat)
