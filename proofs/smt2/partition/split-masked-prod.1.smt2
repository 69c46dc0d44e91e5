; law    split-masked-prod (partition): A product under a mask is the product of those over the stretches of its axis.
; says   Π_{x | d} a → Π_p Π_x [c ? [d ? a : 1] : 1] if stretch(p, x, c), free(p, a), free(p, d)
; source stated in partition.py
; case   both sides: x has one lane
;        sums and maxima are in a normal form, by the lemmas prod-of-one, sum-of-one, sign, distribution, commutation, association, exponential, sum-of-both, factor, constant
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const d Bool)
(declare-const a Real)
(declare-const a.absent Bool)
; t1 is [d ? a : 1]
(define-fun t1.absent () Bool (and (or (not d) a.absent) d))
(define-fun t1 () Real (ite d a 1.0))
; given 1 = 1
(assert (= 1.0 1.0))
; the goal, denied
(assert (not (or t1.absent (and (not t1.absent) (= t1 t1)))))
(check-sat)
