; law    stream-max (stream): A reduction may be walked in blocks, its accumulator resident.
; says   max_{x | c} a → fold[max_{x | c} a]
; source napkin-paper 2.2; stated in stream.py
; case   max is a commutative monoid
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const a Real)
(declare-const a.absent Bool)
(check-sat)
