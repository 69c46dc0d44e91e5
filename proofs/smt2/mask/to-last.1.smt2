; law    to-last (mask): No lane at which a number is found comes after the last of them.
; says   a = b[y := x] ∧ (x ≤ argmax_y [a = b ? y : -∞] ∨ |y| ≤ x) → a = b[y := x] if free(y, a)
; source stated in mask.py
; case   both sides
;        place 1 over y stands for argmax_y [a = b ? y : -∞]
;        b at place 1 over y stands for b there
;        b@1 stands for b at y = x
(set-logic ALL)
(set-info :status unsat)
(declare-const place-1-over-y Int)
(declare-const size.y Int)
(assert (>= size.y 1))
(declare-const a Int)
(declare-const b Int)
(declare-const lane.y Int)
(assert (<= 0 lane.y))
(assert (<= (+ lane.y 1) size.y))
; t1 is [a = b ? y : -∞]
(define-fun t1.absent () Bool (not (= a b)))
(define-fun t1 () Real (ite (= a b) (to_real lane.y) 0.0))
; r1 is max_y [a = b ? y : -∞], of which nothing else is used
(declare-const r1 Real)
(declare-const r1.absent Bool)
(declare-const b-at-place-1-over-y Int)
; t2 is [a = b at place 1 over y ? place 1 over y : -∞]
(define-fun t2.absent () Bool (not (= a b-at-place-1-over-y)))
(define-fun t2 () Real (ite (= a b-at-place-1-over-y) (to_real place-1-over-y) 0.0))
(declare-const b-1 Int)
(declare-const lane.x Int)
(assert (<= 0 lane.x))
; t3 is |y| - 1
(define-fun t3 () Int (+ size.y (- 1)))
; t4 is min(x, |y| - 1)
(define-fun t4 () Int (ite (<= lane.x t3) lane.x t3))
; t5 is max(0, min(x, |y| - 1))
(define-fun t5 () Int (ite (>= 0 t4) 0 t4))
; t6 is [a = b@1 ? max(0, min(x, |y| - 1)) : -∞]
(define-fun t6.absent () Bool (not (= a b-1)))
(define-fun t6 () Real (ite (= a b-1) (to_real t5) 0.0))
; given 0 ≤ place 1 over y
(assert (<= 0 place-1-over-y))
; given ¬(|y| ≤ place 1 over y)
(assert (not (<= size.y place-1-over-y)))
; given [a = b ? y : -∞] ≤ max_y [a = b ? y : -∞]
(assert (or t1.absent (and (not r1.absent) (<= t1 r1))))
; given [a = b at place 1 over y ? place 1 over y : -∞] = max_y [a = b ? y : -∞]
(assert (or (and t2.absent r1.absent) (and (not t2.absent) (not r1.absent) (= t2 r1))))
; given ¬(max_y [a = b ? y : -∞] ≤ [a = b ? y : -∞]) ∨ place 1 over y ≤ y
(assert (or (not (or r1.absent (and (not t1.absent) (<= r1 t1)))) (<= place-1-over-y lane.y)))
; given 0 ≤ place 1 over y
(assert (<= 0 place-1-over-y))
; given [a = b@1 ? max(0, min(x, |y| - 1)) : -∞] ≤ max_y [a = b ? y : -∞]
(assert (or t6.absent (and (not r1.absent) (<= t6 r1))))
; given [a = b at place 1 over y ? place 1 over y : -∞] = max_y [a = b ? y : -∞]
(assert (or (and t2.absent r1.absent) (and (not t2.absent) (not r1.absent) (= t2 r1))))
; given ¬(max_y [a = b ? y : -∞] ≤ [a = b@1 ? max(0, min(x, |y| - 1)) : -∞]) ∨ place 1 over y ≤ max(0, min(x, |y| - 1))
(assert (or (not (or r1.absent (and (not t6.absent) (<= r1 t6)))) (<= place-1-over-y t5)))
; the goal, denied
(assert (not (or (and (and (= a b-1) (or (<= lane.x place-1-over-y) (<= size.y lane.x))) (= a b-1)) (and (not (and (= a b-1) (or (<= lane.x place-1-over-y) (<= size.y lane.x)))) (not (= a b-1))))))
(check-sat)
