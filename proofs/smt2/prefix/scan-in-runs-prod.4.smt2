; law    scan-in-runs-prod (prefix): A running product, in a run, is that of the runs before, whole, and that within the run.
; says   scan[Π_x a][x := p · |r| + r] → [0 < p ? scan[Π_p Π_r [p · |r| + r < |x| ? a[x := p · |r| + r] : 1]][p := p - 1] : 1] · scan[Π_r [p · |r| + r < |x| ? a[x := p · |r| + r] : 1]] if free(p, a), free(r, a), distinct(x, p), distinct(x, r), distinct(p, r)
; source stated in prefix.py
; case   both sides: the next lane of r
;        at p = lane of p, r = lane of r + 1, |p| = lane of p + lanes of p after + 1, |r| = lane of r + lanes of r after + 2, |x| = lanes of x after + 1
;        and lane of p · lane of r + lane of p · lanes of r after + 2 · lane of p + lane of r <= lanes of x after
;        and lane of p <= 0
;        and lanes of x after <= lane of p · lane of r + lane of p · lanes of r after + 2 · lane of p + lane of r
;        prefix 1 over x@1 stands for scan[Π_x a] at x = lane of p · lane of r + lane of p · lanes of r after + 2 · lane of p + lane of r
;        prefix 2 over r@1 stands for scan[Π_r [p · |r| + r < |x| ? a[x := p · |r| + r] : 1]] at p = lane of p, r = lane of r
;        prefix 1 over x@1 is 1 · prefix 2 over r@1, as the claim says at p = lane of p, r = lane of r
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const prefix-2-over-r-1 Real)
(declare-const prefix-2-over-r-1.absent Bool)
; t1 is 1 · prefix 2 over r@1
(define-fun t1 () Real (* 1.0 prefix-2-over-r-1))
; t2 is prefix 2 over r@1 · 1
(define-fun t2 () Real (* prefix-2-over-r-1 1.0))
; t3 is 1 · (prefix 2 over r@1 · 1)
(define-fun t3 () Real (* 1.0 t2))
; the goal, denied
(assert (not (or prefix-2-over-r-1.absent (and (not prefix-2-over-r-1.absent) (= t1 t3)))))
(check-sat)
