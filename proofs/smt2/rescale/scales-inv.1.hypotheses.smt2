; law    scales-inv (rescale): The inverse of a running sum changes by the ratio of the sums.
; says   local(x, b), nonzero(Σ_x b) ⟹ scales(x, 1 / (Σ_x b), prev[Σ_x b] / (Σ_x b))
; source napkin-paper 2.4, normalised contraction; stated in rescale.py
; case   the factor of the first block
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_NRA)
(set-info :status sat)
(declare-const b Real)
(declare-const b.absent Bool)
; r1 is Σ_x b, of which nothing else is used
(declare-const r1 Real)
(declare-const r1.absent Bool)
; inv.1 stands for 1 / r1, and 0 for 0
(declare-const inv.1 Real)
(assert (=> (= r1 0.0) (= inv.1 0.0)))
(assert (=> (not (= r1 0.0)) (= (* inv.1 r1) 1.0)))
; t1 is 0 / (Σ_x b)
(define-fun t1 () Real (* 0.0 inv.1))
; given -∞ < Σ_x b ∧ ¬(Σ_x b = 0)
(assert (and (not r1.absent) (not (and (not r1.absent) (= r1 0.0)))))
(check-sat)
