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
; t1 is [max(-∞, a) = -∞ ∧ (¬(max(-∞, a) = a) ∨ 0 ≤ place of a) ? 0 : place of a]
(define-fun t1 () Real (ite (and a.absent (or (not (or a.absent (and (not a.absent) (= a a)))) (<= 0.0 place-of-a))) 0.0 place-of-a))
; given 0 ≤ place of a ∧ (¬(a = -∞) ∨ place of a = 0)
(assert (and (<= 0.0 place-of-a) (or (not a.absent) (= place-of-a 0.0))))
; given 0 ≤ place of b ∧ (¬(b = -∞) ∨ place of b = 0)
(assert (and (<= 0.0 place-of-b) (or (not b.absent) (= place-of-b 0.0))))
; given 0 ≤ place of d ∧ (¬(d = -∞) ∨ place of d = 0)
(assert (and (<= 0.0 place-of-d) (or (not d.absent) (= place-of-d 0.0))))
(check-sat)
