; law    moves-null (carry): A sum of products with a difference from a running value does not move where the other factors sum to 0.
; says   local(x, b), along(x, b), free(x, r), settled(x, r), finite(b), along(x, w), finite(w), null(x, w) ⟹ moves(x, b - r, w, 0)
; source stated in carry.py
; case   the step of the first block
;        r° stands for r before the first block
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const b Real)
(declare-const b.absent Bool)
(declare-const w Real)
(declare-const w.absent Bool)
; r1 is Σ_x w, of which nothing else is used
(declare-const r1 Real)
(declare-const r1.absent Bool)
(declare-const r Real)
(declare-const r.absent Bool)
(declare-const r.before Real)
(declare-const r.before.absent Bool)
; given -∞ < b
(assert (not b.absent))
; given -∞ < w
(assert (not w.absent))
; given Σ_x w = 0
(assert (and (not r1.absent) (= r1 0.0)))
; given -∞ < r
(assert (not r.absent))
; given -∞ < r°
(assert (not r.before.absent))
(check-sat)
