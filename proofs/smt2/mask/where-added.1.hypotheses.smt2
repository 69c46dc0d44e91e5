; law    where-added (mask): A number with a summand that is masked to zero is a choice of their sum.
; says   [c ? a + b : a] → a + [c ? b : 0]
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
; t2 is [c ? a + b : a]
(define-fun t2.absent () Bool (ite c t1.absent a.absent))
(define-fun t2 () Real (ite c t1 a))
; t3 is [c ? b : 0]
(define-fun t3.absent () Bool (and (or (not c) b.absent) c))
(define-fun t3 () Real (ite c b 0.0))
; t4 is a + [c ? b : 0]
(define-fun t4.absent () Bool (or a.absent t3.absent))
(define-fun t4 () Real (+ a t3))
(check-sat)
