; law    scales-both (rescale): The changes of two factors multiply.
; says   scales(x, a, r), scales(x, b, s) ⟹ scales(x, a · b, r · s)
; source stated in rescale.py
; case   the factor of the first block
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_NRA)
(set-info :status sat)
(declare-const r Real)
(declare-const r.absent Bool)
(declare-const s Real)
(declare-const s.absent Bool)
; t1 is r · s
(define-fun t1.absent () Bool (or r.absent s.absent))
(define-fun t1 () Real (* r s))
; given -∞ < r
(assert (not r.absent))
; given -∞ < s
(assert (not s.absent))
(check-sat)
