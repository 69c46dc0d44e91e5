; law    present-add (mask): A sum is present wherever a summand is, the other one being present everywhere.
; says   present(c, a), finite(b) ⟹ present(c, a + b)
; source stated in mask.py
; case   the conclusion
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
; given ¬c ∨ -∞ < a
(assert (or (not c) (not a.absent)))
; given -∞ < b
(assert (not b.absent))
; the goal, denied
(assert (not (or (not c) (not t1.absent))))
(check-sat)
