"""A plan's text: its steps, its questions, and its imports."""

from __future__ import annotations

from collections.abc import Container
from typing import Final

from keyfold import literals
from keyfold.design.schema import EntitySchema, Index, Schema, TableSchema, VectorSchema
from keyfold.errors import MigrationError
from keyfold.literals import python as quote
from keyfold.migrations.plan_source import PlanSource, names_text, variable, wrap
from keyfold.migrations.plan_steps import PlanSteps
from keyfold.migrations.schema_change import SchemaChange, restructures
from keyfold.migrations.snapshot import fingerprint

_SIDES: Final = ("old", "new")


class PlanText:
    """Writes one plan."""

    def __init__(
        self,
        name: str,
        design: str,
        changes: list[SchemaChange],
        before: Schema,
        after: Schema,
        live: Schema | None,
        defaults: Container[tuple[str, str]],
    ) -> None:
        self.name, self.design, self.changes, self.live = name, design, changes, live
        self.restructures = restructures(changes, before)
        self.source = PlanSource()
        self.steps = PlanSteps(changes, before, after, defaults, self.source)

    @property
    def questions(self) -> list[str]:
        """What its reader must decide."""
        return self.steps.questions

    def text(self) -> str:
        steps = list(dict.fromkeys(self.steps.all()))
        expects = [
            f"{quote(table.name)}: {quote(fingerprint(table))}"
            for table in (self.live.tables if self.live else ())
            if table.name in self._touched_tables()
        ]
        told = [self.name, "", *(f"- {change}" for change in self.changes), ""]
        head = [literals.docstring("\n".join(told)), ""]
        if any(f"{side}.entities" in step or "(new," in step for step in steps for side in _SIDES):
            self.source.imports.add("frozen")
        if self.restructures:
            self.source.imports.add("frozen")
        imports = [f"from keyfold.migrations import {names_text(sorted(self.source.imports))}"]
        if any("design." in step or "(design," in step for step in steps):
            module, declared, attribute = self.design.partition(":")
            if not declared:
                made = module.removesuffix(".yaml").removesuffix(".yml")
                raise MigrationError(
                    "this change needs the declaration in Python, for a key or a structure that "
                    f"a schema cannot hold, and {module} is a design file. Write it first: keyfold "
                    f"new {module} -o {made}.py; then plan with --design {made}:design"
                )
            alias = "" if attribute == "design" else " as design"
            imports.append(f"from {module} import {attribute}{alias}")
        if "frozen" in self.source.imports:
            imports += ["", "old, new = frozen(__file__)"]
        parts = [f"name={quote(self.name)}"]
        if expects:
            parts.append(f"expects={wrap('{', expects, '}', 4)}")
        if self.restructures:
            parts.append("between=(old, new)")
        parts.append(f"steps={wrap('[', steps, ']', 4)}")
        made = f"migration = {wrap('Migration(', parts, ')', 0)}"
        tables = [f"{variable(name)} = {text}" for name, text in self.source.tables.items()]
        functions = [f"\n\n{function}" for function in self.source.functions]
        gap = ["\n"] if functions else [""]
        return "\n".join([*head, *imports, "", *tables, *functions, *gap, made]) + "\n"

    def _touched_tables(self) -> set[str]:
        found = set()
        for change in self.changes:
            for side in (change.old, change.new):
                if isinstance(side, TableSchema):
                    found.add(side.name)
                elif isinstance(side, EntitySchema):
                    found.add(side.table)
                elif isinstance(side, Index | VectorSchema):
                    found.add(change.subject)
        return found
