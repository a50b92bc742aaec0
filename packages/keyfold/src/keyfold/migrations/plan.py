"""From differences to a plan: a Python file of steps that people read, edit and keep."""

from __future__ import annotations

import importlib
import importlib.util
import re
import sys
from collections.abc import Container
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from keyfold.design.schema import Schema
from keyfold.design.target import importing
from keyfold.errors import MigrationError
from keyfold.migrations.diff import diff
from keyfold.migrations.frozen_design import design_of
from keyfold.migrations.migration import Migration
from keyfold.migrations.plan_text import PlanText
from keyfold.migrations.refusals import refuse_dangerous, refuse_index_keys
from keyfold.migrations.same_table import rekeyed
from keyfold.migrations.snapshot import dump
from keyfold.migrations.snapshot import load as load_snapshot
from keyfold.runtime import Design
from keyfold.settings import nearest

FOLDER: Final = "migrations"
FROM: Final = ".from.json"
TO: Final = ".to.json"


@dataclass(frozen=True)
class Draft:
    """A plan as text, with its open questions."""

    name: str
    text: str
    open_questions: list[str]
    duplicates: list[str]
    """What programs see twice that do not read through keyfold."""
    before: Schema
    after: Schema

    def save(self, folder: Path) -> Path:
        """Write the plan, and beside it the two schemas."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{self.name}.py"
        for part, schema in ((FROM, self.before), (TO, self.after)):
            path.with_suffix(part).write_bytes(dump(schema))
        path.write_text(self.text, "utf-8")
        return path


def draft(
    name: str,
    before: Schema,
    after: Schema,
    *,
    live: Schema | None = None,
    design: str = "",
    defaults: Container[tuple[str, str]] = (),
) -> Draft:
    """The plan from one schema to another; `live` has the tables it is made for.

    `design` locates the design, as `module:name`, for what a schema cannot hold. `defaults` are the
    fields, by entity and name, that an item may lack.
    """
    changes = diff(before, after)
    refuse_dangerous(changes, after)
    refuse_index_keys(changes, before)
    writer = PlanText(name, design, changes, before, after, live, defaults)
    duplicates = [shared.words() for shared in rekeyed(changes, after)]
    return Draft(name, writer.text(), writer.questions, duplicates, before, after)


def frozen(plan: str | Path) -> tuple[Design, Design]:
    """A plan's two designs, from the schemas beside it."""
    found = []
    for part in (FROM, TO):
        path = Path(plan).with_suffix(part)
        if not path.exists():
            raise MigrationError(f"{path} is missing: it has a schema that the plan needs")
        found.append(design_of(load_snapshot(path.read_bytes(), str(path))))
    old, new = found
    old.other, new.other = new, old
    return old, new


def find(plan: str, folder: str | Path = FOLDER) -> Migration:
    """A migration by name: a plan of the directory, a file, or `module:name`."""
    module, colon, name = plan.partition(":")
    if not colon:
        path = Path(plan)
        named = path if path.suffix == ".py" else Path(folder) / f"{plan}.py"
        if named.exists():
            return load(named)
        known = sorted(one.stem for one in named.parent.glob("[0-9][0-9][0-9][0-9]_*.py"))
        there = nearest(named.stem, known) if known else f"{named.parent} has no plans"
        raise MigrationError(f"the plan {named} was not found; {there}")
    with importing(plan):
        found = getattr(importlib.import_module(module), name, None)
    if not isinstance(found, Migration):
        raise MigrationError(f"{module} has no Migration {name!r}")
    return found


def load(plan: str | Path) -> Migration:
    """The `migration` of a plan file."""
    path = Path(plan)
    module_name = f"keyfold_migration_{re.sub(r'[^0-9A-Za-z]', '_', path.stem)}"
    spec = importlib.util.spec_from_file_location(module_name, path)
    if spec is None or spec.loader is None or not path.exists():
        raise MigrationError(f"the plan {path} was not found")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    with importing(str(path)):
        spec.loader.exec_module(module)
    found = getattr(module, "migration", None)
    if not isinstance(found, Migration):
        raise MigrationError(f"{path} has no `migration = Migration(...)`")
    return found
