; law    where-same (mask): A choice between a value and the same value is that value.
; says   [c ? a : a] → a
; source stated in mask.py
; case   both sides
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const c Bool)
(declare-const a Real)
(declare-const a.absent Bool)
; the goal, denied
(assert (not (or a.absent (and (not a.absent) (= a a)))))
(check-sat)
