"""X, continued: vector indexes. Each search pays for everything it examines."""

from __future__ import annotations

from collections.abc import Iterator

from keyfold.design.schema import SearchSchema, TableSchema
from keyfold.review.check.domains import SEARCHES, TABLES
from keyfold.review.check.reach import Reach
from keyfold.review.check.rule import Found, hit, rule


@rule("X20", TABLES)
def vector_unsearched(facts: Reach, table: TableSchema) -> Iterator[Found]:
    searched = {one.index for one in facts.schema.searches if one.table == table.name}
    for vector in table.vectors:
        if vector.name not in searched:
            yield hit(vector=vector, size=4 * vector.dimensions)


@rule("X21", SEARCHES)
def search_of_everything(facts: Reach, search: SearchSchema) -> Found | None:
    vector = facts.schema.by_table[search.table].vector(search.index)
    entity = facts.schema.by_entity.get(search.entity)
    if vector is None or vector.within or entity is None or entity.key is None:
        return None
    shared = [field for field in entity.key.partition.fields if field in entity.by_field]
    if not shared or entity.key.sort is None or not entity.key.sort.fields:
        return None
    return hit(entity=entity, shared=shared, attribute=entity.by_field[shared[0]])
