; lemma  prod-of-one, which many laws rest on
; case   prod-of-one: x has one lane
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const c Bool)
; t1 is [c ? 1 : 0]
(define-fun t1.absent () Bool (and (not c) c))
(define-fun t1 () Real (ite c 1.0 0.0))
(declare-const a Real)
(declare-const a.absent Bool)
; t2 is [c ? a : 1]
(define-fun t2.absent () Bool (and (or (not c) a.absent) c))
(define-fun t2 () Real (ite c a 1.0))
; the goal, denied
(assert (not (or (or (and (and (not t1.absent) (= t1 0.0)) (and (not t2.absent) (= t2 1.0))) (and (and (not t1.absent) (= t1 1.0)) (or (and t2.absent a.absent) (and (not t2.absent) (not a.absent) (= t2 a))))) (and (not t1.absent) (<= 2.0 t1)))))
(check-sat)
