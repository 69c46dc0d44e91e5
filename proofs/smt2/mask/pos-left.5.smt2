; law    pos-left (mask): The sum of the exponentials of what is present under a mask is positive if the mask leaves a lane.
; says   present(c, a), leaves(x, c) ⟹ pos(Σ_x e^a)
; source stated in mask.py
; case   the conclusion: x has one lane
(set-logic QF_NRA)
(set-info :status unsat)
(declare-const c Bool)
(declare-const a Real)
(declare-const a.absent Bool)
; t1 is [c ? 1 : 0]
(define-fun t1.absent () Bool (and (not c) c))
(define-fun t1 () Real (ite c 1.0 0.0))
; exp-minus.1 stands for e to the minus a
(declare-const exp-minus.1 Real)
(assert (> exp-minus.1 0.0))
; exp.1 stands for e to the a
(declare-const exp.1 Real)
(assert (> exp.1 0.0))
(assert (= (* exp.1 exp-minus.1) 1.0))
; t2 is e^a
(define-fun t2 () Real (ite a.absent 0.0 exp.1))
; given ¬c ∨ -∞ < a
(assert (or (not c) (not a.absent)))
; the goal, denied
(assert (not (or (and (not t1.absent) (= t1 0.0)) (and (and (not t1.absent) (< 0.0 t1)) (< 0.0 t2)))))
(check-sat)
