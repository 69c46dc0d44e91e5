; law    skip-max (mask): A maximum may leave out absent lanes.
; says   max_x a → max_{x | c} a if absent(c, a)
; source stated in mask.py
; case   both sides: x has one lane
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const c Bool)
(declare-const a Real)
(declare-const a.absent Bool)
; t1 is [c ? a : -∞]
(define-fun t1.absent () Bool (or (not c) a.absent))
(define-fun t1 () Real (ite c a 0.0))
; given c ∨ a = -∞
(assert (or c a.absent))
(check-sat)
