; law    rescale (rescale): A sum whose body changes by a factor is carried along the stream, times that factor.
; says   Σ_x a → online[Σ_x a; acc ← acc · r] if scales(x, a, r), free(x, r)
; source napkin-paper 2.4; stated in rescale.py
; case   the first block
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const r Real)
(declare-const r.absent Bool)
; t1 is 0 · r
(define-fun t1 () Real (* 0.0 r))
(declare-const a Real)
(declare-const a.absent Bool)
; r1 is Σ_x a, of which nothing else is used
(declare-const r1 Real)
(declare-const r1.absent Bool)
; t2 is 0 · r + Σ_x a
(define-fun t2.absent () Bool (or r.absent r1.absent))
(define-fun t2 () Real (+ t1 r1))
; given -∞ < r
(assert (not r.absent))
; the goal, denied
(assert (not (or (and t2.absent r1.absent) (and (not t2.absent) (not r1.absent) (= t2 r1)))))
(check-sat)
