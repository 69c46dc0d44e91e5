; law    in-runs (prefix): What is in one of the runs does not lie further on.
; says   [|x| · n + n ≤ j ? a · Σ_x [x · n ≤ j ∧ j < x · n + n ? 1 : 0] : 0] → 0 if free(x, a), free(x, j), free(x, n), finite(a), nonneg(n)
; source stated in prefix.py
; case   both sides: x has one lane
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_NRA)
(set-info :status sat)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const n Real)
; t1 is 1 · n
(define-fun t1 () Real (* 1.0 n))
; t2 is 1 · n + n
(define-fun t2 () Real (+ t1 n))
(declare-const j Real)
; t3 is 0 · n
(define-fun t3 () Real (* 0.0 n))
; t4 is 0 · n + n
(define-fun t4 () Real (+ t3 n))
; t5 is [0 · n ≤ j ∧ j < 0 · n + n ? 1 : 0]
(define-fun t5.absent () Bool (and (not (and (<= t3 j) (< j t4))) (and (<= t3 j) (< j t4))))
(define-fun t5 () Real (ite (and (<= t3 j) (< j t4)) 1.0 0.0))
; t6 is a · [0 · n ≤ j ∧ j < 0 · n + n ? 1 : 0]
(define-fun t6.absent () Bool (or a.absent t5.absent))
(define-fun t6 () Real (* a t5))
; t7 is [1 · n + n ≤ j ? a · [0 · n ≤ j ∧ j < 0 · n + n ? 1 : 0] : 0]
(define-fun t7.absent () Bool (and (or (not (<= t2 j)) t6.absent) (<= t2 j)))
(define-fun t7 () Real (ite (<= t2 j) t6 0.0))
; given -∞ < a
(assert (not a.absent))
; given 0 ≤ n
(assert (<= 0.0 n))
(check-sat)
