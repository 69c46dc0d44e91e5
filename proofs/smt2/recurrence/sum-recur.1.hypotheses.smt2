; law    sum-recur (recurrence): A sum of recurrences of one gain is the recurrence of the sum.
; says   Σ_y recur_x(a, b) → recur_x(a, Σ_y b) if free(y, a), finite(a), distinct(x, y)
; source stated in recurrence.py
; case   both sides: the first lane of x
;        sums and maxima are in a normal form, by the lemmas sign, distribution, commutation, association, exponential, sum-of-both, factor, constant
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_NRA)
(set-info :status sat)
(declare-const a Real)
(declare-const a.absent Bool)
; t1 is a · 0
(define-fun t1 () Real (* a 0.0))
(declare-const size.y Real)
(assert (>= size.y 1.0))
; t2 is a · 0 · |y|
(define-fun t2 () Real (* t1 size.y))
(declare-const b Real)
(declare-const b.absent Bool)
; r1 is Σ_y b, of which nothing else is used
(declare-const r1 Real)
(declare-const r1.absent Bool)
; t3 is a · 0 · |y| + Σ_y b
(define-fun t3.absent () Bool (or a.absent r1.absent))
(define-fun t3 () Real (+ t2 r1))
; t4 is a · 0 + Σ_y b
(define-fun t4.absent () Bool (or a.absent r1.absent))
(define-fun t4 () Real (+ t1 r1))
; given -∞ < a
(assert (not a.absent))
(check-sat)
