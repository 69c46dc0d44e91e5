"""The fuzzer: random diagrams, held against everything that says what they mean, and made smaller.

    fuzz             random diagrams are derived, and everything that says what one means is held against everything
                     else
    random_diagrams  random diagrams, well-typed, over the whole alphabet of terms: what the fuzzer tries and what a
                     benchmark may take at real sizes
    shrink           a diagram made smaller while something stays true of it: what the fuzzer shows of a diagram that
                     it found
"""
