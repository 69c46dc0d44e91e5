; law    where-after (prefix): That one more is at most one more is that a number is at most the other.
; says   [i · 1 + 1 ≤ j + 1 ? a : b] → [i ≤ j ? a : b]
; source stated in prefix.py
; case   both sides
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_LRA)
(set-info :status sat)
(declare-const i Real)
; t1 is i · 1
(define-fun t1 () Real (* i 1.0))
; t2 is i · 1 + 1
(define-fun t2 () Real (+ t1 1.0))
(declare-const j Real)
; t3 is j + 1
(define-fun t3 () Real (+ j 1.0))
(declare-const a Real)
(declare-const a.absent Bool)
(declare-const b Real)
(declare-const b.absent Bool)
; t4 is [i · 1 + 1 ≤ j + 1 ? a : b]
(define-fun t4.absent () Bool (ite (<= t2 t3) a.absent b.absent))
(define-fun t4 () Real (ite (<= t2 t3) a b))
; t5 is [i ≤ j ? a : b]
(define-fun t5.absent () Bool (ite (<= i j) a.absent b.absent))
(define-fun t5 () Real (ite (<= i j) a b))
(check-sat)
