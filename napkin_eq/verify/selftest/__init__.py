"""The verifier verified: forged certificates and broken kernels, made by rule, that must be refused.

    anywhere        laws at random places of random terms, over the whole alphabet: what is accepted must be true
    forgeries       forged certificates, made by rule out of good ones and sealed anew: every one must be refused
    ill_formed      certificates in which one thing that the checker asks of their parts is broken
    mutate_lanes    mistakes with the tiles that are walked and the lanes that count: parts of loops, bounds of
                    masks, what is put into masked lanes
    mutate_numbers  wrong operators and factors, too few bits, what is loaded from where
    mutate_running  references that do not move or move alone, accumulators rescaled wrongly or started from a wrong
                    value
    mutation        how a mutation of a plan is stated: as a change of statements, whatever they compute, with what
                    they are to each other
    mutations       each takes a plan and returns one that has a mistake which people make, or None where it has no
                    place for it
    one_rule        certificates that one rule of the checker alone refuses, and good ones that a stricter rule would
    samples         good certificates, small, that use every rule of the checker: what must be accepted, and what
                    forgeries are made of
    score           broken kernels that the numeric check must reject, and how many it does: `score()`
    selftest        how many laws of the corpus it judges rightly, how many forged certificates it refuses and broken
                    kernels it catches
"""
