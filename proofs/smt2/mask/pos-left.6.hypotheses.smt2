; law    pos-left (mask): The sum of the exponentials of what is present under a mask is positive if the mask leaves a lane.
; says   present(c, a), leaves(x, c) ⟹ pos(Σ_x e^a)
; source stated in mask.py
; case   the conclusion: one more lane of x
;        acc 1 over x stands for Σ_x [c ? 1 : 0] over the lanes so far
;        acc 2 over x stands for Σ_x e^a over the lanes so far
;        c⁺x stands for c in the new lane
;        a⁺x stands for a in the new lane
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_NRA)
(set-info :status sat)
(declare-const c Bool)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const c.next.x Bool)
(declare-const a.next.x Real)
(declare-const a.next.x.absent Bool)
(declare-const acc-1-over-x Real)
(declare-const acc-1-over-x.absent Bool)
(declare-const acc-2-over-x Real)
(declare-const acc-2-over-x.absent Bool)
(declare-const size-of-x Real)
(declare-const lane-of-x Real)
; t1 is [c ? 1 : 0]
(define-fun t1.absent () Bool (and (not c) c))
(define-fun t1 () Real (ite c 1.0 0.0))
; exp-minus.1 stands for e to the minus a
(declare-const exp-minus.1 Real)
(assert (> exp-minus.1 0.0))
; exp.1 stands for e to the a
(declare-const exp.1 Real)
(assert (> exp.1 0.0))
(assert (= (* exp.1 exp-minus.1) 1.0))
; t2 is e^a
(define-fun t2 () Real (ite a.absent 0.0 exp.1))
; t3 is [c⁺x ? 1 : 0]
(define-fun t3.absent () Bool (and (not c.next.x) c.next.x))
(define-fun t3 () Real (ite c.next.x 1.0 0.0))
; t4 is acc 1 over x + [c⁺x ? 1 : 0]
(define-fun t4.absent () Bool (or acc-1-over-x.absent t3.absent))
(define-fun t4 () Real (+ acc-1-over-x t3))
; exp-minus.2 stands for e to the minus a.next.x
(declare-const exp-minus.2 Real)
(assert (=> (= a.next.x a) (= exp-minus.2 exp-minus.1)))
(assert (> exp-minus.2 0.0))
; exp.2 stands for e to the a.next.x
(declare-const exp.2 Real)
(assert (=> (= a.next.x a) (= exp.2 exp.1)))
(assert (> exp.2 0.0))
(assert (= (* exp.2 exp-minus.2) 1.0))
; t5 is e^a⁺x
(define-fun t5 () Real (ite a.next.x.absent 0.0 exp.2))
; t6 is acc 2 over x + e^a⁺x
(define-fun t6 () Real (+ acc-2-over-x t5))
; given ¬c ∨ -∞ < a
(assert (or (not c) (not a.absent)))
; given ¬c⁺x ∨ -∞ < a⁺x
(assert (or (not c.next.x) (not a.next.x.absent)))
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
; given e^a ≤ acc 2 over x
(assert (and (not acc-2-over-x.absent) (<= t2 acc-2-over-x)))
(check-sat)
