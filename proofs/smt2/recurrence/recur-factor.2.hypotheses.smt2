; law    recur-factor (recurrence): A factor that does not vary along x moves out of a recurrence along x.
; says   recur_x(a, f · b) → f · recur_x(a, b) if free(x, f)
; source stated in recurrence.py
; case   both sides: the next lane of x
;        prefix 1 over x stands for recur_x(a, f · b) in the lane before
;        prefix 2 over x stands for recur_x(a, b) in the lane before
; hypotheses alone: if no values met them, the proof would say nothing
(set-logic QF_NRA)
(set-info :status sat)
(declare-const prefix-1-over-x Real)
(declare-const prefix-1-over-x.absent Bool)
(declare-const f Real)
(declare-const f.absent Bool)
(declare-const prefix-2-over-x Real)
(declare-const prefix-2-over-x.absent Bool)
; t1 is f · prefix 2 over x
(define-fun t1.absent () Bool (or f.absent prefix-2-over-x.absent))
(define-fun t1 () Real (* f prefix-2-over-x))
(declare-const a Real)
(declare-const a.absent Bool)
; t2 is a · prefix 1 over x
(define-fun t2.absent () Bool (or a.absent prefix-1-over-x.absent))
(define-fun t2 () Real (* a prefix-1-over-x))
(declare-const b Real)
(declare-const b.absent Bool)
; t3 is f · b
(define-fun t3.absent () Bool (or f.absent b.absent))
(define-fun t3 () Real (* f b))
; t4 is a · prefix 1 over x + f · b
(define-fun t4.absent () Bool (or t2.absent t3.absent))
(define-fun t4 () Real (+ t2 t3))
; t5 is a · prefix 2 over x
(define-fun t5.absent () Bool (or a.absent prefix-2-over-x.absent))
(define-fun t5 () Real (* a prefix-2-over-x))
; t6 is a · prefix 2 over x + b
(define-fun t6.absent () Bool (or t5.absent b.absent))
(define-fun t6 () Real (+ t5 b))
; t7 is f · (a · prefix 2 over x + b)
(define-fun t7.absent () Bool (or f.absent t6.absent))
(define-fun t7 () Real (* f t6))
; given prefix 1 over x = f · prefix 2 over x
(assert (or (and prefix-1-over-x.absent t1.absent) (and (not prefix-1-over-x.absent) (not t1.absent) (= prefix-1-over-x t1))))
(check-sat)
