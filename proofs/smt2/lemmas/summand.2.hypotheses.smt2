; lemma  summand, which many laws rest on
; case   summand: one more lane of x
;        acc 1 over x stands for max_x (a + b) over the lanes so far
;        acc 2 over x stands for max_x b over the lanes so far
;        b⁺x stands for b in the new lane
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const acc-1-over-x Real)
(declare-const acc-1-over-x.absent Bool)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const acc-2-over-x Real)
(declare-const acc-2-over-x.absent Bool)
; t1 is a + acc 2 over x
(define-fun t1.absent () Bool (or a.absent acc-2-over-x.absent))
(define-fun t1 () Real (+ a acc-2-over-x))
(declare-const size-of-x Real)
(declare-const lane-of-x Real)
(declare-const b.next.x Real)
(declare-const b.next.x.absent Bool)
; t2 is a + b⁺x
(define-fun t2.absent () Bool (or a.absent b.next.x.absent))
(define-fun t2 () Real (+ a b.next.x))
; t3 is max(acc 1 over x, a + b⁺x)
(define-fun t3.absent () Bool (and acc-1-over-x.absent t2.absent))
(define-fun t3 () Real (ite acc-1-over-x.absent t2 (ite t2.absent acc-1-over-x (ite (>= acc-1-over-x t2) acc-1-over-x t2))))
; t4 is max(acc 2 over x, b⁺x)
(define-fun t4.absent () Bool (and acc-2-over-x.absent b.next.x.absent))
(define-fun t4 () Real (ite acc-2-over-x.absent b.next.x (ite b.next.x.absent acc-2-over-x (ite (>= acc-2-over-x b.next.x) acc-2-over-x b.next.x))))
; t5 is a + max(acc 2 over x, b⁺x)
(define-fun t5.absent () Bool (or a.absent t4.absent))
(define-fun t5 () Real (+ a t4))
; given acc 1 over x = a + acc 2 over x
(assert (or (and acc-1-over-x.absent t1.absent) (and (not acc-1-over-x.absent) (not t1.absent) (= acc-1-over-x t1))))
; given 1 ≤ size of x
(assert (<= 1.0 size-of-x))
; given 0 ≤ lane of x
(assert (<= 0.0 lane-of-x))
; given ¬(size of x ≤ lane of x)
(assert (not (<= size-of-x lane-of-x)))
(check-sat)
