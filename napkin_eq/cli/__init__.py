"""The command line.

    files     every file of a folder or none of them
    main      `napkin-eq VERB`
    progress  how far long work is, on stderr; an interrupt takes what there is
    sizes     `derive --sizes`: several plans of a diagram whose sizes are left open
    sources   what is named: a diagram of the gallery, a file of data, or of a Python file a diagram or a function of
              PyTorch
    verbs     what each verb of the command line does; heavy modules are imported by the verb that needs them
"""
