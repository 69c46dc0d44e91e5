; law    null-weighted-body-first (carry): The weighted differences from the weighted mean sum to 0.
; says   finite(a), nonneg(w) ⟹ null(x, w · (a - (Σ_x a · w) / (Σ_x w)))
; source stated in carry.py
; case   the conclusion: finite of what is reduced
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_NRA)
(set-info :status sat)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const w Real)
(declare-const w.absent Bool)
; t1 is a · w
(define-fun t1.absent () Bool (or a.absent w.absent))
(define-fun t1 () Real (* a w))
; r1 is Σ_x a · w, of which nothing else is used
(declare-const r1 Real)
(declare-const r1.absent Bool)
; given -∞ < a
(assert (not a.absent))
; given 0 ≤ w
(assert (and (not w.absent) (<= 0.0 w)))
; given -∞ < Σ_x a · w
(assert (not r1.absent))
(check-sat)
