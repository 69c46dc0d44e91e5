; law    leaves-or-right (mask): One mask or another leaves the lanes of the other.
; says   leaves(x, e) ⟹ leaves(x, c ∨ e)
; source stated in mask.py
; case   the conclusion: x has one lane
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const e Bool)
; t1 is [e ? 1 : 0]
(define-fun t1.absent () Bool (and (not e) e))
(define-fun t1 () Real (ite e 1.0 0.0))
(declare-const c Bool)
; t2 is [c ∨ e ? 1 : 0]
(define-fun t2.absent () Bool (and (not (or c e)) (or c e)))
(define-fun t2 () Real (ite (or c e) 1.0 0.0))
; the goal, denied
(assert (not (or (and (not t1.absent) (= t1 0.0)) (and (and (not t1.absent) (< 0.0 t1)) (and (not t2.absent) (< 0.0 t2))))))
(check-sat)
