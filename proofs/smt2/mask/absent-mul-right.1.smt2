; law    absent-mul-right (mask): The absent value absorbs what it is multiplied with.
; says   absent(c, b) ⟹ absent(c, a · b)
; source stated in mask.py
; case   the conclusion
(set-logic QF_NRA)
(set-info :status unsat)
(declare-const c Bool)
(declare-const b Real)
(declare-const b.absent Bool)
(declare-const a Real)
(declare-const a.absent Bool)
; t1 is a · b
(define-fun t1.absent () Bool (or a.absent b.absent))
(define-fun t1 () Real (* a b))
; given c ∨ b = -∞
(assert (or c b.absent))
; the goal, denied
(assert (not (or c t1.absent)))
(check-sat)
