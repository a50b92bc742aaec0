"""The text of a plan: its steps, its questions, and the names that they need."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from dataclasses import fields, replace
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
    VectorSchema,
)
from keyfold.design.shorthand import template_text
from keyfold.errors import MigrationError
from keyfold.expressions.text import condition_text
from keyfold.migrations.diff import MOVES, SchemaChange
from keyfold.migrations.frozen_design import REMADE
from keyfold.migrations.questions import question_of
from keyfold.migrations.refusals import stays
from keyfold.migrations.snapshot import UNKNOWN, fingerprint

_WIDTH: Final = 100
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
        self.name, self.design, self.changes = name, design, changes
        self.before, self.after, self.live, self.defaults = before, after, live, defaults
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
        if any(f"{side}.entities" in step or "(new," in step for step in steps for side in _SIDES):
            self.imports.add("frozen")
        imports = [f"from keyfold.migrations import {_listed_names(sorted(self.imports))}"]
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
        if "frozen" in self.imports:
            imports += ["", "old, new = frozen(__file__)"]
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
                elif isinstance(side, Index | VectorSchema):
                    found.add(change.subject)
        return found

    def _steps(self) -> Iterator[str]:
        order = {"added": 0, "changed": 1, "renamed": 1, "moved": 1, "re-keyed": 1, "removed": 2}
        for change in sorted(self.changes, key=lambda c: order[c.kind.split()[-1]]):
            yield from self._step(change)

    def _step(self, change: SchemaChange) -> Iterator[str]:
        old, new = change.old, change.new
        asked = question_of(change, self.changes, self.before, self.after)
        if asked is not None:
            if isinstance(old, Index):
                drop = self._call("DropIndex", _quoted(change.subject), self._index(old))
                asked = replace(asked, answers=(" ".join(drop.split()),))
            elif isinstance(old, TableSchema) and new is None:
                table = self._table(old)
                answers = (f"DropTable({table})", f"DropTable({table}, with_items=True)")
                asked = replace(asked, answers=answers)
            self.questions.append(f"{asked.text} {'; '.join(asked.answers)}")
            self.imports |= {"undecided", *(answer.partition("(")[0] for answer in asked.answers)}
            yield asked.step()
            return
        if change.kind == "table added" and isinstance(new, TableSchema):
            yield self._call("CreateTable", self._table(new))
            if new.ttl:
                yield self._call("EnableTtl", _quoted(new.name), _quoted(new.ttl))
        elif change.kind == "table removed" and isinstance(old, TableSchema):
            yield self._call("DropTable", self._table(old))
        elif change.kind == "index added" and isinstance(new, Index):
            yield self._call("CreateIndex", _quoted(change.subject), self._index(new))
        elif change.kind == "vector added" and isinstance(new, VectorSchema):
            yield self._call("CreateVector", _quoted(change.subject), self._vector(new))
        elif change.kind == "vector removed" and isinstance(old, VectorSchema):
            yield self._call("DropVector", _quoted(change.subject), self._vector(old))
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
            yield self._call("recount", "new", _quoted(change.detail))
        elif isinstance(new, Follows):
            yield from self._restored(change, new)
        elif isinstance(old, Follows):
            yield from self._cleaned(old)
        elif isinstance(new, EntitySchema) or isinstance(old, EntitySchema):
            yield from self._entity_step(change)

    def _restored(self, change: SchemaChange, new: Follows) -> Iterator[str]:
        """A structure that is otherwise: what was due and is no more goes, too."""
        if new.fact == "amount":
            yield self._call("recount", "new", _quoted(new.name.removeprefix("counter ")))
        elif new.fact in ("copy", "claim", "shown", "best") and not self._is_moved(new.source):
            old = change.old
            later = isinstance(old, Follows) and replace(old, sync=new.sync) == replace(
                new, at_once=old.at_once
            )
            if not later:
                side = "new" if new.kind in REMADE else "design"
                yield self._call("restore", side, _quoted(new.name))

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
        entity = self._declared(change.subject)
        if change.kind in MOVES:
            assert isinstance(old, EntitySchema)
            assert isinstance(new, EntitySchema)
            yield self._moved(old, new)
        elif change.kind == "index keys changed":
            yield self._call("fill_indexes", entity, *self._former_keys(old, new))
        elif change.kind == "unique added" and not self._is_moved(change.subject):
            yield self._call("rebuild", entity)
        elif change.kind == "pointer added":
            if not self._is_moved(change.detail):
                yield self._call("rebuild", self._declared(change.detail))
        elif change.kind == "entity removed" and isinstance(old, EntitySchema):
            table = self.before.by_table.get(old.table) if self.before else None
            gone = {c.subject for c in self.changes if c.kind == "table removed"}
            if table and table.type_attribute and change.detail and old.table not in gone:
                parts = [_quoted(old.table), _quoted(old.type_name or old.name)]
                if table.type_attribute != "type":
                    parts.append(_quoted(table.type_attribute))
                yield self._call("remove_items", *parts)
        elif change.kind == "attribute changed" and isinstance(new, EntitySchema):
            yield self._converted(change, new)
        elif change.kind == "attribute added" and isinstance(new, EntitySchema):
            attribute = next(a for a in new.attributes if a.name == change.detail)
            if attribute.optional or self._is_counted(change) or self._is_merged(attribute):
                return
            if stays(old, new):
                yield self._filled(old, new, attribute)

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
            text = _quoted("" if place.when is None else condition_text(place.when))
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

    def _is_merged(self, attribute: AttributeSchema) -> bool:
        """Whether it is likely to come from items that are no more."""
        gone = (c.old for c in self.changes if c.kind == "entity removed")
        return any(isinstance(o, EntitySchema) and attribute.field in o.by_field for o in gone)

    def _is_counted(self, change: SchemaChange) -> bool:
        label = f"{change.subject}.{change.detail}"
        return any(c.kind == "counter added" and c.detail == label for c in self.changes)

    def _filled(self, old: object, entity: EntitySchema, attribute: AttributeSchema) -> str:
        function = f"{_snake(entity.name)}_{_snake(attribute.field)}"
        question = f"what do existing items get as {attribute.name}?"
        left = self._left_out(old, entity, attribute.type)
        if left:
            question += (
                f" {', '.join(left)} goes away in this plan: if it was renamed, take rename "
                "instead."
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
        declared = self._declared(entity.name)
        return self._call("derive", declared, _quoted(attribute.field), function)

    def _converted(self, change: SchemaChange, entity: EntitySchema) -> str:
        """A value of another type: only people know what becomes of it, there and back."""
        old = change.old
        assert isinstance(old, EntitySchema)
        name = change.detail
        was = next(a for a in old.attributes if a.name == name)
        now = next(a for a in entity.attributes if a.name == name)
        function = f"{_snake(entity.name)}_{_snake(now.field)}"
        for called, given, made in ((function, was, now), (f"{function}_back", now, was)):
            question = (
                f"what does a {given.type} become as a {made.type}? An application that declares "
                f"it as a {given.type} cannot read it then: where one runs meanwhile, declare the "
                "new one under another name instead, and derive it."
            )
            self.imports.add("undecided")
            self.questions.append(f"{called}: {question}")
            about = f"{name} of {entity.name}; what is a {made.type} already stays as it is."
            self.functions.append(
                f"@undecided({_quoted(question)})\ndef {called}(value):\n"
                f"    {literals.docstring(about)}\n    return {_likely(made.type)}"
            )
        declared = self._declared(entity.name)
        return self._call(
            "transform_attribute", declared, _quoted(name), function, f"{function}_back"
        )

    def _left_out(self, old: object, entity: EntitySchema, type: str) -> list[str]:
        """Attributes of this type that the entity had before and has no more."""
        kept = {one.name for one in entity.attributes}
        known = old.attributes if isinstance(old, EntitySchema) else ()
        return [one.name for one in known if one.name not in kept and one.type == type]

    def _declared(self, entity: str, side: str = "new") -> str:
        """Where a step finds an entity; what is computed by functions is in the design alone."""
        schema = self.after if side == "new" else self.before
        found = schema.by_entity.get(entity)
        computed = found is not None and any(a.follows for a in found.attributes)
        if computed and side == "old":
            raise MigrationError(
                f"the key of {entity} was computed by functions, which no schema holds; declare "
                "it as it was in a module of its own, and write the move by hand"
            )
        return f"{'design' if computed else side}.entities[{_quoted(entity)}]"

    def _moved(self, old: EntitySchema, new: EntitySchema) -> str:
        arguments = [self._declared(old.name, "old"), self._declared(new.name)]
        gone = [a for a in old.attributes if a.is_stored and a.field not in new.by_field]
        added = [a for a in new.attributes if a.is_stored and a.field not in old.by_field]
        for one in gone:
            likely = [a.field for a in added if a.type == one.type]
            renamed = f", rename={{{_quoted(one.field)}: {_quoted(likely[0])}}}" if likely else ""
            self.questions.append(
                f"{new.name} declares {one.name} no more: it goes along undeclared. Otherwise give "
                f"the move drops=[{_quoted(one.name)}]{renamed}"
            )
        return self._call("move", *arguments)

    def _call(self, name: str, *arguments: str) -> str:
        self.imports.add(name)
        return _wrapped(f"{name}(", list(arguments), ")", 8)

    def _table(self, table: TableSchema) -> str:
        """The name of the variable that holds a table."""
        if table.name not in self.tables:
            self.imports.add("TableSchema")
            parts = [_quoted(table.name)]
            skipped = ("name", "indexes", "vectors", "replication", "place", "silences", "ttl")
            parts += _written(table, skipped)
            if table.indexes:
                indexes = [self._index(index, 8) for index in table.indexes]
                parts.append(f"indexes={_wrapped('(', indexes, ')', 4, trailing=True)}")
            if table.vectors:
                vectors = [self._vector(vector) for vector in table.vectors]
                parts.append(f"vectors={_wrapped('(', vectors, ')', 4, trailing=True)}")
            self.tables[table.name] = _wrapped("TableSchema(", parts, ")", 0)
        return _variable(table.name)

    def _index(self, index: Index, indent: int = 8) -> str:
        self.imports.add("Index")
        parts = _written(index, ("name", "place", "silences", "purpose", "holds", "sparse"))
        return _wrapped("Index(", [_quoted(index.name), *parts], ")", indent)

    def _vector(self, vector: VectorSchema) -> str:
        self.imports.add("VectorSchema")
        parts = _written(vector, ("name", "place", "silences", "intents"))
        return _wrapped("VectorSchema(", [_quoted(vector.name), *parts], ")", 8)


def _likely(type: str) -> str:
    made = {"string": "str(value)", "id": "str(value)", "number": "int(value)"}
    made |= {"list": "value if isinstance(value, list) else [value]"}
    return made.get(type, "value")


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
    given = [one for one in (key.partition, key.sort) if one is not None]
    return [template_text(one) if one.apart else one.text for one in given]


def _variable(table: str) -> str:
    return re.sub(r"\W", "_", _snake(table))


def _written(record: Any, skip: tuple[str, ...]) -> Iterator[str]:
    for one in fields(record):
        value = getattr(record, one.name)
        if one.name not in (*skip, "description", "needs", "prefixes") and value != one.default:
            yield f"{one.name}={_quoted(value) if isinstance(value, str) else repr(value)}"


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
