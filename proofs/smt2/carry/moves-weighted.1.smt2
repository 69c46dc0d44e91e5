; law    moves-weighted (carry): A sum of products with a difference from a running value moves by its step times the sum of the other factors.
; says   local(x, b), along(x, b), free(x, r), settled(x, r), finite(b), along(x, w), finite(w) ⟹ moves(x, b - r, w, (prev[r] - r) · prev[Σ_x w])
; source stated in carry.py
; case   the step of the first block
;        r° stands for r before the first block
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const b Real)
(declare-const b.absent Bool)
(declare-const w Real)
(declare-const w.absent Bool)
(declare-const r Real)
(declare-const r.absent Bool)
(declare-const r.before Real)
(declare-const r.before.absent Bool)
; t1 is -r
(define-fun t1 () Real (- r))
; t2 is r° - r
(define-fun t2.absent () Bool (or r.before.absent r.absent))
(define-fun t2 () Real (+ r.before t1))
; t3 is (r° - r) · 0
(define-fun t3 () Real (* t2 0.0))
; given -∞ < b
(assert (not b.absent))
; given -∞ < w
(assert (not w.absent))
; given -∞ < r
(assert (not r.absent))
; given -∞ < r°
(assert (not r.before.absent))
; the goal, denied
(assert (not (and (not t2.absent) (= t3 0.0))))
(check-sat)
