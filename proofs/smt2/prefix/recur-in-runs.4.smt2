; law    recur-in-runs (prefix): A recurrence, in a run, is what the runs before leave times the gains since, and that within.
; says   recur_x(a, b)[x := p · |r| + r] → [0 < p ? recur_p(Π_r [p · |r| + r < |x| ? a[x := p · |r| + r] : 1], recur_r([p · |r| + r < |x| ? a[x := p · |r| + r] : 1], [p · |r| + r < |x| ? b[x := p · |r| + r] : 0])[r := |r| - 1])[p := p - 1] : 0] · scan[Π_r [p · |r| + r < |x| ? a[x := p · |r| + r] : 1]] + recur_r([p · |r| + r < |x| ? a[x := p · |r| + r] : 1], [p · |r| + r < |x| ? b[x := p · |r| + r] : 0]) if free(p, a), free(r, a), free(p, b), free(r, b), distinct(x, p), distinct(x, r), distinct(p, r)
; source stated in prefix.py
; case   both sides: the next lane of r
;        at p = lane of p, r = lane of r + 1, |p| = lane of p + lanes of p after + 1, |r| = lane of r + lanes of r after + 2, |x| = lanes of x after + 1
;        and lane of p · lane of r + lane of p · lanes of r after + 2 · lane of p + lane of r <= lanes of x after
;        and lane of p <= 0
;        and lanes of x after <= lane of p · lane of r + lane of p · lanes of r after + 2 · lane of p + lane of r
;        prefix 1 over x@1 stands for recur_x(a, b) at x = lane of p · lane of r + lane of p · lanes of r after + 2 · lane of p + lane of r
;        prefix 2 over r@1 stands for scan[Π_r [p · |r| + r < |x| ? a[x := p · |r| + r] : 1]] at p = lane of p, r = lane of r
;        prefix 3 over r@1 stands for recur_r([p · |r| + r < |x| ? a[x := p · |r| + r] : 1], [p · |r| + r < |x| ? b[x := p · |r| + r] : 0]) at p = lane of p, r = lane of r
;        prefix 1 over x@1 is 0 · prefix 2 over r@1 + prefix 3 over r@1, as the claim says at p = lane of p, r = lane of r
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const prefix-2-over-r-1 Real)
(declare-const prefix-2-over-r-1.absent Bool)
; t1 is 0 · prefix 2 over r@1
(define-fun t1 () Real (* 0.0 prefix-2-over-r-1))
(declare-const prefix-3-over-r-1 Real)
(declare-const prefix-3-over-r-1.absent Bool)
; t2 is 0 · prefix 2 over r@1 + prefix 3 over r@1
(define-fun t2.absent () Bool (or prefix-2-over-r-1.absent prefix-3-over-r-1.absent))
(define-fun t2 () Real (+ t1 prefix-3-over-r-1))
; t3 is prefix 2 over r@1 · 1
(define-fun t3 () Real (* prefix-2-over-r-1 1.0))
; t4 is 0 · (prefix 2 over r@1 · 1)
(define-fun t4 () Real (* 0.0 t3))
; t5 is 1 · prefix 3 over r@1
(define-fun t5 () Real (* 1.0 prefix-3-over-r-1))
; t6 is 1 · prefix 3 over r@1 + 0
(define-fun t6 () Real (+ t5 0.0))
; t7 is 0 · (prefix 2 over r@1 · 1) + (1 · prefix 3 over r@1 + 0)
(define-fun t7.absent () Bool (or prefix-2-over-r-1.absent prefix-3-over-r-1.absent))
(define-fun t7 () Real (+ t4 t6))
; the goal, denied
(assert (not (or (and t2.absent t7.absent) (and (not t2.absent) (not t7.absent) (= t2 t7)))))
(check-sat)
