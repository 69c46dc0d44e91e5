; law    max-shift (reduction): A summand that does not vary along x moves out of a maximum over x.
; says   max_x (a + b) = a + max_x b if free(x, a)
; source stated in reduction.py
; case   both sides
;        sums and maxima are in a normal form, by the lemmas summand
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const b Real)
(declare-const b.absent Bool)
; r1 is max_x b, of which nothing else is used
(declare-const r1 Real)
(declare-const r1.absent Bool)
; t1 is a + max_x b
(define-fun t1.absent () Bool (or a.absent r1.absent))
(define-fun t1 () Real (+ a r1))
; the goal, denied
(assert (not (or t1.absent (and (not t1.absent) (= t1 t1)))))
(check-sat)
