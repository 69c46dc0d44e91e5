"""PyTorch in and out: programs read as diagrams, operator by operator, and their regions replaced by kernels.

torch is loaded when a program is read.

    backend     `torch.compile(f, backend="napkin_eq")`, `explain_torch`, `optimize`
    calls       a region as it is called: an operator of torch.library on a GPU
    derive_one  one derivation in a process of its own, which can be ended
    edge_trial  kernels that are PyTorch's at edges too: guards taken out, tried on NaN, infinities and zeros
    exporting   torch.export's graph of a program, in the operators of the table
    flat        a program whose axes that always stand together are one, for its kernels
    importer    `from_torch`: an exported graph, read by the table
    kernels     a program as kernels: derived once, remembered on disk with its certificate, called with tensors
    measuring   regions timed on the GPU at hand: their kernels, and Inductor's, in turns
    naming      names that may stand in kernels, types, sizes, lines of source
    order       what is drawn and written: in the program's order, or taken apart where kernels draw
    program     what was read: the diagram, its inputs and outputs in order, its calls checked, evaluated in float64
    regions     which parts of a graph become kernels
    signature   a function whose annotations say what its tensors are, read without an example
    sizes       sizes that are symbols, read off what a region is given
"""
