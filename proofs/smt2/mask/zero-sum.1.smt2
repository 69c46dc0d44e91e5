; law    zero-sum (mask): A sum of zeros is zero.
; says   zero(c, a), free(y, c) ⟹ zero(c, Σ_y a)
; source stated in mask.py
; case   the conclusion: y has one lane
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const c Bool)
(declare-const a Real)
(declare-const a.absent Bool)
; given c ∨ a = 0
(assert (or c (and (not a.absent) (= a 0.0))))
; the goal, denied
(assert (not (or c (and (not a.absent) (= a 0.0)))))
(check-sat)
