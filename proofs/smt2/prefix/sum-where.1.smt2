; law    sum-where (prefix): A mask to zero that does not vary along x moves out of a sum over x.
; says   Σ_x [c ? a : 0] → [c ? Σ_x a : 0] if free(x, c)
; source stated in prefix.py
; case   both sides: x has one lane
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const c Bool)
(declare-const a Real)
(declare-const a.absent Bool)
; t1 is [c ? a : 0]
(define-fun t1.absent () Bool (and (or (not c) a.absent) c))
(define-fun t1 () Real (ite c a 0.0))
; the goal, denied
(assert (not (or t1.absent (and (not t1.absent) (= t1 t1)))))
(check-sat)
