; lemma  factor, which many laws rest on
; case   factor: x has one lane
(set-logic QF_NRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const b Real)
(declare-const b.absent Bool)
; t1 is a · b
(define-fun t1.absent () Bool (or a.absent b.absent))
(define-fun t1 () Real (* a b))
; the goal, denied
(assert (not (or t1.absent (and (not t1.absent) (= t1 t1)))))
(check-sat)
