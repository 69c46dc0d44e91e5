; lemma  max-of-both, which many laws rest on
; case   max-of-both: x has one lane
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const b Real)
(declare-const b.absent Bool)
; t1 is max(a, b)
(define-fun t1.absent () Bool (and a.absent b.absent))
(define-fun t1 () Real (ite a.absent b (ite b.absent a (ite (>= a b) a b))))
; the goal, denied
(assert (not (or t1.absent (and (not t1.absent) (= t1 t1)))))
(check-sat)
