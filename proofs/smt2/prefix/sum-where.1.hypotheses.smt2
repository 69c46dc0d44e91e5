; law    sum-where (prefix): A mask to zero that does not vary along x moves out of a sum over x.
; says   Σ_x [c ? a : 0] → [c ? Σ_x a : 0] if free(x, c)
; source stated in prefix.py
; case   both sides: x has one lane
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const c Bool)
(declare-const a Real)
(declare-const a.absent Bool)
; t1 is [c ? a : 0]
(define-fun t1.absent () Bool (and (or (not c) a.absent) c))
(define-fun t1 () Real (ite c a 0.0))
(check-sat)
