; law    finite-reduce-max (facts): A reduction of present values is present.
; says   finite(a) ⟹ finite(max_x a)
; source stated in facts.py
; case   the conclusion
;        what holds of every lane holds of the reduction
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
; r1 is max_x a, of which nothing else is used
(declare-const r1 Real)
(declare-const r1.absent Bool)
; given -∞ < a
(assert (not a.absent))
; given -∞ < max_x a
(assert (not r1.absent))
; the goal, denied
(assert (not (not r1.absent)))
(check-sat)
