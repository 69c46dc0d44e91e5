; law    settled-over (carry): A sum over another axis of values that were present before was present before.
; says   settled(x, a), free(x, a), distinct(x, y) ⟹ settled(x, Σ_y a)
; source stated in carry.py
; case   before the first block: finite of what is reduced
;        a° stands for a before the first block
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const a.before Real)
(declare-const a.before.absent Bool)
; given -∞ < a
(assert (not a.absent))
; given -∞ < a°
(assert (not a.before.absent))
; the goal, denied
(assert (not (not a.before.absent)))
(check-sat)
