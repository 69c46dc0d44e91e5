; law    scales-exp (rescale): An exponential relative to a running maximum changes by the exponential of the maximum's step.
; says   local(x, a), local(x, b), le(a, max_x b) ⟹ scales(x, e^(a - max_x b), e^(prev[max_x b] - max_x b))
; source napkin-paper 2.4; stated in rescale.py
; case   the factor of the first block
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_NRA)
(set-info :status sat)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const b Real)
(declare-const b.absent Bool)
; r1 is max_x b, of which nothing else is used
(declare-const r1 Real)
(declare-const r1.absent Bool)
; t1 is -(max_x b)
(define-fun t1 () Real (- r1))
; t2 is -∞ - max_x b
(define-fun t2 () Real (+ 0.0 t1))
; exp-minus.1 stands for e to the minus r1
(declare-const exp-minus.1 Real)
(assert (> exp-minus.1 0.0))
; exp.1 stands for e to the r1
(declare-const exp.1 Real)
(assert (> exp.1 0.0))
(assert (= (* exp.1 exp-minus.1) 1.0))
; given a ≤ max_x b
(assert (or a.absent (and (not r1.absent) (<= a r1))))
(check-sat)
