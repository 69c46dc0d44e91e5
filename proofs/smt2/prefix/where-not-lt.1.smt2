; law    where-not-lt (prefix): A choice by what is not below is one by what is at least as large.
; says   [¬(i < j) ? a : b] → [j ≤ i ? a : b]
; source stated in prefix.py
; case   both sides
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const i Real)
(declare-const j Real)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const b Real)
(declare-const b.absent Bool)
; t1 is [¬(i < j) ? a : b]
(define-fun t1.absent () Bool (ite (not (< i j)) a.absent b.absent))
(define-fun t1 () Real (ite (not (< i j)) a b))
; t2 is [j ≤ i ? a : b]
(define-fun t2.absent () Bool (ite (<= j i) a.absent b.absent))
(define-fun t2 () Real (ite (<= j i) a b))
; the goal, denied
(assert (not (or (and t1.absent t2.absent) (and (not t1.absent) (not t2.absent) (= t1 t2)))))
(check-sat)
