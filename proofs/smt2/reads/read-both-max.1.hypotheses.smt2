; law    read-both-max (reads): An operator of two numbers is read as that of what is read of each.
; says   max(a, b)[x := i] → max(a[x := i], b[x := i])
; source stated in reads.py
; case   both sides
;        a@1 stands for a at x = i
;        b@1 stands for b at x = i
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const a-1 Real)
(declare-const a-1.absent Bool)
(declare-const b-1 Real)
(declare-const b-1.absent Bool)
; t1 is max(a@1, b@1)
(define-fun t1.absent () Bool (and a-1.absent b-1.absent))
(define-fun t1 () Real (ite a-1.absent b-1 (ite b-1.absent a-1 (ite (>= a-1 b-1) a-1 b-1))))
(check-sat)
