; law    from-first (mask): No lane at which a number is found comes before the first of them.
; says   a = b[y := x] ∧ argmax_y [a = b ? 1 : 0] ≤ x → a = b[y := x] if free(y, a)
; source stated in mask.py
; case   both sides
;        place 1 over y stands for argmax_y [a = b ? 1 : 0]
;        b@1 stands for b at y = x
;        b@2 stands for b at y = place 1 over y
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const place-1-over-y Real)
(declare-const size.y Real)
(assert (>= size.y 1.0))
(declare-const a Real)
(declare-const b Real)
; t1 is [a = b ? 1 : 0]
(define-fun t1.absent () Bool (and (not (= a b)) (= a b)))
(define-fun t1 () Real (ite (= a b) 1.0 0.0))
; r1 is max_y [a = b ? 1 : 0], of which nothing else is used
(declare-const r1 Real)
(declare-const r1.absent Bool)
(declare-const b-2 Real)
; t2 is [a = b@2 ? 1 : 0]
(define-fun t2.absent () Bool (and (not (= a b-2)) (= a b-2)))
(define-fun t2 () Real (ite (= a b-2) 1.0 0.0))
(declare-const lane.y Real)
(assert (<= 0.0 lane.y))
(assert (<= (+ lane.y 1.0) size.y))
(declare-const lane.x Real)
(assert (<= 0.0 lane.x))
(declare-const b-1 Real)
; t3 is [a = b@1 ? 1 : 0]
(define-fun t3.absent () Bool (and (not (= a b-1)) (= a b-1)))
(define-fun t3 () Real (ite (= a b-1) 1.0 0.0))
; given 0 ≤ place 1 over y
(assert (<= 0.0 place-1-over-y))
; given ¬(|y| ≤ place 1 over y)
(assert (not (<= size.y place-1-over-y)))
; given [a = b ? 1 : 0] ≤ max_y [a = b ? 1 : 0]
(assert (or t1.absent (and (not r1.absent) (<= t1 r1))))
; given [a = b@2 ? 1 : 0] = max_y [a = b ? 1 : 0]
(assert (or (and t2.absent r1.absent) (and (not t2.absent) (not r1.absent) (= t2 r1))))
; given ¬(max_y [a = b ? 1 : 0] ≤ [a = b ? 1 : 0]) ∨ place 1 over y ≤ y
(assert (or (not (or r1.absent (and (not t1.absent) (<= r1 t1)))) (<= place-1-over-y lane.y)))
; given ¬(|y| ≤ x)
(assert (not (<= size.y lane.x)))
; given 0 ≤ place 1 over y
(assert (<= 0.0 place-1-over-y))
; given [a = b@1 ? 1 : 0] ≤ max_y [a = b ? 1 : 0]
(assert (or t3.absent (and (not r1.absent) (<= t3 r1))))
; given ¬(max_y [a = b ? 1 : 0] ≤ [a = b@1 ? 1 : 0]) ∨ place 1 over y ≤ x
(assert (or (not (or r1.absent (and (not t3.absent) (<= r1 t3)))) (<= place-1-over-y lane.x)))
; given 0 ≤ place 1 over y
(assert (<= 0.0 place-1-over-y))
; given [a = b@2 ? 1 : 0] ≤ max_y [a = b ? 1 : 0]
(assert (or t2.absent (and (not r1.absent) (<= t2 r1))))
; given ¬(max_y [a = b ? 1 : 0] ≤ [a = b@2 ? 1 : 0]) ∨ place 1 over y ≤ place 1 over y
(assert (or (not (or r1.absent (and (not t2.absent) (<= r1 t2)))) (<= place-1-over-y place-1-over-y)))
; the goal, denied
(assert (not (or (and (and (= a b-1) (<= place-1-over-y lane.x)) (= a b-1)) (and (not (and (= a b-1) (<= place-1-over-y lane.x))) (not (= a b-1))))))
(check-sat)
