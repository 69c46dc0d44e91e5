; law    sum-runs (prefix): A sum over the runs that end by j is the prefix at the last of them, or that of all where j lies further on.
; says   Σ_x [x · n + n ≤ j ? a : 0] → Σ_x [x · n + n ≤ j ∧ j < x · n + n + n ? scan[Σ_x a] : 0] + [|x| · n + n ≤ j ? Σ_x a : 0] if free(x, j), free(x, n), nonneg(n)
; source stated in prefix.py
; case   both sides: x has one lane
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const n Real)
; t1 is 0 · n
(define-fun t1 () Real (* 0.0 n))
; t2 is 0 · n + n
(define-fun t2 () Real (+ t1 n))
(declare-const j Real)
(declare-const a Real)
(declare-const a.absent Bool)
; t3 is [0 · n + n ≤ j ? a : 0]
(define-fun t3.absent () Bool (and (or (not (<= t2 j)) a.absent) (<= t2 j)))
(define-fun t3 () Real (ite (<= t2 j) a 0.0))
; t4 is 0 · n + n + n
(define-fun t4 () Real (+ t2 n))
; t5 is [0 · n + n ≤ j ∧ j < 0 · n + n + n ? a : 0]
(define-fun t5.absent () Bool (and (or (not (and (<= t2 j) (< j t4))) a.absent) (and (<= t2 j) (< j t4))))
(define-fun t5 () Real (ite (and (<= t2 j) (< j t4)) a 0.0))
; t6 is 1 · n
(define-fun t6 () Real (* 1.0 n))
; t7 is 1 · n + n
(define-fun t7 () Real (+ t6 n))
; t8 is [1 · n + n ≤ j ? a : 0]
(define-fun t8.absent () Bool (and (or (not (<= t7 j)) a.absent) (<= t7 j)))
(define-fun t8 () Real (ite (<= t7 j) a 0.0))
; t9 is [0 · n + n ≤ j ∧ j < 0 · n + n + n ? a : 0] + [1 · n + n ≤ j ? a : 0]
(define-fun t9.absent () Bool (or t5.absent t8.absent))
(define-fun t9 () Real (+ t5 t8))
; given 0 ≤ n
(assert (<= 0.0 n))
; the goal, denied
(assert (not (or (and t3.absent t9.absent) (and (not t3.absent) (not t9.absent) (= t3 t9)))))
(check-sat)
