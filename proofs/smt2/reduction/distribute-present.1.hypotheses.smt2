; law    distribute-present (reduction): A present factor that does not vary along x moves out of a sum over x, be it of no lanes.
; says   Σ_x a · b = a · Σ_x b if free(x, a), finite(a)
; source napkin-paper 2.3; stated in reduction.py
; case   both sides
;        sums and maxima are in a normal form, by the lemmas sign, distribution, commutation, association, exponential, sum-of-both, factor, constant
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_NRA)
(set-info :status sat)
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const b Real)
(declare-const b.absent Bool)
; r1 is Σ_x b, of which nothing else is used
(declare-const r1 Real)
(declare-const r1.absent Bool)
; t1 is a · Σ_x b
(define-fun t1.absent () Bool (or a.absent r1.absent))
(define-fun t1 () Real (* a r1))
; given -∞ < a
(assert (not a.absent))
(check-sat)
