; law    where-turned (prefix): A choice is the other one by the mask turned round.
; says   [c ? a : b] → [¬c ? b : a]
; source stated in prefix.py
; case   both sides
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const c Bool)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const b Real)
(declare-const b.absent Bool)
; t1 is [c ? a : b]
(define-fun t1.absent () Bool (ite c a.absent b.absent))
(define-fun t1 () Real (ite c a b))
; t2 is [¬c ? b : a]
(define-fun t2.absent () Bool (ite (not c) b.absent a.absent))
(define-fun t2 () Real (ite (not c) b a))
(check-sat)
