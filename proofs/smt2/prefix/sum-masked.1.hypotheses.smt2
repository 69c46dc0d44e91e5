; law    sum-masked (prefix): A sum of what is masked to zero is the sum under the mask.
; says   Σ_x [c ? a : 0] → Σ_{x | c} a
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
