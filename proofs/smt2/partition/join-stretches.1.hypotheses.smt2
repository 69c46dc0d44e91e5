; law    join-stretches (partition): Sums over the stretches of an axis of what does not vary along it are a sum over that axis.
; says   Σ_p Σ_x [c ? a : 0] → Σ_x a if stretch(p, x, c), free(x, a), free(p, a)
; source stated in partition.py
; case   both sides: x has one lane
;        sums and maxima are in a normal form, by the lemmas sum-of-one, sign, distribution, commutation, association, exponential, sum-of-both, factor, constant
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const a Real)
(declare-const a.absent Bool)
; given 1 = 1
(assert (= 1.0 1.0))
(check-sat)
