"""The e-graph: terms and laws encoded for egglog, saturation under a budget, and why two terms are equal.

    budget       how much a derivation may do: seconds, counted by what searches consist of, the same on every machine
    congruence   from a heap of law instances to an explicit chain: congruence closure that remembers why things are
                 equal
    coordinates  laws that speak of coordinates, for an e-graph: there a coordinate, and what is made of coordinates
                 alone, is a leaf
    encoding     terms and laws as egglog's program text: constructors, facts, patterns, and a rule for each
                 direction of a law
    nodes        its nodes, the instances of laws that fired, the terms that nodes stand for
    saturate     encodes terms and laws, saturates in stages, decodes classes and the law instances that fired
"""
