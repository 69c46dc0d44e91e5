; law    where-and (mask): Two masks over one value are one mask.
; says   [c ? [e ? a : b] : b] → [c ∧ e ? a : b]
; source stated in mask.py
; case   both sides
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const c Bool)
(declare-const e Bool)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const b Real)
(declare-const b.absent Bool)
; t1 is [e ? a : b]
(define-fun t1.absent () Bool (ite e a.absent b.absent))
(define-fun t1 () Real (ite e a b))
; t2 is [c ? [e ? a : b] : b]
(define-fun t2.absent () Bool (ite c t1.absent b.absent))
(define-fun t2 () Real (ite c t1 b))
; t3 is [c ∧ e ? a : b]
(define-fun t3.absent () Bool (ite (and c e) a.absent b.absent))
(define-fun t3 () Real (ite (and c e) a b))
; the goal, denied
(assert (not (or (and t2.absent t3.absent) (and (not t2.absent) (not t3.absent) (= t2 t3)))))
(check-sat)
