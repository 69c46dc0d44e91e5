; law    carry-scaled (carry): A sum that moves by a step, its weights by a factor, is carried plus that step, times that factor.
; says   Σ_x a · w → online[Σ_x a · w; acc ← (acc + s) · r] if moves(x, a, w, s), scales(x, w, r), free(x, s), free(x, r), finite(a), finite(w)
; source stated in carry.py
; case   one more block
;        sums and maxima are in a normal form, by the lemmas sign, distribution, commutation, association, exponential, sum-of-both, factor, constant
(set-logic QF_NRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const w Real)
(declare-const w.absent Bool)
(declare-const a.later Real)
(declare-const a.later.absent Bool)
(declare-const r.later Real)
(declare-const r.later.absent Bool)
; t1 is w · r′
(define-fun t1.absent () Bool (or w.absent r.later.absent))
(define-fun t1 () Real (* w r.later))
; t2 is a′ · w
(define-fun t2.absent () Bool (or a.later.absent w.absent))
(define-fun t2 () Real (* a.later w))
; r1 is Σ_x a′ · w, of which nothing else is used
(declare-const r1 Real)
(declare-const r1.absent Bool)
; t3 is a · w
(define-fun t3.absent () Bool (or a.absent w.absent))
(define-fun t3 () Real (* a w))
; r2 is Σ_x a · w, of which nothing else is used
(declare-const r2 Real)
(declare-const r2.absent Bool)
; t4 is r′ · Σ_x a′ · w
(define-fun t4.absent () Bool (or r.later.absent r1.absent))
(define-fun t4 () Real (* r.later r1))
; t5 is -(Σ_x a · w)
(define-fun t5 () Real (- r2))
; t6 is Σ_x a′ · w - Σ_x a · w
(define-fun t6.absent () Bool (or r1.absent r2.absent))
(define-fun t6 () Real (+ r1 t5))
; t7 is Σ_x a · w + (Σ_x a′ · w - Σ_x a · w)
(define-fun t7.absent () Bool (or r2.absent t6.absent))
(define-fun t7 () Real (+ r2 t6))
; t8 is (Σ_x a · w + (Σ_x a′ · w - Σ_x a · w)) · r′
(define-fun t8.absent () Bool (or t7.absent r.later.absent))
(define-fun t8 () Real (* t7 r.later))
; given -∞ < a
(assert (not a.absent))
; given -∞ < w
(assert (not w.absent))
; given -∞ < a′
(assert (not a.later.absent))
; given -∞ < w · r′
(assert (not t1.absent))
; given -∞ < Σ_x a′ · w
(assert (not r1.absent))
; given -∞ < Σ_x a · w
(assert (not r2.absent))
; the goal, denied
(assert (not (or (and t4.absent t8.absent) (and (not t4.absent) (not t8.absent) (= t4 t8)))))
(check-sat)
