; law    moves-null (carry): A sum of products with a difference from a running value does not move where the other factors sum to 0.
; says   local(x, b), along(x, b), free(x, r), settled(x, r), finite(b), along(x, w), finite(w), null(x, w) ⟹ moves(x, b - r, w, 0)
; source stated in carry.py
; case   after a block
;        block 1 stands for Σ_x w over the new block alone
;        r′ stands for r after the new block
;        w′ stands for w after the new block
;        sums and maxima are in a normal form, by the lemmas sign, distribution, commutation, association, exponential, sum-of-both, factor, constant
(set-logic QF_NRA)
(set-info :status unsat)
(declare-const b Real)
(declare-const b.absent Bool)
(declare-const w Real)
(declare-const w.absent Bool)
; r1 is Σ_x w, of which nothing else is used
(declare-const r1 Real)
(declare-const r1.absent Bool)
(declare-const w.later Real)
(declare-const w.later.absent Bool)
; r2 is Σ_x w′, of which nothing else is used
(declare-const r2 Real)
(declare-const r2.absent Bool)
(declare-const block-1 Real)
(declare-const block-1.absent Bool)
; t1 is Σ_x w′ + block 1
(define-fun t1.absent () Bool (or r2.absent block-1.absent))
(define-fun t1 () Real (+ r2 block-1))
(declare-const r Real)
(declare-const r.absent Bool)
(declare-const r.later Real)
(declare-const r.later.absent Bool)
; t2 is b · w
(define-fun t2.absent () Bool (or b.absent w.absent))
(define-fun t2 () Real (* b w))
; r3 is Σ_x b · w, of which nothing else is used
(declare-const r3 Real)
(declare-const r3.absent Bool)
; t3 is -1 · r′
(define-fun t3 () Real (* (- 1.0) r.later))
; t4 is -1 · r′ · Σ_x w
(define-fun t4.absent () Bool (or r.later.absent r1.absent))
(define-fun t4 () Real (* t3 r1))
; t5 is Σ_x b · w + -1 · r′ · Σ_x w
(define-fun t5.absent () Bool (or r3.absent t4.absent))
(define-fun t5 () Real (+ r3 t4))
; t6 is -1 · r
(define-fun t6 () Real (* (- 1.0) r))
; t7 is -1 · r · Σ_x w
(define-fun t7.absent () Bool (or r.absent r1.absent))
(define-fun t7 () Real (* t6 r1))
; t8 is Σ_x b · w + -1 · r · Σ_x w
(define-fun t8.absent () Bool (or r3.absent t7.absent))
(define-fun t8 () Real (+ r3 t7))
; t9 is -(Σ_x b · w + -1 · r · Σ_x w)
(define-fun t9 () Real (- t8))
; t10 is Σ_x b · w + -1 · r′ · Σ_x w - (Σ_x b · w + -1 · r · Σ_x w)
(define-fun t10.absent () Bool (or t5.absent t8.absent))
(define-fun t10 () Real (+ t5 t9))
; given -∞ < b
(assert (not b.absent))
; given -∞ < w
(assert (not w.absent))
; given Σ_x w = 0
(assert (and (not r1.absent) (= r1 0.0)))
; given -∞ < w′
(assert (not w.later.absent))
; given Σ_x w′ + block 1 = 0
(assert (and (not t1.absent) (= t1 0.0)))
; given -∞ < r
(assert (not r.absent))
; given -∞ < r′
(assert (not r.later.absent))
; given -∞ < Σ_x b · w
(assert (not r3.absent))
; given -∞ < Σ_x w
(assert (not r1.absent))
; given -∞ < Σ_x w′
(assert (not r2.absent))
; the goal, denied
(assert (not (and (not t10.absent) (= 0.0 t10))))
(check-sat)
