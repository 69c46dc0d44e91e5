"""`python -m napkin_eq.cli VERB`, the same as `napkin-eq VERB`."""

import sys

from napkin_eq.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
