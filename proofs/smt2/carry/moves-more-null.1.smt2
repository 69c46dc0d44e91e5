; law    moves-more-null (carry): A further difference from a running value, where the other factors sum to 0.
; says   local(x, b), along(x, b), free(x, r), settled(x, r), finite(b), finite(a), moves(x, a, 1, t), moves(x, a, b - r, s), null(x, a) ⟹ moves(x, (b - r) · a, 1, (prev[r] - r) · t + s)
; source stated in carry.py
; case   the step of the first block
;        r° stands for r before the first block
(set-logic QF_NRA)
(set-info :status unsat)
(declare-const b Real)
(declare-const b.absent Bool)
(declare-const a Real)
(declare-const a.absent Bool)
; r1 is Σ_x a, of which nothing else is used
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
; t1 is -r
(define-fun t1 () Real (- r))
; t2 is r° - r
(define-fun t2.absent () Bool (or r.before.absent r.absent))
(define-fun t2 () Real (+ r.before t1))
; t3 is (r° - r) · t
(define-fun t3.absent () Bool (or t2.absent t.absent))
(define-fun t3 () Real (* t2 t))
; t4 is (r° - r) · t + s
(define-fun t4.absent () Bool (or t3.absent s.absent))
(define-fun t4 () Real (+ t3 s))
; given -∞ < b
(assert (not b.absent))
; given -∞ < a
(assert (not a.absent))
; given Σ_x a = 0
(assert (and (not r1.absent) (= r1 0.0)))
; given -∞ < r
(assert (not r.absent))
; given -∞ < r°
(assert (not r.before.absent))
; given t = 0
(assert (and (not t.absent) (= t 0.0)))
; given s = 0
(assert (and (not s.absent) (= s 0.0)))
; the goal, denied
(assert (not (and (not t4.absent) (= t4 0.0))))
(check-sat)
