"""Reads without key conditions: by arguments, by the index that they name, or told in words."""

from __future__ import annotations

import re
from functools import lru_cache

from keyfold_workbench.adopt.document.blocks import plain
from keyfold_workbench.adopt.document.found_patterns import (
    FoundPattern,
    homes_in,
    is_named,
    made_pattern,
)
from keyfold_workbench.adopt.document.items import DocumentEntity, DocumentIndex
from keyfold_workbench.adopt.document.key_side import SIDES
from keyfold_workbench.adopt.document.model import DocumentModel
from keyfold_workbench.adopt.document.notations import READ_BY
from keyfold_workbench.adopt.document.scope import words_of
from keyfold_workbench.adopt.document.statements import PatternStatement


def by_arguments(model: DocumentModel, said: PatternStatement, name: str) -> FoundPattern | None:
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
    } or said.given == ("PK", "SK")[: len(used)]
    if entity is None or not used or not same:
        model.reading.ask(said.line, f"{name}({', '.join(said.given)}): which key does it read by?")
        return None
    number = said.index and next(n for n, each in entity.table.indexes.items() if each is index)
    stored = [entity.keys.get((number, side)) for side in SIDES]
    conditions = tuple(
        f"{attribute} = {key[0].text if key else f'<{attribute}>'}"
        for attribute, key in zip(used, stored, strict=False)
    )
    entities = tuple(other for other in model.entities if other.table is entity.table)
    if any(key and not key[0].is_field for key in stored):
        entities = (entity,)
    name = re.sub(r"\(.*", "", name).strip("` ")
    return made_pattern(
        model, said, name, entities, index, conditions, whole=len(used) == len(names)
    )


def by_home(model: DocumentModel, said: PatternStatement, name: str) -> FoundPattern | None:
    """`Query email-index`: a query reads one partition of its index; a get has the whole key."""
    worded = in_partition(model, said)
    if worded:
        return _by_partition(model, said, name, worded)
    homes = homes_in(model, said)
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
    named = [attribute for attribute, _ in keys.values() if is_named(attribute, said.text)]
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
        or (said.operation != "get" and index is None and not named)
    )
    if unclear:
        model.reading.ask(said.line, f"{name}: by which key? No condition is given.")
        return None
    if said.operation != "get" and _RANGE.search(said.text):
        model.reading.ask(said.line, f"{name}: which part of the partition? All of it is read.")
    elif len(named) == len(keys) > len(used) and own:
        used = list(keys)
        stored = {side: {f"<{keys[side][0]}>"} for side in used}
    conditions = tuple(f"{keys[side][0]} = {stored[side].pop()}" for side in used)
    return made_pattern(
        model, said, name, entities, index, conditions, whole=len(used) == len(keys)
    )


_PARTITION = re.compile(r"(?i)\b([a-z][\w-]*) (?:PK|partition)\b")
_SORT = re.compile(r"(?i)\+ ([a-z][\w-]*) SK\b")
_LITERALS = re.compile(r"(?i)\bGetItem ([a-z][\w-]*) ([A-Z_]+)\b")


def in_partition(model: DocumentModel, said: PatternStatement) -> list[DocumentEntity]:
    """`Query project PK`: the entities whose partition ends with that literal, as PROJECT#<id>."""
    text = plain(said.text)
    hit = _PARTITION.search(text) or _LITERALS.search(text)
    meant = {*words_of(hit[1])} if hit else set()
    table = model.known_table(said.table)
    ending = model.endings.get(said.index)
    if ending is None:
        ending = model.endings[said.index] = {}
        for entity in model.entities:
            key = entity.keys.get((said.index, "partition"))
            for word in _last_words(key[0].text) if key else ():
                ending.setdefault(word, []).append(entity)
    return [
        entity
        for entity in ending.get(min(meant, default=""), ())
        if table in (None, entity.table)
        and meant <= _last_words(entity.keys[said.index, "partition"][0].text)
    ]


@lru_cache(maxsize=65_536)
def _last_words(text: str) -> frozenset[str]:
    """The words of the last literal of a key."""
    literals: list[str] = re.findall(r"[A-Za-z_]+", re.sub(r"<\w+>", " ", text))
    return frozenset(words_of(literals[-1]) if literals else ())


def _by_partition(
    model: DocumentModel, said: PatternStatement, name: str, entities: list[DocumentEntity]
) -> FoundPattern | None:
    text = plain(said.text)
    if said.operation == "get":
        word, literal = _SORT.search(text), _LITERALS.search(text)
        sorts = [(entity, entity.keys.get(("", "sort"))) for entity in entities]
        entities = [
            entity
            for entity, key in sorts
            if (key is None or (not word and not literal))
            or (literal and key[0].text == literal[2])
            or (word and words_of(key[0].text.split("#")[0]) == words_of(word[1]))
        ]
    partitions = {entity.keys[said.index, "partition"][0].text for entity in entities}
    tables = {id(entity.table): entity.table for entity in entities}
    unclear = said.operation == "get" and (len(entities) != 1 or said.index)
    if len(partitions) != 1 or len(tables) != 1 or unclear:
        model.reading.ask(said.line, f"{name}: by which key? No condition is given.")
        return None
    if said.operation != "get" and (_RANGE.search(text) or "#" in text):
        model.reading.ask(said.line, f"{name}: which part of the partition? All of it is read.")
    index = entities[0].table.index(said.index) if said.index else None
    keys = index.keys if index else entities[0].table.keys
    used = list(keys)[: 2 if said.operation == "get" else 1]
    conditions = tuple(
        f"{keys[side][0]} = {entities[0].keys[said.index, side][0].text}" for side in used
    )
    model.reading.ask(
        said.line, f"{name}: is it read by {' and '.join(conditions)}? It is read so."
    )
    return made_pattern(
        model, said, name, tuple(entities), index, conditions, whole=len(used) == len(keys)
    )


def by_words(model: DocumentModel, said: PatternStatement, name: str) -> FoundPattern | None:
    """`List orders by customerId`: the key attributes of the one table or index that it names."""
    found = READ_BY.match(said.text)
    table = model.known_table(said.table)
    entities = tuple(entity for entity in model.entities if entity.table is table)
    if found is None or table is None or len(entities) != 1:
        return None
    told = words_of(re.sub(r"(?i)\b(?:and|with|a|all)\b", " ", found["by"]))
    homes: list[tuple[DocumentIndex | None, int, bool]] = []
    for index in (None, *table.indexes.values()):
        keys = [attribute for attribute, _ in (index.keys if index else table.keys).values()]
        for count in range(1, len(keys) + 1):
            meant = words_of(" ".join(keys[:count]))
            if told == meant or told == tuple(word for word in meant if word != "id"):
                homes.append((index, count, told == meant))
    homes = [home for home in homes if home[2]] or homes
    if len(homes) != 1:
        model.reading.ask(said.line, f"{name}: by which key?")
        return None
    index, count, sure = homes[0]
    keys = [attribute for attribute, _ in (index.keys if index else table.keys).values()]
    if not sure:
        model.reading.ask(said.line, f"{name}: is it read by {', '.join(keys[:count])}?")
    conditions = tuple(f"{attribute} = <{attribute}>" for attribute in keys[:count])
    return made_pattern(model, said, name, entities, index, conditions, whole=count == len(keys))


_RANGE = re.compile(
    r"(?i)\b(?:range|between|begins?|starts|prefix|since|until|after|before|latest|last|recent|"
    r"first|sort key|sk|filter\w*)\b|[<>]=?"
)
"""A read that has a condition on the sort key, or may have one."""
