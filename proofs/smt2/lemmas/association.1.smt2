; lemma  association, which many laws rest on
; case   association
(set-logic QF_NRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const b Real)
(declare-const b.absent Bool)
; t1 is a · b
(define-fun t1.absent () Bool (or a.absent b.absent))
(define-fun t1 () Real (* a b))
(declare-const d Real)
(declare-const d.absent Bool)
; t2 is a · b · d
(define-fun t2.absent () Bool (or t1.absent d.absent))
(define-fun t2 () Real (* t1 d))
; t3 is b · d
(define-fun t3.absent () Bool (or b.absent d.absent))
(define-fun t3 () Real (* b d))
; t4 is a · (b · d)
(define-fun t4.absent () Bool (or a.absent t3.absent))
(define-fun t4 () Real (* a t3))
; the goal, denied
(assert (not (or (and t2.absent t4.absent) (and (not t2.absent) (not t4.absent) (= t2 t4)))))
(check-sat)
