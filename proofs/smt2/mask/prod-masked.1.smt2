; law    prod-masked (mask): A product of what is masked to one is the product under the mask.
; says   Π_x [c ? a : 1] → Π_{x | c} a
; source stated in mask.py
; case   both sides: x has one lane
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const c Bool)
(declare-const a Real)
(declare-const a.absent Bool)
; t1 is [c ? a : 1]
(define-fun t1.absent () Bool (and (or (not c) a.absent) c))
(define-fun t1 () Real (ite c a 1.0))
; the goal, denied
(assert (not (or t1.absent (and (not t1.absent) (= t1 t1)))))
(check-sat)
