; lemma  pos-sum, which many laws rest on
; case   pos-sum: x has one lane
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
; given 0 < a
(assert (and (not a.absent) (< 0.0 a)))
; the goal, denied
(assert (not (and (not a.absent) (< 0.0 a))))
(check-sat)
