; law    finite-reduce-sum (facts): A reduction of present values is present.
; says   finite(a) ⟹ finite(Σ_x a)
; source stated in facts.py
; case   the conclusion
;        what holds of every lane holds of the reduction
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
; r1 is Σ_x a, of which nothing else is used
(declare-const r1 Real)
(declare-const r1.absent Bool)
; given -∞ < a
(assert (not a.absent))
; given -∞ < Σ_x a
(assert (not r1.absent))
; the goal, denied
(assert (not (not r1.absent)))
(check-sat)
