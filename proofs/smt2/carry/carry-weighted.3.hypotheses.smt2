; law    carry-weighted (carry): A weighted sum that moves by a step is carried along the stream, plus that step.
; says   Σ_x a · w → online[Σ_x a · w; acc ← acc + s] if moves(x, a, w, s), free(x, s), local(x, w), finite(a), finite(w)
; source stated in carry.py
; case   one more block: finite of what is reduced
;        a′ stands for a after the new block
;        s′ stands for s after the new block
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_NRA)
(set-info :status sat)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const w Real)
(declare-const w.absent Bool)
(declare-const a.later Real)
(declare-const a.later.absent Bool)
(declare-const s.later Real)
(declare-const s.later.absent Bool)
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
; given -∞ < a
(assert (not a.absent))
; given -∞ < w
(assert (not w.absent))
; given -∞ < a′
(assert (not a.later.absent))
; given s′ = Σ_x a′ · w - Σ_x a · w
(assert (or (and s.later.absent t4.absent) (and (not s.later.absent) (not t4.absent) (= s.later t4))))
; given -∞ < Σ_x a′ · w
(assert (not r1.absent))
(check-sat)
