; law    scales-local (rescale): A factor that holds no reduction leaves the change as it is.
; says   scales(x, a, r), local(x, b) ⟹ scales(x, a · b, r)
; source stated in rescale.py
; case   after a block
;        a′ stands for a after the new block
;        r′ stands for r after the new block
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_NRA)
(set-info :status sat)
(declare-const a.later Real)
(declare-const a.later.absent Bool)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const r.later Real)
(declare-const r.later.absent Bool)
; t1 is a · r′
(define-fun t1.absent () Bool (or a.absent r.later.absent))
(define-fun t1 () Real (* a r.later))
(declare-const b Real)
(declare-const b.absent Bool)
; t2 is a′ · b
(define-fun t2.absent () Bool (or a.later.absent b.absent))
(define-fun t2 () Real (* a.later b))
; t3 is a · b
(define-fun t3.absent () Bool (or a.absent b.absent))
(define-fun t3 () Real (* a b))
; t4 is a · b · r′
(define-fun t4.absent () Bool (or t3.absent r.later.absent))
(define-fun t4 () Real (* t3 r.later))
; given a′ = a · r′
(assert (or (and a.later.absent t1.absent) (and (not a.later.absent) (not t1.absent) (= a.later t1))))
(check-sat)
