; law    where-larger (mask): The larger of two numbers, chosen by comparing them, is their maximum.
; says   [a ≤ b ? b : a] → max(a, b)
; source stated in mask.py
; case   both sides
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const b Real)
(declare-const b.absent Bool)
; t1 is [a ≤ b ? b : a]
(define-fun t1.absent () Bool (ite (or a.absent (and (not b.absent) (<= a b))) b.absent a.absent))
(define-fun t1 () Real (ite (or a.absent (and (not b.absent) (<= a b))) b a))
; t2 is max(a, b)
(define-fun t2.absent () Bool (and a.absent b.absent))
(define-fun t2 () Real (ite a.absent b (ite b.absent a (ite (>= a b) a b))))
(check-sat)
