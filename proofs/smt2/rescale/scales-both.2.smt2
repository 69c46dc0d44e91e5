; law    scales-both (rescale): The changes of two factors multiply.
; says   scales(x, a, r), scales(x, b, s) ⟹ scales(x, a · b, r · s)
; source stated in rescale.py
; case   after a block
;        a′ stands for a after the new block
;        b′ stands for b after the new block
;        r′ stands for r after the new block
;        s′ stands for s after the new block
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
(declare-const b.later Real)
(declare-const b.later.absent Bool)
(declare-const b Real)
(declare-const b.absent Bool)
(declare-const s.later Real)
(declare-const s.later.absent Bool)
; t2 is b · s′
(define-fun t2.absent () Bool (or b.absent s.later.absent))
(define-fun t2 () Real (* b s.later))
; t3 is a′ · b′
(define-fun t3.absent () Bool (or a.later.absent b.later.absent))
(define-fun t3 () Real (* a.later b.later))
; t4 is a · b
(define-fun t4.absent () Bool (or a.absent b.absent))
(define-fun t4 () Real (* a b))
; t5 is r′ · s′
(define-fun t5.absent () Bool (or r.later.absent s.later.absent))
(define-fun t5 () Real (* r.later s.later))
; t6 is a · b · (r′ · s′)
(define-fun t6.absent () Bool (or t4.absent t5.absent))
(define-fun t6 () Real (* t4 t5))
; given a′ = a · r′
(assert (or (and a.later.absent t1.absent) (and (not a.later.absent) (not t1.absent) (= a.later t1))))
; given b′ = b · s′
(assert (or (and b.later.absent t2.absent) (and (not b.later.absent) (not t2.absent) (= b.later t2))))
; the goal, denied
(assert (not (or (and t3.absent t6.absent) (and (not t3.absent) (not t6.absent) (= t3 t6)))))
(check-sat)
