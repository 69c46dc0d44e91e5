; law    carry-scaled (carry): A sum that moves by a step, its weights by a factor, is carried plus that step, times that factor.
; says   Σ_x a · w → online[Σ_x a · w; acc ← (acc + s) · r] if moves(x, a, w, s), scales(x, w, r), free(x, s), free(x, r), finite(a), finite(w)
; source stated in carry.py
; case   one more block: finite of what is reduced
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_NRA)
(set-info :status sat)
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
(check-sat)
