; law    sum-add (reduction): The sum of a sum is the sum of the sums.
; says   Σ_x (a + b) = Σ_x a + Σ_x b
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
(declare-const b Real)
(declare-const b.absent Bool)
; r2 is Σ_x b, of which nothing else is used
(declare-const r2 Real)
(declare-const r2.absent Bool)
; t1 is Σ_x a + Σ_x b
(define-fun t1.absent () Bool (or r1.absent r2.absent))
(define-fun t1 () Real (+ r1 r2))
(check-sat)
