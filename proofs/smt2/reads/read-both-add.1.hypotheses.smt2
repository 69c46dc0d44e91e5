; law    read-both-add (reads): An operator of two numbers is read as that of what is read of each.
; says   (a + b)[x := i] → a[x := i] + b[x := i]
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
; t1 is a@1 + b@1
(define-fun t1.absent () Bool (or a-1.absent b-1.absent))
(define-fun t1 () Real (+ a-1 b-1))
(check-sat)
