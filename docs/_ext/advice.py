"""Writes the adviser's report on each of the systems, before each build."""

from __future__ import annotations

from pathlib import Path

from sphinx.application import Sphinx

import keyfold_systems
from keyfold.design.target import load_schema
from keyfold.review.advise import advise, report
from keyfold.review.cost import load, rendered

SYSTEMS = Path(keyfold_systems.__file__).parent
WHICH = {"sellers": "current"}
"""Where the design that is advised is not the one that runs in the end."""


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", lambda app: write_pages(Path(app.srcdir) / "advice"))
    return {"parallel_read_safe": True}


def write_pages(folder: Path) -> None:
    for workload in sorted(SYSTEMS.glob("*/workload.yaml")):
        name = workload.parent.name
        schema = load_schema(f"keyfold_systems.{name}.{WHICH.get(name, 'design')}:design")
        advice = advise(schema, load(workload, schema))
        text = rendered(report.document(advice), {}, "markdown")
        page = folder / f"{name}.md"
        if not page.is_file() or page.read_text(encoding="utf-8") != text:
            page.write_text(text, encoding="utf-8")
