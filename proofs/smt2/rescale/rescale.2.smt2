; law    rescale (rescale): A sum whose body changes by a factor is carried along the stream, times that factor.
; says   Σ_x a → online[Σ_x a; acc ← acc · r] if scales(x, a, r), free(x, r)
; source napkin-paper 2.4; stated in rescale.py
; case   one more block: x has one lane
;        a′ stands for a after the new block
;        r′ stands for r after the new block
(set-logic QF_NRA)
(set-info :status unsat)
(declare-const a.later Real)
(declare-const a.later.absent Bool)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const r.later Real)
(declare-const r.later.absent Bool)
; t1 is a · r′
(define-fun t1.absent () Bool (or a.absent r.later.absent))
(define-fun t1 () Real (* a r.later))
; given a′ = a · r′
(assert (or (and a.later.absent t1.absent) (and (not a.later.absent) (not t1.absent) (= a.later t1))))
; the goal, denied
(assert (not (or (and a.later.absent t1.absent) (and (not a.later.absent) (not t1.absent) (= a.later t1)))))
(check-sat)
