; law    scales-both (rescale): The changes of two factors multiply.
; says   scales(x, a, r), scales(x, b, s) ⟹ scales(x, a · b, r · s)
; source stated in rescale.py
; case   the factor of the first block
(set-logic QF_NRA)
(set-info :status unsat)
(declare-const r Real)
(declare-const r.absent Bool)
(declare-const s Real)
(declare-const s.absent Bool)
; t1 is r · s
(define-fun t1.absent () Bool (or r.absent s.absent))
(define-fun t1 () Real (* r s))
; given -∞ < r
(assert (not r.absent))
; given -∞ < s
(assert (not s.absent))
; the goal, denied
(assert (not (not t1.absent)))
(check-sat)
