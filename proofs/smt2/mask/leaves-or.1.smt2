; law    leaves-or (mask): One mask or another leaves the lanes of the one.
; says   leaves(x, c) ⟹ leaves(x, c ∨ e)
; source stated in mask.py
; case   the conclusion: finite of what is reduced
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const c Bool)
; t1 is [c ? 1 : 0]
(define-fun t1.absent () Bool (and (not c) c))
(define-fun t1 () Real (ite c 1.0 0.0))
; the goal, denied
(assert (not (not t1.absent)))
(check-sat)
