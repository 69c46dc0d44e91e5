; law    moves-weighted (carry): A sum of products with a difference from a running value moves by its step times the sum of the other factors.
; says   local(x, b), along(x, b), free(x, r), settled(x, r), finite(b), along(x, w), finite(w) ⟹ moves(x, b - r, w, (prev[r] - r) · prev[Σ_x w])
; source stated in carry.py
; case   after a block: finite of what is reduced
;        r′ stands for r after the new block
;        w′ stands for w after the new block
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const b Real)
(declare-const b.absent Bool)
(declare-const w Real)
(declare-const w.absent Bool)
(declare-const w.later Real)
(declare-const w.later.absent Bool)
(declare-const r Real)
(declare-const r.absent Bool)
(declare-const r.later Real)
(declare-const r.later.absent Bool)
; given -∞ < b
(assert (not b.absent))
; given -∞ < w
(assert (not w.absent))
; given -∞ < w′
(assert (not w.later.absent))
; given -∞ < r
(assert (not r.absent))
; given -∞ < r′
(assert (not r.later.absent))
(check-sat)
