"""Lowering: from a term that says its kernels, streams and stored values to statements of the tile language.

    builder      a value lands in the outermost block of statements where all it depends on is known, once
    elementwise  sums flattened, exponentials in base two, absence guarded where it may occur
    kernel       from a term and its tiles to the plan it says: reads Store, Group, Walk, Fold and Online nodes off a
                 term
    loop_bounds  which blocks a fold may skip, and in which blocks a mask holds everywhere
    merge_axes   axes that lie side by side in every array of a kernel are one, for tiles across them
    reductions   the loops that pass over an axis, their accumulators, contractions on the matrix unit
"""
