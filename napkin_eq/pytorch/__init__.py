"""PyTorch in and out: programs read as diagrams, operator by operator, and their regions replaced by kernels.

torch is loaded when a program is read.

    importer   `from_torch`: torch.export's graph, read by the table
    program    what was read: the diagram, its inputs and outputs in order, evaluated in float64
    reference  a term in PyTorch's own arithmetic, NaN and infinities as IEEE has them
"""
