"""Proving laws: questions to solvers, verdicts, counterexamples, classes in floating point, and the theorems for Rocq.

    abduction       the weakest extra conditions under which it holds, and stated conditions that are stronger than
                    needed
    cache           small JSON files in the user's cache folder
    corpus          wrong laws and valid ones in `proofs/corpus/`, one family a file, on which the verifier itself is
                    tested
    counterexample  values on which a statement fails, written out subterm by subterm, and re-evaluated without any
                    prover
    float_class     the floating-point verdict of a law, beside the one over the reals: exact, reassociating with its
                    growth of error, or unsafe
    portfolio       what decides a claim
    prove           a law enters the e-graph only with a verdict "proved"
    query           a claim as one ground SMT-LIB 2 script, and the file that is kept of it
    rocq            proofs for Rocq's kernel, in proofs/rocq: compiled by coqc, then checked by the separate kernel
                    coqchk
    rocq_text       certificates and laws as text for Rocq: the data that the checker of proofs/rocq/Checker.v takes
    smt_archive     the folder of SMT-LIB scripts, proofs/smt2: written anew from the laws, and read back to have
                    every solver answer every file
    smtlib          SMT-LIB terms as text, what is trivial simplified as it is written
    verdict         what is known of a statement and what that rests on, and their memory between runs
    watch           long work that someone waits for: it says how far it is, and asks whether to go on
"""
