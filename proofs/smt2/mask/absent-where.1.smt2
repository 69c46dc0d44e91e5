; law    absent-where (mask): A masked value is absent outside its mask.
; says   always ⟹ absent(c, [c ? a : -∞])
; source stated in mask.py
; case   the conclusion
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const c Bool)
(declare-const a Real)
(declare-const a.absent Bool)
; t1 is [c ? a : -∞]
(define-fun t1.absent () Bool (or (not c) a.absent))
(define-fun t1 () Real (ite c a 0.0))
; the goal, denied
(assert (not (or c t1.absent)))
(check-sat)
