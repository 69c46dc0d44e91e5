; law    sum-recur (recurrence): A sum of recurrences of one gain is the recurrence of the sum.
; says   Σ_y recur_x(a, b) → recur_x(a, Σ_y b) if free(y, a), finite(a), distinct(x, y)
; source stated in recurrence.py
; case   both sides: the next lane of x
;        prefix 1 over x stands for recur_x(a, b) in the lane before
;        prefix 2 over x stands for recur_x(a, Σ_y b) in the lane before
;        sums and maxima are in a normal form, by the lemmas sign, distribution, commutation, association, exponential, sum-of-both, factor, constant
(set-logic QF_NRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const prefix-1-over-x Real)
(declare-const prefix-1-over-x.absent Bool)
; r1 is Σ_y prefix 1 over x, of which nothing else is used
(declare-const r1 Real)
(declare-const r1.absent Bool)
(declare-const prefix-2-over-x Real)
(declare-const prefix-2-over-x.absent Bool)
; t1 is a · Σ_y prefix 1 over x
(define-fun t1.absent () Bool (or a.absent r1.absent))
(define-fun t1 () Real (* a r1))
(declare-const b Real)
(declare-const b.absent Bool)
; r2 is Σ_y b, of which nothing else is used
(declare-const r2 Real)
(declare-const r2.absent Bool)
; t2 is a · Σ_y prefix 1 over x + Σ_y b
(define-fun t2.absent () Bool (or t1.absent r2.absent))
(define-fun t2 () Real (+ t1 r2))
; t3 is a · prefix 2 over x
(define-fun t3.absent () Bool (or a.absent prefix-2-over-x.absent))
(define-fun t3 () Real (* a prefix-2-over-x))
; t4 is a · prefix 2 over x + Σ_y b
(define-fun t4.absent () Bool (or t3.absent r2.absent))
(define-fun t4 () Real (+ t3 r2))
; given -∞ < a
(assert (not a.absent))
; given Σ_y prefix 1 over x = prefix 2 over x
(assert (or (and r1.absent prefix-2-over-x.absent) (and (not r1.absent) (not prefix-2-over-x.absent) (= r1 prefix-2-over-x))))
; the goal, denied
(assert (not (or (and t2.absent t4.absent) (and (not t2.absent) (not t4.absent) (= t2 t4)))))
(check-sat)
