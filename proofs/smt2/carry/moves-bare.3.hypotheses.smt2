; law    moves-bare (carry): A sum of differences from a running value moves by the step of that value for each lane.
; says   local(x, b), along(x, b), free(x, r), settled(x, r), finite(b) ⟹ moves(x, b - r, 1, (prev[r] - r) · prev[|x|])
; source stated in carry.py
; case   after a block
;        r′ stands for r after the new block
;        sums and maxima are in a normal form, by the lemmas sign, distribution, commutation, association, exponential, sum-of-both, factor, constant
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_NRA)
(set-info :status sat)
(declare-const b Real)
(declare-const b.absent Bool)
(declare-const r Real)
(declare-const r.absent Bool)
(declare-const r.later Real)
(declare-const r.later.absent Bool)
; r1 is Σ_x b, of which nothing else is used
(declare-const r1 Real)
(declare-const r1.absent Bool)
; t1 is -r′
(define-fun t1 () Real (- r.later))
; t2 is r - r′
(define-fun t2.absent () Bool (or r.absent r.later.absent))
(define-fun t2 () Real (+ r t1))
(declare-const size.x Real)
(assert (>= size.x 1.0))
; t3 is (r - r′) · |x|
(define-fun t3 () Real (* t2 size.x))
; t4 is 1 · Σ_x b
(define-fun t4 () Real (* 1.0 r1))
; t5 is -1 · r′
(define-fun t5 () Real (* (- 1.0) r.later))
; t6 is -1 · r′ · 1
(define-fun t6 () Real (* t5 1.0))
; t7 is -1 · r′ · 1 · |x|
(define-fun t7 () Real (* t6 size.x))
; t8 is 1 · Σ_x b + -1 · r′ · 1 · |x|
(define-fun t8.absent () Bool (or r1.absent r.later.absent))
(define-fun t8 () Real (+ t4 t7))
; t9 is -1 · r
(define-fun t9 () Real (* (- 1.0) r))
; t10 is -1 · r · 1
(define-fun t10 () Real (* t9 1.0))
; t11 is -1 · r · 1 · |x|
(define-fun t11 () Real (* t10 size.x))
; t12 is 1 · Σ_x b + -1 · r · 1 · |x|
(define-fun t12.absent () Bool (or r1.absent r.absent))
(define-fun t12 () Real (+ t4 t11))
; t13 is -(1 · Σ_x b + -1 · r · 1 · |x|)
(define-fun t13 () Real (- t12))
; t14 is 1 · Σ_x b + -1 · r′ · 1 · |x| - (1 · Σ_x b + -1 · r · 1 · |x|)
(define-fun t14.absent () Bool (or t8.absent t12.absent))
(define-fun t14 () Real (+ t8 t13))
; given -∞ < b
(assert (not b.absent))
; given -∞ < r
(assert (not r.absent))
; given -∞ < r′
(assert (not r.later.absent))
; given -∞ < Σ_x b
(assert (not r1.absent))
(check-sat)
