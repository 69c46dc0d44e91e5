; law    sum-constant-present (reduction): A sum of equal present summands is a product with their number, be it 0.
; says   Σ_x a → a · |x| if free(x, a), finite(a)
; source stated in reduction.py
; case   both sides
;        sums and maxima are in a normal form, by the lemmas sign, distribution, commutation, association, exponential, sum-of-both, factor, constant
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_NRA)
(set-info :status sat)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const size.x Real)
(assert (>= size.x 1.0))
; t1 is a · |x|
(define-fun t1 () Real (* a size.x))
; given -∞ < a
(assert (not a.absent))
(check-sat)
