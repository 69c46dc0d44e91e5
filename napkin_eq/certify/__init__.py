"""Certificates: the chain of steps from a diagram to its plan, written down and re-checked.

    asked        whether a theorem is about the diagram that was asked for: the one step before a certificate's first
    certificate  a self-contained JSON file that `check.py` re-validates without the engine
    chain        the chain from a diagram to the term that was placed: law instances that fired, and those that the
                 destination itself shows
    check        standard library only, nothing imported from the engine, to be read and copied alone
    recheck      solvers answer the scripts that it cites, and its laws' scripts are written anew
"""
