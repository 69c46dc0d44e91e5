; law    sum-scan (recurrence): A sum of running sums is the running sum of the sums.
; says   Σ_y scan[Σ_x a] → scan[Σ_x Σ_y a] if distinct(x, y)
; source stated in recurrence.py
; case   both sides: the next lane of x
;        prefix 1 over x stands for scan[Σ_x a] in the lane before
;        prefix 2 over x stands for scan[Σ_x Σ_y a] in the lane before
;        sums and maxima are in a normal form, by the lemmas sign, distribution, commutation, association, exponential, sum-of-both, factor, constant
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const prefix-1-over-x Real)
(declare-const prefix-1-over-x.absent Bool)
; r1 is Σ_y prefix 1 over x, of which nothing else is used
(declare-const r1 Real)
(declare-const r1.absent Bool)
(declare-const prefix-2-over-x Real)
(declare-const prefix-2-over-x.absent Bool)
(declare-const a Real)
(declare-const a.absent Bool)
; r2 is Σ_y a, of which nothing else is used
(declare-const r2 Real)
(declare-const r2.absent Bool)
; t1 is Σ_y prefix 1 over x + Σ_y a
(define-fun t1.absent () Bool (or r1.absent r2.absent))
(define-fun t1 () Real (+ r1 r2))
; t2 is prefix 2 over x + Σ_y a
(define-fun t2.absent () Bool (or prefix-2-over-x.absent r2.absent))
(define-fun t2 () Real (+ prefix-2-over-x r2))
; given Σ_y prefix 1 over x = prefix 2 over x
(assert (or (and r1.absent prefix-2-over-x.absent) (and (not r1.absent) (not prefix-2-over-x.absent) (= r1 prefix-2-over-x))))
; the goal, denied
(assert (not (or (and t1.absent t2.absent) (and (not t1.absent) (not t2.absent) (= t1 t2)))))
(check-sat)
