; law    le-prev-larger (rescale): The larger of a running maximum and a value that stands still never falls.
; says   local(x, b), local(x, a), free(x, a) ⟹ le(prev[max(max_x b, a)], max(max_x b, a))
; source stated in rescale.py
; case   after a block
;        block 1 stands for max_x b over the new block alone
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const b Real)
(declare-const b.absent Bool)
; r1 is max_x b, of which nothing else is used
(declare-const r1 Real)
(declare-const r1.absent Bool)
(declare-const a Real)
(declare-const a.absent Bool)
; t1 is max(max_x b, a)
(define-fun t1.absent () Bool (and r1.absent a.absent))
(define-fun t1 () Real (ite r1.absent a (ite a.absent r1 (ite (>= r1 a) r1 a))))
(declare-const block-1 Real)
(declare-const block-1.absent Bool)
; t2 is max(max_x b, block 1)
(define-fun t2.absent () Bool (and r1.absent block-1.absent))
(define-fun t2 () Real (ite r1.absent block-1 (ite block-1.absent r1 (ite (>= r1 block-1) r1 block-1))))
; t3 is max(max(max_x b, block 1), a)
(define-fun t3.absent () Bool (and t2.absent a.absent))
(define-fun t3 () Real (ite t2.absent a (ite a.absent t2 (ite (>= t2 a) t2 a))))
; the goal, denied
(assert (not (or t1.absent (and (not t3.absent) (<= t1 t3)))))
(check-sat)
