"""What the rules of PyTorch's operators build with, and the table that they are entered into.

    builder  values of a program: dimensions brought together, moved, folded and read elsewhere
    constants  what is known of a graph before its inputs are: the same number everywhere, no elements
    draws    random numbers of PyTorch's own stream: which word of which counter an element has
    edges    where PyTorch would give NaN or an infinity: which of these places are never reached
    extents  sizes that are symbols: one form of each, and what guards show of them
    identity  what a graph is, whatever its names: what is remembered of it is found by that
    masks    masks in their plainest form, so that laws about masks meet them
    narrow   numbers as narrow types hold them: float8's digits, whole numbers that wrap around
    partition  a graph of forward and backward in two, with little between them
    recomputed  masks and the like, computed where they are read
    rematerialized  what a backward computes once more instead of reading what the forward kept
    rolled   loops that a program was traced through, found again in their results
    spelled  functions of PyTorch that are written in others while a program is traced
    table    the table: a rule for each operator, and how a call's arguments are found
    wires    which dimensions are one axis, and into which axes a dimension is cut
"""
