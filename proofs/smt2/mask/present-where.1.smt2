; law    present-where (mask): A choice is present wherever its mask takes what is present.
; says   finite(a) ⟹ present(c, [c ? a : b])
; source stated in mask.py
; case   the conclusion
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const c Bool)
(declare-const b Real)
(declare-const b.absent Bool)
; t1 is [c ? a : b]
(define-fun t1.absent () Bool (ite c a.absent b.absent))
(define-fun t1 () Real (ite c a b))
; given -∞ < a
(assert (not a.absent))
; the goal, denied
(assert (not (or (not c) (not t1.absent))))
(check-sat)
