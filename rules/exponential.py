"""Exponentials and logarithms, and the shift that makes an exponential safe."""

from napkin_eq.law import Map, Max, Sum, exp, inv, law, log, nonneg, safe, within


@law("An exponential turns a sum into a product.", both=True, floating="unsafe")
def exp_add(a, b):
    return exp(a + b), exp(a) * exp(b), within(safe(a), safe(b), safe(10.0 - a), safe(10.0 - b))


@law("An exponential turns a sign into an inverse.", both=True, floating="unsafe")
def exp_neg(a):
    return exp(-a), inv(exp(a)), within(safe(a), safe(10.0 - a))


@law("A logarithm turns a product into a sum.", both=True, floating="unsafe")
def log_mul(a, b):
    return (
        log(a * b),
        log(a) + log(b),
        nonneg(a),
        nonneg(b),
        within(safe(log(a) + log(b)), safe(10.0 - (log(a) + log(b)))),
    )


@law("A logarithm turns an inverse into a sign.", both=True)
def log_inv(a):
    return log(inv(a)), -log(a), nonneg(a)


@law("The logarithm undoes the exponential.")
def log_exp(a):
    return log(exp(a)), a


@law("The exponential undoes the logarithm.")
def exp_log(a):
    return exp(log(a)), a, nonneg(a)


@law("The square of a root is the number.")
def root_squared(a):
    return Map("sqrt", (a,)) * Map("sqrt", (a,)), a, nonneg(a)


@law("A sum of exponentials may be taken relative to their maximum.", stage="prepare", source="napkin-paper 2.4")
def shift(a, x):
    return Sum(x, exp(a)), exp(Max(x, a)) * Sum(x, exp(a - Max(x, a)))


@law(
    "A weighted sum of exponentials may be taken relative to their maximum.", stage="prepare", source="napkin-paper 2.4"
)
def shift_weighted(a, b, x):
    return Sum(x, exp(a) * b), exp(Max(x, a)) * Sum(x, exp(a - Max(x, a)) * b)


@law("An exponential takes in the inverse of a number.", stage="cited")
def exp_over(a, b):
    return exp(a) * inv(b), exp(a + -log(b)), nonneg(b)
