; law    absent-where (mask): A masked value is absent outside its mask.
; says   always ⟹ absent(c, [c ? a : -∞])
; source stated in mask.py
; case   the conclusion
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const c Bool)
(declare-const a Real)
(declare-const a.absent Bool)
; t1 is [c ? a : -∞]
(define-fun t1.absent () Bool (or (not c) a.absent))
(define-fun t1 () Real (ite c a 0.0))
(check-sat)
