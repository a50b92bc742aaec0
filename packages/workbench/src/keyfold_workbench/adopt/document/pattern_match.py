"""Which entities a read of a document meets: by templates, by names of attributes, by arguments."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace

from keyfold_workbench.adopt.document.found_patterns import FoundPattern, homes_in, made_pattern
from keyfold_workbench.adopt.document.items import (
    DocumentEntity,
    DocumentIndex,
    DocumentTable,
    Keys,
)
from keyfold_workbench.adopt.document.key_clauses import KeyClause
from keyfold_workbench.adopt.document.key_side import KeySide, Side, key_side
from keyfold_workbench.adopt.document.key_text import WrittenKey, can_meet
from keyfold_workbench.adopt.document.model import DocumentModel
from keyfold_workbench.adopt.document.scope import words_of
from keyfold_workbench.adopt.document.statements import PatternStatement
from keyfold_workbench.adopt.document.word_reads import (
    by_arguments,
    by_home,
    by_words,
    in_partition,
)


def find_patterns(model: DocumentModel) -> list[FoundPattern]:
    """The patterns that some entity's key can meet; a question for each other one."""
    names: dict[str, int] = {}
    found: list[FoundPattern] = []
    for said in model.reading.statements:
        if not isinstance(said, PatternStatement):
            continue
        pattern = _find(model, said)
        if pattern is not None and not (said.notation in _IN_CODE and _is_told(pattern, found)):
            names[pattern.name] = names.get(pattern.name, 0) + 1
            if names[pattern.name] > 1:
                pattern = replace(pattern, name=f"{pattern.name} ({names[pattern.name]})")
            found.append(pattern)
    return found


_IN_CODE = ("a key condition in code", "a get in code", "lines of a condition")


def _is_told(pattern: FoundPattern, found: list[FoundPattern]) -> bool:
    """Whether a read was told before: the code of a request below a table of patterns."""
    return any(
        (each.name, each.kind, each.entities, each.index, each.conditions)
        == (pattern.name, pattern.kind, pattern.entities, pattern.index, pattern.conditions)
        for each in found
    )


def _find(model: DocumentModel, said: PatternStatement) -> FoundPattern | None:
    name = said.name or f"read of line {said.line}"
    if said.operation == "scan" and not said.clauses:
        tables = [table for table, _ in homes_in(model, said)]
        held = [e for e in model.entities if any(e.table is table for table in tables)]
        entity = model.named(said.entity) or (held[0] if len(held) == 1 else None)
        if entity is None:
            model.reading.ask(said.line, f"{name}: which entity does the scan read?")
            return None
        return FoundPattern(said, name, "scan", (entity,), None, ())
    if said.given:
        return by_arguments(model, said, name)
    if not said.clauses:
        return (by_home if said.operation else by_words)(model, said, name)
    said = _with_attributes(model, said)
    if any(clause.side.index == "*" or _is_own(model, clause) for clause in said.clauses):
        return _by_attributes(model, said, name)
    return _by_templates(model, said, name)


def _with_attributes(model: DocumentModel, said: PatternStatement) -> PatternStatement:
    """`PK = userId` of a key whose attribute is userId asks for that attribute."""
    homes = homes_in(model, said)
    if len(homes) == 1:
        keys = homes[0][1].keys if homes[0][1] else homes[0][0].keys
        said = replace(said, clauses=tuple(_named(clause, keys) for clause in said.clauses))
    keyed = {
        attribute
        for table, index in homes
        for attribute, _ in (index.keys if index else table.keys).values()
    }
    clauses = tuple(
        replace(clause, side=replace(clause.side, attribute=name, index="*"))
        if clause.value
        and (name := clause.value.text.strip("<>")) in keyed
        and clause.operator == "="
        and not key_side(name)
        else clause
        for clause in said.clauses
    )
    changed = [c.side.attribute for c in clauses if c.side.index == "*"]
    whole = all(c.side.attribute in keyed for c in clauses)
    return replace(said, clauses=clauses) if changed and whole else said


def _named(clause: KeyClause, keys: Keys) -> KeyClause:
    """`PK = 'open'` of an index whose partition key is the attribute status."""
    name, _ = keys.get(clause.side.side, ("", ""))
    generic = key_side(clause.side.attribute) if clause.side.attribute else clause.side
    own = name and not key_side(name) and generic is not None and generic.index == ""
    value = clause.value.text.strip("<>") if clause.value else ""
    if not own or value == name:
        return clause
    return replace(clause, side=replace(clause.side, attribute=name, index="*"))


def _is_own(model: DocumentModel, clause: KeyClause) -> bool:
    """A condition on an attribute that is a key by its own name."""
    return clause.side.attribute in model.reading.names.attributes


def _by_templates(model: DocumentModel, said: PatternStatement, name: str) -> FoundPattern | None:
    clauses = {clause.side.side: clause for clause in said.clauses}
    if "partition" not in clauses:
        partition = _partition_of(model, said, name, clauses)
        if partition is None:
            return None
        clauses = {"partition": partition, **clauses}
    read = [entity for entity in model.entities if _meets(entity, said, clauses)]
    sure = [entity for entity in read if not entity.keys[said.index, "partition"][0].is_field]
    read = sure if len({id(entity.table) for entity in read}) > 1 else read
    if table := model.known_table(said.table):
        read = [entity for entity in read if entity.table is table] or read
    told = " AND ".join(clause.raw for clause in said.clauses)
    if any(_is_example(clause, read, said.index) for clause in clauses.values()):
        clauses = _of_examples(model, said, clauses, read)
        if not clauses:
            model.reading.ask(said.line, f"{name}: {told} is an example; of which key?")
            return None
    if len({id(entity.table) for entity in read}) != 1:
        why = "in several tables" if read else "that no entity's key can meet"
        model.reading.ask(
            said.line, f"{name}: a condition {why}: {told}{f' in {said.index}' * bool(said.index)}."
        )
        return None
    if all(value and value.is_field for value in clauses["partition"].values) and not all(
        entity.keys[said.index, "partition"][0].is_field for entity in read
    ):
        model.reading.ask(said.line, f"{name}: {told} does not tell which partition.")
        return None
    for side, clause in clauses.items():
        for part, field in _words_for_fields(clause, read, said.index):
            model.reading.ask(
                said.line, f"{name}: is {part} meant, or any {field}? {part} is read. ({side} key)"
            )
    index = read[0].table.index(said.index) if said.index else None
    keys = index.keys if index else read[0].table.keys
    whole = all(side in clauses and clauses[side].operator == "=" for side in keys)
    stored = read[0].keys
    told_keys = {side: {e.keys[said.index, side][0].text for e in read} for side in clauses}
    conditions = tuple(
        _condition(clauses[side], keys[side][0], stored[said.index, side][0], len(told_keys[side]))
        for side in keys
        if side in clauses
    )
    return made_pattern(model, said, name, tuple(read), index, conditions, whole=whole)


def _partition_of(
    model: DocumentModel, said: PatternStatement, name: str, clauses: dict[Side, KeyClause]
) -> KeyClause | None:
    """`Query pk, begins_with(sk, "LINE#")` reads the partition of the section's entity."""
    entity = model.named(said.entity) if said.entity else None
    sort = clauses["sort"]
    read = [
        each
        for each in model.entities
        if (said.index, "partition") in each.keys
        and (stored := each.keys.get((said.index, "sort")))
        and sort.value
        and can_meet(sort.value, stored[0], sort.operator)
    ]
    told = _PARTITION_NAMED.search(said.text.replace(sort.raw, ""))
    if entity and (said.index, "partition") in entity.keys:
        read = [entity] if entity in read or (said.index, "sort") not in entity.keys else []
    if worded := [each for each in in_partition(model, said) if each in read]:
        read = worded
    partitions = {each.keys[said.index, "partition"][0].text for each in read}
    if len(partitions) != 1 or not (entity in read or told):
        model.reading.ask(
            said.line, f"{name}: which partition? {sort.raw} is a condition on the sort key."
        )
        return None
    text = partitions.pop()
    if entity not in read or not told or (said.index, "sort") not in entity.keys:
        model.reading.ask(said.line, f"{name}: is the partition {text}? It is read so.")
    side = KeySide(said.index, "partition")
    return KeyClause(side, "=", (WrittenKey(text),), text)


_PARTITION_NAMED = re.compile(r"(?i)\b(?:pk|partition(?: key)?|gsi\d+_?pk)\b")


def _meets(entity: DocumentEntity, said: PatternStatement, clauses: dict[Side, KeyClause]) -> bool:
    if "partition" not in clauses or clauses["partition"].operator != "=":
        return False
    for side, clause in clauses.items():
        stored = entity.keys.get((said.index, side))
        if (
            stored is None
            or clause.value is None
            or not can_meet(clause.value, stored[0], clause.operator)
        ):
            return False
    return True


_OF_ONE = re.compile(r"(?i)<\w*(?:id|email|name|code|slug|number)>")
"""Fields whose values tell one thing: a value in a condition is an example."""


def _is_example(clause: KeyClause, read: list[DocumentEntity], index: str) -> bool:
    """A value of an item, as ORDER#o-17, or a name where every key has a field: `Oslo#base`."""
    if any(value and value.example for value in clause.values):
        return True
    stored = [entity.keys[index, clause.side.side][0].text.split("#") for entity in read]
    return any(
        (
            re.match(r"[A-Z]\w*[a-z]", part) is not None
            or (
                part
                and not re.search(r"<|^[a-z]+$", part)
                and all(at < len(theirs) and _OF_ONE.fullmatch(theirs[at]) for theirs in stored)
            )
        )
        and bool(stored)
        and all(at < len(theirs) and theirs[at].startswith("<") for theirs in stored)
        for at, part in enumerate(_parts(clause))
    )


def _words_for_fields(
    clause: KeyClause, read: list[DocumentEntity], index: str
) -> list[tuple[str, str]]:
    """Words of a condition that stand where the keys have a field: `CATEGORY#chairs`."""
    stored = {entity.keys[index, clause.side.side][0].text for entity in read}
    if len(stored) != 1 or clause.value is None:
        return []
    theirs = stored.pop().split("#")
    said = _facing(clause.value, WrittenKey("#".join(theirs))).split("#")
    return [
        (part, other)
        for part, other in zip(said, theirs, strict=False)
        if re.fullmatch(r"<\w+>", other) and re.fullmatch(r"[a-z][a-z-]*", part)
    ]


def _parts(clause: KeyClause) -> list[str]:
    return clause.value.text.split("#") if clause.value else []


def _of_examples(
    model: DocumentModel,
    said: PatternStatement,
    clauses: dict[Side, KeyClause],
    read: list[DocumentEntity],
) -> dict[Side, KeyClause]:
    """Examples as the one template that they are examples of; empty if that is unclear."""
    made: dict[Side, KeyClause] = {}
    for side, clause in clauses.items():
        stored = {entity.keys[said.index, side][0].text for entity in read}
        if len(stored) == 1 and clause.operator == "=":
            theirs = next(iter(stored))
            for part, field in zip(_parts(clause), theirs.split("#"), strict=False):
                if part.isalpha() and part.isupper() and _OF_ONE.fullmatch(field):
                    model.reading.ask(
                        said.line, f"{said.name}: is {part} meant, or any {field}? {field} is read."
                    )
            made[side] = replace(clause, values=(WrittenKey(stored.pop()),))
        elif not _is_example(clause, read, said.index):
            made[side] = clause
        else:
            return {}
    return made


def _by_attributes(model: DocumentModel, said: PatternStatement, name: str) -> FoundPattern | None:
    """Conditions on attributes by name: of the one table or index that has them as its key."""
    asked = {clause.side.attribute or "" for clause in said.clauses}
    homes = _homes(model, said, asked)
    told = " AND ".join(clause.raw for clause in said.clauses)
    if len(homes) != 1:
        why = "several tables or indexes have" if homes else "no table and no index has"
        model.reading.ask(said.line, f"{name}: {why} such a key: {told}.")
        return None
    table, index = homes[0]
    keys = index.keys if index else table.keys
    entities = tuple(entity for entity in model.entities if entity.table is table)
    by_name = {clause.side.attribute: clause for clause in said.clauses}
    if not entities or by_name[keys["partition"][0]].operator != "=":
        model.reading.ask(said.line, f"{name}: {told} does not tell one partition.")
        return None
    listed = {
        value for e in entities for name, _ in keys.values()
        if name in e.attributes for value in e.attributes[name].values
    }  # fmt: skip
    conditions = tuple(
        _condition(by_name[attribute], attribute, listed=listed)
        for attribute, _ in keys.values()
        if attribute in by_name
    )
    whole = all(
        attribute in by_name and by_name[attribute].operator == "="
        for attribute, _ in keys.values()
    )
    return made_pattern(model, said, name, entities, index, conditions, whole=whole)


def _homes(
    model: DocumentModel, said: PatternStatement, asked: set[str]
) -> list[tuple[DocumentTable, DocumentIndex | None]]:
    entity = model.named(said.entity) if said.entity else None
    told = model.known_table(said.table)
    tables = [told] if told else list(model.tables.values())
    tables = [entity.table] if entity and entity.table in tables else tables
    found: list[tuple[DocumentTable, DocumentIndex | None]] = []
    for table in tables:
        indexes = [table.index(said.index)] if said.index else [None, *table.indexes.values()]
        for index in indexes:
            keys = index.keys if index else ({} if said.index else table.keys)
            names = [attribute for attribute, _ in keys.values()]
            if names and names[0] in asked and asked <= {*names}:
                found.append((table, index))
    filled = {id(entity.table) for entity in model.entities}
    found = [home for home in found if id(home[0]) in filled] or found
    base = [home for home in found if home[1] is None]
    return base if len(base) == 1 and len(found) > 1 and not said.index else found


def _condition(
    clause: KeyClause, attribute: str, stored: WrittenKey | None = None, kinds: int = 0,
    listed: Collection[str] = (),
) -> str:  # fmt: skip
    """A condition by an attribute; a whole key has the names of its fields, if all kinds agree."""
    values = [_facing(value, stored) if stored else
              value.text if value.text in listed else _of_field(value, attribute)
              for value in clause.values if value]  # fmt: skip
    if stored and kinds == 1 and clause.operator == "=" and _shape_of(values[0]) == stored.shape:
        values = [stored.text]
    if clause.operator == "between":
        return f"{attribute} between {values[0]} and {values[-1]}"
    return f"{attribute} {clause.operator} {values[0]}"


def _of_field(value: WrittenKey, attribute: str) -> str:
    """A value of an attribute: an example, as 'Oslo', stands for any; ACTIVE is meant."""
    if value.text == "<value>":
        return f"<{attribute}>"
    constant = "<" in value.text or re.fullmatch(r"[A-Z_]{2,}|true|false|[01]", value.text)
    return value.text if constant else f"<{attribute}>"


def _shape_of(text: str) -> str:
    return WrittenKey(text).shape


def _facing(value: WrittenKey, stored: WrittenKey) -> str:
    """A value's text; a bare word where the key has a field is that field: `ACTIVITY#u`."""
    theirs = stored.text.split("#")
    parts = [
        f"<{part}>"
        if at < len(theirs)
        and re.fullmatch(r"<\w+>", theirs[at])
        and re.fullmatch(r"[a-z]+|[A-Z]", part)
        and (len(part) <= 2 or {*words_of(part)} <= {*words_of(theirs[at])})
        else part
        for at, part in enumerate(value.text.split("#"))
    ]
    return "#".join(parts)
