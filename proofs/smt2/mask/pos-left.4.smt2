; law    pos-left (mask): The sum of the exponentials of what is present under a mask is positive if the mask leaves a lane.
; says   present(c, a), leaves(x, c) ⟹ pos(Σ_x e^a)
; source stated in mask.py
; case   the conclusion: nonneg of what is reduced
(set-logic QF_NRA)
(set-info :status unsat)
(declare-const c Bool)
(declare-const a Real)
(declare-const a.absent Bool)
; exp-minus.1 stands for e to the minus a
(declare-const exp-minus.1 Real)
(assert (> exp-minus.1 0.0))
; exp.1 stands for e to the a
(declare-const exp.1 Real)
(assert (> exp.1 0.0))
(assert (= (* exp.1 exp-minus.1) 1.0))
; t1 is e^a
(define-fun t1 () Real (ite a.absent 0.0 exp.1))
; given ¬c ∨ -∞ < a
(assert (or (not c) (not a.absent)))
; the goal, denied
(assert (not (<= 0.0 t1)))
(check-sat)
