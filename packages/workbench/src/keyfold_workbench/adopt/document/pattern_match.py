"""Which entities a read of a document meets: by templates, by names of attributes, by arguments."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from keyfold_workbench.adopt.document.items import DocumentEntity, DocumentIndex, DocumentTable
from keyfold_workbench.adopt.document.key_clauses import KeyClause
from keyfold_workbench.adopt.document.key_side import SIDES, Side, key_side
from keyfold_workbench.adopt.document.key_text import WrittenKey, can_meet
from keyfold_workbench.adopt.document.model import DocumentModel
from keyfold_workbench.adopt.document.scope import words_of
from keyfold_workbench.adopt.document.statements import PatternStatement


@dataclass(frozen=True)
class FoundPattern:
    """A read with the entities that it meets and its conditions, by attribute."""

    said: PatternStatement
    name: str
    kind: str
    entities: tuple[DocumentEntity, ...]
    index: DocumentIndex | None
    conditions: tuple[str, ...]


def find_patterns(model: DocumentModel) -> list[FoundPattern]:
    """The patterns that some entity's key can meet; a question for each other one."""
    names: dict[str, int] = {}
    found = []
    for said in model.reading.statements:
        if not isinstance(said, PatternStatement):
            continue
        pattern = _find(model, said)
        if pattern is not None:
            names[pattern.name] = names.get(pattern.name, 0) + 1
            if names[pattern.name] > 1:
                pattern = replace(pattern, name=f"{pattern.name} ({names[pattern.name]})")
            found.append(pattern)
    return found


def _find(model: DocumentModel, said: PatternStatement) -> FoundPattern | None:
    name = said.name or f"read of line {said.line}"
    if said.operation == "scan" and not said.clauses:
        tables = [table for table, _ in _homes_in(model, said)]
        held = [e for e in model.entities if any(e.table is table for table in tables)]
        entity = model.named(said.entity) or (held[0] if len(held) == 1 else None)
        if entity is None:
            model.reading.ask(said.line, f"{name}: which entity does the scan read?")
            return None
        return FoundPattern(said, name, "scan", (entity,), None, ())
    if said.given:
        return _by_arguments(model, said, name)
    if not said.clauses:
        return _by_home(model, said, name)
    said = _with_attributes(model, said)
    if any(clause.side.index == "*" or _is_own(model, clause) for clause in said.clauses):
        return _by_attributes(model, said, name)
    return _by_templates(model, said, name)


def _with_attributes(model: DocumentModel, said: PatternStatement) -> PatternStatement:
    """`PK = userId` of a key whose attribute is userId asks for that attribute."""
    keyed = {
        attribute
        for table, index in _homes_in(model, said)
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


def _is_own(model: DocumentModel, clause: KeyClause) -> bool:
    """A condition on an attribute that is a key by its own name."""
    return clause.side.attribute in model.reading.names.attributes


def _by_templates(model: DocumentModel, said: PatternStatement, name: str) -> FoundPattern | None:
    clauses = {clause.side.side: clause for clause in said.clauses}
    read = [entity for entity in model.entities if _meets(entity, said, clauses)]
    sure = [entity for entity in read if not entity.keys[said.index, "partition"][0].is_field]
    read = sure if len({id(entity.table) for entity in read}) > 1 else read
    if table := model.known_table(said.table):
        read = [entity for entity in read if entity.table is table] or read
    told = " AND ".join(clause.raw for clause in said.clauses)
    if any(value and value.example for clause in said.clauses for value in clause.values):
        clauses = _of_examples(said, clauses, read)
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
    index = read[0].table.index(said.index) if said.index else None
    keys = index.keys if index else read[0].table.keys
    whole = all(side in clauses and clauses[side].operator == "=" for side in keys)
    stored = read[0].keys
    conditions = tuple(
        _condition(clauses[side], keys[side][0], stored[said.index, side][0])
        for side in keys
        if side in clauses
    )
    return _pattern(model, said, name, tuple(read), index, conditions, whole=whole)


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


def _of_examples(
    said: PatternStatement, clauses: dict[Side, KeyClause], read: list[DocumentEntity]
) -> dict[Side, KeyClause]:
    """Examples as the one template that they are examples of; empty if that is unclear."""
    made: dict[Side, KeyClause] = {}
    for side, clause in clauses.items():
        stored = {entity.keys[said.index, side][0].text for entity in read}
        if not any(value and value.example for value in clause.values):
            made[side] = clause
        elif len(stored) == 1 and clause.operator == "=":
            made[side] = replace(clause, values=(WrittenKey(stored.pop()),))
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
    conditions = tuple(
        _condition(by_name[attribute], attribute)
        for attribute, _ in keys.values()
        if attribute in by_name
    )
    whole = all(
        attribute in by_name and by_name[attribute].operator == "="
        for attribute, _ in keys.values()
    )
    return _pattern(model, said, name, entities, index, conditions, whole=whole)


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


def _by_arguments(model: DocumentModel, said: PatternStatement, name: str) -> FoundPattern | None:
    """`listOrders(customerId)` → Query: the arguments are the key's first attributes."""
    entity = model.named(said.entity) or model.only_of(said.table)
    index = entity.table.index(said.index) if entity and said.index else None
    keys = (
        (index.keys if index else entity.table.keys if entity and not said.index else {})
        if entity
        else {}
    )
    names = [attribute for attribute, _ in keys.values()]
    used = names[: len(said.given)]
    same = {words_of(argument) for argument in said.given} == {
        words_of(attribute) for attribute in used
    }
    if entity is None or not used or not same:
        model.reading.ask(said.line, f"{name}({', '.join(said.given)}): which key does it read by?")
        return None
    conditions = tuple(f"{attribute} = <{attribute}>" for attribute in used)
    entities = tuple(other for other in model.entities if other.table is entity.table)
    name = re.sub(r"\(.*", "", name).strip("` ")
    return _pattern(model, said, name, entities, index, conditions, whole=len(used) == len(names))


def _by_home(model: DocumentModel, said: PatternStatement, name: str) -> FoundPattern | None:
    """`Query email-index`: a query reads one partition of its index; a get has the whole key."""
    homes = _homes_in(model, said)
    if len(homes) != 1:
        model.reading.ask(said.line, f"{name}: by which key? No condition is given.")
        return None
    table, index = homes[0]
    keys = index.keys if index else table.keys
    number = next((number for number, each in table.indexes.items() if each is index), "")
    entities = tuple(
        entity
        for entity in model.entities
        if entity.table is table
        and (not index or any((number, side) in entity.keys for side in SIDES))
    )
    own = not entities  # the attributes of the index are no templates
    entities = entities or tuple(entity for entity in model.entities if entity.table is table)
    named = [attribute for attribute, _ in keys.values() if _is_named(attribute, said.text)]
    used = list(keys)[: 2 if said.operation == "get" else 1]
    stored = {
        side: {entity.keys[number, side][0].text for entity in entities}
        if not own and all((number, side) in entity.keys for entity in entities)
        else {f"<{keys[side][0]}>"}
        for side in used
    }
    unclear = (
        not entities
        or (said.operation == "get" and (index is not None or len(entities) > 1))
        or any(len(templates) != 1 for templates in stored.values())
        or (said.operation != "get" and (_RANGE.search(said.text) or len(named) > 1))
        or (said.operation != "get" and index is None and not named)
    )
    if unclear:
        model.reading.ask(said.line, f"{name}: by which key? No condition is given.")
        return None
    conditions = tuple(f"{keys[side][0]} = {stored[side].pop()}" for side in used)
    return _pattern(model, said, name, entities, index, conditions, whole=len(used) == len(keys))


_RANGE = re.compile(
    r"(?i)\b(?:range|between|begins?|starts|prefix|since|until|after|before|latest|last|recent|"
    r"first|sort key|sk|filter\w*)\b|[<>]=?"
)
"""A read that has a condition on the sort key, or may have one."""


def _is_named(attribute: str, text: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(attribute)}(?![\w-])", text) is not None


def _homes_in(
    model: DocumentModel, said: PatternStatement
) -> list[tuple[DocumentTable, DocumentIndex | None]]:
    """The table or the index that a read without conditions is of."""
    entity = model.named(said.entity) if said.entity else None
    told = model.known_table(said.table)
    tables = [told] if told else [entity.table] if entity else []
    named = [
        table
        for table in model.tables.values()
        if any(each and _is_named(each, said.text) for each in (table.name, table.title))
    ]
    tables = tables or named or list(model.tables.values())
    if said.index:
        found = [(table, table.index(said.index)) for table in tables]
        return [(table, index) for table, index in found if index is not None]
    if re.search(r"(?i)\b(?:gsi|lsi|index)\b", said.text):
        return [
            (table, index)
            for table in tables
            for index in table.indexes.values()
            if "partition" in index.keys and _is_named(index.keys["partition"][0], said.text)
        ]
    return [(table, None) for table in tables]


def _pattern(
    model: DocumentModel, said: PatternStatement, name: str, entities: tuple[DocumentEntity, ...],
    index: DocumentIndex | None, conditions: tuple[str, ...], *, whole: bool,
) -> FoundPattern | None:  # fmt: skip
    kind: str = said.operation or ("get" if whole and index is None else "query")
    if kind == "get" and (index is not None or not whole):
        model.reading.ask(
            said.line, f"{name}: GetItem needs the whole key of the table; it is read as a query."
        )
        kind = "query"
    if kind == "get" and len(entities) > 1:
        choice = ", ".join(entity.name for entity in entities)
        model.reading.ask(said.line, f"{name}: which does it get, {choice}?")
        return None
    if kind == "scan":
        model.reading.ask(said.line, f"{name}: a scan with a key condition; it is read as a query.")
        kind = "query"
    if kind == "query" and said.limit == 1 and said.descending:
        kind = "latest"
    return FoundPattern(said, name, kind, entities, index, conditions)


def _condition(clause: KeyClause, attribute: str, stored: WrittenKey | None = None) -> str:
    values = [_facing(value, stored) if stored else _of_field(value, attribute)
              for value in clause.values if value]  # fmt: skip
    if clause.operator == "between":
        return f"{attribute} between {values[0]} and {values[-1]}"
    return f"{attribute} {clause.operator} {values[0]}"


def _of_field(value: WrittenKey, attribute: str) -> str:
    """A value of an attribute: an example, as 'Oslo', stands for any; ACTIVE is meant."""
    if value.text == "<value>":
        return f"<{attribute}>"
    constant = "<" in value.text or re.fullmatch(r"[A-Z_]{2,}|true|false|[01]", value.text)
    return value.text if constant else f"<{attribute}>"


def _facing(value: WrittenKey, stored: WrittenKey) -> str:
    """A value's text; a bare word where the key has a field is that field: `ACTIVITY#u`."""
    theirs = stored.text.split("#")
    parts = [
        f"<{part}>"
        if at < len(theirs)
        and re.fullmatch(r"<\w+>", theirs[at])
        and re.fullmatch(r"[a-z]+", part)
        and (len(part) <= 2 or {*words_of(part)} <= {*words_of(theirs[at])})
        else part
        for at, part in enumerate(value.text.split("#"))
    ]
    return "#".join(parts)
