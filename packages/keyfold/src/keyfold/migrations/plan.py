"""From differences to a plan: a YAML file of steps that people read, edit and keep."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from keyfold.design.schema import Schema
from keyfold.errors import MigrationError
from keyfold.migrations.diff import diff
from keyfold.migrations.plan_steps import PlanSteps
from keyfold.migrations.refusals import refuse_dangerous, refuse_index_keys
from keyfold.migrations.same_table import rekeyed
from keyfold.migrations.snapshot import dump

FROM: Final = ".from.json"
TO: Final = ".to.json"


@dataclass(frozen=True)
class Draft:
    """A plan as text, with its open questions."""

    name: str
    text: str
    functions: str
    """The Python file of the functions that it names; empty if it names none."""
    open_questions: list[str]
    duplicates: list[str]
    """What programs see twice that do not read through keyfold."""
    before: Schema
    after: Schema

    def save(self, folder: Path) -> Path:
        """Write the plan, and beside it its functions and the two schemas."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{self.name}.yaml"
        for part, schema in ((FROM, self.before), (TO, self.after)):
            path.with_suffix(part).write_bytes(dump(schema))
        if self.functions:
            path.with_suffix(".py").write_text(self.functions, "utf-8")
        path.write_text(self.text, "utf-8")
        return path


def draft(
    name: str,
    before: Schema,
    after: Schema,
    *,
    design: str = "",
    defaults: Container[tuple[str, str]] = (),
) -> Draft:
    """The plan from one schema to another.

    `design` locates the design, as `module:name`, for what a schema cannot hold. `defaults` are the
    fields, by entity and name, that an item may lack.
    """
    changes = diff(before, after)
    refuse_dangerous(changes, after)
    refuse_index_keys(changes, before)
    steps = PlanSteps(changes, before, after, defaults)
    listed = steps.all()
    plan: dict[str, Any] = {}
    if steps.needs_design:
        plan["new"] = _declared(design)
    plan["steps"] = listed
    head = [f"# {name}", "#", *(f"# - {change}" for change in changes), ""]
    body = yaml.safe_dump(plan, sort_keys=False, allow_unicode=True, width=100)
    duplicates = [shared.words() for shared in rekeyed(changes, after)]
    text = "\n".join([*(" ".join(line.split()) for line in head), body])
    return Draft(name, text, steps.functions, steps.questions, duplicates, before, after)


def _declared(design: str) -> str:
    module, colon, _ = design.partition(":")
    if colon:
        return design
    made = module.removesuffix(".yaml").removesuffix(".yml")
    raise MigrationError(
        "this change needs the declaration in Python, for a key or a structure that "
        f"a schema cannot hold, and {module} is a design file. Write it first: keyfold "
        f"new {module} -o {made}.py; then plan with --design {made}:design"
    )
