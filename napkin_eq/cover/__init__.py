"""A graph covered by kernels: which values are stored, and which kernel computes what, chosen as a whole.

    sections    a graph too large for one integer program, in parts between which few values pass; equal ones are
                covered once
    apart       bound axes named apart, where a stream would hold what was folded over an axis of its name
    exponents   sums by which weights are divided, put into the exponents of these
    graph       the values of a diagram, and its *cuts*: values that may be stored between kernels
    candidates  a *candidate* is a kernel that may be: what it stores, what it reads, what it computes for itself
    pieces      a *piece* is a candidate as a diagram of its own, arrays standing for what it reads
    bounds      a time that no kernel of a piece beats
    workers     processes in which pieces are priced, each with a limit of time and memory
    pricing     prices of pieces by the one search and the one cost model, remembered by shape up to names
    library     calls of a library as candidates: which contractions they do, their price; trusted, not proved
    program     the *cover*, the cheapest set of candidates, as an integer program with a proved bound
    assembly    a cover as one plan with one chain of steps: each kernel a lemma, each stored value an application of
                level
    choice      the cheapest cover of one graph: candidates offered, bounded, priced as far as needed, and chosen
    told        what is told of a cover: why values are stored, what each kernel saves, the next best cover
    covering    the whole job, from a diagram to its plan
"""
