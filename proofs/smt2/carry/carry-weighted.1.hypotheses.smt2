; law    carry-weighted (carry): A weighted sum that moves by a step is carried along the stream, plus that step.
; says   Σ_x a · w → online[Σ_x a · w; acc ← acc + s] if moves(x, a, w, s), free(x, s), local(x, w), finite(a), finite(w)
; source stated in carry.py
; case   the first block
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_NRA)
(set-info :status sat)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const w Real)
(declare-const w.absent Bool)
(declare-const s Real)
(declare-const s.absent Bool)
; t1 is 0 + s
(define-fun t1 () Real (+ 0.0 s))
; t2 is a · w
(define-fun t2.absent () Bool (or a.absent w.absent))
(define-fun t2 () Real (* a w))
; r1 is Σ_x a · w, of which nothing else is used
(declare-const r1 Real)
(declare-const r1.absent Bool)
; t3 is 0 + s + Σ_x a · w
(define-fun t3.absent () Bool (or s.absent r1.absent))
(define-fun t3 () Real (+ t1 r1))
; given -∞ < a
(assert (not a.absent))
; given -∞ < w
(assert (not w.absent))
; given s = 0
(assert (and (not s.absent) (= s 0.0)))
(check-sat)
