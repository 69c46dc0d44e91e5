; law    pos-sqrt (facts): The root of a positive number is positive.
; says   pos(a) ⟹ pos(√a)
; source stated in facts.py
; case   the conclusion
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_NRA)
(set-info :status sat)
(declare-const a Real)
(declare-const a.absent Bool)
; root.1 stands for the root of a
(declare-const root.1 Real)
(assert (>= root.1 0.0))
(assert (=> (>= a 0.0) (= (* root.1 root.1) a)))
(assert (=> (< a 0.0) (= root.1 0.0)))
; given 0 < a
(assert (and (not a.absent) (< 0.0 a)))
(check-sat)
