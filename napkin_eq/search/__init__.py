"""The search: the cheapest terms of an e-graph, what they store, their tiles, and the plan of all outputs.

    assemble    the kernels of a diagram's outputs put together as one plan: numbered, their arrays named, with notes
                for the reader
    candidates  the stages of a search that give plans: saturate, extract, place; and which axis to cut where
                processors would idle
    data_masks  masks that compare what is read: the first and the last lane that they hold in bound folds
    derivation  the plan, the term it was read off, each step from the diagram to it, and the costs
    extract     the cheapest terms that an e-graph holds, by what their work costs when shared work counts once
    fold_order  folds along several axes in the order in which arrays lie in memory
    forms       forms that extraction keeps of a class: which, in what order, how many passes they take, and which of
                them no loop gives
    job         what a search is given: the outputs to derive, what their plan is made for, and the laws that it may use
    least       a time that no tiles of a kernel beat, so that choices which cannot win are not lowered
    moments     squares about a mean over several axes, taken in parts: each part's about its own mean, and the means'
                own
    placement   which values a plan stores and how each kernel's output is partitioned, by the full cost model
    prefixes    sums over the lanes up to one, cut into stretches: the earlier stretches whole, and what is in the
                lane's own
    runs        prefix folds and recurrences along long axes of few rows, in runs: what the runs before come to, and
                what is in the lane's own
    tiling      solved under the capacities of the hardware, by pricing every choice worth considering
    unfolded    copies undone: what is read under other names, or along parts of an axis, is computed so at once
"""
