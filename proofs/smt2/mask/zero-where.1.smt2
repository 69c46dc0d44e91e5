; law    zero-where (mask): A value masked to zero is zero outside its mask.
; says   always ⟹ zero(c, [c ? a : 0])
; source stated in mask.py
; case   the conclusion
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const c Bool)
(declare-const a Real)
(declare-const a.absent Bool)
; t1 is [c ? a : 0]
(define-fun t1.absent () Bool (and (or (not c) a.absent) c))
(define-fun t1 () Real (ite c a 0.0))
; the goal, denied
(assert (not (or c (and (not t1.absent) (= t1 0.0)))))
(check-sat)
