; lemma  sign, which many laws rest on
; case   sign
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
; t1 is -a
(define-fun t1 () Real (- a))
; t2 is -1 · a
(define-fun t2 () Real (* (- 1.0) a))
; the goal, denied
(assert (not (or a.absent (and (not a.absent) (= t1 t2)))))
(check-sat)
