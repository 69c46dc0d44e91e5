; law    moves-more-null (carry): A further difference from a running value, where the other factors sum to 0.
; says   local(x, b), along(x, b), free(x, r), settled(x, r), finite(b), finite(a), moves(x, a, 1, t), moves(x, a, b - r, s), null(x, a) ⟹ moves(x, (b - r) · a, 1, (prev[r] - r) · t + s)
; source stated in carry.py
; case   after a block: finite of what is reduced
;        block 1 stands for Σ_x a over the new block alone
;        a′ stands for a after the new block
;        r′ stands for r after the new block
;        s′ stands for s after the new block
;        t′ stands for t after the new block
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_NRA)
(set-info :status sat)
(declare-const b Real)
(declare-const b.absent Bool)
(declare-const a Real)
(declare-const a.absent Bool)
; r1 is Σ_x a, of which nothing else is used
(declare-const r1 Real)
(declare-const r1.absent Bool)
(declare-const a.later Real)
(declare-const a.later.absent Bool)
; r2 is Σ_x a′, of which nothing else is used
(declare-const r2 Real)
(declare-const r2.absent Bool)
(declare-const block-1 Real)
(declare-const block-1.absent Bool)
; t1 is Σ_x a′ + block 1
(define-fun t1.absent () Bool (or r2.absent block-1.absent))
(define-fun t1 () Real (+ r2 block-1))
(declare-const r Real)
(declare-const r.absent Bool)
(declare-const r.later Real)
(declare-const r.later.absent Bool)
(declare-const t.later Real)
(declare-const t.later.absent Bool)
; t2 is 1 · Σ_x a′
(define-fun t2 () Real (* 1.0 r2))
; t3 is 1 · Σ_x a
(define-fun t3 () Real (* 1.0 r1))
; t4 is -(1 · Σ_x a)
(define-fun t4 () Real (- t3))
; t5 is 1 · Σ_x a′ - 1 · Σ_x a
(define-fun t5.absent () Bool (or r2.absent r1.absent))
(define-fun t5 () Real (+ t2 t4))
(declare-const s.later Real)
(declare-const s.later.absent Bool)
; t6 is a′ · b
(define-fun t6.absent () Bool (or a.later.absent b.absent))
(define-fun t6 () Real (* a.later b))
; r3 is Σ_x a′ · b, of which nothing else is used
(declare-const r3 Real)
(declare-const r3.absent Bool)
; t7 is -1 · r
(define-fun t7 () Real (* (- 1.0) r))
; t8 is -1 · r · Σ_x a′
(define-fun t8.absent () Bool (or r.absent r2.absent))
(define-fun t8 () Real (* t7 r2))
; t9 is Σ_x a′ · b + -1 · r · Σ_x a′
(define-fun t9.absent () Bool (or r3.absent t8.absent))
(define-fun t9 () Real (+ r3 t8))
; t10 is a · b
(define-fun t10.absent () Bool (or a.absent b.absent))
(define-fun t10 () Real (* a b))
; r4 is Σ_x a · b, of which nothing else is used
(declare-const r4 Real)
(declare-const r4.absent Bool)
; t11 is -1 · r · Σ_x a
(define-fun t11.absent () Bool (or r.absent r1.absent))
(define-fun t11 () Real (* t7 r1))
; t12 is Σ_x a · b + -1 · r · Σ_x a
(define-fun t12.absent () Bool (or r4.absent t11.absent))
(define-fun t12 () Real (+ r4 t11))
; t13 is -(Σ_x a · b + -1 · r · Σ_x a)
(define-fun t13 () Real (- t12))
; t14 is Σ_x a′ · b + -1 · r · Σ_x a′ - (Σ_x a · b + -1 · r · Σ_x a)
(define-fun t14.absent () Bool (or t9.absent t12.absent))
(define-fun t14 () Real (+ t9 t13))
; given -∞ < b
(assert (not b.absent))
; given -∞ < a
(assert (not a.absent))
; given Σ_x a = 0
(assert (and (not r1.absent) (= r1 0.0)))
; given -∞ < a′
(assert (not a.later.absent))
; given Σ_x a′ + block 1 = 0
(assert (and (not t1.absent) (= t1 0.0)))
; given -∞ < r
(assert (not r.absent))
; given -∞ < r′
(assert (not r.later.absent))
; given t′ = 1 · Σ_x a′ - 1 · Σ_x a
(assert (or (and t.later.absent t5.absent) (and (not t.later.absent) (not t5.absent) (= t.later t5))))
; given s′ = Σ_x a′ · b + -1 · r · Σ_x a′ - (Σ_x a · b + -1 · r · Σ_x a)
(assert (or (and s.later.absent t14.absent) (and (not s.later.absent) (not t14.absent) (= s.later t14))))
; given -∞ < Σ_x a′ · b
(assert (not r3.absent))
; given -∞ < Σ_x a′
(assert (not r2.absent))
(check-sat)
