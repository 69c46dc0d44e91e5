; law    recur-in-runs (prefix): A recurrence, in a run, is what the runs before leave times the gains since, and that within.
; says   recur_x(a, b)[x := p · |r| + r] → [0 < p ? recur_p(Π_r [p · |r| + r < |x| ? a[x := p · |r| + r] : 1], recur_r([p · |r| + r < |x| ? a[x := p · |r| + r] : 1], [p · |r| + r < |x| ? b[x := p · |r| + r] : 0])[r := |r| - 1])[p := p - 1] : 0] · scan[Π_r [p · |r| + r < |x| ? a[x := p · |r| + r] : 1]] + recur_r([p · |r| + r < |x| ? a[x := p · |r| + r] : 1], [p · |r| + r < |x| ? b[x := p · |r| + r] : 0]) if free(p, a), free(r, a), free(p, b), free(r, b), distinct(x, p), distinct(x, r), distinct(p, r)
; source stated in prefix.py
; case   both sides: the first lanes
;        at p = 0, r = 0, |p| = lanes of p after + 1, |r| = lanes of r after + 1, |x| = lanes of x after + 1
;        a@1 stands for a at x = 0
;        b@1 stands for b at x = 0
(set-logic QF_LRA)
(set-info :status unsat)
(declare-const a-1 Real)
(declare-const a-1.absent Bool)
; t1 is a@1 · 0
(define-fun t1 () Real (* a-1 0.0))
(declare-const b-1 Real)
(declare-const b-1.absent Bool)
; t2 is a@1 · 0 + b@1
(define-fun t2.absent () Bool (or a-1.absent b-1.absent))
(define-fun t2 () Real (+ t1 b-1))
; t3 is 0 · a@1
(define-fun t3 () Real (* 0.0 a-1))
; t4 is 0 · a@1 + (a@1 · 0 + b@1)
(define-fun t4.absent () Bool (or a-1.absent t2.absent))
(define-fun t4 () Real (+ t3 t2))
; the goal, denied
(assert (not (or (and t2.absent t4.absent) (and (not t2.absent) (not t4.absent) (= t2 t4)))))
(check-sat)
