; law    settled-over (carry): A sum over another axis of values that were present before was present before.
; says   settled(x, a), free(x, a), distinct(x, y) ⟹ settled(x, Σ_y a)
; source stated in carry.py
; case   before the first block
;        a° stands for a before the first block
;        what holds of every lane holds of the reduction
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const a.before Real)
(declare-const a.before.absent Bool)
; r1 is Σ_y a°, of which nothing else is used
(declare-const r1 Real)
(declare-const r1.absent Bool)
; given -∞ < a
(assert (not a.absent))
; given -∞ < a°
(assert (not a.before.absent))
; given -∞ < Σ_y a°
(assert (not r1.absent))
; the goal, denied
(assert (not (not r1.absent)))
(check-sat)
