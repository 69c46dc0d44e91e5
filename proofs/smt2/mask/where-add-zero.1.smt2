; law    where-add-zero (mask): A mask to zero of a sum masks each summand.
; says   [c ? a + b : 0] → [c ? a : 0] + [c ? b : 0]
; source stated in mask.py
; case   both sides
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const c Bool)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const b Real)
(declare-const b.absent Bool)
; t1 is a + b
(define-fun t1.absent () Bool (or a.absent b.absent))
(define-fun t1 () Real (+ a b))
; t2 is [c ? a + b : 0]
(define-fun t2.absent () Bool (and (or (not c) t1.absent) c))
(define-fun t2 () Real (ite c t1 0.0))
; t3 is [c ? a : 0]
(define-fun t3.absent () Bool (and (or (not c) a.absent) c))
(define-fun t3 () Real (ite c a 0.0))
; t4 is [c ? b : 0]
(define-fun t4.absent () Bool (and (or (not c) b.absent) c))
(define-fun t4 () Real (ite c b 0.0))
; t5 is [c ? a : 0] + [c ? b : 0]
(define-fun t5.absent () Bool (or t3.absent t4.absent))
(define-fun t5 () Real (+ t3 t4))
; the goal, denied
(assert (not (or (and t2.absent t5.absent) (and (not t2.absent) (not t5.absent) (= t2 t5)))))
(check-sat)
