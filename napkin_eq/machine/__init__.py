"""Machines: what a GPU holds and charges, as data, and what a plan costs on it.

    calibrate         A GPU's hardware file from measurements: the JSON of the micro-benchmark, held against what the
                      file of that GPU states
    cost              what a plan costs on a GPU: its work read off the plan's own statements, priced by the
                      hardware's rates
    dependent_launch  where a kernel has to wait for the kernels before it, when a GPU starts it while they still run
    gpu               what a GPU holds and charges, as data; one TOML file per GPU in napkin_eq/machine/gpus/, or a
                      user's own
    l2_reuse          how often a grid's walk brings a buffer from memory anew, the cache holding what was read in
                      between or not
    plan_passes       the passes over an assembled plan, in order: each decides one thing, and writes it down where
                      printers read it
    term_cost         what work on a term takes before it is lowered, by the rates of the cost model: to rank forms of
                      one value
    tile_scheduler    how the blocks of a kernel whose groups of warps take one block after another come to programs:
                      in which order, dealt out or drawn
    warp_specialized  what a kernel costs whose warps share its work, so that copies, contractions and arithmetic run
                      beside each other
"""
