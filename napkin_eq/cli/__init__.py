"""The command line.

    files  every file of a folder or none of them
    main   `napkin-eq VERB`
    verbs  what each verb of the command line does; heavy modules are imported by the verb that needs them
"""
