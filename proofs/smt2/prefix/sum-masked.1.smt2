; law    sum-masked (prefix): A sum of what is masked to zero is the sum under the mask.
; says   Σ_x [c ? a : 0] → Σ_{x | c} a
; source stated in prefix.py
; case   both sides: x has one lane
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const c Bool)
(declare-const a Real)
(declare-const a.absent Bool)
; t1 is [c ? a : 0]
(define-fun t1.absent () Bool (and (or (not c) a.absent) c))
(define-fun t1 () Real (ite c a 0.0))
; the goal, denied
(assert (not (or t1.absent (and (not t1.absent) (= t1 t1)))))
(check-sat)
