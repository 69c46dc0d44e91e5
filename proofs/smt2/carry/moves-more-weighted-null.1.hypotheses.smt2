; law    moves-more-weighted-null (carry): A further difference from a running value, where the other factors with their weights sum to 0.
; says   local(x, b), along(x, b), free(x, r), settled(x, r), finite(b), along(x, w), finite(a), finite(w), moves(x, a, w, t), moves(x, a, (b - r) · w, s), null(x, a · w) ⟹ moves(x, (b - r) · a, w, (prev[r] - r) · t + s)
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
(declare-const w Real)
(declare-const w.absent Bool)
; t1 is a · w
(define-fun t1.absent () Bool (or a.absent w.absent))
(define-fun t1 () Real (* a w))
; r1 is Σ_x a · w, of which nothing else is used
(declare-const r1 Real)
(declare-const r1.absent Bool)
(declare-const r Real)
(declare-const r.absent Bool)
(declare-const r.before Real)
(declare-const r.before.absent Bool)
(declare-const t Real)
(declare-const t.absent Bool)
(declare-const s Real)
(declare-const s.absent Bool)
; t2 is -r
(define-fun t2 () Real (- r))
; t3 is r° - r
(define-fun t3.absent () Bool (or r.before.absent r.absent))
(define-fun t3 () Real (+ r.before t2))
; t4 is (r° - r) · t
(define-fun t4.absent () Bool (or t3.absent t.absent))
(define-fun t4 () Real (* t3 t))
; t5 is (r° - r) · t + s
(define-fun t5.absent () Bool (or t4.absent s.absent))
(define-fun t5 () Real (+ t4 s))
; given -∞ < b
(assert (not b.absent))
; given -∞ < a
(assert (not a.absent))
; given -∞ < w
(assert (not w.absent))
; given Σ_x a · w = 0
(assert (and (not r1.absent) (= r1 0.0)))
; given -∞ < r
(assert (not r.absent))
; given -∞ < r°
(assert (not r.before.absent))
; given t = 0
(assert (and (not t.absent) (= t 0.0)))
; given s = 0
(assert (and (not s.absent) (= s 0.0)))
(check-sat)
