; law    settled-mul (carry): A product of values that were present before was present before.
; says   settled(x, a), settled(x, b), free(x, a), free(x, b) ⟹ settled(x, a · b)
; source stated in carry.py
; case   over the lanes so far
;        a′ stands for a after the new block
;        b′ stands for b after the new block
(set-logic QF_NRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const a.later Real)
(declare-const a.later.absent Bool)
(declare-const b Real)
(declare-const b.absent Bool)
(declare-const b.later Real)
(declare-const b.later.absent Bool)
; t1 is a · b
(define-fun t1.absent () Bool (or a.absent b.absent))
(define-fun t1 () Real (* a b))
; given -∞ < a
(assert (not a.absent))
; given -∞ < a′
(assert (not a.later.absent))
; given -∞ < b
(assert (not b.absent))
; given -∞ < b′
(assert (not b.later.absent))
; the goal, denied
(assert (not (not t1.absent)))
(check-sat)
