; law    read-second-max (reads): An operator of a number that does not vary along x, and another, is read in the other.
; says   max(a, b)[x := i] → max(a, b[x := i]) if free(x, a)
; source stated in reads.py
; case   both sides
;        b@1 stands for b at x = i
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const b-1 Real)
(declare-const b-1.absent Bool)
; t1 is max(a, b@1)
(define-fun t1.absent () Bool (and a.absent b-1.absent))
(define-fun t1 () Real (ite a.absent b-1 (ite b-1.absent a (ite (>= a b-1) a b-1))))
(check-sat)
