; lemma  prod-of-both, which many laws rest on
; case   prod-of-both: one more lane of x
;        acc 1 over x stands for Π_x a · b over the lanes so far
;        acc 2 over x stands for Π_x a over the lanes so far
;        acc 3 over x stands for Π_x b over the lanes so far
;        a⁺x stands for a in the new lane
;        b⁺x stands for b in the new lane
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_NRA)
(set-info :status sat)
(declare-const acc-1-over-x Real)
(declare-const acc-1-over-x.absent Bool)
(declare-const acc-2-over-x Real)
(declare-const acc-2-over-x.absent Bool)
(declare-const acc-3-over-x Real)
(declare-const acc-3-over-x.absent Bool)
; t1 is acc 2 over x · acc 3 over x
(define-fun t1.absent () Bool (or acc-2-over-x.absent acc-3-over-x.absent))
(define-fun t1 () Real (* acc-2-over-x acc-3-over-x))
(declare-const size-of-x Real)
(declare-const lane-of-x Real)
(declare-const a.next.x Real)
(declare-const a.next.x.absent Bool)
(declare-const b.next.x Real)
(declare-const b.next.x.absent Bool)
; t2 is a⁺x · b⁺x
(define-fun t2.absent () Bool (or a.next.x.absent b.next.x.absent))
(define-fun t2 () Real (* a.next.x b.next.x))
; t3 is acc 1 over x · (a⁺x · b⁺x)
(define-fun t3.absent () Bool (or acc-1-over-x.absent t2.absent))
(define-fun t3 () Real (* acc-1-over-x t2))
; t4 is acc 2 over x · a⁺x
(define-fun t4.absent () Bool (or acc-2-over-x.absent a.next.x.absent))
(define-fun t4 () Real (* acc-2-over-x a.next.x))
; t5 is acc 3 over x · b⁺x
(define-fun t5.absent () Bool (or acc-3-over-x.absent b.next.x.absent))
(define-fun t5 () Real (* acc-3-over-x b.next.x))
; t6 is acc 2 over x · a⁺x · (acc 3 over x · b⁺x)
(define-fun t6.absent () Bool (or t4.absent t5.absent))
(define-fun t6 () Real (* t4 t5))
; given acc 1 over x = acc 2 over x · acc 3 over x
(assert (or (and acc-1-over-x.absent t1.absent) (and (not acc-1-over-x.absent) (not t1.absent) (= acc-1-over-x t1))))
; given 1 ≤ size of x
(assert (<= 1.0 size-of-x))
; given 0 ≤ lane of x
(assert (<= 0.0 lane-of-x))
; given ¬(size of x ≤ lane of x)
(assert (not (<= size-of-x lane-of-x)))
(check-sat)
