; law    scales-exp (rescale): An exponential relative to a running bound changes by the exponential of the bound's step.
; says   local(x, a), le(a, r), free(x, r) ⟹ scales(x, e^(a - r), e^(prev[r] - r))
; source napkin-paper 2.4; stated in rescale.py
; case   the factor of the first block
;        r° stands for r before the first block
(set-logic QF_NRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const r Real)
(declare-const r.absent Bool)
(declare-const r.before Real)
(declare-const r.before.absent Bool)
; t1 is -r
(define-fun t1 () Real (- r))
; t2 is r° - r
(define-fun t2.absent () Bool (or r.before.absent r.absent))
(define-fun t2 () Real (+ r.before t1))
; exp-minus.1 stands for e to the minus r
(declare-const exp-minus.1 Real)
(assert (> exp-minus.1 0.0))
; exp.1 stands for e to the r
(declare-const exp.1 Real)
(assert (> exp.1 0.0))
(assert (= (* exp.1 exp-minus.1) 1.0))
; exp-minus.2 stands for e to the minus r.before
(declare-const exp-minus.2 Real)
(assert (=> (= r.before r) (= exp-minus.2 exp-minus.1)))
(assert (> exp-minus.2 0.0))
; exp.2 stands for e to the r.before
(declare-const exp.2 Real)
(assert (=> (= r.before r) (= exp.2 exp.1)))
(assert (> exp.2 0.0))
(assert (= (* exp.2 exp-minus.2) 1.0))
; t3 is e^(r° - r)
(define-fun t3 () Real (ite t2.absent 0.0 (* exp-minus.1 exp.2)))
; given a ≤ r
(assert (or a.absent (and (not r.absent) (<= a r))))
; the goal, denied
(assert false)
(check-sat)
