; law    fuse-max (stream): A fold may share its pass over the axis with others.
; says   fold[max_{x | c} a] → fused[max_{x | c} a]
; source napkin-paper 2.3; stated in stream.py
; case   max is a commutative monoid
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const b Real)
(declare-const b.absent Bool)
; t1 is max(a, b)
(define-fun t1.absent () Bool (and a.absent b.absent))
(define-fun t1 () Real (ite a.absent b (ite b.absent a (ite (>= a b) a b))))
(declare-const d Real)
(declare-const d.absent Bool)
; t2 is max(max(a, b), d)
(define-fun t2.absent () Bool (and t1.absent d.absent))
(define-fun t2 () Real (ite t1.absent d (ite d.absent t1 (ite (>= t1 d) t1 d))))
; t3 is max(b, d)
(define-fun t3.absent () Bool (and b.absent d.absent))
(define-fun t3 () Real (ite b.absent d (ite d.absent b (ite (>= b d) b d))))
; t4 is max(a, max(b, d))
(define-fun t4.absent () Bool (and a.absent t3.absent))
(define-fun t4 () Real (ite a.absent t3 (ite t3.absent a (ite (>= a t3) a t3))))
(check-sat)
