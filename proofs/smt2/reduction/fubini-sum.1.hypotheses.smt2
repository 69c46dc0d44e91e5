; law    fubini-sum (reduction): Two reductions by one monoid swap (Fubini).
; says   Σ_x Σ_y a → Σ_y Σ_x a if distinct(x, y)
; source stated in reduction.py
; case   both sides: x has one lane
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const a Real)
(declare-const a.absent Bool)
; r1 is Σ_y a, of which nothing else is used
(declare-const r1 Real)
(declare-const r1.absent Bool)
(check-sat)
