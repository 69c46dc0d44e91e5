; law    finite-where (facts): A choice between present values is present.
; says   finite(a), finite(b) ⟹ finite([c ? a : b])
; source stated in facts.py
; case   the conclusion
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const b Real)
(declare-const b.absent Bool)
(declare-const c Bool)
; t1 is [c ? a : b]
(define-fun t1.absent () Bool (ite c a.absent b.absent))
(define-fun t1 () Real (ite c a b))
; given -∞ < a
(assert (not a.absent))
; given -∞ < b
(assert (not b.absent))
; the goal, denied
(assert (not (not t1.absent)))
(check-sat)
