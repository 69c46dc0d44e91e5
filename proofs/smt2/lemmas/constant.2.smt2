; lemma  constant, which many laws rest on
; case   constant: one more lane of x
;        acc 1 over x stands for Σ_x a over the lanes so far
(set-logic QF_NRA)
(set-info :status unsat)
(declare-const acc-1-over-x Real)
(declare-const acc-1-over-x.absent Bool)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const size-of-x Real)
; t1 is a · size of x
(define-fun t1 () Real (* a size-of-x))
(declare-const lane-of-x Real)
; t2 is acc 1 over x + a
(define-fun t2.absent () Bool (or acc-1-over-x.absent a.absent))
(define-fun t2 () Real (+ acc-1-over-x a))
; t3 is size of x + 1
(define-fun t3 () Real (+ size-of-x 1.0))
; t4 is a · (size of x + 1)
(define-fun t4 () Real (* a t3))
; given acc 1 over x = a · size of x
(assert (or (and acc-1-over-x.absent a.absent) (and (not acc-1-over-x.absent) (not a.absent) (= acc-1-over-x t1))))
; given 1 ≤ size of x
(assert (<= 1.0 size-of-x))
; given 0 ≤ lane of x
(assert (<= 0.0 lane-of-x))
; given ¬(size of x ≤ lane of x)
(assert (not (<= size-of-x lane-of-x)))
; the goal, denied
(assert (not (or (and t2.absent a.absent) (and (not t2.absent) (not a.absent) (= t2 t4)))))
(check-sat)
