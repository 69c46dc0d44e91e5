; law    moves-more (carry): A further difference from a running value: its step times the sum of the others, and what they move by beside it.
; says   local(x, b), along(x, b), free(x, r), settled(x, r), finite(b), finite(a), moves(x, a, 1, t), moves(x, a, b - r, s) ⟹ moves(x, (b - r) · a, 1, (prev[r] - r) · (prev[Σ_x a] + t) + s)
; source stated in carry.py
; case   the step of the first block
;        r° stands for r before the first block
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_NRA)
(set-info :status sat)
(declare-const b Real)
(declare-const b.absent Bool)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const r Real)
(declare-const r.absent Bool)
(declare-const r.before Real)
(declare-const r.before.absent Bool)
(declare-const t Real)
(declare-const t.absent Bool)
(declare-const s Real)
(declare-const s.absent Bool)
; t1 is -r
(define-fun t1 () Real (- r))
; t2 is r° - r
(define-fun t2.absent () Bool (or r.before.absent r.absent))
(define-fun t2 () Real (+ r.before t1))
; t3 is 0 + t
(define-fun t3 () Real (+ 0.0 t))
; t4 is (r° - r) · (0 + t)
(define-fun t4.absent () Bool (or t2.absent t.absent))
(define-fun t4 () Real (* t2 t3))
; t5 is (r° - r) · (0 + t) + s
(define-fun t5.absent () Bool (or t4.absent s.absent))
(define-fun t5 () Real (+ t4 s))
; given -∞ < b
(assert (not b.absent))
; given -∞ < a
(assert (not a.absent))
; given -∞ < r
(assert (not r.absent))
; given -∞ < r°
(assert (not r.before.absent))
; given t = 0
(assert (and (not t.absent) (= t 0.0)))
; given s = 0
(assert (and (not s.absent) (= s 0.0)))
(check-sat)
