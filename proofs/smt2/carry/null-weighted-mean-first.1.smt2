; law    null-weighted-mean-first (carry): The weighted differences from the weighted mean sum to 0.
; says   finite(a), nonneg(w) ⟹ null(x, (a - (Σ_x w · a) / (Σ_x w)) · w)
; source stated in carry.py
; case   the conclusion: finite of what is reduced
(set-logic QF_NRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const w Real)
(declare-const w.absent Bool)
; t1 is a · w
(define-fun t1.absent () Bool (or a.absent w.absent))
(define-fun t1 () Real (* a w))
; given -∞ < a
(assert (not a.absent))
; given 0 ≤ w
(assert (and (not w.absent) (<= 0.0 w)))
; the goal, denied
(assert (not (not t1.absent)))
(check-sat)
