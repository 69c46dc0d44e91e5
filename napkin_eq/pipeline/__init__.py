"""The pipeline: `derive` is the one page that shows all of it; beside it what is made of a derivation afterwards.

    asked       what `derive` was asked for, checked: the arguments, the laws that are chosen, and that each of them is
                proved
    compiled    plans compiled ahead of time, with no GPU, before they are written: what fails, does not fit or
                spills gives way to the next
    derivation  the derivation as users hold it: what was derived, with its certificate, its kernels as text, its
                numbers and its picture
    derive      the stages from a diagram to kernels, in the order in which they run
    front       the plans among which a derivation chooses, by predicted time and by error: those that no other plan
                is both faster and more accurate than
    function    a derivation as a function of tensors: an operator of `torch.library`, with the shapes that it
                gives and its gradient
    reference   what a term gives in PyTorch's own arithmetic: infinities and NaN as IEEE has them, on any device,
                with gradients
    report      the numbers of a derivation as data: what its kernels move and compute, how often they pass over an
                axis, what was tried
    sizes       plans for sizes that are known only when they run: a few plans of one diagram, and tests that choose
                among them
    text        a derivation told to a person: the diagram, each step with its law, the plan, what it costs and why
    top_k       the next best plans of a derivation, for measuring: the same term and kernels, other tiles, warps and
                buffers
    tree        a tree of tests of sizes that takes, at every sample, a plan that is nearly the fastest there
    tuned       the model's best few are timed on a GPU, and the fastest is kept in a file that others may ship
    unfused     the plan that there always is: the diagram as it is written, operator by operator, what each fold
                gives stored
    validate    running an emitted kernel against float64, within a bound computed from its term and its data (see
                rounding.py)
"""
