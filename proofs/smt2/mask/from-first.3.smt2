; law    from-first (mask): No lane at which a number is found comes before the first of them.
; says   a = b[y := x] ∧ argmax_y [a = b ? 1 : 0] ≤ x → a = b[y := x] if free(y, a)
; source stated in mask.py
; case   both sides where y is x
;        place 1 over x stands for argmax_x [a = b ? 1 : 0]
;        b@1 stands for b at x = place 1 over x
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const place-1-over-x Real)
(declare-const size.x Real)
(assert (>= size.x 1.0))
(declare-const a Real)
(declare-const b Real)
; t1 is [a = b ? 1 : 0]
(define-fun t1.absent () Bool (and (not (= a b)) (= a b)))
(define-fun t1 () Real (ite (= a b) 1.0 0.0))
; r1 is max_x [a = b ? 1 : 0], of which nothing else is used
(declare-const r1 Real)
(declare-const r1.absent Bool)
(declare-const b-1 Real)
; t2 is [a = b@1 ? 1 : 0]
(define-fun t2.absent () Bool (and (not (= a b-1)) (= a b-1)))
(define-fun t2 () Real (ite (= a b-1) 1.0 0.0))
(declare-const lane.x Real)
(assert (<= 0.0 lane.x))
(assert (<= (+ lane.x 1.0) size.x))
; given 0 ≤ place 1 over x
(assert (<= 0.0 place-1-over-x))
; given ¬(|x| ≤ place 1 over x)
(assert (not (<= size.x place-1-over-x)))
; given [a = b ? 1 : 0] ≤ max_x [a = b ? 1 : 0]
(assert (or t1.absent (and (not r1.absent) (<= t1 r1))))
; given [a = b@1 ? 1 : 0] = max_x [a = b ? 1 : 0]
(assert (or (and t2.absent r1.absent) (and (not t2.absent) (not r1.absent) (= t2 r1))))
; given ¬(max_x [a = b ? 1 : 0] ≤ [a = b ? 1 : 0]) ∨ place 1 over x ≤ x
(assert (or (not (or r1.absent (and (not t1.absent) (<= r1 t1)))) (<= place-1-over-x lane.x)))
; given 0 ≤ place 1 over x
(assert (<= 0.0 place-1-over-x))
; given [a = b@1 ? 1 : 0] ≤ max_x [a = b ? 1 : 0]
(assert (or t2.absent (and (not r1.absent) (<= t2 r1))))
; given ¬(max_x [a = b ? 1 : 0] ≤ [a = b@1 ? 1 : 0]) ∨ place 1 over x ≤ place 1 over x
(assert (or (not (or r1.absent (and (not t2.absent) (<= r1 t2)))) (<= place-1-over-x place-1-over-x)))
; the goal, denied
(assert (not (or (and (and (= a b) (<= place-1-over-x lane.x)) (= a b)) (and (not (and (= a b) (<= place-1-over-x lane.x))) (not (= a b))))))
(check-sat)
