"""Floating point: bounds on what terms and plans round, the inputs that show it, and forms that lose digits.

    accuracy       how accurate a plan or a term is, whatever its data: one figure, to choose among plans and to
                   refuse some
    compare        one output of a kernel held against its exact value and its bound; what a spoilt input must reach
    error_bound    how far a kernel may be from float64: a bound computed from its term and its data, with no
                   constant picked by hand
    matrix_unit    what the matrix unit makes of a product of float32, given whole or in parts
    ranges         where a computed value lies for certain, beside its distance from the exact one: exponentials,
                   what is summed and divided of them
    roundoff       its rule, from the values and the errors of its arguments; roundoffs and ranges of the number
                   types
    running_bound  a bound that runs along with a plan: every statement adds what it rounds, tile by tile, on the
                   very data of a run
    sample_inputs  families of inputs that break wrong kernels, stated over a diagram's inputs alone; nothing is
                   known of what it computes
    shared_errors  a computed value as its exact one, a polynomial in such errors, and what else it is off by
    stability      how much a form of a diagram loses to rounding that the diagram itself does not: bounds of both,
                   side by side, on small inputs
"""
