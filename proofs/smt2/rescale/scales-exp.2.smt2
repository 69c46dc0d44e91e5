; law    scales-exp (rescale): An exponential relative to a running maximum changes by the exponential of the maximum's step.
; says   local(x, a), local(x, b), le(a, max_x b) ⟹ scales(x, e^(a - max_x b), e^(prev[max_x b] - max_x b))
; source napkin-paper 2.4; stated in rescale.py
; case   after a block
;        block 1 stands for max_x b over the new block alone
(set-logic QF_NRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const b Real)
(declare-const b.absent Bool)
; r1 is max_x b, of which nothing else is used
(declare-const r1 Real)
(declare-const r1.absent Bool)
(declare-const block-1 Real)
(declare-const block-1.absent Bool)
; t1 is max(max_x b, block 1)
(define-fun t1.absent () Bool (and r1.absent block-1.absent))
(define-fun t1 () Real (ite r1.absent block-1 (ite block-1.absent r1 (ite (>= r1 block-1) r1 block-1))))
; t2 is -max(max_x b, block 1)
(define-fun t2 () Real (- t1))
; t3 is a - max(max_x b, block 1)
(define-fun t3.absent () Bool (or a.absent t1.absent))
(define-fun t3 () Real (+ a t2))
; exp-minus.1 stands for e to the minus a
(declare-const exp-minus.1 Real)
(assert (> exp-minus.1 0.0))
; exp.1 stands for e to the a
(declare-const exp.1 Real)
(assert (> exp.1 0.0))
(assert (= (* exp.1 exp-minus.1) 1.0))
; exp-minus.2 stands for e to the minus block-1
(declare-const exp-minus.2 Real)
(assert (=> (= block-1 a) (= exp-minus.2 exp-minus.1)))
(assert (> exp-minus.2 0.0))
; exp.2 stands for e to the block-1
(declare-const exp.2 Real)
(assert (=> (= block-1 a) (= exp.2 exp.1)))
(assert (> exp.2 0.0))
(assert (= (* exp.2 exp-minus.2) 1.0))
; exp-minus.3 stands for e to the minus r1
(declare-const exp-minus.3 Real)
(assert (=> (= r1 a) (= exp-minus.3 exp-minus.1)))
(assert (=> (= r1 block-1) (= exp-minus.3 exp-minus.2)))
(assert (> exp-minus.3 0.0))
; exp.3 stands for e to the r1
(declare-const exp.3 Real)
(assert (=> (= r1 a) (= exp.3 exp.1)))
(assert (=> (= r1 block-1) (= exp.3 exp.2)))
(assert (> exp.3 0.0))
(assert (= (* exp.3 exp-minus.3) 1.0))
; t4 is e^(a - max(max_x b, block 1))
(define-fun t4 () Real (ite t3.absent 0.0 (ite r1.absent (* exp.1 exp-minus.2) (ite block-1.absent (* exp.1 exp-minus.3) (ite (>= r1 block-1) (* exp.1 exp-minus.3) (* exp.1 exp-minus.2))))))
; t5 is -(max_x b)
(define-fun t5 () Real (- r1))
; t6 is a - max_x b
(define-fun t6.absent () Bool (or a.absent r1.absent))
(define-fun t6 () Real (+ a t5))
; t7 is e^(a - max_x b)
(define-fun t7 () Real (ite t6.absent 0.0 (* exp.1 exp-minus.3)))
; t8 is max_x b - max(max_x b, block 1)
(define-fun t8.absent () Bool (or r1.absent t1.absent))
(define-fun t8 () Real (+ r1 t2))
; t9 is e^(max_x b - max(max_x b, block 1))
(define-fun t9 () Real (ite t8.absent 0.0 (ite r1.absent (* exp-minus.2 exp.3) (ite block-1.absent 1.0 (ite (>= r1 block-1) 1.0 (* exp-minus.2 exp.3))))))
; t10 is e^(a - max_x b) · e^(max_x b - max(max_x b, block 1))
(define-fun t10 () Real (* t7 t9))
; given a ≤ max_x b
(assert (or a.absent (and (not r1.absent) (<= a r1))))
; given a ≤ max(max_x b, block 1)
(assert (or a.absent (and (not t1.absent) (<= a t1))))
; the goal, denied
(assert (not (= t4 t10)))
(check-sat)
