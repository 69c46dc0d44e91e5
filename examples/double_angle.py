"""A law of your own: `napkin-eq prove examples/double_angle.py`, then `napkin-eq derive ... --rules
examples/double_angle.py`.

It is true and is proved for all values; change the 2.0 and it is refused with a counterexample.
"""

from napkin_eq.law import exp, law


@law("The exponential of a double is the square of the exponential.")
def exp_double(a):
    return exp(a * 2.0), exp(a) * exp(a)
