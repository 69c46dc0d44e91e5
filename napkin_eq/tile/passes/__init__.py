"""Passes over the tile language: each from one plan or kernel to another that says more.

    bare_edges        one over 0 and the root of what is negative are the machine's own, not the language's numbers
    cache_hints       what a block reads again stays in the level-2 cache, what it reads for the last time, or
                      writes, makes room
    dead_statements   what no store depends on is left out
    fuse_accumulator  a contraction that another tile is added to starts from that tile: the matrix unit adds it, and
                      one accumulator is held where two were
    tma               which tiles of a plan the copy engine of a GPU can move, as boxes of an array, and the rings of
                      buffers that they pass through
    warp_roles        who computes what in a kernel that groups of warps share, how its tiles move and where they lie;
                      or why it cannot be shared
    whole_blocks      which masks whole blocks are done without, of axes whose length leaves a remainder
    warp_specialize   what runs beside what on a GPU whose copies and contractions are asynchronous: from one plan to
                      another that says so
"""
