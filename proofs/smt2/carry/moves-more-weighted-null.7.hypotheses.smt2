; law    moves-more-weighted-null (carry): A further difference from a running value, where the other factors with their weights sum to 0.
; says   local(x, b), along(x, b), free(x, r), settled(x, r), finite(b), along(x, w), finite(a), finite(w), moves(x, a, w, t), moves(x, a, (b - r) · w, s), null(x, a · w) ⟹ moves(x, (b - r) · a, w, (prev[r] - r) · t + s)
; source stated in carry.py
; case   after a block
;        block 1 stands for Σ_x a · w over the new block alone
;        a′ stands for a after the new block
;        r′ stands for r after the new block
;        s′ stands for s after the new block
;        t′ stands for t after the new block
;        w′ stands for w after the new block
;        sums and maxima are in a normal form, by the lemmas sign, distribution, commutation, association, exponential, sum-of-both, factor, constant
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
(declare-const a.later Real)
(declare-const a.later.absent Bool)
(declare-const w.later Real)
(declare-const w.later.absent Bool)
; t2 is a′ · w′
(define-fun t2.absent () Bool (or a.later.absent w.later.absent))
(define-fun t2 () Real (* a.later w.later))
; r2 is Σ_x a′ · w′, of which nothing else is used
(declare-const r2 Real)
(declare-const r2.absent Bool)
(declare-const block-1 Real)
(declare-const block-1.absent Bool)
; t3 is Σ_x a′ · w′ + block 1
(define-fun t3.absent () Bool (or r2.absent block-1.absent))
(define-fun t3 () Real (+ r2 block-1))
(declare-const r Real)
(declare-const r.absent Bool)
(declare-const r.later Real)
(declare-const r.later.absent Bool)
(declare-const t.later Real)
(declare-const t.later.absent Bool)
; t4 is a′ · w
(define-fun t4.absent () Bool (or a.later.absent w.absent))
(define-fun t4 () Real (* a.later w))
; r3 is Σ_x a′ · w, of which nothing else is used
(declare-const r3 Real)
(declare-const r3.absent Bool)
; t5 is -(Σ_x a · w)
(define-fun t5 () Real (- r1))
; t6 is Σ_x a′ · w - Σ_x a · w
(define-fun t6.absent () Bool (or r3.absent r1.absent))
(define-fun t6 () Real (+ r3 t5))
(declare-const s.later Real)
(declare-const s.later.absent Bool)
; t7 is a′ · b
(define-fun t7.absent () Bool (or a.later.absent b.absent))
(define-fun t7 () Real (* a.later b))
; t8 is a′ · b · w
(define-fun t8.absent () Bool (or t7.absent w.absent))
(define-fun t8 () Real (* t7 w))
; r4 is Σ_x a′ · b · w, of which nothing else is used
(declare-const r4 Real)
(declare-const r4.absent Bool)
; t9 is -1 · r
(define-fun t9 () Real (* (- 1.0) r))
; t10 is -1 · r · Σ_x a′ · w
(define-fun t10.absent () Bool (or r.absent r3.absent))
(define-fun t10 () Real (* t9 r3))
; t11 is Σ_x a′ · b · w + -1 · r · Σ_x a′ · w
(define-fun t11.absent () Bool (or r4.absent t10.absent))
(define-fun t11 () Real (+ r4 t10))
; t12 is a · b
(define-fun t12.absent () Bool (or a.absent b.absent))
(define-fun t12 () Real (* a b))
; t13 is a · b · w
(define-fun t13.absent () Bool (or t12.absent w.absent))
(define-fun t13 () Real (* t12 w))
; r5 is Σ_x a · b · w, of which nothing else is used
(declare-const r5 Real)
(declare-const r5.absent Bool)
; t14 is -1 · r · Σ_x a · w
(define-fun t14.absent () Bool (or r.absent r1.absent))
(define-fun t14 () Real (* t9 r1))
; t15 is Σ_x a · b · w + -1 · r · Σ_x a · w
(define-fun t15.absent () Bool (or r5.absent t14.absent))
(define-fun t15 () Real (+ r5 t14))
; t16 is -(Σ_x a · b · w + -1 · r · Σ_x a · w)
(define-fun t16 () Real (- t15))
; t17 is Σ_x a′ · b · w + -1 · r · Σ_x a′ · w - (Σ_x a · b · w + -1 · r · Σ_x a · w)
(define-fun t17.absent () Bool (or t11.absent t15.absent))
(define-fun t17 () Real (+ t11 t16))
; t18 is -r′
(define-fun t18 () Real (- r.later))
; t19 is r - r′
(define-fun t19.absent () Bool (or r.absent r.later.absent))
(define-fun t19 () Real (+ r t18))
; t20 is (r - r′) · t′
(define-fun t20.absent () Bool (or t19.absent t.later.absent))
(define-fun t20 () Real (* t19 t.later))
; t21 is (r - r′) · t′ + s′
(define-fun t21.absent () Bool (or t20.absent s.later.absent))
(define-fun t21 () Real (+ t20 s.later))
; t22 is -1 · r′
(define-fun t22 () Real (* (- 1.0) r.later))
; t23 is -1 · r′ · Σ_x a′ · w
(define-fun t23.absent () Bool (or r.later.absent r3.absent))
(define-fun t23 () Real (* t22 r3))
; t24 is Σ_x a′ · b · w + -1 · r′ · Σ_x a′ · w
(define-fun t24.absent () Bool (or r4.absent t23.absent))
(define-fun t24 () Real (+ r4 t23))
; t25 is Σ_x a′ · b · w + -1 · r′ · Σ_x a′ · w - (Σ_x a · b · w + -1 · r · Σ_x a · w)
(define-fun t25.absent () Bool (or t24.absent t15.absent))
(define-fun t25 () Real (+ t24 t16))
; given -∞ < b
(assert (not b.absent))
; given -∞ < a
(assert (not a.absent))
; given -∞ < w
(assert (not w.absent))
; given Σ_x a · w = 0
(assert (and (not r1.absent) (= r1 0.0)))
; given -∞ < a′
(assert (not a.later.absent))
; given -∞ < w′
(assert (not w.later.absent))
; given Σ_x a′ · w′ + block 1 = 0
(assert (and (not t3.absent) (= t3 0.0)))
; given -∞ < r
(assert (not r.absent))
; given -∞ < r′
(assert (not r.later.absent))
; given t′ = Σ_x a′ · w - Σ_x a · w
(assert (or (and t.later.absent t6.absent) (and (not t.later.absent) (not t6.absent) (= t.later t6))))
; given s′ = Σ_x a′ · b · w + -1 · r · Σ_x a′ · w - (Σ_x a · b · w + -1 · r · Σ_x a · w)
(assert (or (and s.later.absent t17.absent) (and (not s.later.absent) (not t17.absent) (= s.later t17))))
; given -∞ < Σ_x a′ · b · w
(assert (not r4.absent))
; given -∞ < Σ_x a′ · w
(assert (not r3.absent))
; given -∞ < Σ_x a · b · w
(assert (not r5.absent))
; given -∞ < Σ_x a · w
(assert (not r1.absent))
; given -∞ < Σ_x a′ · w′
(assert (not r2.absent))
(check-sat)
