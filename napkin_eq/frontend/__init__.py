"""What people write: the library of operators, the named diagrams, and the ways in from files.

    gallery    named diagrams, each written with the library as a newcomer would write it; sizes are arguments, None
               leaves one symbolic
    library    what people write, spelled out in the small alphabet of terms by its plain definition
    pointwise  functions of values, place by place: each is a term over the operators of `operators.py`
    sources    a diagram by its name in the gallery, from a JSON file (data only) or from a user's own Python file
"""
