"""What PyTorch's operators mean: one rule each, spelled out in the language, in files by kind.

    arithmetic    two tensors: sums, products, quotients, powers, bounds
    backward      gradients that are operators of their own, and adding into places that data choose
    convolutions  convolutions: grouped, dilated, strided, transposed, and their gradients
    elementwise   what works place by place
    gathers       places that data choose, and what is counted
    logic         comparisons, masks and choices, types and constants
    losses        losses
    norms         normalisations
    pairs         complex numbers, as pairs of real ones
    pooling       pooling, and its gradients
    price         what PyTorch is taken to need for operators
    products      contractions
    reductions    folds over dimensions
    scans         folds in order, and orders
    views         views and other coordinates
"""
