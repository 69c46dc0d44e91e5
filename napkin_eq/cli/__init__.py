"""The command line.

    files     every file of a folder or none of them
    main      `napkin-eq VERB`
    progress  how far long work is, on stderr; an interrupt takes what there is
    sizes     `derive --sizes`: several plans of a diagram whose sizes are left open
    verbs     what each verb of the command line does; heavy modules are imported by the verb that needs them
"""
