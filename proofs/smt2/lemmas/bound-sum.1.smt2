; lemma  bound-sum, which many laws rest on
; case   bound-sum: x has one lane
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
; given 0 ≤ a
(assert (and (not a.absent) (<= 0.0 a)))
; the goal, denied
(assert (not (or a.absent (and (not a.absent) (<= a a)))))
(check-sat)
