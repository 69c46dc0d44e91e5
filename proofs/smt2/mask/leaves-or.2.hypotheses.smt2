; law    leaves-or (mask): One mask or another leaves the lanes of the one.
; says   leaves(x, c) ⟹ leaves(x, c ∨ e)
; source stated in mask.py
; case   the conclusion: nonneg of what is reduced
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const c Bool)
; t1 is [c ? 1 : 0]
(define-fun t1.absent () Bool (and (not c) c))
(define-fun t1 () Real (ite c 1.0 0.0))
(check-sat)
