"""Access patterns that a key obviously serves."""

from __future__ import annotations

from keyfold.design.schema import KeyTemplates, PatternSchema, SortCondition
from keyfold.design.template import Literal, Template


def by_key(name: str, entity: str, table: str, key: KeyTemplates) -> PatternSchema:
    """One item by its key."""
    condition = SortCondition("eq", key.sort) if key.sort else SortCondition()
    return PatternSchema(
        name, (entity,), "get", table, partition=key.partition, condition=condition
    )


def by_index(name: str, entity: str, table: str, index: str, key: KeyTemplates) -> PatternSchema:
    """The items of an entity in one partition of an index, page by page."""
    start = key.sort.literal_prefix if key.sort else ""
    condition = SortCondition()
    if start:
        condition = SortCondition("begins_with", Template((Literal(start),)))
    return PatternSchema(
        name,
        (entity,),
        "query",
        table,
        index=index,
        partition=key.partition,
        condition=condition,
        paged=True,
    )
