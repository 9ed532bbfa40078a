"""`python -m haltline` is the command line."""

import sys

from haltline.faces.cli import main

if __name__ == "__main__":
    sys.exit(main())
