; law    le-prev-larger (rescale): The larger of a running maximum and a value that stands still never falls.
; says   local(x, b), local(x, a), free(x, a) ⟹ le(prev[max(max_x b, a)], max(max_x b, a))
; source stated in rescale.py
; case   the first block
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const b Real)
(declare-const b.absent Bool)
; r1 is max_x b, of which nothing else is used
(declare-const r1 Real)
(declare-const r1.absent Bool)
; t1 is max(max_x b, a)
(define-fun t1.absent () Bool (and r1.absent a.absent))
(define-fun t1 () Real (ite r1.absent a (ite a.absent r1 (ite (>= r1 a) r1 a))))
(check-sat)
