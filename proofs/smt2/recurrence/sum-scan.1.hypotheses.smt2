; law    sum-scan (recurrence): A sum of running sums is the running sum of the sums.
; says   Σ_y scan[Σ_x a] → scan[Σ_x Σ_y a] if distinct(x, y)
; source stated in recurrence.py
; case   both sides: the first lane of x
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const a Real)
(declare-const a.absent Bool)
; r1 is Σ_y a, of which nothing else is used
(declare-const r1 Real)
(declare-const r1.absent Bool)
(check-sat)
