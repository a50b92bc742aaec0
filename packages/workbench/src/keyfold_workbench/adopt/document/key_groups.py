"""The keys of a document by the entity that they are of, and whose the others are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from keyfold_workbench.adopt.document.scope import words_of
from keyfold_workbench.adopt.document.statements import (
    AttributeStatement,
    DocumentReading,
    DocumentStatement,
    KeyStatement,
)
from keyfold_workbench.adopt.document.table_titles import is_attribute

_HEAD = re.compile(
    r"(?i)\s+(?:by|of|for|per|with|in|on|at|to|that|which|requiring|sorted|-)\s|\s*[:(]"
)
"""Where the name of what an index finds ends: `Orders by status`."""
GroupKey = tuple[tuple[str, ...], tuple[str, ...]]
"""The words of a table's title, and of an entity's name."""
KeyGroups = dict[GroupKey, list[KeyStatement]]


def share_partitions(reading: DocumentReading, grouped: KeyGroups) -> None:
    """The only partition told alone in a section is that of its items with sort keys only."""
    above: dict[tuple[object, ...], list[GroupKey]] = {}
    below: dict[tuple[object, ...], list[list[KeyStatement]]] = {}
    for key, said in grouped.items():
        sides = {s.side.side for s in said if not s.side.index}
        if sides == {"sort"}:
            below.setdefault((key[0], said[0].section), []).append(said)
        elif sides == {"partition"} and len(said) == 1 and not is_attribute(said[0]):
            above.setdefault((key[0], said[0].section), []).append(key)
    for place, items in below.items():
        keys = above.get(place, [])
        if len(keys) != 1 or not grouped[keys[0]][0].key.fields:
            continue
        [partition] = grouped.pop(keys[0])
        reading.ask(
            partition.line,
            f"Is {partition.key.text} the partition key of the items that follow, as "
            f"{items[0][0].entity}? It is read so.",
        )
        for said in items:
            said.insert(0, replace(partition, entity=said[0].entity))


def join_keys(
    reading: DocumentReading,
    every: Sequence[DocumentStatement],
    key: GroupKey,
    said: list[KeyStatement],
    placed: KeyGroups,
) -> None:
    """Index keys under a name that has no key of the table: those of the entity near by."""
    if not placed:
        return
    same = [other for other in placed if other[1] == key[1]]
    words = {*words_of(_HEAD.split(said[0].entity)[0])} or {*key[1]}
    named = [
        other
        for other, keys in placed.items()
        if any(own and {*own} <= words for own in _names(keys[0].entity))
    ]
    named = [one for one in named if not any({*one[1]} < {*other[1]} for other in named)]
    near = same or (named if len(named) == 1 else []) or [
        other
        for other, keys in placed.items()
        if len(said[0].section) > 1 and any(s.section == said[0].section for s in keys)
        and {f for s in said for f in s.key.fields} <= _fields(every, keys)
    ] or [
        other
        for other, keys in placed.items()
        if {s.side.attribute for s in said} <= _fields(every, keys)
    ]  # fmt: skip
    asked = ", ".join(f"{s.side.attribute or s.side.index} {s.key.text}" for s in said)
    if len(near) != 1:
        reading.ask(
            said[0].line,
            f"{said[0].entity}: which entity has {asked}? None of that name has a key.",
        )
        return
    if not same:
        owner = placed[near[0]][0].entity
        reading.ask(said[0].line, f"Is {said[0].entity} an index key of {owner}? It is read so.")
    placed[near[0]] += [replace(s, entity=placed[near[0]][0].entity) for s in said]


def _fields(every: Sequence[DocumentStatement], said: list[KeyStatement]) -> set[str]:
    words = words_of(said[0].entity)
    told = {
        s.name for s in every if isinstance(s, AttributeStatement) and words_of(s.entity) == words
    }
    return told | {name for s in said for name in s.key.fields}


def _names(title: str) -> list[tuple[str, ...]]:
    """The words of each name that a title gives: `Action item / task` is a task."""
    bare = re.sub(r"(?i) (?:metadata|profile|summary)$", "", title)
    return [words_of(part) for part in (title, bare, *re.split(r"\s+/\s+", title))]
