; law    in-runs (prefix): What is in one of the runs does not lie further on.
; says   [|x| · n + n ≤ j ? a · Σ_x [x · n ≤ j ∧ j < x · n + n ? 1 : 0] : 0] → 0 if free(x, a), free(x, j), free(x, n), finite(a), nonneg(n)
; source stated in prefix.py
; case   both sides: one more lane of x
;        acc 1 over x stands for Σ_x [x · n ≤ j ∧ j < x · n + n ? 1 : 0] over the lanes so far
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_NRA)
(set-info :status sat)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const n Real)
(declare-const size-of-x Real)
; t1 is size of x · n
(define-fun t1 () Real (* size-of-x n))
; t2 is size of x · n + n
(define-fun t2 () Real (+ t1 n))
(declare-const j Real)
(declare-const acc-1-over-x Real)
(declare-const acc-1-over-x.absent Bool)
; t3 is a · acc 1 over x
(define-fun t3.absent () Bool (or a.absent acc-1-over-x.absent))
(define-fun t3 () Real (* a acc-1-over-x))
; t4 is [size of x · n + n ≤ j ? a · acc 1 over x : 0]
(define-fun t4.absent () Bool (and (or (not (<= t2 j)) t3.absent) (<= t2 j)))
(define-fun t4 () Real (ite (<= t2 j) t3 0.0))
(declare-const lane-of-x Real)
; t5 is size of x + 1
(define-fun t5 () Real (+ size-of-x 1.0))
; t6 is (size of x + 1) · n
(define-fun t6 () Real (* t5 n))
; t7 is (size of x + 1) · n + n
(define-fun t7 () Real (+ t6 n))
; t8 is [size of x · n ≤ j ∧ j < size of x · n + n ? 1 : 0]
(define-fun t8.absent () Bool (and (not (and (<= t1 j) (< j t2))) (and (<= t1 j) (< j t2))))
(define-fun t8 () Real (ite (and (<= t1 j) (< j t2)) 1.0 0.0))
; t9 is acc 1 over x + [size of x · n ≤ j ∧ j < size of x · n + n ? 1 : 0]
(define-fun t9.absent () Bool (or acc-1-over-x.absent t8.absent))
(define-fun t9 () Real (+ acc-1-over-x t8))
; t10 is a · (acc 1 over x + [size of x · n ≤ j ∧ j < size of x · n + n ? 1 : 0])
(define-fun t10.absent () Bool (or a.absent t9.absent))
(define-fun t10 () Real (* a t9))
; t11 is [(size of x + 1) · n + n ≤ j ? a · (acc 1 over x + [size of x · n ≤ j ∧ j < size of x · n + n ? 1 : 0]) : 0]
(define-fun t11.absent () Bool (and (or (not (<= t7 j)) t10.absent) (<= t7 j)))
(define-fun t11 () Real (ite (<= t7 j) t10 0.0))
; given -∞ < a
(assert (not a.absent))
; given 0 ≤ n
(assert (<= 0.0 n))
; given [size of x · n + n ≤ j ? a · acc 1 over x : 0] = 0
(assert (and (not t4.absent) (= t4 0.0)))
; given 1 ≤ size of x
(assert (<= 1.0 size-of-x))
; given 0 ≤ lane of x
(assert (<= 0.0 lane-of-x))
; given ¬(size of x ≤ lane of x)
(assert (not (<= size-of-x lane-of-x)))
(check-sat)
