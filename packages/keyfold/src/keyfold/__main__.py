"""`python -m keyfold`, the same as `keyfold`."""

from __future__ import annotations

import sys

from keyfold.cli import main

if __name__ == "__main__":
    sys.exit(main())
