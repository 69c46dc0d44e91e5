; law    read-sum (reads): A sum over another axis is read summand by summand.
; says   (Σ_y a)[x := i] → Σ_y a[x := i] if free(y, i), distinct(x, y)
; source stated in reads.py
; case   both sides
;        a@1 stands for a at x = i
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const a-1 Real)
(declare-const a-1.absent Bool)
; r1 is Σ_y a@1, of which nothing else is used
(declare-const r1 Real)
(declare-const r1.absent Bool)
(check-sat)
