"""From a document to a design: the model as a design file, and the questions that remain."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

import yaml

from keyfold.design.file import loads
from keyfold.design.schema import Schema
from keyfold.errors import KeyfoldError
from keyfold_workbench.adopt.document.attributes import add_attributes
from keyfold_workbench.adopt.document.found_patterns import FoundPattern
from keyfold_workbench.adopt.document.indexes import add_indexes, place_by_table_keys
from keyfold_workbench.adopt.document.items import DocumentEntity, DocumentIndex, DocumentTable
from keyfold_workbench.adopt.document.key_text import WrittenKey
from keyfold_workbench.adopt.document.model import DocumentModel
from keyfold_workbench.adopt.document.pattern_match import find_patterns
from keyfold_workbench.adopt.document.reader import read_document
from keyfold_workbench.adopt.document.statements import DocumentReading, KeyStatement
from keyfold_workbench.adopt.sources.material import Imported
from keyfold_workbench.adopt.sources.text_files import read_text


@dataclass(frozen=True)
class DocumentDesign:
    """A document as a design, with its reading: statements, questions, marks."""

    schema: Schema
    reading: DocumentReading

    @property
    def questions(self) -> list[str]:
        """Every question with its line."""
        asked = self.reading.questions
        return [f"line {line}: {question}" for line in sorted(asked) for question in asked[line]]


def design_of(text: str, source: str) -> DocumentDesign:
    """The design that a document describes."""
    reading = read_document(text)
    model = DocumentModel(reading)
    add_indexes(model)
    add_attributes(model)
    place_by_table_keys(model)
    patterns = find_patterns(model)
    name = re.sub(r"[^\w-]+", "-", PurePath(source).stem.lower()).strip("-") or "document"
    return DocumentDesign(_schema(_Writer(model, name), patterns), reading)


def imported(text: str, source: str) -> Imported:
    """A document as a source of `keyfold import`."""
    found = design_of(text, source)
    if not found.schema.entities and not any(
        isinstance(s, KeyStatement) for s in found.reading.statements
    ):
        raise KeyfoldError(
            f"{source} has no design: no line gives a key, such as PK = ORDER#<orderId>, a "
            f"table of keys, "
            f"or Partition key: orderId. Lines with another statement: "
            f"{found.reading.coverage()['read']}."
        )
    made = Imported("document", source, name=found.schema.name)
    made.tables, made.entities = list(found.schema.tables), list(found.schema.entities)
    made.patterns = list(found.schema.patterns)
    file = PurePath(source).name
    made.questions = [f"{file}, {question}" for question in found.questions]
    made.notes = [coverage_note(found.reading)]
    return made


def explain(source: str, line: int) -> list[str]:
    """How a line of a document was read."""
    text = read_text(Path(source))
    if not 1 <= line <= len(text.splitlines()):
        raise KeyfoldError(f"Invalid line {line}: {source} has {len(text.splitlines())} lines.")
    return design_of(text, source).reading.explain(line)


def coverage_note(reading: DocumentReading) -> str:
    """How many lines were read, asked about, and not understood."""
    count = reading.coverage()
    note = "Lines: " + ", ".join(f"{number} {mark}" for mark, number in count.items()) + "."
    left = [line for line, mark in sorted(reading.marks.items()) if mark == "not understood"]
    more = f" and {len(left) - 20} more" if len(left) > 20 else ""
    return note + (f" Not understood: {', '.join(map(str, left[:20]))}{more}." if left else "")


def _schema(writer: _Writer, patterns: list[FoundPattern]) -> Schema:
    """The design; a part that a design file refuses is left out, with a question."""
    parts = {"design": writer.name, "tables": dict(writer.tables())}
    entities, reads = list(writer.entities()), list(writer.patterns(patterns))
    whole = {
        **parts,
        "entities": {name: body for name, body, _ in entities},
        "patterns": {name: body for name, body, _ in reads},
    }
    try:
        return _loaded(whole)
    except KeyfoldError:
        kept: dict[str, Any] = {**parts, "entities": {}, "patterns": {}}
    for kind, each in (("entities", entities), ("patterns", reads)):
        for name, body, line in each:
            kept[kind][name] = body
            try:
                _loaded(kept)
            except KeyfoldError as error:
                del kept[kind][name]
                why = re.sub(r"^.*?:\d+: ", "", str(error))
                writer.model.reading.ask(line, f"{name} is left out: {why}")
    return _loaded(kept)


def _loaded(parts: dict[str, Any]) -> Schema:
    return loads(
        yaml.safe_dump({k: v for k, v in parts.items() if v}, sort_keys=False, allow_unicode=True),
        file="document",
    )


class _Writer:
    """The model in the words of a design file."""

    def __init__(self, model: DocumentModel, name: str) -> None:
        self.model, self.name = model, name
        used = [table for table in model.tables.values() if self._is_used(table)] or [
            DocumentTable("")
        ]
        self._names: dict[int, str] = {}
        for table in used:
            self._names[id(table)] = self._table_name(table)
        self._used = used
        self._kinds = Counter(id(entity.table) for entity in model.entities)

    def _is_used(self, table: DocumentTable) -> bool:
        return bool(table.keys or table.indexes) and (
            any(entity.table is table for entity in self.model.entities) or not self.model.entities
        )

    def _table_name(self, table: DocumentTable) -> str:
        wanted = table.name or re.sub(r"\s*\([^()]*\)$", "", table.title) or self.name
        made = re.sub(r"[^A-Za-z0-9_.-]+", "-", re.sub(r"\$?[{<][^{}<>]*[}>]", "", wanted)).strip(
            "-_."
        )
        made = made if len(made) > 2 else f"{made}-table".strip("-")
        while made in self._names.values():
            made += "-2"
        return made

    def tables(self) -> Iterator[tuple[str, dict[str, Any]]]:
        for table in self._used:
            body: dict[str, Any] = {"key": _typed(table.keys)} if table.keys else {}
            body |= {"ttl": table.ttl} if table.ttl else {}
            body |= {"stream": table.stream} if table.stream else {}
            indexes = {index.name: _index(index) for index in table.indexes.values()}
            yield self._names[id(table)], body | ({"indexes": indexes} if indexes else {})

    def entities(self) -> Iterator[tuple[str, dict[str, Any], int]]:
        for entity in self.model.entities:
            body: dict[str, Any] = (
                {"table": self._names[id(entity.table)]} if len(self._used) > 1 else {}
            )
            keys = {
                name: entity.keys["", side][0].text
                for side, (name, _) in entity.table.keys.items()
                if ("", side) in entity.keys
            }
            body |= {"key": keys} if keys else {}
            if (
                "sort" in entity.table.keys
                and ("", "partition") in entity.keys
                and ("", "sort") not in entity.keys
            ):
                sort = entity.table.keys["sort"][0]
                line = entity.keys["", "partition"][1] or 1
                self.model.reading.ask(line, f"{entity.name}: what is its {sort}?")
            placements = self._placements(entity)
            body |= {"indexes": placements} if placements else {}
            if entity.days and entity.table.ttl:
                body["ttl"] = {"attribute": entity.table.ttl, "days": int(entity.days)}
            attributes = self._attributes(entity)
            body |= {"attributes": attributes} if attributes else {}
            if body:
                yield (
                    entity.name,
                    body,
                    min([line for _, line in entity.keys.values() if line] or [1]),
                )

    def _placements(self, entity: DocumentEntity) -> dict[str, dict[str, str]]:
        found = {}
        for number in dict.fromkeys(number for number, _ in entity.keys if number):
            index = entity.table.index(number)
            if index is None:
                continue
            known = entity.keys | {
                (number, side): (WrittenKey(f"<{name}>"), 0)
                for side, (name, _) in index.keys.items()
                if name in entity.attributes and (number, side) not in entity.keys
            }
            keys = {
                name: known[number, side][0].text
                for side, (name, _) in index.keys.items()
                if (number, side) in known
            }
            if len(keys) == len(index.keys):
                found[index.name] = keys
            else:
                line = max(entity.keys[place][1] for place in entity.keys if place[0] == number)
                self.model.reading.ask(
                    line, f"{entity.name} in {index.name}: what is the other side of the key?"
                )
        return found

    def _attributes(self, entity: DocumentEntity) -> dict[str, str]:
        owned = {name for name, _ in entity.table.keys.values()}
        plain = {
            name for name in owned if any(key.fields == [name] for key, _ in entity.keys.values())
        }
        fields = dict.fromkeys(name for key, _ in entity.keys.values() for name in key.fields)
        untyped = [s for s in entity.attributes.values() if not s.type]
        if untyped:
            self.model.reading.ask(
                untyped[0].line,
                f"{entity.name}: no type is given for {', '.join(s.name for s in untyped)[:200]}",
            )
        found: dict[str, str] = {}
        keyed = {k: _KINDS[v] for i in entity.table.indexes.values() for k, v in i.keys.values()}
        if self._kinds[id(entity.table)] == 1:
            # The only kind of item in a table has the attributes that its indexes are keyed by.
            found = {k: kind for k, kind in keyed.items() if not re.search(r"(?i)[ps]k$", k)}
        keyed |= {name: _KINDS[kind] for name, kind in entity.table.keys.values()}
        for name in [*fields, *(name for name in entity.attributes if name not in fields)]:
            if name in owned - plain:
                continue
            said = entity.attributes.get(name)
            kind = (said.type if said else "") or keyed.get(name, "any" if said else "string")
            kind = "string" if name in fields and kind in ("any", "list", "map") else kind
            if said and said.stored and name not in fields:
                kind = f"timestamp {said.stored}"
            words = ("optional " if said and said.optional and name not in fields else "") + kind
            found[name] = words + (
                f" one of {', '.join(said.values)}"
                if said and said.values and kind == "string"
                else ""
            )
        return found

    def patterns(self, found: list[FoundPattern]) -> Iterator[tuple[str, dict[str, Any], int]]:
        for each in found:
            names = [entity.name for entity in each.entities]
            body: dict[str, Any] = {each.kind: names[0] if len(names) == 1 else names}
            body |= {"index": each.index.name} if each.index else {}
            body |= {"where": " AND ".join(each.conditions)} if each.conditions else {}
            body |= {"descending": True} if each.said.descending else {}
            body |= {"limit": each.said.limit} if each.said.limit else {}
            yield each.name, body, each.said.line


_KINDS = {"S": "string", "N": "number", "B": "binary"}


def _typed(keys: dict[Any, tuple[str, str]]) -> Any:
    if all(kind == "S" for _, kind in keys.values()):
        return [name for name, _ in keys.values()]
    return dict(keys.values())


def _index(index: DocumentIndex) -> dict[str, Any]:
    body: dict[str, Any] = {"key": _typed(dict(sorted(index.keys.items())))}
    body |= {"projection": index.projection} if index.projection else {}
    return body | ({"purpose": index.purpose} if index.purpose else {})
