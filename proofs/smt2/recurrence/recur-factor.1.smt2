; law    recur-factor (recurrence): A factor that does not vary along x moves out of a recurrence along x.
; says   recur_x(a, f · b) → f · recur_x(a, b) if free(x, f)
; source stated in recurrence.py
; case   both sides: the first lane of x
(set-logic QF_NRA)
(set-info :status unsat)
(declare-const a Real)
(declare-const a.absent Bool)
; t1 is a · 0
(define-fun t1 () Real (* a 0.0))
(declare-const f Real)
(declare-const f.absent Bool)
(declare-const b Real)
(declare-const b.absent Bool)
; t2 is f · b
(define-fun t2.absent () Bool (or f.absent b.absent))
(define-fun t2 () Real (* f b))
; t3 is a · 0 + f · b
(define-fun t3.absent () Bool (or a.absent t2.absent))
(define-fun t3 () Real (+ t1 t2))
; t4 is a · 0 + b
(define-fun t4.absent () Bool (or a.absent b.absent))
(define-fun t4 () Real (+ t1 b))
; t5 is f · (a · 0 + b)
(define-fun t5.absent () Bool (or f.absent t4.absent))
(define-fun t5 () Real (* f t4))
; the goal, denied
(assert (not (or (and t3.absent t5.absent) (and (not t3.absent) (not t5.absent) (= t3 t5)))))
(check-sat)
