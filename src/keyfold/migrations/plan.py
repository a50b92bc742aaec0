"""From differences to a plan: a Python file of steps that people read, edit and keep."""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Final

import orjson

from keyfold import literals
from keyfold.design.schema import (
    AttributeSchema,
    EntitySchema,
    Follows,
    Index,
    KeyTemplates,
    Schema,
    TableSchema,
)
from keyfold.design.target import importing
from keyfold.errors import MigrationError
from keyfold.expressions.text import written
from keyfold.migrations.diff import MOVES, SchemaChange
from keyfold.migrations.migration import Migration
from keyfold.migrations.snapshot import UNKNOWN, fingerprint

_WIDTH: Final = 100


class Dangerous(MigrationError):
    """A change that would lose something as it stands; the message has the safe way."""


@dataclass(frozen=True)
class Draft:
    """A plan as text, with what its reader has to decide."""

    name: str
    text: str
    open_questions: list[str]


def draft(
    name: str,
    design: str,
    changes: Iterable[SchemaChange],
    before: Schema | None = None,
    live: Schema | None = None,
    defaults: Container[tuple[str, str]] = (),
) -> Draft:
    """The plan file for these changes; `design` is where the design is, as `module:name`.

    `before` is the schema that they start from, `live` the tables that the plan is made for.
    `defaults` are the fields, by entity and name, without which an item can be read.
    """
    changes = list(changes)
    _refuse_dangerous(changes)
    _refuse_index_keys(changes, before)
    writer = _Writer(name, design, changes, before, live, defaults)
    return Draft(name, writer.text(), writer.questions)


def load(path: Path) -> Migration:
    """The `migration` of a plan file."""
    module_name = f"keyfold_migration_{re.sub(r'[^0-9A-Za-z]', '_', path.stem)}"
    spec = importlib.util.spec_from_file_location(module_name, path)
    if spec is None or spec.loader is None or not path.exists():
        raise MigrationError(f"there is no plan {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    with importing(str(path)):
        spec.loader.exec_module(module)
    found = getattr(module, "migration", None)
    if not isinstance(found, Migration):
        raise MigrationError(f"{path} has no `migration = Migration(...)`")
    return found


def _refuse_dangerous(changes: list[SchemaChange]) -> None:
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


def _refuse_index_keys(changes: list[SchemaChange], before: Schema | None) -> None:
    for change in changes:
        entity = change.new
        if (
            change.kind != "attribute removed"
            or not isinstance(entity, EntitySchema)
            or before is None
        ):
            continue
        table = before.by_table.get(entity.table)
        for index in table.indexes if table is not None and _stays(change.old, entity) else ():
            if change.detail in (index.partition, index.sort):
                raise Dangerous(
                    f"{change.words}. It is a key of the index {index.name}, from which all of "
                    "these items would vanish. The safe way: move the access patterns away from "
                    "the index, remove it, and drop the attribute in a later plan"
                )


class _Writer:
    def __init__(
        self,
        name: str,
        design: str,
        changes: list[SchemaChange],
        before: Schema | None,
        live: Schema | None,
        defaults: Container[tuple[str, str]],
    ) -> None:
        self.name, self.design, self.changes = name, design, changes
        self.before, self.live, self.defaults = before, live, defaults
        self.imports: set[str] = {"Migration"}
        self.tables: dict[str, str] = {}
        self.functions: list[str] = []
        self.questions: list[str] = []

    def text(self) -> str:
        steps = list(dict.fromkeys(self._steps()))
        expects = [
            f"{_quoted(table.name)}: {_quoted(fingerprint(table))}"
            for table in (self.live.tables if self.live else ())
            if table.name in self._touched()
        ]
        told = [self.name, "", *(f"- {change}" for change in self.changes), ""]
        head = [literals.docstring("\n".join(told)), ""]
        imports = [f"from keyfold.migrations import {_listed_names(sorted(self.imports))}"]
        if any("design" in step for step in steps):
            module, declared, attribute = self.design.partition(":")
            if not declared:
                made = module.removesuffix(".yaml").removesuffix(".yml")
                raise MigrationError(
                    f"items are moved as their declaration says, and {module} is a design file. "
                    f"Write the declaration first: keyfold new {module} -o {made}.py; then plan "
                    f"with --design {made}:design"
                )
            alias = "" if attribute == "design" else " as design"
            imports.append(f"from {module} import {attribute}{alias}")
        parts = [f"name={_quoted(self.name)}"]
        if expects:
            parts.append(f"expects={_wrapped('{', expects, '}', 4)}")
        parts.append(f"steps={_wrapped('[', steps, ']', 4)}")
        made = f"migration = {_wrapped('Migration(', parts, ')', 0)}"
        tables = [f"{_variable(name)} = {text}" for name, text in self.tables.items()]
        functions = [f"\n\n{function}" for function in self.functions]
        gap = ["\n"] if functions else [""]
        return "\n".join([*head, *imports, "", *tables, *functions, *gap, made]) + "\n"

    def _touched(self) -> set[str]:
        found = set()
        for change in self.changes:
            for side in (change.old, change.new):
                if isinstance(side, TableSchema):
                    found.add(side.name)
                elif isinstance(side, EntitySchema):
                    found.add(side.table)
                elif isinstance(side, Index):
                    found.add(change.subject)
        return found

    def _steps(self) -> Iterator[str]:
        order = {"added": 0, "changed": 1, "moved": 1, "re-keyed": 1, "removed": 2}
        for change in sorted(self.changes, key=lambda c: order[c.kind.split()[-1]]):
            yield from self._step(change)

    def _step(self, change: SchemaChange) -> Iterator[str]:
        old, new = change.old, change.new
        if change.kind == "table added" and isinstance(new, TableSchema):
            yield self._call("CreateTable", self._table(new))
            if new.ttl:
                yield self._call("EnableTtl", _quoted(new.name), _quoted(new.ttl))
        elif change.kind == "table removed" and isinstance(old, TableSchema):
            yield self._call("DropTable", self._table(old))
        elif change.kind == "index added" and isinstance(new, Index):
            yield self._call("CreateIndex", _quoted(change.subject), self._index(new))
        elif change.kind == "index removed" and isinstance(old, Index):
            yield self._call("DropIndex", _quoted(change.subject), self._index(old))
        elif (
            change.kind == "ttl changed"
            and isinstance(old, TableSchema)
            and isinstance(new, TableSchema)
        ):
            if old.ttl:
                yield self._call("DisableTtl", _quoted(new.name), _quoted(old.ttl))
            if new.ttl:
                yield self._call("EnableTtl", _quoted(new.name), _quoted(new.ttl))
        elif (
            change.kind == "stream changed"
            and isinstance(old, TableSchema)
            and isinstance(new, TableSchema)
        ):
            if old.stream:
                yield self._call("DisableStream", _quoted(new.name), _quoted(old.stream))
            if new.stream:
                yield self._call("EnableStream", _quoted(new.name), _quoted(new.stream))
        elif change.kind == "counter added":
            yield self._call("recount", "design", _quoted(change.detail))
        elif isinstance(new, Follows):
            yield from self._restored(change, new)
        elif isinstance(old, Follows):
            yield from self._cleaned(old)
        elif isinstance(new, EntitySchema) or isinstance(old, EntitySchema):
            yield from self._entity_step(change)

    def _restored(self, change: SchemaChange, new: Follows) -> Iterator[str]:
        """A structure that is otherwise: what was due and is no more goes, too."""
        if new.fact == "amount":
            yield self._call("recount", "design", _quoted(new.name.removeprefix("counter ")))
        elif new.fact in ("copy", "claim", "shown") and not self._is_moved(new.source):
            old = change.old
            later = isinstance(old, Follows) and replace(old, sync=new.sync) == replace(
                new, at_once=old.at_once
            )
            if not later:
                yield self._call("restore", "design", _quoted(new.name))

    def _cleaned(self, old: Follows) -> Iterator[str]:
        """A unique that is kept no more leaves its markers."""
        entity = self.before.by_entity.get(old.source) if self.before else None
        table = self.before.by_table.get(entity.table) if self.before and entity else None
        if old.fact != "claim" or table is None:
            return
        fields = old.name.partition(".")[2].split("+")
        named = (table.name, table.partition, old.source, *fields)
        yield self._call("remove_markers", *map(_quoted, named))

    def _entity_step(self, change: SchemaChange) -> Iterator[str]:
        old, new = change.old, change.new
        entity = f"design.entities[{_quoted(change.subject)}]"
        if change.kind in MOVES:
            assert isinstance(old, EntitySchema)
            assert isinstance(new, EntitySchema)
            yield self._rekey(old, new)
        elif change.kind == "index keys changed":
            yield self._call("fill_indexes", entity, *self._former_keys(old, new))
        elif change.kind == "unique added" and not self._is_moved(change.subject):
            yield self._call("rebuild", entity)
        elif change.kind == "pointer added":
            if not self._is_moved(change.detail):
                yield self._call("rebuild", f"design.entities[{_quoted(change.detail)}]")
        elif change.kind == "entity removed" and isinstance(old, EntitySchema):
            table = self.before.by_table.get(old.table) if self.before else None
            gone = {c.subject for c in self.changes if c.kind == "table removed"}
            if table and table.type_attribute and change.detail and old.table not in gone:
                parts = [_quoted(old.table), _quoted(old.type_name or old.name)]
                if table.type_attribute != "type":
                    parts.append(_quoted(table.type_attribute))
                yield self._call("remove_items", *parts)
        elif change.kind == "attribute added" and isinstance(new, EntitySchema):
            attribute = next(a for a in new.attributes if a.name == change.detail)
            if not attribute.optional and _stays(old, new) and not self._is_counted(change):
                yield self._filled(old, new, attribute)
        elif change.kind == "attribute removed" and isinstance(new, EntitySchema):
            yield self._call("drop_attribute", entity, _quoted(change.detail))

    def _former_keys(self, old: object, new: object) -> list[str]:
        """What an entity had as keys of the indexes that are changed."""
        if not isinstance(old, EntitySchema) or not isinstance(new, EntitySchema):
            return []
        gone = {
            c.old.name
            for c in self.changes
            if c.kind == "index removed" and c.subject == new.table and isinstance(c.old, Index)
        }
        places: dict[str, list[str]] = {}
        for place in old.placements:
            if place.when == UNKNOWN and place.index not in gone:
                self.questions.append(
                    f"{new.name}: under which condition its items were in {place.index} was not "
                    "noted down; going back takes them out of it"
                )
            if place.when == UNKNOWN or place.index in gone:
                continue
            text = _quoted("" if place.when is None else written(place.when))
            key = f"({_tuple(_key_texts(place.key))}, {text})"
            places.setdefault(place.index, []).append(key)
        if not places:
            return []
        listed = [f"{_quoted(n)}: [{', '.join(keys)}]" for n, keys in places.items()]
        return [f"before={_wrapped('{', listed, '}', 12)}"]

    def _is_moved(self, entity: str) -> bool:
        """A move brings pointers and markers along, and a new entity writes them itself."""
        kinds = (*MOVES, "entity added")
        return any(c.subject == entity and c.kind in kinds for c in self.changes)

    def _is_counted(self, change: SchemaChange) -> bool:
        label = f"{change.subject}.{change.detail}"
        return any(c.kind == "counter added" and c.detail == label for c in self.changes)

    def _filled(self, old: object, entity: EntitySchema, attribute: AttributeSchema) -> str:
        function = f"{_snake(entity.name)}_{_snake(attribute.field)}"
        question = f"what do existing items get as {attribute.name}?"
        left = self._left_out(old, entity, attribute.type)
        if left:
            question += (
                f" {', '.join(left)} goes away in this plan: if it was renamed, take "
                "rename_attribute instead."
            )
        self.questions.append(f"{function}: {question}")
        mark = ""
        if left or (entity.name, attribute.field) not in self.defaults:
            self.imports.add("undecided")
            mark = f"@undecided({_quoted(question)})\n"
        about = f"{attribute.name} of an existing {entity.name}; None leaves it out."
        self.functions.append(
            f"{mark}def {function}(item: dict):\n    {literals.docstring(about)}\n    return None"
        )
        declared = f"design.entities[{_quoted(entity.name)}]"
        return self._call("add_attribute", declared, _quoted(attribute.name), function)

    def _left_out(self, old: object, entity: EntitySchema, type: str) -> list[str]:
        """Attributes of this type that the entity had before and has no more."""
        kept = {one.name for one in entity.attributes}
        known = old.attributes if isinstance(old, EntitySchema) else ()
        return [one.name for one in known if one.name not in kept and one.type == type]

    def _rekey(self, old: EntitySchema, new: EntitySchema) -> str:
        found = self.before.by_table.get(old.table) if self.before else None
        parts = [
            f"design.entities[{_quoted(new.name)}]",
            f"table={self._table(found) if found else _quoted(old.table)}",
            f"key={_tuple(_key_texts(old.key))}",
        ]
        if old.type_name != new.type_name:
            parts.append(f"type_name={_quoted(old.type_name)}")
        indexes = [
            f"{_quoted(p.index)}: {_tuple(_key_texts(p.key))}" for p in old.placements if not p.when
        ]
        if indexes:
            parts.append(f"indexes={_wrapped('{', indexes, '}', 12)}")
        for placement in old.placements:
            if placement.when:
                self.questions.append(f"how {new.name} gets its keys in {placement.index} back")
        return self._call("rekey", *parts)

    def _call(self, name: str, *arguments: str) -> str:
        self.imports.add(name)
        return _wrapped(f"{name}(", list(arguments), ")", 8)

    def _table(self, table: TableSchema) -> str:
        """The name of the variable that holds a table."""
        if table.name not in self.tables:
            self.imports.add("TableSchema")
            parts = [_quoted(table.name)]
            parts += _written(table, ("name", "indexes", "place", "silences", "ttl"))
            if table.indexes:
                indexes = [self._index(index, 8) for index in table.indexes]
                parts.append(f"indexes={_wrapped('(', indexes, ')', 4, trailing=True)}")
            self.tables[table.name] = _wrapped("TableSchema(", parts, ")", 0)
        return _variable(table.name)

    def _index(self, index: Index, indent: int = 8) -> str:
        self.imports.add("Index")
        parts = _written(index, ("name", "place", "silences", "purpose", "holds", "sparse"))
        return _wrapped("Index(", [_quoted(index.name), *parts], ")", indent)


def _wrapped(start: str, parts: list[str], end: str, indent: int, *, trailing: bool = False) -> str:
    """On one line where it fits, else one part a line."""
    comma = "," if trailing and len(parts) == 1 else ""
    line = f"{start}{', '.join(parts)}{comma}{end}"
    if len(line) + indent + 20 <= _WIDTH and "\n" not in line:
        return line
    inner = " " * (indent + 4)
    return "\n".join([start, *(f"{inner}{part}," for part in parts), f"{' ' * indent}{end}"])


def _listed_names(names: list[str]) -> str:
    line = ", ".join(names)
    return line if len(line) < _WIDTH - 40 else _wrapped("(", names, ")", 0)


def _quoted(text: str) -> str:
    return orjson.dumps(text).decode()


def _tuple(texts: list[str]) -> str:
    return f"({', '.join(map(_quoted, texts))}{',' * (len(texts) == 1)})"


def _key_texts(key: KeyTemplates | None) -> list[str]:
    if key is None:
        return []
    return [key.partition.text, *([key.sort.text] if key.sort else [])]


def _variable(table: str) -> str:
    return re.sub(r"\W", "_", _snake(table))


def _stays(old: object, new: EntitySchema) -> bool:
    """Whether an entity is where it was, so that its items are changed in place."""
    return isinstance(old, EntitySchema) and old.table == new.table and str(old.key) == str(new.key)


def _written(record: Any, skip: tuple[str, ...]) -> Iterator[str]:
    for one in fields(record):
        value = getattr(record, one.name)
        if one.name not in (*skip, "description", "needs", "prefixes") and value != one.default:
            yield f"{one.name}={_quoted(value) if isinstance(value, str) else repr(value)}"


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
