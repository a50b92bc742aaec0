"""From differences to a plan: a Python file of steps that people read, edit and keep."""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from keyfold.design.schema import Entity, Index, Placement, Schema, Table
from keyfold.errors import MigrationError
from keyfold.migrations.diff import Change
from keyfold.migrations.migration import Migration
from keyfold.migrations.snapshot import fingerprint


class Dangerous(MigrationError):
    """A change that would lose something as it stands; the message has the safe way."""


@dataclass(frozen=True)
class Draft:
    """A plan as text, with what its reader has to decide."""

    name: str
    text: str
    open_questions: list[str]


def draft(name: str, design: str, changes: Iterable[Change], live: Schema | None = None) -> Draft:
    """The plan file for these changes; `design` is where the design is, as `module:name`."""
    changes = list(changes)
    _refuse_dangerous(changes)
    _refuse_index_keys(changes, live)
    writer = _Writer(name, design, changes, live)
    return Draft(name, writer.text(), writer.questions)


def load(path: Path) -> Migration:
    """The `migration` of a plan file."""
    module_name = f"keyfold_migration_{re.sub(r'[^0-9A-Za-z]', '_', path.stem)}"
    spec = importlib.util.spec_from_file_location(module_name, path)
    if spec is None or spec.loader is None or not path.exists():
        raise MigrationError(f"there is no plan {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    spec.loader.exec_module(module)
    found = getattr(module, "migration", None)
    if not isinstance(found, Migration):
        raise MigrationError(f"{path} has no `migration = Migration(...)`")
    return found


def _refuse_dangerous(changes: list[Change]) -> None:
    for change in changes:
        if change.kind == "table key changed":
            raise Dangerous(
                f"{change.words}. No table can change its key, and dropping it to make it again "
                f"loses its items. The safe way: give the new table a name of its own in the "
                f"design, keep {change.subject} until its items are moved, and plan again"
            )
        if change.kind == "index changed":
            raise Dangerous(
                f"{change.words}. An index cannot be changed, and readers would be without it "
                "while it is made again. The safe way: declare the new one under another name, "
                "switch the access patterns, then remove the old one and plan again"
            )
        if change.kind in ("index added", "index removed"):
            index = change.new or change.old
            if isinstance(index, Index) and index.local:
                raise Dangerous(
                    f"{change.words}. A local index is made with its table or never. The safe "
                    "way: a global index, or a new table"
                )
        if change.kind == "attribute changed":
            raise Dangerous(
                f"{change.words}. Old readers cannot read the new values, nor new readers the "
                "old ones. The safe way: add an attribute under another name, fill it with "
                "transform_attribute, switch the readers, then drop the old one"
            )


def _refuse_index_keys(changes: list[Change], live: Schema | None) -> None:
    for change in changes:
        entity = change.new
        if change.kind != "attribute removed" or not isinstance(entity, Entity) or live is None:
            continue
        table = live.by_table.get(entity.table)
        for index in table.indexes if table is not None and _stays(change.old, entity) else ():
            if change.detail in (index.partition, index.sort):
                raise Dangerous(
                    f"{change.words}. It is a key of the index {index.name}, from which all of "
                    "these items would vanish. The safe way: move the access patterns away from "
                    "the index, remove it, and drop the attribute in a later plan"
                )


class _Writer:
    def __init__(self, name: str, design: str, changes: list[Change], live: Schema | None) -> None:
        self.name, self.design, self.changes, self.live = name, design, changes, live
        self.imports: set[str] = {"Migration"}
        self.functions: list[str] = []
        self.questions: list[str] = []

    def text(self) -> str:
        steps = list(self._steps())
        expects = {
            table.name: fingerprint(table)
            for table in (self.live.tables if self.live else ())
            if table.name in self._touched()
        }
        head = [f'"""{self.name}', "", *(f"- {change}" for change in self.changes), '"""', ""]
        if any("design." in line for line in (*steps, *self.functions)):
            module, _, attribute = self.design.partition(":")
            alias = "" if attribute == "design" else " as design"
            head += [f"from {module} import {attribute}{alias}"]
        head += [f"from keyfold.migrations import {', '.join(sorted(self.imports))}", ""]
        body = ["migration = Migration(", f"    name={self.name!r},"]
        if expects:
            body += ["    expects={", *(f"        {k!r}: {v!r}," for k, v in expects.items())]
            body += ["    },"]
        body += ["    steps=[", *(f"        {step}," for step in steps), "    ],", ")"]
        functions = [line for function in self.functions for line in ("", function, "")]
        return "\n".join([*head, *functions, *([""] if functions else []), *body]) + "\n"

    def _touched(self) -> set[str]:
        found = set()
        for change in self.changes:
            for side in (change.old, change.new):
                if isinstance(side, Table):
                    found.add(side.name)
                elif isinstance(side, Entity):
                    found.add(side.table)
                elif isinstance(side, Index):
                    found.add(change.subject)
        return found

    def _steps(self) -> Iterator[str]:
        order = {"added": 0, "changed": 1, "moved": 1, "re-keyed": 1, "removed": 2}
        for change in sorted(self.changes, key=lambda c: order[c.kind.split()[-1]]):
            yield from self._step(change)

    def _step(self, change: Change) -> Iterator[str]:
        old, new = change.old, change.new
        if change.kind == "table added" and isinstance(new, Table):
            yield self._call("CreateTable", self._table(new))
            if new.ttl:
                yield self._call("EnableTtl", repr(new.name), repr(new.ttl))
        elif change.kind == "table removed" and isinstance(old, Table):
            yield self._call("DropTable", self._table(old))
        elif change.kind == "index added" and isinstance(new, Index):
            yield self._call("CreateIndex", repr(change.subject), self._index(new))
        elif change.kind == "index removed" and isinstance(old, Index):
            yield self._call("DropIndex", repr(change.subject), self._index(old))
        elif change.kind == "ttl changed" and isinstance(old, Table) and isinstance(new, Table):
            if old.ttl:
                yield self._call("DisableTtl", repr(new.name), repr(old.ttl))
            if new.ttl:
                yield self._call("EnableTtl", repr(new.name), repr(new.ttl))
        elif change.kind == "stream changed" and isinstance(old, Table) and isinstance(new, Table):
            if old.stream:
                yield self._call("DisableStream", repr(new.name), repr(old.stream))
            if new.stream:
                yield self._call("EnableStream", repr(new.name), repr(new.stream))
        elif isinstance(new, Entity) or isinstance(old, Entity):
            yield from self._entity_step(change)

    def _entity_step(self, change: Change) -> Iterator[str]:
        old, new = change.old, change.new
        if change.kind in ("entity moved", "entity re-keyed"):
            assert isinstance(old, Entity)
            assert isinstance(new, Entity)
            yield self._move(old, new)
        elif change.kind == "index keys changed":
            yield self._call("fill_indexes", f"design.entities[{change.subject!r}]")
        elif change.kind == "unique added":
            yield self._call("rebuild", f"design.entities[{change.subject!r}]")
        elif change.kind == "pointer added" and isinstance(new, Entity) and new.copy:
            yield self._call("rebuild", f"design.entities[{new.copy.of!r}]")
        elif change.kind == "attribute added" and isinstance(new, Entity):
            attribute = next(a for a in new.attributes if a.name == change.detail)
            if not attribute.optional and _stays(old, new):
                function = f"{_snake(new.name)}_{_snake(attribute.field)}"
                self.questions.append(f"{function}: what do existing items get?")
                self.functions.append(
                    f"def {function}(item: dict):\n"
                    f'    """{attribute.name} of an existing {new.name}; None leaves it out."""\n'
                    "    return None"
                )
                table = repr(new.table)
                yield self._call("add_attribute", table, repr(attribute.name), function)
        elif change.kind == "attribute removed" and isinstance(new, Entity) and _stays(old, new):
            yield self._call("drop_attribute", repr(new.table), repr(change.detail))

    def _move(self, old: Entity, new: Entity) -> str:
        self.imports.add("rekey")
        sort = f", {old.key.sort.text!r}" if old.key and old.key.sort else ""
        partition = old.key.partition.text if old.key else ""
        indexes = {p.index: _texts(p) for p in old.placements if not p.when}
        also = f", indexes={indexes!r}" if indexes else ""
        for placement in old.placements:
            if placement.when:
                self.questions.append(f"how {new.name} gets its keys in {placement.index} back")
        return (
            f"rekey(design.entities[{new.name!r}], table={self._old_table(old)}, "
            f"key=({partition!r}{sort or ','}), type_name={old.type_name!r}{also})"
        )

    def _old_table(self, old: Entity) -> str:
        found = self.live.by_table.get(old.table) if self.live else None
        return self._table(found) if found is not None else repr(old.table)

    def _call(self, name: str, *arguments: str) -> str:
        self.imports.add(name)
        return f"{name}({', '.join(arguments)})"

    def _table(self, table: Table) -> str:
        self.imports.add("Table")
        indexes = [self._index(index) for index in table.indexes]
        parts = list(_written(table, ("name", "indexes", "place", "silences", "ttl")))
        if indexes:
            parts.append(f"indexes=({', '.join(indexes)},)")
        return f"Table({', '.join([repr(table.name), *parts])})"

    def _index(self, index: Index) -> str:
        self.imports.add("Index")
        parts = _written(index, ("name", "place", "silences", "purpose", "holds", "sparse"))
        return f"Index({', '.join([repr(index.name), *parts])})"


def _texts(placement: Placement) -> tuple[str, ...]:
    sort = placement.key.sort
    return (placement.key.partition.text, *((sort.text,) if sort else ()))


def _stays(old: object, new: Entity) -> bool:
    """Whether an entity is where it was, so that its items are changed in place."""
    return isinstance(old, Entity) and old.table == new.table and str(old.key) == str(new.key)


def _written(record: Any, skip: tuple[str, ...]) -> Iterator[str]:
    for one in fields(record):
        value = getattr(record, one.name)
        if one.name not in (*skip, "description", "needs", "prefixes") and value != one.default:
            yield f"{one.name}={value!r}"


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
