; law    scan-in-runs-prod (prefix): A running product, in a run, is that of the runs before, whole, and that within the run.
; says   scan[Π_x a][x := p · |r| + r] → [0 < p ? scan[Π_p Π_r [p · |r| + r < |x| ? a[x := p · |r| + r] : 1]][p := p - 1] : 1] · scan[Π_r [p · |r| + r < |x| ? a[x := p · |r| + r] : 1]] if free(p, a), free(r, a), distinct(x, p), distinct(x, r), distinct(p, r)
; source stated in prefix.py
; case   both sides: the next lane of r
;        at p = lane of p, r = lane of r + 1, |p| = lane of p + lanes of p after + 1, |r| = lane of r + lanes of r after + 2, |x| = lanes of x after + 1
;        and lane of p · lane of r + lane of p · lanes of r after + 2 · lane of p + lane of r <= lanes of x after
;        and 1 <= lane of p
;        and lane of p · lane of r + lane of p · lanes of r after + 2 · lane of p + lane of r + 1 <= lanes of x after
;        prefix 1 over x@1 stands for scan[Π_x a] at x = lane of p · lane of r + lane of p · lanes of r after + 2 · lane of p + lane of r
;        prefix 2 over p@1 stands for scan[Π_p Π_r [p · |r| + r < |x| ? a[x := p · |r| + r] : 1]] at p = lane of p - 1
;        prefix 3 over r@1 stands for scan[Π_r [p · |r| + r < |x| ? a[x := p · |r| + r] : 1]] at p = lane of p, r = lane of r
;        a@1 stands for a at x = lane of p · lane of r + lane of p · lanes of r after + 2 · lane of p + lane of r + 1
;        prefix 1 over x@1 is prefix 2 over p@1 · prefix 3 over r@1, as the claim says at p = lane of p, r = lane of r
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_NRA)
(set-info :status sat)
(declare-const prefix-2-over-p-1 Real)
(declare-const prefix-2-over-p-1.absent Bool)
(declare-const prefix-3-over-r-1 Real)
(declare-const prefix-3-over-r-1.absent Bool)
; t1 is prefix 2 over p@1 · prefix 3 over r@1
(define-fun t1.absent () Bool (or prefix-2-over-p-1.absent prefix-3-over-r-1.absent))
(define-fun t1 () Real (* prefix-2-over-p-1 prefix-3-over-r-1))
(declare-const a-1 Real)
(declare-const a-1.absent Bool)
; t2 is prefix 2 over p@1 · prefix 3 over r@1 · a@1
(define-fun t2.absent () Bool (or t1.absent a-1.absent))
(define-fun t2 () Real (* t1 a-1))
; t3 is prefix 3 over r@1 · a@1
(define-fun t3.absent () Bool (or prefix-3-over-r-1.absent a-1.absent))
(define-fun t3 () Real (* prefix-3-over-r-1 a-1))
; t4 is prefix 2 over p@1 · (prefix 3 over r@1 · a@1)
(define-fun t4.absent () Bool (or prefix-2-over-p-1.absent t3.absent))
(define-fun t4 () Real (* prefix-2-over-p-1 t3))
(check-sat)
