; law    rescale (rescale): A sum whose body changes by a factor is carried along the stream, times that factor.
; says   Σ_x a → online[Σ_x a; acc ← acc · r] if scales(x, a, r), free(x, r)
; source napkin-paper 2.4; stated in rescale.py
; case   one more block: one more lane of x
;        a′ stands for a after the new block
;        r′ stands for r after the new block
;        acc 1 over x stands for Σ_x a′ over the lanes so far
;        acc 2 over x stands for Σ_x a over the lanes so far
;        a′⁺x stands for a′ in the new lane
;        a⁺x stands for a in the new lane
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_NRA)
(set-info :status sat)
(declare-const a.later Real)
(declare-const a.later.absent Bool)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const r.later Real)
(declare-const r.later.absent Bool)
; t1 is a · r′
(define-fun t1.absent () Bool (or a.absent r.later.absent))
(define-fun t1 () Real (* a r.later))
(declare-const a.later.next.x Real)
(declare-const a.later.next.x.absent Bool)
(declare-const a.next.x Real)
(declare-const a.next.x.absent Bool)
; t2 is a⁺x · r′
(define-fun t2.absent () Bool (or a.next.x.absent r.later.absent))
(define-fun t2 () Real (* a.next.x r.later))
(declare-const acc-1-over-x Real)
(declare-const acc-1-over-x.absent Bool)
(declare-const acc-2-over-x Real)
(declare-const acc-2-over-x.absent Bool)
; t3 is acc 2 over x · r′
(define-fun t3.absent () Bool (or acc-2-over-x.absent r.later.absent))
(define-fun t3 () Real (* acc-2-over-x r.later))
(declare-const size-of-x Real)
(declare-const lane-of-x Real)
; t4 is acc 1 over x + a′⁺x
(define-fun t4.absent () Bool (or acc-1-over-x.absent a.later.next.x.absent))
(define-fun t4 () Real (+ acc-1-over-x a.later.next.x))
; t5 is acc 2 over x + a⁺x
(define-fun t5.absent () Bool (or acc-2-over-x.absent a.next.x.absent))
(define-fun t5 () Real (+ acc-2-over-x a.next.x))
; t6 is (acc 2 over x + a⁺x) · r′
(define-fun t6.absent () Bool (or t5.absent r.later.absent))
(define-fun t6 () Real (* t5 r.later))
; given a′ = a · r′
(assert (or (and a.later.absent t1.absent) (and (not a.later.absent) (not t1.absent) (= a.later t1))))
; given a′⁺x = a⁺x · r′
(assert (or (and a.later.next.x.absent t2.absent) (and (not a.later.next.x.absent) (not t2.absent) (= a.later.next.x t2))))
; given acc 1 over x = acc 2 over x · r′
(assert (or (and acc-1-over-x.absent t3.absent) (and (not acc-1-over-x.absent) (not t3.absent) (= acc-1-over-x t3))))
; given 1 ≤ size of x
(assert (<= 1.0 size-of-x))
; given 0 ≤ lane of x
(assert (<= 0.0 lane-of-x))
; given ¬(size of x ≤ lane of x)
(assert (not (<= size-of-x lane-of-x)))
(check-sat)
