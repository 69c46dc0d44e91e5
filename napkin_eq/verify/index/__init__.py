"""Index proofs: questions to a solver about the coordinates of kernels, for every size at once.

    loops            questions about the loops of a kernel: which blocks are walked, and whether each is folded once
    masks            questions about the lanes that a fold takes: masked ones contribute nothing, all others do, and
                     what is read is of the lane that is folded
    program_order    questions about how the blocks of a grid come to programs: each block to one program, in one
                     turn of it
    prove_index      questions to a solver about the coordinates of a kernel, read off its plan, for every size at
                     once
    read_printed     what a printed kernel says before its first block, read as integers: how blocks are numbered,
                     and which ones a number means
    smt_coordinates  coordinates of a kernel as SMT-LIB over integers: where blocks start, which lane is meant, what
                     masks and indices say there
"""
