; law    finite-round (facts): The round of a present value is present.
; says   finite(a) ⟹ finite(round(a))
; source stated in facts.py
; case   the conclusion
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
; round.1 stands for rounded a
(declare-const round.1 Real)
(assert (<= (* 2.0 round.1) (+ (* 2.0 a) 1.0)))
(assert (<= (- (* 2.0 a) 1.0) (* 2.0 round.1)))
; given -∞ < a
(assert (not a.absent))
; the goal, denied
(assert (not (not a.absent)))
(check-sat)
