; law    recur-in-runs (prefix): A recurrence, in a run, is what the runs before leave times the gains since, and that within.
; says   recur_x(a, b)[x := p · |r| + r] → [0 < p ? recur_p(Π_r [p · |r| + r < |x| ? a[x := p · |r| + r] : 1], recur_r([p · |r| + r < |x| ? a[x := p · |r| + r] : 1], [p · |r| + r < |x| ? b[x := p · |r| + r] : 0])[r := |r| - 1])[p := p - 1] : 0] · scan[Π_r [p · |r| + r < |x| ? a[x := p · |r| + r] : 1]] + recur_r([p · |r| + r < |x| ? a[x := p · |r| + r] : 1], [p · |r| + r < |x| ? b[x := p · |r| + r] : 0]) if free(p, a), free(r, a), free(p, b), free(r, b), distinct(x, p), distinct(x, r), distinct(p, r)
; source stated in prefix.py
; case   both sides: the next lane of p
;        at p = lane of p + 1, r = 0, |p| = lane of p + lanes of p after + 2, |r| = lanes of r after + 1, |x| = lanes of x after + 1
;        and lane of p · lanes of r after + lane of p + lanes of r after <= lanes of x after
;        and 1 <= lane of p
;        and lane of p · lanes of r after + lane of p + lanes of r after + 1 <= lanes of x after
;        prefix 1 over x@1 stands for recur_x(a, b) at x = lane of p · lanes of r after + lane of p + lanes of r after
;        prefix 2 over p@1 stands for recur_p(Π_r [p · |r| + r < |x| ? a[x := p · |r| + r] : 1], recur_r([p · |r| + r < |x| ? a[x := p · |r| + r] : 1], [p · |r| + r < |x| ? b[x := p · |r| + r] : 0])[r := |r| - 1]) at p = lane of p - 1
;        prefix 3 over r@1 stands for scan[Π_r [p · |r| + r < |x| ? a[x := p · |r| + r] : 1]] at p = lane of p, r = lanes of r after
;        prefix 4 over r@1 stands for recur_r([p · |r| + r < |x| ? a[x := p · |r| + r] : 1], [p · |r| + r < |x| ? b[x := p · |r| + r] : 0]) at p = lane of p, r = lanes of r after
;        a@1 stands for a at x = lane of p · lanes of r after + lane of p + lanes of r after + 1
;        b@1 stands for b at x = lane of p · lanes of r after + lane of p + lanes of r after + 1
;        prefix 1 over x@1 is prefix 2 over p@1 · prefix 3 over r@1 + prefix 4 over r@1, as the claim says at p = lane of p, r = lanes of r after
(set-logic QF_NRA)
(set-info :status unsat)
(declare-const a-1 Real)
(declare-const a-1.absent Bool)
(declare-const prefix-2-over-p-1 Real)
(declare-const prefix-2-over-p-1.absent Bool)
(declare-const prefix-3-over-r-1 Real)
(declare-const prefix-3-over-r-1.absent Bool)
; t1 is prefix 2 over p@1 · prefix 3 over r@1
(define-fun t1.absent () Bool (or prefix-2-over-p-1.absent prefix-3-over-r-1.absent))
(define-fun t1 () Real (* prefix-2-over-p-1 prefix-3-over-r-1))
(declare-const prefix-4-over-r-1 Real)
(declare-const prefix-4-over-r-1.absent Bool)
; t2 is prefix 2 over p@1 · prefix 3 over r@1 + prefix 4 over r@1
(define-fun t2.absent () Bool (or t1.absent prefix-4-over-r-1.absent))
(define-fun t2 () Real (+ t1 prefix-4-over-r-1))
; t3 is a@1 · (prefix 2 over p@1 · prefix 3 over r@1 + prefix 4 over r@1)
(define-fun t3.absent () Bool (or a-1.absent t2.absent))
(define-fun t3 () Real (* a-1 t2))
(declare-const b-1 Real)
(declare-const b-1.absent Bool)
; t4 is a@1 · (prefix 2 over p@1 · prefix 3 over r@1 + prefix 4 over r@1) + b@1
(define-fun t4.absent () Bool (or t3.absent b-1.absent))
(define-fun t4 () Real (+ t3 b-1))
; t5 is prefix 3 over r@1 · prefix 2 over p@1
(define-fun t5.absent () Bool (or prefix-3-over-r-1.absent prefix-2-over-p-1.absent))
(define-fun t5 () Real (* prefix-3-over-r-1 prefix-2-over-p-1))
; t6 is prefix 3 over r@1 · prefix 2 over p@1 + prefix 4 over r@1
(define-fun t6.absent () Bool (or t5.absent prefix-4-over-r-1.absent))
(define-fun t6 () Real (+ t5 prefix-4-over-r-1))
; t7 is (prefix 3 over r@1 · prefix 2 over p@1 + prefix 4 over r@1) · a@1
(define-fun t7.absent () Bool (or t6.absent a-1.absent))
(define-fun t7 () Real (* t6 a-1))
; t8 is a@1 · 0
(define-fun t8 () Real (* a-1 0.0))
; t9 is a@1 · 0 + b@1
(define-fun t9.absent () Bool (or a-1.absent b-1.absent))
(define-fun t9 () Real (+ t8 b-1))
; t10 is (prefix 3 over r@1 · prefix 2 over p@1 + prefix 4 over r@1) · a@1 + (a@1 · 0 + b@1)
(define-fun t10.absent () Bool (or t7.absent t9.absent))
(define-fun t10 () Real (+ t7 t9))
; the goal, denied
(assert (not (or (and t4.absent t10.absent) (and (not t4.absent) (not t10.absent) (= t4 t10)))))
(check-sat)
