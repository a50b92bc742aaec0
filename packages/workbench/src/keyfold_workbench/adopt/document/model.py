"""The statements of a document as one model; what is said twice and differs becomes a question."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

from keyfold_workbench.adopt.document.example_keys import (
    by_prefix,
    known_example,
    place_example,
)
from keyfold_workbench.adopt.document.items import DocumentEntity, DocumentTable
from keyfold_workbench.adopt.document.key_groups import KeyGroups, join_keys, share_partitions
from keyfold_workbench.adopt.document.key_side import SIDES, Side
from keyfold_workbench.adopt.document.key_text import WrittenKey, can_meet
from keyfold_workbench.adopt.document.scope import camel, words_of
from keyfold_workbench.adopt.document.statements import (
    AttributeStatement,
    DocumentReading,
    DocumentStatement,
    KeyStatement,
    TableStatement,
)
from keyfold_workbench.adopt.document.table_titles import TableTitles, is_attribute

_GENERIC = re.compile(r"(?i)(?:[ps]k|(?:partition|sort|hash|range)_?key)")


class DocumentModel:
    """Tables, indexes and entities of a document."""

    def __init__(self, reading: DocumentReading) -> None:
        self.reading = reading
        self.tables: dict[tuple[str, ...], DocumentTable] = {}
        self.entities: list[DocumentEntity] = []
        self.endings: dict[str, dict[str, list[DocumentEntity]]] = {}
        """Entities by index and by each word that their partition key ends with."""
        self._taken: set[str] = set()
        self._by_key: dict[tuple[int, tuple[str, ...]], DocumentEntity] = {}
        self._shared: dict[tuple[str, ...], KeyStatement] = {}
        """The partition key that a table gives for all of its items."""
        self.said = self._accepted()
        self.titles = TableTitles(self.said)
        if main := self.titles.main:
            self.reading.ask(
                main.line, f"Are items outside of a table's section in {main.name}? It is read so."
            )
        self._add_tables()
        self._add_entities()

    def named(self, title: str) -> DocumentEntity | None:
        """The entity that a text names."""
        inner = re.search(r"\(([^()]*)\)", title)
        parts = (title, re.sub(r"\([^)]*\)", "", title), inner[1] if inner else "")
        for words in map(words_of, parts):
            found = [
                entity
                for entity in self.entities
                if words and words in (words_of(entity.title), words_of(entity.name))
            ]
            if len(found) == 1:
                return found[0]
        return None

    def only_of(self, title: str) -> DocumentEntity | None:
        """The entity of a table that has no other."""
        found = [entity for entity in self.entities if title and entity.table is self.table(title)]
        return found[0] if len(found) == 1 else None

    def attributes_of(self, table: DocumentTable) -> set[str]:
        """The names of the attributes that the items of a table have."""
        names = {words_of(entity.title) for entity in self.entities if entity.table is table}
        told = {
            s.name
            for s in self.said
            if isinstance(s, AttributeStatement)
            and (words_of(s.entity) in names or (s.table and self.table(s.table) is table))
        }
        return told | {name for name, _ in table.keys.values()}

    def _accepted(self) -> list[DocumentStatement]:
        """Without what the document calls the state before."""
        after = {words_of(_about(s)) for s in self.reading.statements if s.state == "after"}
        told = {_key_of(s) for s in self.reading.statements if s.table} - {None}
        kept = []
        for s in self.reading.statements:
            if not s.table and _key_of(s) in told:
                continue  # a key of a table's section is repeated
            if s.state == "before" and (words_of(_about(s)) in after or not _about(s)):
                self.reading.ask(
                    s.line, "The document has a newer state than this; the newer one is read."
                )
            else:
                kept.append(s)
        return kept

    def table(self, title: str) -> DocumentTable:
        """The table of a title; the only one if the document has one."""
        shown = (title or self.titles.main_title) if self.titles.several else ""
        return self.tables.setdefault(self.titles.words(title), DocumentTable(shown))

    def known_table(self, title: str) -> DocumentTable | None:
        """The table that a read names, if the document describes it."""
        return self.tables.get(self.titles.words(title)) if title else None

    def home(self, s: DocumentStatement) -> DocumentTable:
        """The table that a statement is about: by its name, or by the entity that is a table."""
        own = s.owner if self.titles.is_owner(s.owner) else ""
        return self.table(s.table or getattr(s, "title", "") or own)

    def _add_tables(self) -> None:
        for s in self.said:
            if isinstance(s, TableStatement):
                table = self.home(s)
                table.name = table.name or s.name
                table.stream = table.stream or s.stream
                if s.ttl and table.ttl not in ("", s.ttl):
                    self.reading.ask(
                        s.line, f"Which attribute is the time to live, {table.ttl} or {s.ttl}?"
                    )
                table.ttl = table.ttl or s.ttl
                for side, name, kind in s.keys:
                    self._set_key(table, side, name, kind, s.line)
        for key in self.titles.own_keys:
            self._set_key(self._table_of(key), key.side.side, key.side.attribute, "S", key.line)
        for table in [self._table_of(s) for s in self.said if isinstance(s, KeyStatement)]:
            if not table.assumed:
                self._assume_keys(table)
        for table in self.tables.values():
            table.keys = {side: table.keys[side] for side in SIDES if side in table.keys}

    def _set_key(self, table: DocumentTable, side: Side, name: str, kind: str, line: int) -> None:
        known = table.keys.setdefault(side, (name, kind))
        if known[0].lower() != name.lower():
            if _GENERIC.fullmatch(known[0]) and not _GENERIC.fullmatch(name):
                table.keys[side] = name, kind  # PK may be the word for it
            self.reading.ask(
                line, f"The {side} key is {known[0]} elsewhere, and {name} here.", contradicts=True
            )

    def _assume_keys(self, table: DocumentTable) -> None:
        """The names that the document's keys have most often; PK and SK if it gives none."""
        table.assumed = True
        for side, default in zip(SIDES, ("PK", "SK"), strict=True):
            used = Counter(
                s.side.attribute
                for s in self.said
                if isinstance(s, KeyStatement) and not s.side.index and s.side.side == side
                and not is_attribute(s) and self._table_of(s) is table
            )  # fmt: skip
            if used and side not in table.keys:
                table.keys[side] = (
                    next((name for name, _ in used.most_common() if name), default),
                    "S",
                )

    def _table_of(self, s: KeyStatement) -> DocumentTable:
        return self.table(self.titles.title_of(s))

    def _with_entity(self, s: KeyStatement) -> str:
        """The entity of a key that names none: the only one of its table."""
        if s.entity:
            return s.entity
        table = self.titles.words(s.table)
        named = {
            words_of(key.entity): key.entity
            for key in self.said
            if isinstance(key, KeyStatement)
            and key.entity
            and self.titles.words(key.table or key.entity) == table
        }
        if len(named) == 1:
            return next(iter(named.values()))
        if named and s.side.side == "partition" and not s.side.index and s.key.fields:
            self._shared.setdefault(table, s)
            return ""
        if any(
            key.entity and (key.side.index, key.side.side, key.key.shape)
            == (s.side.index, s.side.side, s.key.shape)
            for key in self.said
            if isinstance(key, KeyStatement)
            and self.titles.words(key.table or key.entity) == table
        ):  # fmt: skip
            return ""  # told of an entity elsewhere
        at = " ".join(filter(None, (s.side.index * (not s.side.attribute),
                                    s.side.attribute or f"{s.side.side} key")))  # fmt: skip
        title = s.table or next((each.name for each in self.said if isinstance(each, TableStatement)
                                 and each.name), "Item")  # fmt: skip
        alone = not named and not s.side.index and _GENERIC.fullmatch(s.side.attribute or "pk")
        taken = f" {camel(title)} is taken from the table." if alone else ""
        self.reading.ask(s.line, f"Which entity has {at} {s.key.text}?{taken}")
        return title if alone else ""

    def _add_entities(self) -> None:
        grouped: KeyGroups = {}
        for each in self.said:
            if not isinstance(each, KeyStatement):
                continue
            s = replace(each, entity=self._with_entity(each))
            s = replace(s, entity=self.titles.entity_of(s))
            if s.entity:
                where = self.titles.words(self.titles.title_of(s))
                grouped.setdefault((where, words_of(s.entity)), []).append(s)
        share_partitions(self.reading, grouped)
        placed = {key: said for key, said in grouped.items() if any(not s.side.index for s in said)}
        for key, said in grouped.items():
            if key not in placed:
                join_keys(self.reading, self.said, key, said, placed)
        groups = sorted((placed or grouped).values(), key=_only_examples)
        for said in groups:
            known = known_example(self.entities, said) if _only_examples(said) else None
            if known is None:
                self._add_entity(said)
                continue
            self._add_example_keys(known, said)
        self._add_bare_tables()

    def _add_example_keys(self, entity: DocumentEntity, said: list[KeyStatement]) -> None:
        """Index keys that only an example has are asked about."""
        index_keys = [s for s in said if s.side.index not in ("", "*")]
        lost = [s for s in index_keys if not place_example(self.reading, self.said, entity, s)]
        if lost:
            asked = f"{lost[0].side.attribute or lost[0].side.index} {lost[0].key.text}"
            question = f"{entity.name}: {asked} is in an example only; of which key?"
            self.reading.ask(lost[0].line, question)

    def _add_entity(self, said: list[KeyStatement]) -> None:
        templates = [s for s in said if not is_attribute(s)]
        told = [s for s in templates if s.notation != "an example item"]
        mine = told if any(not s.side.index for s in told) else templates
        mine = mine if any(not s.side.index for s in mine) else [*said]
        entity = DocumentEntity(
            self._free_name(said[0].entity), said[0].entity, self._table_of(said[0])
        )
        for s in sorted(mine, key=lambda s: s.key.example):
            place = s.side.index if s.side.index != "*" else "", s.side.side
            known = entity.keys.get(place)
            if s.key.example:
                if known is not None and can_meet(s.key, known[0]):
                    continue
                guessed = by_prefix(self.said, s.key)
                if "#" not in s.key.text:  # an id alone
                    guessed = WrittenKey(f"<{entity.name[0].lower()}{entity.name[1:]}Id>")
                if known is None and guessed is not None:
                    entity.keys[place] = guessed, s.line
                self.reading.ask(
                    s.line, f"{entity.name}: {s.key.text} is an example; of which key?"
                )
            elif known is None:
                entity.keys[place] = s.key, s.line
                if s.notation == "an example item" and s.key.fields:
                    self.reading.ask(
                        s.line, f"{entity.name}: {s.key.text} is read from an example. Is it so?"
                    )
            elif known[0].shape != s.key.shape:
                self.reading.ask(s.line,
                    f"{entity.name}: {s.key.text} here, {known[0].text} in line "
                    f"{known[1]}; "
                                         "one kind of item or two?", contradicts=True)  # fmt: skip
        shared = self._shared.get(self.titles.words(said[0].table))
        sorted_only = ("", "sort") in entity.keys and ("", "partition") not in entity.keys
        if sorted_only and shared is not None:
            entity.keys["", "partition"] = shared.key, shared.line
        elif (
            sorted_only
            and (own := entity.table.keys.get("partition"))
            and not _GENERIC.fullmatch(own[0])
        ):
            entity.keys["", "partition"] = WrittenKey(f"<{own[0]}>"), said[0].line
        if ("", "partition") not in entity.keys and any(not index for index, _ in entity.keys):
            self.reading.ask(said[0].line, f"{entity.name}: the partition key is not understood.")
            entity.keys = {}
        twin = self._twin(entity)
        if twin:
            question = f"{entity.name} has the key of {twin.name}; one kind of item or two?"
            self.reading.ask(said[0].line, question)
            same = all(entity.keys[at][0] == twin.keys.get(at, [None])[0] for at in entity.keys)
            entity.keys = {} if same or mine[0].notation == "an example item" else entity.keys
        if entity.keys or not templates:
            self.entities.append(entity)
            self._add_example_keys(entity, [s for s in templates if s not in mine])

    def _twin(self, entity: DocumentEntity) -> DocumentEntity | None:
        """An entity of the same table whose items' keys are the same."""
        own = tuple(entity.keys["", side][0].shape for side in SIDES if ("", side) in entity.keys)
        first = self._by_key.setdefault((id(entity.table), own), entity) if own else entity
        return None if first is entity else first

    def _free_name(self, title: str) -> str:
        taken = self._taken
        name = re.sub(r"\W", "", camel(title)) or "Item"
        if name in taken:
            name = re.sub(r"\W", "", camel(title.replace("(", " ").replace(")", " ")))
        while name in taken:
            name += "2"
        name = name if name[:1].isalpha() else f"Item{name}"
        self._taken.add(name)
        return name

    def _add_bare_tables(self) -> None:
        """A table with key attributes and no item: its items are one entity."""
        alone = not self.titles.several and not self.entities
        for table in self.tables.values():
            title = table.title or (table.name or "Item") * alone
            own = "partition" in table.keys and not _GENERIC.fullmatch(table.keys["partition"][0])
            if title and own and not any(e.table is table for e in self.entities):
                entity = DocumentEntity(self._free_name(title), title, table)
                entity.keys = {
                    ("", side): (WrittenKey(f"<{name}>"), 0)
                    for side, (name, _) in table.keys.items()
                }
                self.entities.append(entity)


def _only_examples(said: list[KeyStatement]) -> bool:
    told = [s for s in said if s.notation != "an example item"]
    return not told or any(s.key.example for s in told)


def _key_of(s: DocumentStatement) -> tuple[object, ...] | None:
    if not isinstance(s, KeyStatement):
        return None
    return words_of(s.entity), s.side.index, s.side.side, s.key.text


def _about(s: DocumentStatement) -> str:
    return s.entity if isinstance(s, KeyStatement | AttributeStatement) else s.table
