"""X, continued: vector indexes. Each search pays for everything it examines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from keyfold.review.check.evidence import keys_example, sum_example
from keyfold.review.check.reach import Reach
from keyfold.review.check.rule import Defect, rule
from keyfold.review.check.sample import key_of


@rule("X20", "vector-unsearched", "warning", "No search uses a vector index")
def vector_unsearched(facts: Reach) -> Iterator[Defect]:
    for table in facts.schema.tables:
        searched = {one.index for one in facts.schema.searches if one.table == table.name}
        for vector in table.vectors:
            if vector.name not in searched:
                yield Defect(
                    vector,
                    f"every write of {vector.attribute} pays for its entry of "
                    f"{4 * vector.dimensions:,} bytes and more, and no search reads it",
                    "Declare the search, or drop the index.",
                    (table,),
                    subject=f"{table.name}.{vector.name}",
                    evidence=sum_example(
                        "one entry",
                        [("dimensions", vector.dimensions, 4)],
                        "no search reads them",
                        "bytes",
                    ),
                )


@rule("X21", "search-of-everything", "warning", "A search looks at every item of its vector index")
def search_of_everything(facts: Reach) -> Iterator[Defect]:
    for search in facts.schema.searches:
        table = facts.schema.by_table[search.table]
        vector, entity = table.vector(search.index), facts.schema.by_entity.get(search.entity)
        if vector is None or vector.within or entity is None or entity.key is None:
            continue
        shared = [field for field in entity.key.partition.fields if field in entity.by_field]
        if not shared or entity.key.sort is None or not entity.key.sort.fields:
            continue
        yield Defect(
            search,
            f"compares every vector of {search.entity} on each call, although its items are "
            f"grouped by {', '.join(shared)}",
            f"Search within one {shared[0]} (within: {entity.by_field[shared[0]].name}); if a "
            "search over all of them is intended, suppress this with the reason.",
            evidence=keys_example(
                f"one search of {search.index} looks at",
                *(
                    (key_of(replace(entity.key, sort=None), entity, n), f"every {entity.name}")
                    for n in (1, 2)
                ),
                ("…", f"of every {shared[0]}"),
            ),
        )
