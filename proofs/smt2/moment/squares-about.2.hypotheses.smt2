; law    squares-about (moment): A sum of squares about a point is that about the mean, and the lanes times the square of what that is off by.
; says   Σ_x (a + r) · (a + r) → Σ_x (a - (Σ_x a) / |x|) · (a - (Σ_x a) / |x|) + |x| · (((Σ_x a) / |x| + r) · ((Σ_x a) / |x| + r)) if free(x, r), finite(a), finite(r)
; source stated in moment.py
; case   both sides: nonneg of what is reduced
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_NRA)
(set-info :status sat)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const r Real)
(declare-const r.absent Bool)
; t1 is a · a
(define-fun t1 () Real (* a a))
; given -∞ < a
(assert (not a.absent))
; given -∞ < r
(assert (not r.absent))
(check-sat)
