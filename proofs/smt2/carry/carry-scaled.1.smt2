; law    carry-scaled (carry): A sum that moves by a step, its weights by a factor, is carried plus that step, times that factor.
; says   Σ_x a · w → online[Σ_x a · w; acc ← (acc + s) · r] if moves(x, a, w, s), scales(x, w, r), free(x, s), free(x, r), finite(a), finite(w)
; source stated in carry.py
; case   the first block
(set-logic QF_NRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const w Real)
(declare-const w.absent Bool)
(declare-const s Real)
(declare-const s.absent Bool)
(declare-const r Real)
(declare-const r.absent Bool)
; t1 is 0 + s
(define-fun t1 () Real (+ 0.0 s))
; t2 is (0 + s) · r
(define-fun t2.absent () Bool (or s.absent r.absent))
(define-fun t2 () Real (* t1 r))
; t3 is a · w
(define-fun t3.absent () Bool (or a.absent w.absent))
(define-fun t3 () Real (* a w))
; r1 is Σ_x a · w, of which nothing else is used
(declare-const r1 Real)
(declare-const r1.absent Bool)
; t4 is (0 + s) · r + Σ_x a · w
(define-fun t4.absent () Bool (or t2.absent r1.absent))
(define-fun t4 () Real (+ t2 r1))
; given -∞ < a
(assert (not a.absent))
; given -∞ < w
(assert (not w.absent))
; given s = 0
(assert (and (not s.absent) (= s 0.0)))
; given -∞ < r
(assert (not r.absent))
; the goal, denied
(assert (not (or (and t4.absent r1.absent) (and (not t4.absent) (not r1.absent) (= t4 r1)))))
(check-sat)
