; law    moves-weighted (carry): A sum of products with a difference from a running value moves by its step times the sum of the other factors.
; says   local(x, b), along(x, b), free(x, r), settled(x, r), finite(b), along(x, w), finite(w) ⟹ moves(x, b - r, w, (prev[r] - r) · prev[Σ_x w])
; source stated in carry.py
; case   after a block
;        r′ stands for r after the new block
;        w′ stands for w after the new block
;        sums and maxima are in a normal form, by the lemmas sign, distribution, commutation, association, exponential, sum-of-both, factor, constant
(set-logic QF_NRA)
(set-info :status unsat)
(declare-const b Real)
(declare-const b.absent Bool)
(declare-const w Real)
(declare-const w.absent Bool)
(declare-const w.later Real)
(declare-const w.later.absent Bool)
(declare-const r Real)
(declare-const r.absent Bool)
(declare-const r.later Real)
(declare-const r.later.absent Bool)
; r1 is Σ_x w, of which nothing else is used
(declare-const r1 Real)
(declare-const r1.absent Bool)
; t1 is b · w
(define-fun t1.absent () Bool (or b.absent w.absent))
(define-fun t1 () Real (* b w))
; r2 is Σ_x b · w, of which nothing else is used
(declare-const r2 Real)
(declare-const r2.absent Bool)
; t2 is -r′
(define-fun t2 () Real (- r.later))
; t3 is r - r′
(define-fun t3.absent () Bool (or r.absent r.later.absent))
(define-fun t3 () Real (+ r t2))
; t4 is (r - r′) · Σ_x w
(define-fun t4.absent () Bool (or t3.absent r1.absent))
(define-fun t4 () Real (* t3 r1))
; t5 is -1 · r′
(define-fun t5 () Real (* (- 1.0) r.later))
; t6 is -1 · r′ · Σ_x w
(define-fun t6.absent () Bool (or r.later.absent r1.absent))
(define-fun t6 () Real (* t5 r1))
; t7 is Σ_x b · w + -1 · r′ · Σ_x w
(define-fun t7.absent () Bool (or r2.absent t6.absent))
(define-fun t7 () Real (+ r2 t6))
; t8 is -1 · r
(define-fun t8 () Real (* (- 1.0) r))
; t9 is -1 · r · Σ_x w
(define-fun t9.absent () Bool (or r.absent r1.absent))
(define-fun t9 () Real (* t8 r1))
; t10 is Σ_x b · w + -1 · r · Σ_x w
(define-fun t10.absent () Bool (or r2.absent t9.absent))
(define-fun t10 () Real (+ r2 t9))
; t11 is -(Σ_x b · w + -1 · r · Σ_x w)
(define-fun t11 () Real (- t10))
; t12 is Σ_x b · w + -1 · r′ · Σ_x w - (Σ_x b · w + -1 · r · Σ_x w)
(define-fun t12.absent () Bool (or t7.absent t10.absent))
(define-fun t12 () Real (+ t7 t11))
; given -∞ < b
(assert (not b.absent))
; given -∞ < w
(assert (not w.absent))
; given -∞ < w′
(assert (not w.later.absent))
; given -∞ < r
(assert (not r.absent))
; given -∞ < r′
(assert (not r.later.absent))
; given -∞ < Σ_x w
(assert (not r1.absent))
; given -∞ < Σ_x b · w
(assert (not r2.absent))
; the goal, denied
(assert (not (or (and t4.absent t12.absent) (and (not t4.absent) (not t12.absent) (= t4 t12)))))
(check-sat)
