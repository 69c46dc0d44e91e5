; law    root-squared (exponential): The square of a root is the number.
; says   √a · √a → a if nonneg(a)
; source stated in exponential.py
; case   both sides
(set-logic QF_NRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
; root.1 stands for the root of a
(declare-const root.1 Real)
(assert (>= root.1 0.0))
(assert (=> (>= a 0.0) (= (* root.1 root.1) a)))
(assert (=> (< a 0.0) (= root.1 0.0)))
; t1 is √a · √a
(define-fun t1 () Real (* root.1 root.1))
; given 0 ≤ a
(assert (and (not a.absent) (<= 0.0 a)))
; the goal, denied
(assert (not (or a.absent (and (not a.absent) (= t1 a)))))
(check-sat)
