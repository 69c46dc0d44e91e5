; law    split-prod (partition): A product is the product of the products over the stretches of its axis.
; says   Π_x a → Π_p Π_x [c ? a : 1] if stretch(p, x, c), free(p, a)
; source stated in partition.py
; case   both sides: x has one lane
;        sums and maxima are in a normal form, by the lemmas prod-of-one, sum-of-one, sign, distribution, commutation, association, exponential, sum-of-both, factor, constant
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
; given 1 = 1
(assert (= 1.0 1.0))
; the goal, denied
(assert (not (or a.absent (and (not a.absent) (= a a)))))
(check-sat)
