; law    stream-sum (stream): A reduction may be walked in blocks, its accumulator resident.
; says   Σ_{x | c} a → fold[Σ_{x | c} a]
; source napkin-paper 2.2; stated in stream.py
; case   sum is a commutative monoid
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const a Real)
(declare-const a.absent Bool)
; t1 is 0 + a
(define-fun t1 () Real (+ 0.0 a))
(check-sat)
