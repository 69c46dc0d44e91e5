; law    present-mul-right (mask): A product is present wherever its second factor is, the first one being present everywhere.
; says   finite(a), present(c, b) ⟹ present(c, a · b)
; source stated in mask.py
; case   the conclusion
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_NRA)
(set-info :status sat)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const c Bool)
(declare-const b Real)
(declare-const b.absent Bool)
; t1 is a · b
(define-fun t1.absent () Bool (or a.absent b.absent))
(define-fun t1 () Real (* a b))
; given -∞ < a
(assert (not a.absent))
; given ¬c ∨ -∞ < b
(assert (or (not c) (not b.absent)))
(check-sat)
