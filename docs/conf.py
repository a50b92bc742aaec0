"""How the documentation is built: `make docs`."""

from __future__ import annotations

import sys
from importlib import metadata
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "keyfold"
author = "The keyfold authors"
version = release = metadata.version("keyfold")

extensions = ["myst_parser", "reference", "systems", "advice"]
exclude_patterns = ["_build", "_ext"]
myst_enable_extensions = ["colon_fence", "deflist", "fieldlist"]
myst_heading_anchors = 3

html_theme = "furo"
html_title = "keyfold"
html_show_copyright = False
html_show_sphinx = False
