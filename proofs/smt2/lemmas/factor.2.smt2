; lemma  factor, which many laws rest on
; case   factor: one more lane of x
;        acc 1 over x stands for Σ_x a · b over the lanes so far
;        acc 2 over x stands for Σ_x b over the lanes so far
;        b⁺x stands for b in the new lane
(set-logic QF_NRA)
(set-info :status unsat)
(declare-const acc-1-over-x Real)
(declare-const acc-1-over-x.absent Bool)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const acc-2-over-x Real)
(declare-const acc-2-over-x.absent Bool)
; t1 is a · acc 2 over x
(define-fun t1.absent () Bool (or a.absent acc-2-over-x.absent))
(define-fun t1 () Real (* a acc-2-over-x))
(declare-const size-of-x Real)
(declare-const lane-of-x Real)
(declare-const b.next.x Real)
(declare-const b.next.x.absent Bool)
; t2 is a · b⁺x
(define-fun t2.absent () Bool (or a.absent b.next.x.absent))
(define-fun t2 () Real (* a b.next.x))
; t3 is acc 1 over x + a · b⁺x
(define-fun t3.absent () Bool (or acc-1-over-x.absent t2.absent))
(define-fun t3 () Real (+ acc-1-over-x t2))
; t4 is acc 2 over x + b⁺x
(define-fun t4.absent () Bool (or acc-2-over-x.absent b.next.x.absent))
(define-fun t4 () Real (+ acc-2-over-x b.next.x))
; t5 is a · (acc 2 over x + b⁺x)
(define-fun t5.absent () Bool (or a.absent t4.absent))
(define-fun t5 () Real (* a t4))
; given acc 1 over x = a · acc 2 over x
(assert (or (and acc-1-over-x.absent t1.absent) (and (not acc-1-over-x.absent) (not t1.absent) (= acc-1-over-x t1))))
; given 1 ≤ size of x
(assert (<= 1.0 size-of-x))
; given 0 ≤ lane of x
(assert (<= 0.0 lane-of-x))
; given ¬(size of x ≤ lane of x)
(assert (not (<= size-of-x lane-of-x)))
; the goal, denied
(assert (not (or (and t3.absent t5.absent) (and (not t3.absent) (not t5.absent) (= t3 t5)))))
(check-sat)
