"""Writes what each of the systems costs and how it is advised, before each build."""

from __future__ import annotations

from pathlib import Path

from sphinx.application import Sphinx

import keyfold_systems
from keyfold.design.target import load_schema
from keyfold_workbench import advise, cost
from keyfold_workbench.advise import report as advised
from keyfold_workbench.cost import report as costs

SYSTEMS = Path(keyfold_systems.__file__).parent
WHICH = {"sellers": "current"}
"""Where the design that is advised is not the one that runs in the end."""


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", lambda app: write_pages(Path(app.srcdir) / "advice"))
    return {"parallel_read_safe": True}


def write_pages(folder: Path) -> None:
    for path, text in files(folder).items():
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")


def files(folder: Path) -> dict[Path, str]:
    """The reports of all systems."""
    found: dict[Path, str] = {}
    for file in sorted(SYSTEMS.glob("*/workload.yaml")):
        name = file.parent.name
        schema = load_schema(f"keyfold_systems.{name}.{WHICH.get(name, 'design')}:design")
        workload = cost.load(file, schema)
        documents = {
            f"{name}.md": advised.document(advise.advise(schema, workload)),
            f"{name}-cost.md": costs.document(cost.bill(schema, workload)),
        }
        for page, document in documents.items():
            found[folder / page] = cost.render_report(document, {}, "markdown")
    return found
