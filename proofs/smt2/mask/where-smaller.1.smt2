; law    where-smaller (mask): The smaller of two numbers, chosen by comparing them, is their minimum.
; says   [a ≤ b ? a : b] → min(a, b)
; source stated in mask.py
; case   both sides
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const b Real)
(declare-const b.absent Bool)
; t1 is [a ≤ b ? a : b]
(define-fun t1.absent () Bool (ite (or a.absent (and (not b.absent) (<= a b))) a.absent b.absent))
(define-fun t1 () Real (ite (or a.absent (and (not b.absent) (<= a b))) a b))
; t2 is min(a, b)
(define-fun t2.absent () Bool (or a.absent b.absent))
(define-fun t2 () Real (ite (<= a b) a b))
; the goal, denied
(assert (not (or (and t1.absent t2.absent) (and (not t1.absent) (not t2.absent) (= t1 t2)))))
(check-sat)
