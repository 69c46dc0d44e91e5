; law    join-stretches (partition): Sums over the stretches of an axis of what does not vary along it are a sum over that axis.
; says   Σ_p Σ_x [c ? a : 0] → Σ_x a if stretch(p, x, c), free(x, a), free(p, a)
; source stated in partition.py
; case   both sides: one more lane of x
;        acc 1 over x stands for Σ_x [c ? a : 0] over the lanes so far
;        acc 2 over x stands for Σ_x a over the lanes so far
;        c⁺x stands for c in the new lane
;        sums and maxima are in a normal form, by the lemmas sum-of-one, sign, distribution, commutation, association, exponential, sum-of-both, factor, constant
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const acc-1-over-x Real)
(declare-const acc-1-over-x.absent Bool)
; r1 is Σ_p acc 1 over x, of which nothing else is used
(declare-const r1 Real)
(declare-const r1.absent Bool)
(declare-const acc-2-over-x Real)
(declare-const acc-2-over-x.absent Bool)
(declare-const size-of-x Real)
(declare-const lane-of-x Real)
(declare-const a Real)
(declare-const a.absent Bool)
; t1 is Σ_p acc 1 over x + a
(define-fun t1.absent () Bool (or r1.absent a.absent))
(define-fun t1 () Real (+ r1 a))
; t2 is acc 2 over x + a
(define-fun t2.absent () Bool (or acc-2-over-x.absent a.absent))
(define-fun t2 () Real (+ acc-2-over-x a))
; given 1 = 1
(assert (= 1.0 1.0))
; given 1 = 1
(assert (= 1.0 1.0))
; given Σ_p acc 1 over x = acc 2 over x
(assert (or (and r1.absent acc-2-over-x.absent) (and (not r1.absent) (not acc-2-over-x.absent) (= r1 acc-2-over-x))))
; given 1 ≤ size of x
(assert (<= 1.0 size-of-x))
; given 0 ≤ lane of x
(assert (<= 0.0 lane-of-x))
; given ¬(size of x ≤ lane of x)
(assert (not (<= size-of-x lane-of-x)))
; the goal, denied
(assert (not (or (and t1.absent t2.absent) (and (not t1.absent) (not t2.absent) (= t1 t2)))))
(check-sat)
