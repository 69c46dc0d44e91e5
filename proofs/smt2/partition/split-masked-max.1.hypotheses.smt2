; law    split-masked-max (partition): A maximum under a mask is the maximum of those over the stretches of its axis.
; says   max_{x | d} a → max_p max_x [c ? [d ? a : -∞] : -∞] if stretch(p, x, c), free(p, a), free(p, d)
; source stated in partition.py
; case   both sides: x has one lane
;        sums and maxima are in a normal form, by the lemmas max-of-one, sum-of-one, sign, distribution, commutation, association, exponential, sum-of-both, factor, constant
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const d Bool)
(declare-const a Real)
(declare-const a.absent Bool)
; t1 is [d ? a : -∞]
(define-fun t1.absent () Bool (or (not d) a.absent))
(define-fun t1 () Real (ite d a 0.0))
; given 1 = 1
(assert (= 1.0 1.0))
(check-sat)
