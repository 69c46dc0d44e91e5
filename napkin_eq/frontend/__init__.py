"""What people write: the library of operators, the named diagrams, their text form, and the ways in from files.

    expressions  terms read from the notation that `str(term)` prints
    gallery      named diagrams, each written with the library as a newcomer would write it; sizes are arguments, None
                 leaves one symbolic
    join         axes that always stand side by side are one
    library      what people write, spelled out in the small alphabet of terms by its plain definition
    parsed       a diagram read from text: data only, never executed; each error names its line and column
    pointwise    functions of values, place by place: each is a term over the operators of `operators.py`
    reader       reads tokens one by one: what comes next, and what is said where it does not
    spelled      a diagram as the text that `parsed` reads
    tokens       that text cut into tokens, each with its place, and the error that names a place
"""
