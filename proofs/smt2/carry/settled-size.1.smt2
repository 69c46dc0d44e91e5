; law    settled-size (carry): A number of lanes is present, and 0 before the first.
; says   always ⟹ settled(x, |x|)
; source stated in carry.py
; case   before the first block
(set-logic QF_LRA)
(set-info :status unsat)
; the goal, denied
(assert false)
(check-sat)
