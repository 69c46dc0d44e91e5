; law    sum-runs (prefix): A sum over the runs that end by j is the prefix at the last of them, or that of all where j lies further on.
; says   Σ_x [x · n + n ≤ j ? a : 0] → Σ_x [x · n + n ≤ j ∧ j < x · n + n + n ? scan[Σ_x a] : 0] + [|x| · n + n ≤ j ? Σ_x a : 0] if free(x, j), free(x, n), nonneg(n)
; source stated in prefix.py
; case   both sides: one more lane of x
;        acc 1 over x stands for Σ_x [x · n + n ≤ j ? a : 0] over the lanes so far
;        acc 2 over x stands for Σ_x [x · n + n ≤ j ∧ j < x · n + n + n ? scan[Σ_x a] : 0] over the lanes so far
;        acc 3 over x stands for Σ_x a over the lanes so far
;        prefix 1 over x stands for scan[Σ_x a] in a lane before the new one
;        a⁺x stands for a in the new lane
(set-logic QF_NRA)
(set-info :status unsat)
(declare-const n Real)
(declare-const acc-1-over-x Real)
(declare-const acc-1-over-x.absent Bool)
(declare-const acc-2-over-x Real)
(declare-const acc-2-over-x.absent Bool)
(declare-const size-of-x Real)
; t1 is size of x · n
(define-fun t1 () Real (* size-of-x n))
; t2 is size of x · n + n
(define-fun t2 () Real (+ t1 n))
(declare-const j Real)
(declare-const acc-3-over-x Real)
(declare-const acc-3-over-x.absent Bool)
; t3 is [size of x · n + n ≤ j ? acc 3 over x : 0]
(define-fun t3.absent () Bool (and (or (not (<= t2 j)) acc-3-over-x.absent) (<= t2 j)))
(define-fun t3 () Real (ite (<= t2 j) acc-3-over-x 0.0))
; t4 is acc 2 over x + [size of x · n + n ≤ j ? acc 3 over x : 0]
(define-fun t4.absent () Bool (or acc-2-over-x.absent t3.absent))
(define-fun t4 () Real (+ acc-2-over-x t3))
(declare-const lane-of-x Real)
(declare-const a.next.x Real)
(declare-const a.next.x.absent Bool)
; t5 is [size of x · n + n ≤ j ? a⁺x : 0]
(define-fun t5.absent () Bool (and (or (not (<= t2 j)) a.next.x.absent) (<= t2 j)))
(define-fun t5 () Real (ite (<= t2 j) a.next.x 0.0))
; t6 is acc 1 over x + [size of x · n + n ≤ j ? a⁺x : 0]
(define-fun t6.absent () Bool (or acc-1-over-x.absent t5.absent))
(define-fun t6 () Real (+ acc-1-over-x t5))
; t7 is size of x · n + n + n
(define-fun t7 () Real (+ t2 n))
; t8 is acc 3 over x + a⁺x
(define-fun t8.absent () Bool (or acc-3-over-x.absent a.next.x.absent))
(define-fun t8 () Real (+ acc-3-over-x a.next.x))
; t9 is [size of x · n + n ≤ j ∧ j < size of x · n + n + n ? acc 3 over x + a⁺x : 0]
(define-fun t9.absent () Bool (and (or (not (and (<= t2 j) (< j t7))) t8.absent) (and (<= t2 j) (< j t7))))
(define-fun t9 () Real (ite (and (<= t2 j) (< j t7)) t8 0.0))
; t10 is acc 2 over x + [size of x · n + n ≤ j ∧ j < size of x · n + n + n ? acc 3 over x + a⁺x : 0]
(define-fun t10.absent () Bool (or acc-2-over-x.absent t9.absent))
(define-fun t10 () Real (+ acc-2-over-x t9))
; t11 is size of x + 1
(define-fun t11 () Real (+ size-of-x 1.0))
; t12 is (size of x + 1) · n
(define-fun t12 () Real (* t11 n))
; t13 is (size of x + 1) · n + n
(define-fun t13 () Real (+ t12 n))
; t14 is [(size of x + 1) · n + n ≤ j ? acc 3 over x + a⁺x : 0]
(define-fun t14.absent () Bool (and (or (not (<= t13 j)) t8.absent) (<= t13 j)))
(define-fun t14 () Real (ite (<= t13 j) t8 0.0))
; t15 is acc 2 over x + [size of x · n + n ≤ j ∧ j < size of x · n + n + n ? acc 3 over x + a⁺x : 0] + [(size of x + 1) · n + n ≤ j ? acc 3 over x + a⁺x : 0]
(define-fun t15.absent () Bool (or t10.absent t14.absent))
(define-fun t15 () Real (+ t10 t14))
; given 0 ≤ n
(assert (<= 0.0 n))
; given acc 1 over x = acc 2 over x + [size of x · n + n ≤ j ? acc 3 over x : 0]
(assert (or (and acc-1-over-x.absent t4.absent) (and (not acc-1-over-x.absent) (not t4.absent) (= acc-1-over-x t4))))
; given 1 ≤ size of x
(assert (<= 1.0 size-of-x))
; given 0 ≤ lane of x
(assert (<= 0.0 lane-of-x))
; given ¬(size of x ≤ lane of x)
(assert (not (<= size-of-x lane-of-x)))
; the goal, denied
(assert (not (or (and t6.absent t15.absent) (and (not t6.absent) (not t15.absent) (= t6 t15)))))
(check-sat)
