; law    split-sum (partition): A sum is the sum of the sums over the stretches of its axis.
; says   Σ_x a → Σ_p Σ_x [c ? a : 0] if stretch(p, x, c), free(p, a)
; source napkin-paper 2.2; stated in partition.py
; case   both sides: x has one lane
;        sums and maxima are in a normal form, by the lemmas sum-of-one, sign, distribution, commutation, association, exponential, sum-of-both, factor, constant
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
; given 1 = 1
(assert (= 1.0 1.0))
; the goal, denied
(assert (not (or a.absent (and (not a.absent) (= a a)))))
(check-sat)
