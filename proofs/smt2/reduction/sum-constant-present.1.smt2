; law    sum-constant-present (reduction): A sum of equal present summands is a product with their number, be it 0.
; says   Σ_x a → a · |x| if free(x, a), finite(a)
; source stated in reduction.py
; case   both sides
;        sums and maxima are in a normal form, by the lemmas sign, distribution, commutation, association, exponential, sum-of-both, factor, constant
(set-logic QF_NRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const size.x Real)
(assert (>= size.x 1.0))
; t1 is a · |x|
(define-fun t1 () Real (* a size.x))
; given -∞ < a
(assert (not a.absent))
; the goal, denied
(assert (not (or a.absent (and (not a.absent) (= t1 t1)))))
(check-sat)
