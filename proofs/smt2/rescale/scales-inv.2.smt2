; law    scales-inv (rescale): The inverse of a running sum changes by the ratio of the sums.
; says   local(x, b), nonzero(Σ_x b) ⟹ scales(x, 1 / (Σ_x b), prev[Σ_x b] / (Σ_x b))
; source napkin-paper 2.4, normalised contraction; stated in rescale.py
; case   after a block
;        block 1 stands for Σ_x b over the new block alone
(set-logic QF_NRA)
(set-info :status unsat)
(declare-const b Real)
(declare-const b.absent Bool)
; r1 is Σ_x b, of which nothing else is used
(declare-const r1 Real)
(declare-const r1.absent Bool)
(declare-const block-1 Real)
(declare-const block-1.absent Bool)
; t1 is Σ_x b + block 1
(define-fun t1.absent () Bool (or r1.absent block-1.absent))
(define-fun t1 () Real (+ r1 block-1))
; inv.1 stands for 1 / (+ block-1 r1), and 0 for 0
(declare-const inv.1 Real)
(assert (=> (= (+ block-1 r1) 0.0) (= inv.1 0.0)))
(assert (=> (not (= (+ block-1 r1) 0.0)) (= (* inv.1 (+ block-1 r1)) 1.0)))
; inv.2 stands for 1 / r1, and 0 for 0
(declare-const inv.2 Real)
(assert (=> (= r1 (+ block-1 r1)) (= inv.2 inv.1)))
(assert (=> (= r1 0.0) (= inv.2 0.0)))
(assert (=> (not (= r1 0.0)) (= (* inv.2 r1) 1.0)))
; t2 is (Σ_x b) / (Σ_x b + block 1)
(define-fun t2.absent () Bool (or r1.absent t1.absent))
(define-fun t2 () Real (* r1 inv.1))
; t3 is 1 / (Σ_x b) · ((Σ_x b) / (Σ_x b + block 1))
(define-fun t3.absent () Bool (or r1.absent t2.absent))
(define-fun t3 () Real (* inv.2 t2))
; given -∞ < Σ_x b ∧ ¬(Σ_x b = 0)
(assert (and (not r1.absent) (not (and (not r1.absent) (= r1 0.0)))))
; given -∞ < Σ_x b + block 1 ∧ ¬(Σ_x b + block 1 = 0)
(assert (and (not t1.absent) (not (and (not t1.absent) (= t1 0.0)))))
; the goal, denied
(assert (not (or (and t1.absent t3.absent) (and (not t1.absent) (not t3.absent) (= inv.1 t3)))))
(check-sat)
