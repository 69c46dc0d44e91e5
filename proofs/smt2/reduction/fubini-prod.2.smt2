; law    fubini-prod (reduction): Two reductions by one monoid swap (Fubini).
; says   Π_x Π_y a → Π_y Π_x a if distinct(x, y)
; source stated in reduction.py
; case   both sides: one more lane of x
;        acc 1 over x stands for Π_x Π_y a over the lanes so far
;        acc 2 over x stands for Π_x a over the lanes so far
;        a⁺x stands for a in the new lane
;        sums and maxima are in a normal form, by the lemmas prod-of-both
(set-logic QF_NRA)
(set-info :status unsat)
(declare-const acc-1-over-x Real)
(declare-const acc-1-over-x.absent Bool)
(declare-const acc-2-over-x Real)
(declare-const acc-2-over-x.absent Bool)
; r1 is Π_y acc 2 over x, of which nothing else is used
(declare-const r1 Real)
(declare-const r1.absent Bool)
(declare-const size-of-x Real)
(declare-const lane-of-x Real)
(declare-const a.next.x Real)
(declare-const a.next.x.absent Bool)
; r2 is Π_y a⁺x, of which nothing else is used
(declare-const r2 Real)
(declare-const r2.absent Bool)
; t1 is acc 1 over x · Π_y a⁺x
(define-fun t1.absent () Bool (or acc-1-over-x.absent r2.absent))
(define-fun t1 () Real (* acc-1-over-x r2))
; t2 is (Π_y acc 2 over x) · Π_y a⁺x
(define-fun t2.absent () Bool (or r1.absent r2.absent))
(define-fun t2 () Real (* r1 r2))
; given acc 1 over x = Π_y acc 2 over x
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
