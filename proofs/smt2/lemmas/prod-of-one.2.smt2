; lemma  prod-of-one, which many laws rest on
; case   prod-of-one: one more lane of x
;        acc 1 over x stands for Σ_x [c ? 1 : 0] over the lanes so far
;        acc 2 over x stands for Π_x [c ? a : 1] over the lanes so far
;        c⁺x stands for c in the new lane
(set-logic QF_NRA)
(set-info :status unsat)
(declare-const acc-1-over-x Real)
(declare-const acc-1-over-x.absent Bool)
(declare-const acc-2-over-x Real)
(declare-const acc-2-over-x.absent Bool)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const size-of-x Real)
(declare-const lane-of-x Real)
(declare-const c.next.x Bool)
; t1 is [c⁺x ? 1 : 0]
(define-fun t1.absent () Bool (and (not c.next.x) c.next.x))
(define-fun t1 () Real (ite c.next.x 1.0 0.0))
; t2 is acc 1 over x + [c⁺x ? 1 : 0]
(define-fun t2.absent () Bool (or acc-1-over-x.absent t1.absent))
(define-fun t2 () Real (+ acc-1-over-x t1))
; t3 is [c⁺x ? a : 1]
(define-fun t3.absent () Bool (and (or (not c.next.x) a.absent) c.next.x))
(define-fun t3 () Real (ite c.next.x a 1.0))
; t4 is acc 2 over x · [c⁺x ? a : 1]
(define-fun t4.absent () Bool (or acc-2-over-x.absent t3.absent))
(define-fun t4 () Real (* acc-2-over-x t3))
; given acc 1 over x = 0 ∧ acc 2 over x = 1 ∨ acc 1 over x = 1 ∧ acc 2 over x = a ∨ 2 ≤ acc 1 over x
(assert (or (or (and (and (not acc-1-over-x.absent) (= acc-1-over-x 0.0)) (and (not acc-2-over-x.absent) (= acc-2-over-x 1.0))) (and (and (not acc-1-over-x.absent) (= acc-1-over-x 1.0)) (or (and acc-2-over-x.absent a.absent) (and (not acc-2-over-x.absent) (not a.absent) (= acc-2-over-x a))))) (and (not acc-1-over-x.absent) (<= 2.0 acc-1-over-x))))
; given 1 ≤ size of x
(assert (<= 1.0 size-of-x))
; given 0 ≤ lane of x
(assert (<= 0.0 lane-of-x))
; given ¬(size of x ≤ lane of x)
(assert (not (<= size-of-x lane-of-x)))
; the goal, denied
(assert (not (or (or (and (and (not t2.absent) (= t2 0.0)) (and (not t4.absent) (= t4 1.0))) (and (and (not t2.absent) (= t2 1.0)) (or (and t4.absent a.absent) (and (not t4.absent) (not a.absent) (= t4 a))))) (and (not t2.absent) (<= 2.0 t2)))))
(check-sat)
