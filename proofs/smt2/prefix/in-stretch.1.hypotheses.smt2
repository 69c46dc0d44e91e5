; law    in-stretch (prefix): Of the stretches one has a lane.
; says   Σ_p [c ? 1 : 0] → 1 if stretch(p, x, c)
; source stated in prefix.py
; case   both sides
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const c Bool)
; t1 is [c ? 1 : 0]
(define-fun t1.absent () Bool (and (not c) c))
(define-fun t1 () Real (ite c 1.0 0.0))
; r1 is Σ_p [c ? 1 : 0], of which nothing else is used
(declare-const r1 Real)
(declare-const r1.absent Bool)
; given Σ_p [c ? 1 : 0] = 1
(assert (and (not r1.absent) (= r1 1.0)))
(check-sat)
