; law    to-last (mask): No lane at which a number is found comes after the last of them.
; says   a = b[y := x] ∧ (x ≤ argmax_y [a = b ? y : -∞] ∨ |y| ≤ x) → a = b[y := x] if free(y, a)
; source stated in mask.py
; case   both sides where y is x
;        place 1 over x stands for argmax_x [a = b ? x : -∞]
;        b@1 stands for b at x = place 1 over x
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const place-1-over-x Real)
(declare-const size.x Real)
(assert (>= size.x 1.0))
(declare-const a Real)
(declare-const b Real)
(declare-const lane.x Real)
(assert (<= 0.0 lane.x))
(assert (<= (+ lane.x 1.0) size.x))
; t1 is [a = b ? x : -∞]
(define-fun t1.absent () Bool (not (= a b)))
(define-fun t1 () Real (ite (= a b) lane.x 0.0))
; r1 is max_x [a = b ? x : -∞], of which nothing else is used
(declare-const r1 Real)
(declare-const r1.absent Bool)
(declare-const b-1 Real)
; t2 is [a = b@1 ? place 1 over x : -∞]
(define-fun t2.absent () Bool (not (= a b-1)))
(define-fun t2 () Real (ite (= a b-1) place-1-over-x 0.0))
; given 0 ≤ place 1 over x
(assert (<= 0.0 place-1-over-x))
; given ¬(|x| ≤ place 1 over x)
(assert (not (<= size.x place-1-over-x)))
; given [a = b ? x : -∞] ≤ max_x [a = b ? x : -∞]
(assert (or t1.absent (and (not r1.absent) (<= t1 r1))))
; given [a = b@1 ? place 1 over x : -∞] = max_x [a = b ? x : -∞]
(assert (or (and t2.absent r1.absent) (and (not t2.absent) (not r1.absent) (= t2 r1))))
; given ¬(max_x [a = b ? x : -∞] ≤ [a = b ? x : -∞]) ∨ place 1 over x ≤ x
(assert (or (not (or r1.absent (and (not t1.absent) (<= r1 t1)))) (<= place-1-over-x lane.x)))
; given 0 ≤ place 1 over x
(assert (<= 0.0 place-1-over-x))
; given [a = b@1 ? place 1 over x : -∞] ≤ max_x [a = b ? x : -∞]
(assert (or t2.absent (and (not r1.absent) (<= t2 r1))))
; given ¬(max_x [a = b ? x : -∞] ≤ [a = b@1 ? place 1 over x : -∞]) ∨ place 1 over x ≤ place 1 over x
(assert (or (not (or r1.absent (and (not t2.absent) (<= r1 t2)))) (<= place-1-over-x place-1-over-x)))
(check-sat)
