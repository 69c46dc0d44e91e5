; law    carry (carry): A sum that moves by a step is carried along the stream, plus that step.
; says   Σ_x a → online[Σ_x a; acc ← acc + s] if moves(x, a, 1, s), free(x, s), finite(a)
; source Pébay 2008; stated in carry.py
; case   one more block: finite of what is reduced
;        a′ stands for a after the new block
;        s′ stands for s after the new block
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const a.later Real)
(declare-const a.later.absent Bool)
(declare-const s.later Real)
(declare-const s.later.absent Bool)
; r1 is Σ_x a′, of which nothing else is used
(declare-const r1 Real)
(declare-const r1.absent Bool)
; t1 is 1 · Σ_x a′
(define-fun t1 () Real (* 1.0 r1))
; r2 is Σ_x a, of which nothing else is used
(declare-const r2 Real)
(declare-const r2.absent Bool)
; t2 is 1 · Σ_x a
(define-fun t2 () Real (* 1.0 r2))
; t3 is -(1 · Σ_x a)
(define-fun t3 () Real (- t2))
; t4 is 1 · Σ_x a′ - 1 · Σ_x a
(define-fun t4.absent () Bool (or r1.absent r2.absent))
(define-fun t4 () Real (+ t1 t3))
; given -∞ < a
(assert (not a.absent))
; given -∞ < a′
(assert (not a.later.absent))
; given s′ = 1 · Σ_x a′ - 1 · Σ_x a
(assert (or (and s.later.absent t4.absent) (and (not s.later.absent) (not t4.absent) (= s.later t4))))
; the goal, denied
(assert (not (not a.later.absent)))
(check-sat)
