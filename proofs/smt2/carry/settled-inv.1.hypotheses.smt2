; law    settled-inv (carry): The inverse of a value that was present before was present before.
; says   settled(x, a), free(x, a) ⟹ settled(x, 1 / a)
; source stated in carry.py
; case   before the first block
;        a° stands for a before the first block
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_NRA)
(set-info :status sat)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const a.before Real)
(declare-const a.before.absent Bool)
; inv.1 stands for 1 / a.before, and 0 for 0
(declare-const inv.1 Real)
(assert (=> (= a.before 0.0) (= inv.1 0.0)))
(assert (=> (not (= a.before 0.0)) (= (* inv.1 a.before) 1.0)))
; given -∞ < a
(assert (not a.absent))
; given -∞ < a°
(assert (not a.before.absent))
(check-sat)
