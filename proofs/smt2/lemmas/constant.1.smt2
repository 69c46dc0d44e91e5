; lemma  constant, which many laws rest on
; case   constant: x has one lane
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
; t1 is a · 1
(define-fun t1 () Real (* a 1.0))
; the goal, denied
(assert (not (or a.absent (and (not a.absent) (= a t1)))))
(check-sat)
