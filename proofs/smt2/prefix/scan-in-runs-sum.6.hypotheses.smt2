; law    scan-in-runs-sum (prefix): A running sum, in a run, is that of the runs before, whole, and that within the run.
; says   scan[Σ_x a][x := p · |r| + r] → [0 < p ? scan[Σ_p Σ_r [p · |r| + r < |x| ? a[x := p · |r| + r] : 0]][p := p - 1] : 0] + scan[Σ_r [p · |r| + r < |x| ? a[x := p · |r| + r] : 0]] if free(p, a), free(r, a), distinct(x, p), distinct(x, r), distinct(p, r)
; source stated in prefix.py
; case   both sides: the next lane of p
;        at p = lane of p + 1, r = 0, |p| = lane of p + lanes of p after + 2, |r| = lanes of r after + 1, |x| = lanes of x after + 1
;        and lane of p · lanes of r after + lane of p + lanes of r after <= lanes of x after
;        and lane of p <= 0
;        and lane of p · lanes of r after + lane of p + lanes of r after + 1 <= lanes of x after
;        prefix 1 over x@1 stands for scan[Σ_x a] at x = lane of p · lanes of r after + lane of p + lanes of r after
;        prefix 2 over r@1 stands for scan[Σ_r [p · |r| + r < |x| ? a[x := p · |r| + r] : 0]] at p = lane of p, r = lanes of r after
;        a@1 stands for a at x = lane of p · lanes of r after + lane of p + lanes of r after + 1
;        prefix 1 over x@1 is 0 + prefix 2 over r@1, as the claim says at p = lane of p, r = lanes of r after
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const prefix-2-over-r-1 Real)
(declare-const prefix-2-over-r-1.absent Bool)
; t1 is 0 + prefix 2 over r@1
(define-fun t1 () Real (+ 0.0 prefix-2-over-r-1))
(declare-const a-1 Real)
(declare-const a-1.absent Bool)
; t2 is 0 + prefix 2 over r@1 + a@1
(define-fun t2.absent () Bool (or prefix-2-over-r-1.absent a-1.absent))
(define-fun t2 () Real (+ t1 a-1))
; t3 is prefix 2 over r@1 + a@1
(define-fun t3.absent () Bool (or prefix-2-over-r-1.absent a-1.absent))
(define-fun t3 () Real (+ prefix-2-over-r-1 a-1))
(check-sat)
