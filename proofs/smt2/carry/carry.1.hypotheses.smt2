; law    carry (carry): A sum that moves by a step is carried along the stream, plus that step.
; says   Σ_x a → online[Σ_x a; acc ← acc + s] if moves(x, a, 1, s), free(x, s), finite(a)
; source Pébay 2008; stated in carry.py
; case   the first block
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const s Real)
(declare-const s.absent Bool)
; t1 is 0 + s
(define-fun t1 () Real (+ 0.0 s))
; r1 is Σ_x a, of which nothing else is used
(declare-const r1 Real)
(declare-const r1.absent Bool)
; t2 is 0 + s + Σ_x a
(define-fun t2.absent () Bool (or s.absent r1.absent))
(define-fun t2 () Real (+ t1 r1))
; given -∞ < a
(assert (not a.absent))
; given s = 0
(assert (and (not s.absent) (= s 0.0)))
(check-sat)
