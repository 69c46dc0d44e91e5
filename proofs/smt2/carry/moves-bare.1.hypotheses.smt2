; law    moves-bare (carry): A sum of differences from a running value moves by the step of that value for each lane.
; says   local(x, b), along(x, b), free(x, r), settled(x, r), finite(b) ⟹ moves(x, b - r, 1, (prev[r] - r) · prev[|x|])
; source stated in carry.py
; case   the step of the first block
;        r° stands for r before the first block
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const b Real)
(declare-const b.absent Bool)
(declare-const r Real)
(declare-const r.absent Bool)
(declare-const r.before Real)
(declare-const r.before.absent Bool)
; t1 is -r
(define-fun t1 () Real (- r))
; t2 is r° - r
(define-fun t2.absent () Bool (or r.before.absent r.absent))
(define-fun t2 () Real (+ r.before t1))
; t3 is (r° - r) · 0
(define-fun t3 () Real (* t2 0.0))
; given -∞ < b
(assert (not b.absent))
; given -∞ < r
(assert (not r.absent))
; given -∞ < r°
(assert (not r.before.absent))
(check-sat)
