; law    finite-left (mask): The maximum of what is present under a mask is present if the mask leaves a lane.
; says   present(c, a), leaves(x, c) ⟹ finite(max_x a)
; source stated in mask.py
; case   the conclusion: x has one lane
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
(assert (not (or (and (not t1.absent) (= t1 0.0)) (and (and (not t1.absent) (< 0.0 t1)) (not a.absent)))))
(check-sat)
