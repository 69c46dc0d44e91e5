; law    sum-scan (recurrence): A sum of running sums is the running sum of the sums.
; says   Σ_y scan[Σ_x a] → scan[Σ_x Σ_y a] if distinct(x, y)
; source stated in recurrence.py
; case   both sides: the first lane of x
;        sums and maxima are in a normal form, by the lemmas sign, distribution, commutation, association, exponential, sum-of-both, factor, constant
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const size.y Real)
(assert (>= size.y 1.0))
; t1 is 0 · |y|
(define-fun t1 () Real (* 0.0 size.y))
(declare-const a Real)
(declare-const a.absent Bool)
; r1 is Σ_y a, of which nothing else is used
(declare-const r1 Real)
(declare-const r1.absent Bool)
; t2 is 0 · |y| + Σ_y a
(define-fun t2 () Real (+ t1 r1))
; t3 is 0 + Σ_y a
(define-fun t3 () Real (+ 0.0 r1))
(check-sat)
