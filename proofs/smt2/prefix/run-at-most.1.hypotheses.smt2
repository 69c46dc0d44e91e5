; law    run-at-most (prefix): A lane of a run that is at most j is of a run that ends by j, or of the run that j is in.
; says   [s ≤ i ∧ i < s + n ? [i ≤ j ? a : 0] : 0] → [s + n ≤ j ? [s ≤ i ∧ i < s + n ? a : 0] : 0] + [s ≤ j ∧ j < s + n ? [s ≤ i ∧ i < s + n ? [i ≤ j ? a : 0] : 0] : 0]
; source stated in prefix.py
; case   both sides
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const s Real)
(declare-const i Real)
(declare-const n Real)
; t1 is s + n
(define-fun t1 () Real (+ s n))
(declare-const j Real)
(declare-const a Real)
(declare-const a.absent Bool)
; t2 is [i ≤ j ? a : 0]
(define-fun t2.absent () Bool (and (or (not (<= i j)) a.absent) (<= i j)))
(define-fun t2 () Real (ite (<= i j) a 0.0))
; t3 is [s ≤ i ∧ i < s + n ? [i ≤ j ? a : 0] : 0]
(define-fun t3.absent () Bool (and (or (not (and (<= s i) (< i t1))) t2.absent) (and (<= s i) (< i t1))))
(define-fun t3 () Real (ite (and (<= s i) (< i t1)) t2 0.0))
; t4 is [s ≤ i ∧ i < s + n ? a : 0]
(define-fun t4.absent () Bool (and (or (not (and (<= s i) (< i t1))) a.absent) (and (<= s i) (< i t1))))
(define-fun t4 () Real (ite (and (<= s i) (< i t1)) a 0.0))
; t5 is [s + n ≤ j ? [s ≤ i ∧ i < s + n ? a : 0] : 0]
(define-fun t5.absent () Bool (and (or (not (<= t1 j)) t4.absent) (<= t1 j)))
(define-fun t5 () Real (ite (<= t1 j) t4 0.0))
; t6 is [s ≤ j ∧ j < s + n ? [s ≤ i ∧ i < s + n ? [i ≤ j ? a : 0] : 0] : 0]
(define-fun t6.absent () Bool (and (or (not (and (<= s j) (< j t1))) t3.absent) (and (<= s j) (< j t1))))
(define-fun t6 () Real (ite (and (<= s j) (< j t1)) t3 0.0))
; t7 is [s + n ≤ j ? [s ≤ i ∧ i < s + n ? a : 0] : 0] + [s ≤ j ∧ j < s + n ? [s ≤ i ∧ i < s + n ? [i ≤ j ? a : 0] : 0] : 0]
(define-fun t7.absent () Bool (or t5.absent t6.absent))
(define-fun t7 () Real (+ t5 t6))
(check-sat)
