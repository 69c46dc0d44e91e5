"""The model on a napkin: what a plan moves and holds, in closed form, as the paper (arXiv 2412.03317) writes it.

Everything is read off the plan's own statements (`traffic`); nothing here knows which diagram it looks at. SymPy is
loaded by who asks for a model.

    posynomial     sums of products of powers of tile sizes
    formula        expressions as a person writes them
    traffic        H and the columns of M, read off a kernel
    optimum        H*(a, M) in closed form, and its regimes
    tried          the least transfers by search
    levels         levels, bytes, caches, clusters, thresholds
    variables      what a kernel's loop works on
    configuration  what fits a processor, and what binds
    processor      registers, warpgroups and clocks of a processor
    model          a derivation's kernels; what assumptions cost
    measured       what an H200 took
    data           the model as data
    told           the model as text
    text           tables and paragraphs of it

H         transfers: values loaded into a level and saved from it, over all groups
M         memory: values that a level holds for one group; its capacity where it stands in a formula of the optimum
K         compute: FLOP of the contractions, two for each product that is added
group     g_a: so much of axis a is one core's; what lacks the axis is sent again to each of the a / g_a groups
stream    s_x: so much of axis x is at hand at a time; a stream costs memory, and no transfers
column    what is at hand together at one place of the program; M is at least the largest column
H*(a, M)  the least H over group sizes with M kept to: sum of alpha(a) M^-beta, a power form
beta      0: moved once whatever the memory; 1/2: square tiles; 1: sent to every group
level     a memory between the top one and the cores: its capacity, and the rate into it
q         bytes a value; halving it divides a term of the power form by 2^(1 + beta)
cluster   N cores that hand each other what one of them was sent
warpgroup 128 threads that issue a wide contraction together: the unit in which a block's rows come in the configuration
"""
