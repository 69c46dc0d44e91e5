; law    add-zero (semiring): Zero is neutral for the sum.
; says   a + 0 → a
; source stated in semiring.py
; case   both sides
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const a Real)
(declare-const a.absent Bool)
; t1 is a + 0
(define-fun t1 () Real (+ a 0.0))
(check-sat)
