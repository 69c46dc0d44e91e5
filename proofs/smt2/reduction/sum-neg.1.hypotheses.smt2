; law    sum-neg (reduction): A sign moves out of a sum.
; says   Σ_x -a = -(Σ_x a)
; source stated in reduction.py
; case   both sides
;        sums and maxima are in a normal form, by the lemmas sign, distribution, commutation, association, exponential, sum-of-both, factor, constant
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const a Real)
(declare-const a.absent Bool)
; r1 is Σ_x a, of which nothing else is used
(declare-const r1 Real)
(declare-const r1.absent Bool)
; t1 is -1 · Σ_x a
(define-fun t1 () Real (* (- 1.0) r1))
; t2 is -(Σ_x a)
(define-fun t2 () Real (- r1))
(check-sat)
