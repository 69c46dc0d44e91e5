; law    to-last (mask): No lane at which a number is found comes after the last of them.
; says   a = b[y := x] ∧ (x ≤ argmax_y [a = b ? y : -∞] ∨ |y| ≤ x) → a = b[y := x] if free(y, a)
; source stated in mask.py
; case   both sides
;        place 1 over y stands for argmax_y [a = b ? y : -∞]
;        b@1 stands for b at y = x
;        b@2 stands for b at y = place 1 over y
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const place-1-over-y Real)
(declare-const size.y Real)
(assert (>= size.y 1.0))
(declare-const a Real)
(declare-const b Real)
(declare-const lane.y Real)
(assert (<= 0.0 lane.y))
(assert (<= (+ lane.y 1.0) size.y))
; t1 is [a = b ? y : -∞]
(define-fun t1.absent () Bool (not (= a b)))
(define-fun t1 () Real (ite (= a b) lane.y 0.0))
; r1 is max_y [a = b ? y : -∞], of which nothing else is used
(declare-const r1 Real)
(declare-const r1.absent Bool)
(declare-const b-2 Real)
; t2 is [a = b@2 ? place 1 over y : -∞]
(define-fun t2.absent () Bool (not (= a b-2)))
(define-fun t2 () Real (ite (= a b-2) place-1-over-y 0.0))
(declare-const lane.x Real)
(assert (<= 0.0 lane.x))
(declare-const b-1 Real)
; t3 is [a = b@1 ? x : -∞]
(define-fun t3.absent () Bool (not (= a b-1)))
(define-fun t3 () Real (ite (= a b-1) lane.x 0.0))
; given 0 ≤ place 1 over y
(assert (<= 0.0 place-1-over-y))
; given ¬(|y| ≤ place 1 over y)
(assert (not (<= size.y place-1-over-y)))
; given [a = b ? y : -∞] ≤ max_y [a = b ? y : -∞]
(assert (or t1.absent (and (not r1.absent) (<= t1 r1))))
; given [a = b@2 ? place 1 over y : -∞] = max_y [a = b ? y : -∞]
(assert (or (and t2.absent r1.absent) (and (not t2.absent) (not r1.absent) (= t2 r1))))
; given ¬(max_y [a = b ? y : -∞] ≤ [a = b ? y : -∞]) ∨ place 1 over y ≤ y
(assert (or (not (or r1.absent (and (not t1.absent) (<= r1 t1)))) (<= place-1-over-y lane.y)))
; given ¬(|y| ≤ x)
(assert (not (<= size.y lane.x)))
; given 0 ≤ place 1 over y
(assert (<= 0.0 place-1-over-y))
; given [a = b@1 ? x : -∞] ≤ max_y [a = b ? y : -∞]
(assert (or t3.absent (and (not r1.absent) (<= t3 r1))))
; given ¬(max_y [a = b ? y : -∞] ≤ [a = b@1 ? x : -∞]) ∨ place 1 over y ≤ x
(assert (or (not (or r1.absent (and (not t3.absent) (<= r1 t3)))) (<= place-1-over-y lane.x)))
; given 0 ≤ place 1 over y
(assert (<= 0.0 place-1-over-y))
; given [a = b@2 ? place 1 over y : -∞] ≤ max_y [a = b ? y : -∞]
(assert (or t2.absent (and (not r1.absent) (<= t2 r1))))
; given ¬(max_y [a = b ? y : -∞] ≤ [a = b@2 ? place 1 over y : -∞]) ∨ place 1 over y ≤ place 1 over y
(assert (or (not (or r1.absent (and (not t2.absent) (<= r1 t2)))) (<= place-1-over-y place-1-over-y)))
(check-sat)
