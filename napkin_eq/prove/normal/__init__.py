"""Exact normal forms: what the provers calculate with, over the rationals.

    atoms       atoms of sums that hold reductions: numbers and facts, and what can be read off sums in them without
                knowing more
    functions   functions of numbers in the algebra of sums: inverses, exponentials, logarithms, whether a number is
                0 or more than 0
    lanes       inequalities that hold in every lane of a sum, so of the sums too: tangents of logarithms and
                exponentials, bounds that stand still, each weighted
    linearity   sums and maxima in a normal form by linearity, and the lemmas that it rests on, which a prover must
                have proved
    polynomial  exact sums of coefficient · monomial · e^exponent: what the provers calculate with
    reads       claims about values elsewhere, without the reads and the places of maxima that they hold, for provers
                of numbers
    rounding    floors and roundings in sums: what is whole moves out, and a floor inside a quotient of whole numbers is
                left out
    sums        the algebra of sums that hold reductions: products, sums over axes, maxima, facts about all lanes, in
                a normal form
    waves       sines and cosines in sums: of one sign of each argument, and products of them as sums of them
"""
