; law    read-second-min (reads): An operator of a number that does not vary along x, and another, is read in the other.
; says   min(a, b)[x := i] → min(a, b[x := i]) if free(x, a)
; source stated in reads.py
; case   both sides
;        b@1 stands for b at x = i
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const b-1 Real)
(declare-const b-1.absent Bool)
; t1 is min(a, b@1)
(define-fun t1.absent () Bool (or a.absent b-1.absent))
(define-fun t1 () Real (ite (<= a b-1) a b-1))
; the goal, denied
(assert (not (or t1.absent (and (not t1.absent) (= t1 t1)))))
(check-sat)
