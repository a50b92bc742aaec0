"""The example of a finding: keys that the elements it names have in this design."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from keyfold.design.schema import (
    ConsumerSchema,
    CounterSchema,
    EntitySchema,
    Index,
    KeyTemplates,
    OperationSchema,
    PatternSchema,
    Placement,
    TableSchema,
)
from keyfold.design.template import Literal, Template
from keyfold.review.check.key_sets import Appearance
from keyfold.review.check.reach import Reach, example
from keyfold.review.check.sample import item_name, key_of, text_of
from keyfold.review.keyspace import witness

Row = tuple[str, str]


@dataclass(frozen=True)
class Example:
    """Keys, each with what it is."""

    rows: tuple[Row, ...]

    @property
    def sentence(self) -> str:
        """The example in one line."""
        return "; ".join(" ".join(row) for row in self.rows)

    def lines(self) -> Iterator[str]:
        """The rows, with their cells in columns."""
        width = max(len(key) for key, _ in self.rows)
        yield from (f"{key.ljust(width)}  {what}" for key, what in self.rows)


def example_of(facts: Reach, elements: Iterable[object]) -> Example | None:
    """What the elements of a finding look like in keys; None if they have none."""
    named = [*elements]
    rows = dict.fromkeys(row for element in named for row in _rows(facts, element, named))
    return Example(tuple(rows)) if rows else None


def _rows(facts: Reach, element: object, named: list[object]) -> Iterator[Row]:
    match element:
        case EntitySchema(key=KeyTemplates() as key):
            yield key_of(key, element), f"{element.name} in {element.table}"
        case Placement():
            owner = next((e for e in named if isinstance(e, EntitySchema)), None)
            if owner is not None:
                yield key_of(element.key, owner), f"{owner.name} in {element.index}"
        case PatternSchema():
            yield asked_key(element), f"is what {element.name} asks for"
            yield from _answer(facts, element)
        case OperationSchema() | ConsumerSchema():
            yield from (_effect(facts, e.entity, e.action) for e in element.effects)
        case CounterSchema():
            yield _effect(facts, element.target, f"{element.attribute} counts {element.counts}")
        case TableSchema():
            yield from _entries(facts, element, None)
        case Index():
            for table in facts.schema.tables:
                if element in table.indexes:
                    yield from _entries(facts, table, element.name)
        case _:
            return


def _effect(facts: Reach, name: str, action: str) -> Row:
    entity = facts.schema.by_entity.get(name)
    return item_name(entity) if entity else name, action


def _entries(facts: Reach, table: TableSchema, index: str | None) -> Iterator[Row]:
    """The first kinds of items in a table or index."""
    for one in facts.appearances(table.name, index)[:2]:
        yield key_of(one.key, one.entity), f"{one.entity.name} in {index or table.name}"


def _answer(facts: Reach, pattern: PatternSchema) -> Iterator[Row]:
    """Sort keys that one page of a pattern can contain, wanted ones first."""
    for one in wanted_entries(facts, pattern)[:1]:
        yield f"`{returned_key(facts, pattern, one)}`", one.entity.name
    for one in facts.strangers(pattern)[:2]:
        yield f"`{returned_key(facts, pattern, one)}`", f"{one.entity.name}, not asked for"


def wanted_entries(facts: Reach, pattern: PatternSchema) -> list[Appearance]:
    """The requested part of what a pattern returns."""
    return [a for a in facts.reached(pattern) if a.entity.name in pattern.entities]


def asked_key(pattern: PatternSchema) -> str:
    """The key that a pattern asks for, with values in it."""
    partition = f"`{text_of(pattern.partition, None)}`" if pattern.partition else "any partition"
    template = pattern.condition.template
    if template is None:
        return partition
    operator = "" if pattern.condition.operator == "eq" else f"{pattern.condition.operator} "
    return f"{partition} / {operator}`{text_of(template, None)}`"


def returned_key(facts: Reach, pattern: PatternSchema, appearance: Appearance) -> str:
    """A sort key, or partition key without one, that matches the pattern's condition."""
    key, entity = appearance.key, appearance.entity
    if key.sort is None:
        return text_of(key.partition, entity)
    asked = pattern.condition.template
    texts = [text_of(key.sort, entity)]
    if asked is not None:
        texts.append(f"{text_of(asked, None)}1")
        for space in facts.spaces(key.sort, entity):
            texts += filter(
                None, (witness(a.with_any_end(), space) for a in facts.spaces(asked, None))
            )
            texts.append(f"{space.literal_prefix}1")
    for text in texts:
        fixed = KeyTemplates(key.partition, Template((Literal(text),)))
        if key.sort.matches(text) and facts.meets_condition(
            pattern, replace(appearance, key=fixed)
        ):
            return text
    return example(key.sort)
