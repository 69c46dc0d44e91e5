; law    rescale (rescale): A sum whose body changes by a factor is carried along the stream, times that factor.
; says   Σ_x a → online[Σ_x a; acc ← acc · r] if scales(x, a, r), free(x, r)
; source napkin-paper 2.4; stated in rescale.py
; case   one more block
;        sums and maxima are in a normal form, by the lemmas sign, distribution, commutation, association, exponential, sum-of-both, factor, constant
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_NRA)
(set-info :status sat)
(declare-const r.later Real)
(declare-const r.later.absent Bool)
(declare-const a Real)
(declare-const a.absent Bool)
; r1 is Σ_x a, of which nothing else is used
(declare-const r1 Real)
(declare-const r1.absent Bool)
; t1 is r′ · Σ_x a
(define-fun t1.absent () Bool (or r.later.absent r1.absent))
(define-fun t1 () Real (* r.later r1))
; t2 is (Σ_x a) · r′
(define-fun t2.absent () Bool (or r1.absent r.later.absent))
(define-fun t2 () Real (* r1 r.later))
(check-sat)
