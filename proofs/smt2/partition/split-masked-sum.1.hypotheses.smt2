; law    split-masked-sum (partition): A sum under a mask is the sum of those over the stretches of its axis.
; says   Σ_{x | d} a → Σ_p Σ_x [c ? [d ? a : 0] : 0] if stretch(p, x, c), free(p, a), free(p, d)
; source stated in partition.py
; case   both sides: x has one lane
;        sums and maxima are in a normal form, by the lemmas sum-of-one, sign, distribution, commutation, association, exponential, sum-of-both, factor, constant
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const d Bool)
(declare-const a Real)
(declare-const a.absent Bool)
; t1 is [d ? a : 0]
(define-fun t1.absent () Bool (and (or (not d) a.absent) d))
(define-fun t1 () Real (ite d a 0.0))
; given 1 = 1
(assert (= 1.0 1.0))
(check-sat)
