"""A hand-written document against the design that runs, or the tables that are deployed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from keyfold.design.schema import EntitySchema, Index, Schema, TableSchema
from keyfold_workbench.adopt.document.key_side import INDEX, Side
from keyfold_workbench.adopt.document.key_text import WrittenKey, can_meet
from keyfold_workbench.adopt.document.scope import camel, words_of
from keyfold_workbench.adopt.document.statements import (
    AttributeStatement,
    DocumentReading,
    DocumentStatement,
    IndexStatement,
    KeyStatement,
    PatternStatement,
    TableStatement,
)
from keyfold_workbench.adopt.document.table_titles import is_attribute

Verdict = Literal["agrees", "differs", "said of nothing", "not said"]
_FAMILIES = (
    {"string", "id", "timestamp", "date", "duration", "signed_url", "any", "binary"},
    {"number", "decimal", "timestamp", "date", "duration", "any"},
    {"boolean", "any"},
    {"list", "string_set", "number_set", "binary_set", "map", "model", "any"},
)
"""Types that a document may mean by one word."""


@dataclass(frozen=True)
class Compared:
    """One statement of a document, or one part of the design, and whether both agree."""

    verdict: Verdict
    line: int
    subject: str
    message: str = ""


def compare(reading: DocumentReading, schema: Schema) -> list[Compared]:
    """What the document says, line by line, and what the design has beyond it."""
    comparison = _Comparison(reading, schema)
    found = [each for said in reading.statements for each in comparison.of(said)]
    found += comparison.not_said()
    found = _without_repeats(found)
    return sorted(set(found), key=lambda each: (each.line, each.subject, each.message))


def _without_repeats(found: list[Compared]) -> list[Compared]:
    """A thing that is not there is named once, where the document names it first."""
    first: dict[tuple[str, str], Compared] = {}
    for each in found:
        first.setdefault((each.subject, each.message), each)
    return [
        each
        for each in found
        if each.verdict != "said of nothing" or first[each.subject, each.message] is each
    ]


class _Comparison:
    def __init__(self, reading: DocumentReading, schema: Schema) -> None:
        self.reading, self.schema = reading, schema
        after = {words_of(_about(s)) for s in reading.statements if s.state == "after"}
        self._past = after if any(s.state == "after" for s in reading.statements) else set()
        self._numbers = {s.side.index for s in reading.statements if isinstance(s, KeyStatement)}
        self._numbers -= {"", "*"}
        told = [s for s in reading.statements if isinstance(s, IndexStatement)]
        self._told_indexes = {"", *(s.number or s.name for s in told)}
        self._keys: dict[str, list[KeyStatement]] = {}
        for s in reading.statements:
            if isinstance(s, KeyStatement) and not s.side.index and not s.key.example:
                self._keys.setdefault(s.entity, []).append(s)
        self._key_names: dict[tuple[str, Side], set[str]] = {}
        for s in reading.statements:
            if isinstance(s, KeyStatement) and is_attribute(s):
                place = s.table or s.entity, s.side.side
                self._key_names.setdefault(place, set()).add(s.side.attribute)
        titles = {
            s.table or s.title or s.name if isinstance(s, TableStatement) else s.table or s.entity
            for s in reading.statements
            if isinstance(s, TableStatement) or (isinstance(s, KeyStatement) and is_attribute(s))
        }
        found = {title: self._named(title) for title in titles - {""}}
        free = {t.name for t in schema.tables} - {t.name for each in found.values() for t in each}
        self._free = [t for t in schema.tables if t.name in free]
        self._unnamed = {title for title, each in found.items() if not each}
        self._missing = set() if free else self._unnamed
        """Tables of the document that are not there: every table that is there is another."""
        text = {*words_of(reading.text)}
        self._undocumented = {
            t.name for t in schema.tables
            if t.name in free and not self._unnamed and len(free) < len(schema.tables)
            and not {*words_of(re.sub(r"[-.]", " ", t.name))} <= text
        }  # fmt: skip

    def of(self, said: DocumentStatement) -> Iterator[Compared]:
        if said.state == "before" and self._past:
            return  # the document itself calls it the past
        if isinstance(said, TableStatement):
            yield from self._table(said)
        elif isinstance(said, IndexStatement):
            yield from self._index(said)
        elif isinstance(said, KeyStatement) and is_attribute(said):
            title = said.table or said.entity
            yield self._key_attribute(said, title, said.side.side, said.side.attribute)
        elif not self.schema.entities:
            if isinstance(said, KeyStatement):
                yield from self._key_name(said)
        elif isinstance(said, KeyStatement) and said.notation != "an example item":
            if said.key.example:
                return
            yield self._key(said)
        elif isinstance(said, AttributeStatement):
            yield from self._attribute(said)
        elif isinstance(said, PatternStatement) and said.clauses:
            yield from self._pattern(said)

    def not_said(self) -> Iterator[Compared]:
        """Entities and indexes of the design that no line mentions."""
        text = {*words_of(self.reading.text), *re.findall(r"[a-z0-9]+", self.reading.text.lower())}
        for entity in self.schema.entities:
            named = {*words_of(entity.name)} <= text
            if not named and not self._is_keyed(entity):
                message = f"The design has {entity.name}; the document does not say so."
                yield Compared("not said", 0, entity.name, message)
        for table in self.schema.tables:
            if table.name in self._undocumented:
                message = f"The table {table.name} is not in the document."
                yield Compared("not said", 0, table.name, message)
                continue
            for index in table.indexes:
                named = index.name in self.reading.text or {*index.key_attributes} <= {
                    *re.findall(r"[\w-]+", self.reading.text)
                }
                told = {_letters(f"{n}{end}") for n in self._numbers for end in ("pk", "sk")}
                named = named or {*map(_letters, index.key_attributes)} <= told
                if not named and not any(
                    self._same_index(said, index) for said in self.reading.statements
                ):
                    message = f"The index {index.name} ({index.key_text}) is not in the document."
                    yield Compared("not said", 0, f"{table.name}.{index.name}", message)

    def _is_keyed(self, entity: EntitySchema) -> bool:
        shapes = {s.key.shape for s in self.reading.statements if isinstance(s, KeyStatement)}
        return (
            entity.key is not None
            and _shape(entity.key.partition) in shapes
            and _shape(entity.key.sort) in shapes
        )

    def _entity(self, title: str) -> EntitySchema | None:
        for words in (words_of(title), words_of(re.sub(r"\([^)]*\)", "", title))):
            found = [e for e in self.schema.entities if words and words == words_of(e.name)]
            if len(found) == 1:
                return found[0]
        return None

    def _key(self, said: KeyStatement) -> Compared:
        here = [(e, t) for e in self.schema.entities for t in self._templates(e, said)]
        entity = self._entity(said.entity)
        own_shapes = [shape for e, shape in here if e is entity]
        alone = self._is_apart(said)
        if any(can_be_same(said.key, shape) for shape in (own_shapes if alone else ())) or (
            not alone and any(can_be_same(said.key, shape) for _, shape in here)
        ):
            return Compared("agrees", said.line, said.entity)
        label = said.side.attribute or f"{said.side.side} key"
        if entity is None:
            message = f"{label} is {said.key.text}; no entity of the design has such a key."
            if any(can_be_same(said.key, shape) for _, shape in here):
                message = f"No entity of the design has the key {self._pair(said)}."
            return Compared("said of nothing", said.line, camel(said.entity), message)
        own = " or ".join(sorted({shape for e, shape in here if e is entity})) or "not set"
        message = f"{label} is {said.key.text} in the document, and {own} in the design."
        return Compared("differs", said.line, f"{entity.name}.{label}", message)

    def _is_apart(self, said: KeyStatement) -> bool:
        """Whether no entity has both sides of the key that the document gives to this one."""
        told = {s.side.side: s.key.shape for s in self._keys.get(said.entity, ())}
        shapes = {s.key.shape for s in self._keys.get(said.entity, ())}
        if said.side.index or len(told) != 2 or shapes != {*told.values()}:
            return False
        return all(
            entity.key is None
            or (_shape(entity.key.partition), _shape(entity.key.sort))
            != (told["partition"], told["sort"])
            for entity in self.schema.entities
        )

    def _pair(self, said: KeyStatement) -> str:
        told = {s.side.side: s.key.text for s in self._keys[said.entity]}
        return f"{told['partition']} / {told['sort']}"

    def _templates(self, entity: EntitySchema, said: KeyStatement) -> Iterator[str]:
        """The design's templates at the side that a statement is about."""
        keys = [p.key for p in entity.placements] if said.side.index else [entity.key]
        for key in keys:
            template = (
                (key.partition if said.side.side == "partition" else key.sort) if key else None
            )
            if template is not None:
                yield template.text

    def _table(self, said: TableStatement) -> Iterator[Compared]:
        title = said.table or said.title or said.name
        for side, name, _ in said.keys:
            yield self._key_attribute(said, title, side, name)
        if said.ttl:
            expiring = sorted({table.ttl for table in self.schema.tables if table.ttl})
            known = ", ".join(expiring) or "none"
            message = f"The time to live is {said.ttl} in the document; the design has {known}."
            if said.ttl in expiring:
                yield Compared("agrees", said.line, "time to live")
            else:
                yield Compared("differs", said.line, "time to live", message)

    def _key_attribute(
        self, said: DocumentStatement, title: str, side: Side, name: str
    ) -> Compared:
        """A key attribute of the table of that name; of any that it can mean if none has it."""
        if title in self._missing and len(self.schema.tables) > 1:
            known = ", ".join(sorted(table.name for table in self.schema.tables))
            message = f"The table {title} is not there; the tables are {known}."
            return Compared("said of nothing", said.line, title, message)
        named = self._named(title)
        tables = named or (title and self._free) or self.schema.tables
        owned = {table.partition if side == "partition" else table.sort or "" for table in tables}
        indexed = {name for t in tables for index in t.indexes for name in index.key_attributes}
        known_by = self._key_names.get((title, side), set()) & owned
        word = known_by and re.fullmatch(r"(?i)[ps]k", name)  # PK where its name is told too
        is_owned = name.lower() in {each.lower() for each in owned}
        if word or is_owned or (name in indexed and not named):
            return Compared("agrees", said.line, name)
        known = ", ".join(sorted(owned - {""})) or "none"
        if title and not named and len(self._unnamed) > 1:
            message = f"No table is called {title}, and none has the {side} key {name}: {known}."
            return Compared("said of nothing", said.line, title, message)
        message = f"The {side} key is {name} in the document; the design has {known}."
        return Compared("differs", said.line, f"{title or 'table'}.{side}", message)

    def _key_name(self, said: KeyStatement) -> Iterator[Compared]:
        """The attribute of a template beside tables alone: `GSI2PK` of an index that is not there.

        PK and GSI1PK may also stand for keys of other names, so nothing is said to differ unless
        the document has more indexes than there are.
        """
        name, side = _letters(said.side.attribute), said.side.side
        tables = self._tables(said.table)
        indexes = [index for table in tables for index in table.indexes]
        owned = [table.partition if side == "partition" else table.sort for table in tables]
        if said.side.index:
            owned = [
                key
                for index in indexes
                for key in (index.partition_types if side == "partition" else index.sort_types)
            ]
        if name and name in {_letters(each or "") for each in owned}:
            yield Compared("agrees", said.line, said.side.attribute)
        elif (
            name and said.side.index not in self._told_indexes and len(self._numbers) > len(indexes)
        ):
            known = ", ".join(sorted({index.name for index in indexes})) or "none"
            message = f"No index has the {side} key {said.side.attribute}; the indexes are {known}."
            yield Compared("said of nothing", said.line, said.side.attribute, message)

    def _index(self, said: IndexStatement) -> Iterator[Compared]:
        indexes = [(table, index) for table in self._tables(said.table) for index in table.indexes]
        same = [index for _, index in indexes if self._same_index(said, index)]
        if not same:
            known = ", ".join(sorted({index.name for _, index in indexes})) or "none"
            message = f"The index {said.name} is not there; the indexes are {known}."
            yield Compared("said of nothing", said.line, said.name, message)
            return
        for side, name, _ in said.keys:
            owned = {
                n
                for i in same
                for n in (i.partition_types if side == "partition" else i.sort_types)
            }
            if name.lower() not in {n.lower() for n in owned}:
                own = ", ".join(sorted(owned)) or "not set"
                message = f"Its {side} key is {name} in the document, and {own} in the design."
                yield Compared("differs", said.line, f"{said.name}.{side}", message)
                return
        yield Compared("agrees", said.line, said.name)

    def _tables(self, title: str) -> tuple[TableSchema, ...]:
        return self._named(title) or self.schema.tables

    def _named(self, title: str) -> tuple[TableSchema, ...]:
        """The tables whose name has the words of a title: `Orders` is shop-orders-dev."""
        words = {*words_of(re.sub(r"\$?[{<][^{}<>]*[}>]|[-.]", " ", title))}
        found = [
            (len(named), t)
            for t in self.schema.tables
            if words and words <= (named := {*words_of(re.sub(r"[-.]", " ", t.name))})
        ]
        least = min((size for size, _ in found), default=0)
        return tuple(t for size, t in found if size == least)

    def _same_index(self, said: DocumentStatement, index: Index) -> bool:
        if not isinstance(said, IndexStatement):
            return False
        names = {said.name, said.number, self.reading.names.indexes.get(said.number, "")} - {""}
        plain = {re.sub(r"[^a-z0-9]", "", name.lower()) for name in names}
        keys = [name.lower() for _, name, _ in sorted(said.keys)]
        if keys and re.fullmatch(rf"(?i){INDEX}", said.name):  # a number is no name
            return (
                all(
                    name in (index.partition_types if side == "partition" else index.sort_types)
                    for side, name, _ in said.keys
                )
                or re.sub(r"[^a-z0-9]", "", index.name.lower()) in plain
            )
        return re.sub(r"[^a-z0-9]", "", index.name.lower()) in plain or (
            len(keys) == len(index.key_attributes)
            and keys == [name.lower() for name in index.key_attributes]
        )

    def _attribute(self, said: AttributeStatement) -> Iterator[Compared]:
        entity = self._entity(said.entity)
        known = (
            next((a for a in entity.attributes if said.name in (a.name, a.field)), None)
            if entity
            else None
        )
        if entity is None:
            return
        if known is None:
            message = f"{entity.name} has no {said.name} in the design."
            yield Compared("said of nothing", said.line, f"{entity.name}.{said.name}", message)
        elif said.type and not any({said.type, known.type} <= family for family in _FAMILIES):
            message = f"It is {said.type} in the document, and {known.type} in the design."
            yield Compared("differs", said.line, f"{entity.name}.{said.name}", message)
        else:
            yield Compared("agrees", said.line, f"{entity.name}.{said.name}")

    def _pattern(self, said: PatternStatement) -> Iterator[Compared]:
        partition = next((c for c in said.clauses if c.side.side == "partition" and c.value), None)
        sort = next((c for c in said.clauses if c.side.side == "sort" and c.value), None)
        if (
            partition is None
            or partition.value is None
            or any(c.side.index == "*" for c in said.clauses)
        ):
            return
        for pattern in self.schema.patterns:
            stored = _shape(pattern.partition)
            reads = (
                pattern.partition is not None
                and can_meet(partition.value, WrittenKey(stored.replace("<>", "<f>")))
                and bool(pattern.index) == bool(said.index)
            )
            condition = _shape(pattern.condition.template)
            if reads and (
                sort is None
                or sort.value is None
                or not condition
                or condition.startswith(sort.value.shape.split("<>")[0][:3])
            ):
                yield Compared("agrees", said.line, said.name)
                return
        told = " AND ".join(clause.raw for clause in said.clauses)
        yield Compared(
            "said of nothing",
            said.line,
            said.name,
            f"{said.name}: no pattern of the design reads {told}.",
        )


def _letters(name: str) -> str:
    """A name without its notation: GSI1PK is gsi1_pk."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def can_be_same(said: WrittenKey, stored: str) -> bool:
    """Whether two templates differ in the names of their fields only."""
    return said.shape == re.sub(r"\{[^{}]*\}", "<>", stored)


def _shape(template: object) -> str:
    """A template with fields as <>, and without their names."""
    return re.sub(r"\{[^{}]*\}", "<>", getattr(template, "text", "") or "")


def _about(said: DocumentStatement) -> str:
    return said.entity if isinstance(said, KeyStatement | AttributeStatement) else said.table
