"""The language: what a diagram is made of, what its terms mean, and how they are written.

Importing it lets terms print themselves (notation).

    axis             the wires of a diagram, known by name, with a size that is a number or left open
    diagram          named outputs, each a term, over the inputs that they share
    dtypes           the types of numbers that arrays and tiles hold: one record each, from which every table over types
                     is made
    errors           errors that a user can act on: what was written, where, what was expected, what to try; and the
                     doors that raise them, for names and for files
    evaluate         what a term means, in float64: the oracle that laws, plans and kernels are held against
    interval         bounds on the present values of a term, from the facts of its inputs: `interval(term)` is (lo,
                     hi)
    json_form        data only, shared parts listed once, and safe to read from a stranger
    notation         terms as a mathematician writes them: infix, with as few parentheses as the reader needs
    numpy_semantics  the NumPy meaning of every term: a table by operator, a table by class, and frames for prefixes
                     of a stream
    operators        the scalar operators a `Map` box may hold: their arity and the kinds they take and give
    scope            whose accumulator and whose previous values a term speaks of
    spans            what `rename`, `split` and `merge` leave of it
    substitute       a coordinate along an axis gives way to another, down to the arrays, without capturing bound
                     axes
    term             a diagram as data
    waists           values between which a graph falls into parts
"""

from napkin_eq.lang import notation as notation
