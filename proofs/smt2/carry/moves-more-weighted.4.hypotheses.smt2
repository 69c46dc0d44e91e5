; law    moves-more-weighted (carry): A further difference from a running value, with weights.
; says   local(x, b), along(x, b), free(x, r), settled(x, r), finite(b), along(x, w), finite(a), finite(w), moves(x, a, w, t), moves(x, a, (b - r) · w, s) ⟹ moves(x, (b - r) · a, w, (prev[r] - r) · (prev[Σ_x a · w] + t) + s)
; source stated in carry.py
; case   after a block: finite of what is reduced
;        a′ stands for a after the new block
;        r′ stands for r after the new block
;        s′ stands for s after the new block
;        t′ stands for t after the new block
;        w′ stands for w after the new block
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_NRA)
(set-info :status sat)
(declare-const b Real)
(declare-const b.absent Bool)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const w Real)
(declare-const w.absent Bool)
(declare-const a.later Real)
(declare-const a.later.absent Bool)
(declare-const w.later Real)
(declare-const w.later.absent Bool)
(declare-const r Real)
(declare-const r.absent Bool)
(declare-const r.later Real)
(declare-const r.later.absent Bool)
(declare-const t.later Real)
(declare-const t.later.absent Bool)
; t1 is a′ · w
(define-fun t1.absent () Bool (or a.later.absent w.absent))
(define-fun t1 () Real (* a.later w))
; r1 is Σ_x a′ · w, of which nothing else is used
(declare-const r1 Real)
(declare-const r1.absent Bool)
; t2 is a · w
(define-fun t2.absent () Bool (or a.absent w.absent))
(define-fun t2 () Real (* a w))
; r2 is Σ_x a · w, of which nothing else is used
(declare-const r2 Real)
(declare-const r2.absent Bool)
; t3 is -(Σ_x a · w)
(define-fun t3 () Real (- r2))
; t4 is Σ_x a′ · w - Σ_x a · w
(define-fun t4.absent () Bool (or r1.absent r2.absent))
(define-fun t4 () Real (+ r1 t3))
(declare-const s.later Real)
(declare-const s.later.absent Bool)
; t5 is a′ · b
(define-fun t5.absent () Bool (or a.later.absent b.absent))
(define-fun t5 () Real (* a.later b))
; t6 is a′ · b · w
(define-fun t6.absent () Bool (or t5.absent w.absent))
(define-fun t6 () Real (* t5 w))
; r3 is Σ_x a′ · b · w, of which nothing else is used
(declare-const r3 Real)
(declare-const r3.absent Bool)
; t7 is -1 · r
(define-fun t7 () Real (* (- 1.0) r))
; t8 is -1 · r · Σ_x a′ · w
(define-fun t8.absent () Bool (or r.absent r1.absent))
(define-fun t8 () Real (* t7 r1))
; t9 is Σ_x a′ · b · w + -1 · r · Σ_x a′ · w
(define-fun t9.absent () Bool (or r3.absent t8.absent))
(define-fun t9 () Real (+ r3 t8))
; t10 is a · b
(define-fun t10.absent () Bool (or a.absent b.absent))
(define-fun t10 () Real (* a b))
; t11 is a · b · w
(define-fun t11.absent () Bool (or t10.absent w.absent))
(define-fun t11 () Real (* t10 w))
; r4 is Σ_x a · b · w, of which nothing else is used
(declare-const r4 Real)
(declare-const r4.absent Bool)
; t12 is -1 · r · Σ_x a · w
(define-fun t12.absent () Bool (or r.absent r2.absent))
(define-fun t12 () Real (* t7 r2))
; t13 is Σ_x a · b · w + -1 · r · Σ_x a · w
(define-fun t13.absent () Bool (or r4.absent t12.absent))
(define-fun t13 () Real (+ r4 t12))
; t14 is -(Σ_x a · b · w + -1 · r · Σ_x a · w)
(define-fun t14 () Real (- t13))
; t15 is Σ_x a′ · b · w + -1 · r · Σ_x a′ · w - (Σ_x a · b · w + -1 · r · Σ_x a · w)
(define-fun t15.absent () Bool (or t9.absent t13.absent))
(define-fun t15 () Real (+ t9 t14))
; given -∞ < b
(assert (not b.absent))
; given -∞ < a
(assert (not a.absent))
; given -∞ < w
(assert (not w.absent))
; given -∞ < a′
(assert (not a.later.absent))
; given -∞ < w′
(assert (not w.later.absent))
; given -∞ < r
(assert (not r.absent))
; given -∞ < r′
(assert (not r.later.absent))
; given t′ = Σ_x a′ · w - Σ_x a · w
(assert (or (and t.later.absent t4.absent) (and (not t.later.absent) (not t4.absent) (= t.later t4))))
; given s′ = Σ_x a′ · b · w + -1 · r · Σ_x a′ · w - (Σ_x a · b · w + -1 · r · Σ_x a · w)
(assert (or (and s.later.absent t15.absent) (and (not s.later.absent) (not t15.absent) (= s.later t15))))
; given -∞ < Σ_x a · w
(assert (not r2.absent))
; given -∞ < Σ_x a′ · b · w
(assert (not r3.absent))
(check-sat)
