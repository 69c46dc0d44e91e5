; law    pos-left (mask): The sum of the exponentials of what is present under a mask is positive if the mask leaves a lane.
; says   present(c, a), leaves(x, c) ⟹ pos(Σ_x e^a)
; source stated in mask.py
; case   the conclusion: nonneg of what is reduced
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const c Bool)
(declare-const a Real)
(declare-const a.absent Bool)
; t1 is [c ? 1 : 0]
(define-fun t1.absent () Bool (and (not c) c))
(define-fun t1 () Real (ite c 1.0 0.0))
; given ¬c ∨ -∞ < a
(assert (or (not c) (not a.absent)))
; the goal, denied
(assert (not (and (not t1.absent) (<= 0.0 t1))))
(check-sat)
