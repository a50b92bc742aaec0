"""`make scale`: each of the systems at 10^8 users.

A month of each takes seconds: too long for each build.
"""

from __future__ import annotations

import sys
from pathlib import Path

import keyfold_systems
from keyfold.design.target import load_schema
from keyfold.review.docs.blocks import Document
from keyfold_workbench import cost
from keyfold_workbench.simulate.answer.prediction import predict
from keyfold_workbench.simulate.answer.report import document
from keyfold_workbench.simulate.load.design_load import design_load
from keyfold_workbench.simulate.load.users import scale_users

SYSTEMS = Path(keyfold_systems.__file__).parent
WHICH = {"sellers": "current"}
"""Where the design that is simulated is not the one that runs in the end."""
USERS = 1e8


def names() -> list[str]:
    return sorted(file.parent.name for file in SYSTEMS.glob("*/workload.yaml"))


def page(name: str, days: float = 30.0) -> Document:
    """One system at a hundred million users."""
    schema = load_schema(f"keyfold_systems.{name}.{WHICH.get(name, 'design')}:design")
    workload = scale_users(schema, cost.load(SYSTEMS / name / "workload.yaml", schema), USERS)
    return document(predict(design_load(schema, workload), days))


def write(folder: Path, chosen: list[str]) -> None:
    for name in chosen:
        text = cost.render_report(page(name), {}, "markdown")
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
        print(f"docs/scale/{name}.md", flush=True)


if __name__ == "__main__":
    write(Path(__file__).parent.parent / "scale", sys.argv[1:] or names())
