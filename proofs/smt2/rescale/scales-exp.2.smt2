; law    scales-exp (rescale): An exponential relative to a running bound changes by the exponential of the bound's step.
; says   local(x, a), le(a, r), free(x, r) ⟹ scales(x, e^(a - r), e^(prev[r] - r))
; source napkin-paper 2.4; stated in rescale.py
; case   after a block
;        r′ stands for r after the new block
(set-logic QF_NRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const r Real)
(declare-const r.absent Bool)
(declare-const r.later Real)
(declare-const r.later.absent Bool)
; t1 is -r′
(define-fun t1 () Real (- r.later))
; t2 is a - r′
(define-fun t2.absent () Bool (or a.absent r.later.absent))
(define-fun t2 () Real (+ a t1))
; exp-minus.1 stands for e to the minus a
(declare-const exp-minus.1 Real)
(assert (> exp-minus.1 0.0))
; exp.1 stands for e to the a
(declare-const exp.1 Real)
(assert (> exp.1 0.0))
(assert (= (* exp.1 exp-minus.1) 1.0))
; exp-minus.2 stands for e to the minus r.later
(declare-const exp-minus.2 Real)
(assert (=> (= r.later a) (= exp-minus.2 exp-minus.1)))
(assert (> exp-minus.2 0.0))
; exp.2 stands for e to the r.later
(declare-const exp.2 Real)
(assert (=> (= r.later a) (= exp.2 exp.1)))
(assert (> exp.2 0.0))
(assert (= (* exp.2 exp-minus.2) 1.0))
; t3 is e^(a - r′)
(define-fun t3 () Real (ite t2.absent 0.0 (* exp.1 exp-minus.2)))
; t4 is -r
(define-fun t4 () Real (- r))
; t5 is a - r
(define-fun t5.absent () Bool (or a.absent r.absent))
(define-fun t5 () Real (+ a t4))
; exp-minus.3 stands for e to the minus r
(declare-const exp-minus.3 Real)
(assert (=> (= r a) (= exp-minus.3 exp-minus.1)))
(assert (=> (= r r.later) (= exp-minus.3 exp-minus.2)))
(assert (> exp-minus.3 0.0))
; exp.3 stands for e to the r
(declare-const exp.3 Real)
(assert (=> (= r a) (= exp.3 exp.1)))
(assert (=> (= r r.later) (= exp.3 exp.2)))
(assert (> exp.3 0.0))
(assert (= (* exp.3 exp-minus.3) 1.0))
; t6 is e^(a - r)
(define-fun t6 () Real (ite t5.absent 0.0 (* exp.1 exp-minus.3)))
; t7 is r - r′
(define-fun t7.absent () Bool (or r.absent r.later.absent))
(define-fun t7 () Real (+ r t1))
; t8 is e^(r - r′)
(define-fun t8 () Real (ite t7.absent 0.0 (* exp.3 exp-minus.2)))
; t9 is e^(a - r) · e^(r - r′)
(define-fun t9 () Real (* t6 t8))
; given a ≤ r
(assert (or a.absent (and (not r.absent) (<= a r))))
; given a ≤ r′
(assert (or a.absent (and (not r.later.absent) (<= a r.later))))
; the goal, denied
(assert (not (= t3 t9)))
(check-sat)
