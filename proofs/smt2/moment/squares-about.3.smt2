; law    squares-about (moment): A sum of squares about a point is that about the mean, and the lanes times the square of what that is off by.
; says   Σ_x (a + r) · (a + r) → Σ_x (a - (Σ_x a) / |x|) · (a - (Σ_x a) / |x|) + |x| · (((Σ_x a) / |x| + r) · ((Σ_x a) / |x| + r)) if free(x, r), finite(a), finite(r)
; source stated in moment.py
; case   both sides: finite of what is reduced
(set-logic QF_NRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const r Real)
(declare-const r.absent Bool)
; t1 is a · a
(define-fun t1 () Real (* a a))
; r1 is Σ_x a · a, of which nothing else is used
(declare-const r1 Real)
(declare-const r1.absent Bool)
; given -∞ < a
(assert (not a.absent))
; given -∞ < r
(assert (not r.absent))
; given -∞ < Σ_x a · a
(assert (not r1.absent))
; given 0 ≤ Σ_x a · a
(assert (and (not r1.absent) (<= 0.0 r1)))
; the goal, denied
(assert (not (not a.absent)))
(check-sat)
