; law    le-prev (rescale): A running maximum never falls.
; says   local(x, b) ⟹ le(prev[max_x b], max_x b)
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
(declare-const block-1 Real)
(declare-const block-1.absent Bool)
; t1 is max(max_x b, block 1)
(define-fun t1.absent () Bool (and r1.absent block-1.absent))
(define-fun t1 () Real (ite r1.absent block-1 (ite block-1.absent r1 (ite (>= r1 block-1) r1 block-1))))
; the goal, denied
(assert (not (or r1.absent (and (not t1.absent) (<= r1 t1)))))
(check-sat)
