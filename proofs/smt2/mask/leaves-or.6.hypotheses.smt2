; law    leaves-or (mask): One mask or another leaves the lanes of the one.
; says   leaves(x, c) ⟹ leaves(x, c ∨ e)
; source stated in mask.py
; case   the conclusion: one more lane of x
;        acc 1 over x stands for Σ_x [c ? 1 : 0] over the lanes so far
;        acc 2 over x stands for Σ_x [c ∨ e ? 1 : 0] over the lanes so far
;        c⁺x stands for c in the new lane
;        e⁺x stands for e in the new lane
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const acc-1-over-x Real)
(declare-const acc-1-over-x.absent Bool)
(declare-const acc-2-over-x Real)
(declare-const acc-2-over-x.absent Bool)
(declare-const size-of-x Real)
(declare-const lane-of-x Real)
(declare-const c Bool)
; t1 is [c ? 1 : 0]
(define-fun t1.absent () Bool (and (not c) c))
(define-fun t1 () Real (ite c 1.0 0.0))
(declare-const e Bool)
; t2 is [c ∨ e ? 1 : 0]
(define-fun t2.absent () Bool (and (not (or c e)) (or c e)))
(define-fun t2 () Real (ite (or c e) 1.0 0.0))
(declare-const c.next.x Bool)
; t3 is [c⁺x ? 1 : 0]
(define-fun t3.absent () Bool (and (not c.next.x) c.next.x))
(define-fun t3 () Real (ite c.next.x 1.0 0.0))
; t4 is acc 1 over x + [c⁺x ? 1 : 0]
(define-fun t4.absent () Bool (or acc-1-over-x.absent t3.absent))
(define-fun t4 () Real (+ acc-1-over-x t3))
(declare-const e.next.x Bool)
; t5 is [c⁺x ∨ e⁺x ? 1 : 0]
(define-fun t5.absent () Bool (and (not (or c.next.x e.next.x)) (or c.next.x e.next.x)))
(define-fun t5 () Real (ite (or c.next.x e.next.x) 1.0 0.0))
; t6 is acc 2 over x + [c⁺x ∨ e⁺x ? 1 : 0]
(define-fun t6.absent () Bool (or acc-2-over-x.absent t5.absent))
(define-fun t6 () Real (+ acc-2-over-x t5))
; given acc 1 over x = 0 ∨ 0 < acc 1 over x ∧ 0 < acc 2 over x
(assert (or (and (not acc-1-over-x.absent) (= acc-1-over-x 0.0)) (and (and (not acc-1-over-x.absent) (< 0.0 acc-1-over-x)) (and (not acc-2-over-x.absent) (< 0.0 acc-2-over-x)))))
; given 1 ≤ size of x
(assert (<= 1.0 size-of-x))
; given 0 ≤ lane of x
(assert (<= 0.0 lane-of-x))
; given ¬(size of x ≤ lane of x)
(assert (not (<= size-of-x lane-of-x)))
; given -∞ < acc 1 over x
(assert (not acc-1-over-x.absent))
; given 0 ≤ acc 1 over x
(assert (and (not acc-1-over-x.absent) (<= 0.0 acc-1-over-x)))
; given [c ? 1 : 0] ≤ acc 1 over x
(assert (or t1.absent (and (not acc-1-over-x.absent) (<= t1 acc-1-over-x))))
; given -∞ < acc 2 over x
(assert (not acc-2-over-x.absent))
; given 0 ≤ acc 2 over x
(assert (and (not acc-2-over-x.absent) (<= 0.0 acc-2-over-x)))
; given [c ∨ e ? 1 : 0] ≤ acc 2 over x
(assert (or t2.absent (and (not acc-2-over-x.absent) (<= t2 acc-2-over-x))))
(check-sat)
