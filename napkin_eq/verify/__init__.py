"""Verification of plans: translation validation, tolerances and probes.

    miniature    the same statements over few blocks of small tiles, made by lowering its term again at other sizes
                 and tiles
    probe        a saturated e-graph says that terms are equal; a few of each class are evaluated and must be
    tolerance    what an output of a plan may be off by on given inputs: the least of three bounds, one of which
                 knows nothing of the plan
    translation  a plan is run against its diagram before anyone gets it, by ways that lowering does not share
"""
