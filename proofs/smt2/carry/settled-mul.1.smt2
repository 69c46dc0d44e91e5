; law    settled-mul (carry): A product of values that were present before was present before.
; says   settled(x, a), settled(x, b), free(x, a), free(x, b) ⟹ settled(x, a · b)
; source stated in carry.py
; case   before the first block
;        a° stands for a before the first block
;        b° stands for b before the first block
(set-logic QF_NRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const a.before Real)
(declare-const a.before.absent Bool)
(declare-const b Real)
(declare-const b.absent Bool)
(declare-const b.before Real)
(declare-const b.before.absent Bool)
; t1 is a° · b°
(define-fun t1.absent () Bool (or a.before.absent b.before.absent))
(define-fun t1 () Real (* a.before b.before))
; given -∞ < a
(assert (not a.absent))
; given -∞ < a°
(assert (not a.before.absent))
; given -∞ < b
(assert (not b.absent))
; given -∞ < b°
(assert (not b.before.absent))
; the goal, denied
(assert (not (not t1.absent)))
(check-sat)
