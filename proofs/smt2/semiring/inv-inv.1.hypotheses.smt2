; law    inv-inv (semiring): Two inverses cancel.
; says   1 / (1 / a) → a
; source stated in semiring.py
; case   both sides
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_NRA)
(set-info :status sat)
(declare-const a Real)
(declare-const a.absent Bool)
; inv.1 stands for 1 / a, and 0 for 0
(declare-const inv.1 Real)
(assert (=> (= a 0.0) (= inv.1 0.0)))
(assert (=> (not (= a 0.0)) (= (* inv.1 a) 1.0)))
; inv.2 stands for 1 / inv.1, and 0 for 0
(declare-const inv.2 Real)
(assert (=> (= inv.1 a) (= inv.2 inv.1)))
(assert (=> (= inv.1 0.0) (= inv.2 0.0)))
(assert (=> (not (= inv.1 0.0)) (= (* inv.2 inv.1) 1.0)))
(check-sat)
