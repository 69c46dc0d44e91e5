"""The explorer: the report's page live, on this machine. What is written there is read in processes beside the server.

    state    what a page asks for, checked: a diagram as text, sizes, a type, a GPU, the laws left out
    worker   reads and derives what is asked for, in a process of its own: lines of JSON in, lines of JSON out
    workers  the processes: a limit of time each, a killed one replaced, what was derived kept
    guard    who may ask: a Host and an Origin of ours, bodies of a bounded size; what the browser may load
    server   the pages and their addresses
"""
