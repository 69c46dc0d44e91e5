"""The tile language: what a kernel does, tile by tile, and what can be read off it.

    accesses       how the elements of a load or a store lie in memory
    boxes          what a plan says of the tiles that the copy engine of a GPU moves: their descriptors, their shared
                   memory, and what is left to pointers
    compile_ahead  compiles an emitted file ahead of time, with no GPU, and reports what people ask: registers,
                   spills, shared memory
    expected       what is expected of sizes that are symbols while a plan is sought: about how large they are, and
                   what they never pass
    guards         several plans of one diagram whose sizes are known only when it runs: which is taken, as a tree of
                   tests of sizes
    identifiers    what the printers of kernels and of launchers agree on, and how clashes are avoided
    ir             what a kernel does, tile by tile
    liveness       which tiles of a kernel are alive together: what its registers must hold where they hold the most
    places         places of arrays, and what masks say of them: bounds, and whether one lies inside an axis wherever
                   the masks hold that are known
    printers       the door to the printers of the plan language: the files of `codegen/`, loaded when first asked
                   for
    resources      what a block takes of its processor: shared memory and registers, read off a kernel's statements
                   with its tiles left open
    stream_facts   what a term says that is cut into kernels and streams: a kernel's parts, the passes over an axis,
                   the roles of output axes
    verify_ir      what every kernel must keep to, whatever it computes, told of its statements alone
"""
