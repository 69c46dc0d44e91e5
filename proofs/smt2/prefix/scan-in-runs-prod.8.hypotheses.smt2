; law    scan-in-runs-prod (prefix): A running product, in a run, is that of the runs before, whole, and that within the run.
; says   scan[Π_x a][x := p · |r| + r] → [0 < p ? scan[Π_p Π_r [p · |r| + r < |x| ? a[x := p · |r| + r] : 1]][p := p - 1] : 1] · scan[Π_r [p · |r| + r < |x| ? a[x := p · |r| + r] : 1]] if free(p, a), free(r, a), distinct(x, p), distinct(x, r), distinct(p, r)
; source stated in prefix.py
; case   both sides: the first lanes
;        at p = 0, r = 0, |p| = lanes of p after + 1, |r| = lanes of r after + 1, |x| = lanes of x after + 1
;        a@1 stands for a at x = 0
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const a-1 Real)
(declare-const a-1.absent Bool)
; t1 is 1 · a@1
(define-fun t1 () Real (* 1.0 a-1))
(check-sat)
