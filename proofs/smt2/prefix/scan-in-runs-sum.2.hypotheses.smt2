; law    scan-in-runs-sum (prefix): A running sum, in a run, is that of the runs before, whole, and that within the run.
; says   scan[Σ_x a][x := p · |r| + r] → [0 < p ? scan[Σ_p Σ_r [p · |r| + r < |x| ? a[x := p · |r| + r] : 0]][p := p - 1] : 0] + scan[Σ_r [p · |r| + r < |x| ? a[x := p · |r| + r] : 0]] if free(p, a), free(r, a), distinct(x, p), distinct(x, r), distinct(p, r)
; source stated in prefix.py
; case   both sides: the next lane of r
;        at p = lane of p, r = lane of r + 1, |p| = lane of p + lanes of p after + 1, |r| = lane of r + lanes of r after + 2, |x| = lanes of x after + 1
;        and lane of p · lane of r + lane of p · lanes of r after + 2 · lane of p + lane of r <= lanes of x after
;        and 1 <= lane of p
;        and lanes of x after <= lane of p · lane of r + lane of p · lanes of r after + 2 · lane of p + lane of r
;        prefix 1 over x@1 stands for scan[Σ_x a] at x = lane of p · lane of r + lane of p · lanes of r after + 2 · lane of p + lane of r
;        prefix 2 over p@1 stands for scan[Σ_p Σ_r [p · |r| + r < |x| ? a[x := p · |r| + r] : 0]] at p = lane of p - 1
;        prefix 3 over r@1 stands for scan[Σ_r [p · |r| + r < |x| ? a[x := p · |r| + r] : 0]] at p = lane of p, r = lane of r
;        prefix 1 over x@1 is prefix 2 over p@1 + prefix 3 over r@1, as the claim says at p = lane of p, r = lane of r
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const prefix-2-over-p-1 Real)
(declare-const prefix-2-over-p-1.absent Bool)
(declare-const prefix-3-over-r-1 Real)
(declare-const prefix-3-over-r-1.absent Bool)
; t1 is prefix 2 over p@1 + prefix 3 over r@1
(define-fun t1.absent () Bool (or prefix-2-over-p-1.absent prefix-3-over-r-1.absent))
(define-fun t1 () Real (+ prefix-2-over-p-1 prefix-3-over-r-1))
; t2 is prefix 3 over r@1 + 0
(define-fun t2 () Real (+ prefix-3-over-r-1 0.0))
; t3 is prefix 2 over p@1 + (prefix 3 over r@1 + 0)
(define-fun t3.absent () Bool (or prefix-2-over-p-1.absent prefix-3-over-r-1.absent))
(define-fun t3 () Real (+ prefix-2-over-p-1 t2))
(check-sat)
