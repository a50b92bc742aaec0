"""How the documentation is built: `make docs`."""

from __future__ import annotations

import sys
from importlib import metadata
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "keyfold"
author = "The keyfold authors"
version = release = metadata.version("keyfold")

extensions = ["myst_parser", "look", "reference", "advice", "systems"]
# Reports are sections of the systems' pages; decisions are read in the repository.
exclude_patterns = ["_build", "_ext", "_templates", "advice", "scale", "adr/0*", "adr/template.md"]
myst_enable_extensions = ["colon_fence", "deflist", "fieldlist"]
myst_heading_anchors = 3

# Colours come from keyfold.css.
pygments_style = pygments_dark_style = "bw"

html_theme = "furo"
html_title = "keyfold"
html_favicon = "_static/favicon.svg"
html_static_path = ["_static"]
templates_path = ["_templates"]
html_css_files = ["keyfold.css"]
html_js_files = ["keyfold.js"]
html_sidebars = {"**": ["sidebar/navigation.html"]}
html_search_scorer = str(Path(__file__).parent / "_static" / "scorer.js")
html_show_sourcelink = False
html_theme_options = {
    "light_css_variables": {
        "font-stack": 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif',
        "font-stack--monospace": (
            'ui-monospace, "SF Mono", "Cascadia Code", Menlo, Consolas, monospace'
        ),
        "color-background-primary": "#f7f7f4",
        "color-background-secondary": "#ffffff",
        "color-foreground-primary": "#1a1b1f",
        "color-foreground-secondary": "#585b64",
        "color-foreground-muted": "#62656d",
        "color-brand-primary": "#4146c4",
        "color-brand-content": "#4146c4",
        "color-brand-visited": "#4146c4",
    },
    "dark_css_variables": {
        "color-background-primary": "#111215",
        "color-background-secondary": "#17181c",
        "color-foreground-primary": "#e8e9ec",
        "color-foreground-secondary": "#a5a9b2",
        "color-foreground-muted": "#8e939d",
        "color-brand-primary": "#a3a9ff",
        "color-brand-content": "#a3a9ff",
        "color-brand-visited": "#a3a9ff",
    },
}
html_show_copyright = False
html_show_sphinx = False
