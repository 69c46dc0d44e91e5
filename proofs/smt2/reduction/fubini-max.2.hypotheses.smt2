; law    fubini-max (reduction): Two reductions by one monoid swap (Fubini).
; says   max_x max_y a → max_y max_x a if distinct(x, y)
; source stated in reduction.py
; case   both sides: one more lane of x
;        acc 1 over x stands for max_x max_y a over the lanes so far
;        acc 2 over x stands for max_x a over the lanes so far
;        a⁺x stands for a in the new lane
;        sums and maxima are in a normal form, by the lemmas max-of-both
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const acc-1-over-x Real)
(declare-const acc-1-over-x.absent Bool)
(declare-const acc-2-over-x Real)
(declare-const acc-2-over-x.absent Bool)
; r1 is max_y acc 2 over x, of which nothing else is used
(declare-const r1 Real)
(declare-const r1.absent Bool)
(declare-const size-of-x Real)
(declare-const lane-of-x Real)
(declare-const a.next.x Real)
(declare-const a.next.x.absent Bool)
; r2 is max_y a⁺x, of which nothing else is used
(declare-const r2 Real)
(declare-const r2.absent Bool)
; t1 is max(acc 1 over x, max_y a⁺x)
(define-fun t1.absent () Bool (and acc-1-over-x.absent r2.absent))
(define-fun t1 () Real (ite acc-1-over-x.absent r2 (ite r2.absent acc-1-over-x (ite (>= acc-1-over-x r2) acc-1-over-x r2))))
; t2 is max(max_y acc 2 over x, max_y a⁺x)
(define-fun t2.absent () Bool (and r1.absent r2.absent))
(define-fun t2 () Real (ite r1.absent r2 (ite r2.absent r1 (ite (>= r1 r2) r1 r2))))
; given acc 1 over x = max_y acc 2 over x
(assert (or (and acc-1-over-x.absent r1.absent) (and (not acc-1-over-x.absent) (not r1.absent) (= acc-1-over-x r1))))
; given 1 ≤ size of x
(assert (<= 1.0 size-of-x))
; given 0 ≤ lane of x
(assert (<= 0.0 lane-of-x))
; given ¬(size of x ≤ lane of x)
(assert (not (<= size-of-x lane-of-x)))
(check-sat)
