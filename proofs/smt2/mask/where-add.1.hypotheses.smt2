; law    where-add (mask): A mask to absence moves onto one summand.
; says   [c ? a + b : -∞] → [c ? a : -∞] + b
; source stated in mask.py
; case   both sides
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const c Bool)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const b Real)
(declare-const b.absent Bool)
; t1 is a + b
(define-fun t1.absent () Bool (or a.absent b.absent))
(define-fun t1 () Real (+ a b))
; t2 is [c ? a + b : -∞]
(define-fun t2.absent () Bool (or (not c) t1.absent))
(define-fun t2 () Real (ite c t1 0.0))
; t3 is [c ? a : -∞]
(define-fun t3.absent () Bool (or (not c) a.absent))
(define-fun t3 () Real (ite c a 0.0))
; t4 is [c ? a : -∞] + b
(define-fun t4.absent () Bool (or t3.absent b.absent))
(define-fun t4 () Real (+ t3 b))
(check-sat)
