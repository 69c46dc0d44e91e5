; law    moves-more (carry): A further difference from a running value: its step times the sum of the others, and what they move by beside it.
; says   local(x, b), along(x, b), free(x, r), settled(x, r), finite(b), finite(a), moves(x, a, 1, t), moves(x, a, b - r, s) ⟹ moves(x, (b - r) · a, 1, (prev[r] - r) · (prev[Σ_x a] + t) + s)
; source stated in carry.py
; case   after a block: finite of what is reduced
;        a′ stands for a after the new block
;        r′ stands for r after the new block
;        s′ stands for s after the new block
;        t′ stands for t after the new block
(set-logic QF_NRA)
(set-info :status unsat)
(declare-const b Real)
(declare-const b.absent Bool)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const a.later Real)
(declare-const a.later.absent Bool)
(declare-const r Real)
(declare-const r.absent Bool)
(declare-const r.later Real)
(declare-const r.later.absent Bool)
(declare-const t.later Real)
(declare-const t.later.absent Bool)
; r1 is Σ_x a′, of which nothing else is used
(declare-const r1 Real)
(declare-const r1.absent Bool)
; t1 is 1 · Σ_x a′
(define-fun t1 () Real (* 1.0 r1))
; r2 is Σ_x a, of which nothing else is used
(declare-const r2 Real)
(declare-const r2.absent Bool)
; t2 is 1 · Σ_x a
(define-fun t2 () Real (* 1.0 r2))
; t3 is -(1 · Σ_x a)
(define-fun t3 () Real (- t2))
; t4 is 1 · Σ_x a′ - 1 · Σ_x a
(define-fun t4.absent () Bool (or r1.absent r2.absent))
(define-fun t4 () Real (+ t1 t3))
(declare-const s.later Real)
(declare-const s.later.absent Bool)
; t5 is a′ · b
(define-fun t5.absent () Bool (or a.later.absent b.absent))
(define-fun t5 () Real (* a.later b))
; r3 is Σ_x a′ · b, of which nothing else is used
(declare-const r3 Real)
(declare-const r3.absent Bool)
; t6 is -1 · r
(define-fun t6 () Real (* (- 1.0) r))
; t7 is -1 · r · Σ_x a′
(define-fun t7.absent () Bool (or r.absent r1.absent))
(define-fun t7 () Real (* t6 r1))
; t8 is Σ_x a′ · b + -1 · r · Σ_x a′
(define-fun t8.absent () Bool (or r3.absent t7.absent))
(define-fun t8 () Real (+ r3 t7))
; t9 is a · b
(define-fun t9.absent () Bool (or a.absent b.absent))
(define-fun t9 () Real (* a b))
; r4 is Σ_x a · b, of which nothing else is used
(declare-const r4 Real)
(declare-const r4.absent Bool)
; t10 is -1 · r · Σ_x a
(define-fun t10.absent () Bool (or r.absent r2.absent))
(define-fun t10 () Real (* t6 r2))
; t11 is Σ_x a · b + -1 · r · Σ_x a
(define-fun t11.absent () Bool (or r4.absent t10.absent))
(define-fun t11 () Real (+ r4 t10))
; t12 is -(Σ_x a · b + -1 · r · Σ_x a)
(define-fun t12 () Real (- t11))
; t13 is Σ_x a′ · b + -1 · r · Σ_x a′ - (Σ_x a · b + -1 · r · Σ_x a)
(define-fun t13.absent () Bool (or t8.absent t11.absent))
(define-fun t13 () Real (+ t8 t12))
; given -∞ < b
(assert (not b.absent))
; given -∞ < a
(assert (not a.absent))
; given -∞ < a′
(assert (not a.later.absent))
; given -∞ < r
(assert (not r.absent))
; given -∞ < r′
(assert (not r.later.absent))
; given t′ = 1 · Σ_x a′ - 1 · Σ_x a
(assert (or (and t.later.absent t4.absent) (and (not t.later.absent) (not t4.absent) (= t.later t4))))
; given s′ = Σ_x a′ · b + -1 · r · Σ_x a′ - (Σ_x a · b + -1 · r · Σ_x a)
(assert (or (and s.later.absent t13.absent) (and (not s.later.absent) (not t13.absent) (= s.later t13))))
; given -∞ < Σ_x a
(assert (not r2.absent))
; given -∞ < Σ_x a′ · b
(assert (not r3.absent))
; the goal, denied
(assert (not (not a.later.absent)))
(check-sat)
