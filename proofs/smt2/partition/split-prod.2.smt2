; law    split-prod (partition): A product is the product of the products over the stretches of its axis.
; says   Π_x a → Π_p Π_x [c ? a : 1] if stretch(p, x, c), free(p, a)
; source stated in partition.py
; case   both sides: one more lane of x
;        acc 1 over x stands for Π_x a over the lanes so far
;        acc 2 over x stands for Π_x [c ? a : 1] over the lanes so far
;        a⁺x stands for a in the new lane
;        c⁺x stands for c in the new lane
;        sums and maxima are in a normal form, by the lemmas prod-of-both, prod-of-one, sum-of-one, sign, distribution, commutation, association, exponential, sum-of-both, factor, constant
(set-logic QF_NRA)
(set-info :status unsat)
(declare-const acc-1-over-x Real)
(declare-const acc-1-over-x.absent Bool)
(declare-const acc-2-over-x Real)
(declare-const acc-2-over-x.absent Bool)
; r1 is Π_p acc 2 over x, of which nothing else is used
(declare-const r1 Real)
(declare-const r1.absent Bool)
(declare-const size-of-x Real)
(declare-const lane-of-x Real)
(declare-const a.next.x Real)
(declare-const a.next.x.absent Bool)
; t1 is acc 1 over x · a⁺x
(define-fun t1.absent () Bool (or acc-1-over-x.absent a.next.x.absent))
(define-fun t1 () Real (* acc-1-over-x a.next.x))
; t2 is (Π_p acc 2 over x) · a⁺x
(define-fun t2.absent () Bool (or r1.absent a.next.x.absent))
(define-fun t2 () Real (* r1 a.next.x))
; given 1 = 1
(assert (= 1.0 1.0))
; given 1 = 1
(assert (= 1.0 1.0))
; given acc 1 over x = Π_p acc 2 over x
(assert (or (and acc-1-over-x.absent r1.absent) (and (not acc-1-over-x.absent) (not r1.absent) (= acc-1-over-x r1))))
; given 1 ≤ size of x
(assert (<= 1.0 size-of-x))
; given 0 ≤ lane of x
(assert (<= 0.0 lane-of-x))
; given ¬(size of x ≤ lane of x)
(assert (not (<= size-of-x lane-of-x)))
; the goal, denied
(assert (not (or (and t1.absent t2.absent) (and (not t1.absent) (not t2.absent) (= t1 t2)))))
(check-sat)
