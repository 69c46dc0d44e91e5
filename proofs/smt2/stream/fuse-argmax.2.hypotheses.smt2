; law    fuse-argmax (stream): A fold may share its pass over the axis with others.
; says   fold[argmax_{x | c} a] → fused[argmax_{x | c} a]
; source napkin-paper 2.3; stated in stream.py
; case   argmax is a commutative monoid of pairs
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const place-of-a Real)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const place-of-b Real)
(declare-const b Real)
(declare-const b.absent Bool)
(declare-const place-of-d Real)
(declare-const d Real)
(declare-const d.absent Bool)
; t1 is max(a, b)
(define-fun t1.absent () Bool (and a.absent b.absent))
(define-fun t1 () Real (ite a.absent b (ite b.absent a (ite (>= a b) a b))))
; t2 is max(max(a, b), d)
(define-fun t2.absent () Bool (and t1.absent d.absent))
(define-fun t2 () Real (ite t1.absent d (ite d.absent t1 (ite (>= t1 d) t1 d))))
; t3 is [max(a, b) = a ∧ (¬(max(a, b) = b) ∨ place of a ≤ place of b) ? place of a : place of b]
(define-fun t3 () Real (ite (and (or (and t1.absent a.absent) (and (not t1.absent) (not a.absent) (= t1 a))) (or (not (or (and t1.absent b.absent) (and (not t1.absent) (not b.absent) (= t1 b)))) (<= place-of-a place-of-b))) place-of-a place-of-b))
; t4 is [max(max(a, b), d) = max(a, b) ∧ (¬(max(max(a, b), d) = d) ∨ [max(a, b) = a ∧ (¬(max(a, b) = b) ∨ place of a ≤ place of b) ? place of a : place of b] ≤ place of d) ? [max(a, b) = a ∧ (¬(max(a, b) = b) ∨ place of a ≤ place of b) ? place of a : place of b] : place of d]
(define-fun t4 () Real (ite (and (or (and t2.absent t1.absent) (and (not t2.absent) (not t1.absent) (= t2 t1))) (or (not (or (and t2.absent d.absent) (and (not t2.absent) (not d.absent) (= t2 d)))) (<= t3 place-of-d))) t3 place-of-d))
; t5 is max(b, d)
(define-fun t5.absent () Bool (and b.absent d.absent))
(define-fun t5 () Real (ite b.absent d (ite d.absent b (ite (>= b d) b d))))
; t6 is max(a, max(b, d))
(define-fun t6.absent () Bool (and a.absent t5.absent))
(define-fun t6 () Real (ite a.absent t5 (ite t5.absent a (ite (>= a t5) a t5))))
; t7 is [max(b, d) = b ∧ (¬(max(b, d) = d) ∨ place of b ≤ place of d) ? place of b : place of d]
(define-fun t7 () Real (ite (and (or (and t5.absent b.absent) (and (not t5.absent) (not b.absent) (= t5 b))) (or (not (or (and t5.absent d.absent) (and (not t5.absent) (not d.absent) (= t5 d)))) (<= place-of-b place-of-d))) place-of-b place-of-d))
; t8 is [max(a, max(b, d)) = a ∧ (¬(max(a, max(b, d)) = max(b, d)) ∨ place of a ≤ [max(b, d) = b ∧ (¬(max(b, d) = d) ∨ place of b ≤ place of d) ? place of b : place of d]) ? place of a : [max(b, d) = b ∧ (¬(max(b, d) = d) ∨ place of b ≤ place of d) ? place of b : place of d]]
(define-fun t8 () Real (ite (and (or (and t6.absent a.absent) (and (not t6.absent) (not a.absent) (= t6 a))) (or (not (or (and t6.absent t5.absent) (and (not t6.absent) (not t5.absent) (= t6 t5)))) (<= place-of-a t7))) place-of-a t7))
; given 0 ≤ place of a ∧ (¬(a = -∞) ∨ place of a = 0)
(assert (and (<= 0.0 place-of-a) (or (not a.absent) (= place-of-a 0.0))))
; given 0 ≤ place of b ∧ (¬(b = -∞) ∨ place of b = 0)
(assert (and (<= 0.0 place-of-b) (or (not b.absent) (= place-of-b 0.0))))
; given 0 ≤ place of d ∧ (¬(d = -∞) ∨ place of d = 0)
(assert (and (<= 0.0 place-of-d) (or (not d.absent) (= place-of-d 0.0))))
(check-sat)
