; law    stream-prod (stream): A reduction may be walked in blocks, its accumulator resident.
; says   Π_{x | c} a → fold[Π_{x | c} a]
; source napkin-paper 2.2; stated in stream.py
; case   prod is a commutative monoid
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_NRA)
(set-info :status sat)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const b Real)
(declare-const b.absent Bool)
; t1 is a · b
(define-fun t1.absent () Bool (or a.absent b.absent))
(define-fun t1 () Real (* a b))
; t2 is b · a
(define-fun t2.absent () Bool (or b.absent a.absent))
(define-fun t2 () Real (* b a))
(check-sat)
