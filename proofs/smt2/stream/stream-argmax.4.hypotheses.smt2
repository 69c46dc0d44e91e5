; law    stream-argmax (stream): A reduction may be walked in blocks, its accumulator resident.
; says   argmax_{x | c} a → fold[argmax_{x | c} a]
; source napkin-paper 2.2; stated in stream.py
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
; t2 is [max(a, b) = a ∧ (¬(max(a, b) = b) ∨ place of a ≤ place of b) ? place of a : place of b]
(define-fun t2 () Real (ite (and (or (and t1.absent a.absent) (and (not t1.absent) (not a.absent) (= t1 a))) (or (not (or (and t1.absent b.absent) (and (not t1.absent) (not b.absent) (= t1 b)))) (<= place-of-a place-of-b))) place-of-a place-of-b))
; t3 is max(b, a)
(define-fun t3.absent () Bool (and b.absent a.absent))
(define-fun t3 () Real (ite b.absent a (ite a.absent b (ite (>= b a) b a))))
; t4 is [max(b, a) = b ∧ (¬(max(b, a) = a) ∨ place of b ≤ place of a) ? place of b : place of a]
(define-fun t4 () Real (ite (and (or (and t3.absent b.absent) (and (not t3.absent) (not b.absent) (= t3 b))) (or (not (or (and t3.absent a.absent) (and (not t3.absent) (not a.absent) (= t3 a)))) (<= place-of-b place-of-a))) place-of-b place-of-a))
; given 0 ≤ place of a ∧ (¬(a = -∞) ∨ place of a = 0)
(assert (and (<= 0.0 place-of-a) (or (not a.absent) (= place-of-a 0.0))))
; given 0 ≤ place of b ∧ (¬(b = -∞) ∨ place of b = 0)
(assert (and (<= 0.0 place-of-b) (or (not b.absent) (= place-of-b 0.0))))
; given 0 ≤ place of d ∧ (¬(d = -∞) ∨ place of d = 0)
(assert (and (<= 0.0 place-of-d) (or (not d.absent) (= place-of-d 0.0))))
(check-sat)
