; law    leaves-or-right (mask): One mask or another leaves the lanes of the other.
; says   leaves(x, e) ⟹ leaves(x, c ∨ e)
; source stated in mask.py
; case   the conclusion: nonneg of what is reduced
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const c Bool)
(declare-const e Bool)
; t1 is [c ∨ e ? 1 : 0]
(define-fun t1.absent () Bool (and (not (or c e)) (or c e)))
(define-fun t1 () Real (ite (or c e) 1.0 0.0))
(check-sat)
