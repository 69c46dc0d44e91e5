; law    finite-left (mask): The maximum of what is present under a mask is present if the mask leaves a lane.
; says   present(c, a), leaves(x, c) ⟹ finite(max_x a)
; source stated in mask.py
; case   the conclusion: x has one lane
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const c Bool)
(declare-const a Real)
(declare-const a.absent Bool)
; t1 is [c ? 1 : 0]
(define-fun t1.absent () Bool (and (not c) c))
(define-fun t1 () Real (ite c 1.0 0.0))
; given ¬c ∨ -∞ < a
(assert (or (not c) (not a.absent)))
(check-sat)
