"""The workload that a design is priced under: the given file, or the one beside the design."""

from __future__ import annotations

import sys
from pathlib import Path

from keyfold.design.nodes import compose
from keyfold.design.schema import Schema
from keyfold.design.target import FILES
from keyfold.errors import KeyfoldError
from keyfold_workbench.cost.amounts import money
from keyfold_workbench.cost.billing import bill
from keyfold_workbench.cost.workload import Workload
from keyfold_workbench.cost.workload_file import load

NAME = "workload.yaml"


def known_workload(target: str, schema: Schema, given: Path | None = None) -> Workload | None:
    """The workload of a design; None if no file says one.

    Without a given file, `workload.yaml` beside the design or in the working directory is taken if
    it names this design.
    """
    if given is not None:
        return load(given, schema)
    for folder in _folders(target):
        path = folder / NAME
        if path.is_file() and _names(path, schema.name):
            return load(path, schema)
    return None


def price_in_words(target: str, schema: Schema) -> str:
    """What a design costs under its workload, for its document; empty if no file says one."""
    try:
        workload = known_workload(target, schema)
    except KeyfoldError:
        return f"unknown: {NAME} does not fit this design, see `keyfold cost`"
    if workload is None:
        return ""
    made = bill(schema, workload)
    return f"{money(made.dollars)} a month on demand in {made.prices.region}, under {NAME}"


def _folders(target: str) -> list[Path]:
    here = [Path()]
    if not target:
        return here
    if target.endswith(FILES):
        return [Path(target).parent, *here]
    file = getattr(sys.modules.get(target.partition(":")[0]), "__file__", None)
    return [Path(file).parent, *here] if file else here


def _names(path: Path, design: str) -> bool:
    """Whether a workload file says that it is of this design."""
    try:
        root = compose(path.read_text(encoding="utf-8"), str(path))
        stated = {key.text("a word"): value for key, value in root.items("a workload")}
        return "design" in stated and stated["design"].text("a design") == design
    except (KeyfoldError, OSError, UnicodeDecodeError):
        return False
