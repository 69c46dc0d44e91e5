"""Laws and inferences: how they are stated, loaded and listed, and the obligations that prove them.

    axis_split  an axis cut into equal runs of lanes, counted by another axis; the last runs may be short or empty
    catalogue   what docs/laws.md and `napkin-eq laws` show, read off the registry and nothing else
    claim       what a prover is asked, "wherever the premises hold, the goal holds", and what each judgment means
    inference   which judgments hold of concrete terms: backward chaining over the registered inferences, and the
                facts that need none
    law         one statement each, from which come the rewrite, the proof obligation, the numeric test and the docs
                entry
    loader      runs the files of `rules/`, `proofs/`, `codegen/` and of a user's own folders, in name order
    obligation  the claims that together give a law, for all sizes, in terms alone
    shapes      terms in the form that inferences read: an e-graph infers of classes, a certificate of terms as they
                are written
"""
